"""Filter for model output that is not for people: thoughts, control tokens, tool calls as text, and our own prompt.

Families seen: ``<think>`` (DeepSeek-R1, Qwen3), ``<thinking>``, ``<thought>``, ``<reasoning>``, ``<reflection>``,
``<seed:think>``, ``[THINK]`` (Magistral), ``◁think▷`` (Kimi), Harmony's channels (gpt-oss), ``<|begin_of_thought|>``.
A chat template may open a thought that the model only closes (vLLM #12999). All text before such a closing tag is a
thought.
"""

import json
import re

_THOUGHT = r"(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|seed:think|inner_monologue|analysis)"
_OPENS_A_THOUGHT = (
    rf"<{_THOUGHT}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|channel\|>\s*(?:analysis|commentary)[^<\n]{0,80}<\|message\|>"
)
_OPENS_A_CALL = (
    r"<(?:tool_calls?|function_calls?|tool_code|tool)>|<function=[^<>\n]{0,80}>|\[TOOL_CALLS\]"
    r"|<\|tool_calls?_begin\|>|<｜tool▁calls▁begin｜>|<\|python_tag\|>"
)
_OPENING_THOUGHT = re.compile(_OPENS_A_THOUGHT, re.IGNORECASE)
_OPENING = re.compile(f"{_OPENS_A_THOUGHT}|{_OPENS_A_CALL}", re.IGNORECASE)
_CLOSING = re.compile(
    rf"</{_THOUGHT}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|</(?:tool_calls?|function_calls?|tool_code|tool)>"
    r"|</function>|\[/TOOL_CALLS\]|<\|tool_calls?_end\|>|<｜tool▁calls▁end｜>|<\|eom_id\|>|<\|end\|>|<\|call\|>"
    r"|<\|channel\|>\s*final[^<\n]{0,40}<\|message\|>",
    re.IGNORECASE,
)
_CLOSES_A_THOUGHT = re.compile(
    rf"</{_THOUGHT}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>\s*final[^<\n]{{0,40}}<\|message\|>",
    re.IGNORECASE,
)
_CONTROL = re.compile(
    r"<\|[\w /-]{1,40}\|>(?:assistant\b)?|<｜[^｜\n]{1,40}｜>|</?s>|<(?:bos|eos|pad|unk)>|\[/?INST\]|<</?SYS>>"
    r"|<(?:start_of_turn|end_of_turn)>(?:model\b)?"
    r"|</?(?:document|conversation|message|sentence|evidence|example|attachment|note|answer|summary)-[0-9a-f]{8}[^<>\n]*>"
    r"|</?(?:answer|final_answer|response|output)>",
    re.IGNORECASE,
)
_HELD = re.compile(r"(?:<[^<>\n]{0,120}|\[/?[A-Z_]{0,12}|◁[^▷\n]{0,8})$")
_ECHO = re.compile(
    r"(?m)^(?:# Task|Question: .*|The only numbers that exist here:.*|This is how a sentence cites its document:)"
    r"[ \t]*\n?"
)
_SPEAKER = re.compile(r"^\s*(?:assistant|footnote|final answer|answer|response)\s*:\s*", re.IGNORECASE)
_WRAPPED = re.compile(
    r"^\s*```(?:markdown|md|text|plaintext)?[ \t]*\n(?P<inside>.*?)\n?```\s*$", re.DOTALL | re.IGNORECASE
)
_CALL = re.compile(
    r"\"(?:name|tool|function|action|arguments|queries)\"\s*:|^\s*\w+\((?:\w+=|[\"'])|^\s*(?:print\()?default_api\.",
    re.IGNORECASE,
)
_LONGEST_TAG = 160  # characters


class HiddenTextFilter:
    """Streaming filter that removes hidden text, even if a tag is split across pieces."""

    def __init__(self, *, calls: bool = True) -> None:
        """With ``calls``, remove tool calls too."""
        self._opening = _OPENING if calls else _OPENING_THOUGHT
        self.restarts = 0  # how often all returned text turned out to be a thought
        self._raw = ""
        self._inside = False

    def feed(self, piece: str) -> str:
        """Add a piece and return the visible text. If ``restarts`` has grown, discard all text returned before."""
        self._raw += piece
        shown = ""
        while True:
            if self._inside:
                end = _CLOSING.search(self._raw)
                if end is None:
                    self._raw = self._raw[-_LONGEST_TAG:]
                    return shown
                self._raw, self._inside = self._raw[end.end() :], False
                continue
            begin, stray = self._opening.search(self._raw), _CLOSES_A_THOUGHT.search(self._raw)
            if stray is not None and (begin is None or stray.start() < begin.start()):
                self.restarts += 1
                shown, self._raw = "", self._raw[stray.end() :]
            elif begin is not None:
                shown += _CONTROL.sub("", self._raw[: begin.start()])
                self._raw, self._inside = self._raw[begin.end() :], True
            else:
                return shown + self._release()

    def rest(self) -> str:
        """Return the held-back text at the end, without a thought that was never closed."""
        if self._inside:
            return ""
        held, self._raw = self._raw, ""
        return _CONTROL.sub("", held)

    def _release(self) -> str:
        held = _HELD.search(self._raw)
        cut = held.start() if held else len(self._raw)
        text, self._raw = self._raw[:cut], self._raw[cut:]
        return _CONTROL.sub("", text)


def without_thoughts(text: str) -> str:
    """Return a whole text without thoughts. Tool calls in it stay."""
    hidden = HiddenTextFilter(calls=False)
    shown = ""
    for piece in (text, None):
        before = hidden.restarts
        more = hidden.feed(piece) if piece is not None else hidden.rest()
        shown = more if hidden.restarts > before else shown + more
    return shown.strip()


def prose_of(draft: str) -> str:
    """Return a draft without an enclosing fence, the speaker's name and copies of our prompt's last lines."""
    wrapped = _WRAPPED.match(draft)
    return _SPEAKER.sub("", _ECHO.sub("", wrapped.group("inside") if wrapped else draft))


def is_call_or_data(draft: str) -> bool:
    """Whether a draft is a tool call or JSON rather than prose."""
    bare = re.sub(r"^```\w*\s*|\s*```$", "", draft.strip())
    if not bare.startswith(("{", "[{", '["')) and not _CALL.match(bare):
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return bool(_CALL.search(bare)) or bare.startswith('{"')
    return True
