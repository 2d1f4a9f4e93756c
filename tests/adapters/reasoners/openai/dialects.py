"""How servers and models behave, each named after one that does, as replies of a scripted endpoint over real sockets.

A row changes what a cooperative model says, or the bytes in which it is said, in some steps or in all.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from adapters.reasoners.openai import prompts
from tests.fakes.model.endpoint import FEATURES, Drips, Fails, Hangs, Raw, RecordedRequest, Says, Scripted, Truncates

RIGHT = "Refunds stay open for 30 days after the purchase"
FILE = f"{RIGHT}. Annual plans are refunded in part. Refunds above 2,000 euros are approved by Finance."
QUESTION = "How long do refunds stay open?"
SECRETS = (  # nothing of this may ever reach a person
    "<think", "</think", "[THINK]", "◁think", "<|", "|>", "[INST]", "<tool_call", "[TOOL_CALLS]", "tool_calls",
    "SECRET-THOUGHT", '{"', "# Task", "The only numbers that exist", "<document-", "<example-", "```", "</s>",
    "reasoning_content", "chat.completion",
)  # fmt: skip

Reply = Callable[[RecordedRequest, Says], Scripted]


@dataclass(frozen=True)
class Row:
    """One behaviour: how it replies, what the server takes, and whether the model's own answer comes through."""

    reply: Reply
    written: bool = True  # False: quotes stand in
    supports: frozenset[str] = FEATURES
    names_refusals: bool = True
    notice: bool = True  # where quotes stand in, that is said


def _composing(request: RecordedRequest) -> bool:
    return request.task.startswith(prompts.COMPOSE)


def _draft(change: Callable[[str], str]) -> Reply:
    return lambda request, says: replace(says, text=change(says.text)) if _composing(request) else says


def _all(reply: Scripted) -> Reply:
    return lambda _request, _says: reply


def _only_drafts(reply: Scripted) -> Reply:
    return lambda request, says: reply if _composing(request) else says


def _every(change: Callable[[str], str]) -> Reply:
    return lambda _request, says: replace(says, text=change(says.text))


def _event(delta: object, finish: str | None = None, **more: object) -> bytes:
    chunk = {"id": "c", "object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps({**chunk, **more})}\n\n".encode()


DONE = b"data: [DONE]\n\n"
ANSWER = f"{RIGHT} [1]."


def _streamed(*pieces: bytes, **more: object) -> Reply:
    return _only_drafts(Raw(pieces, **more))  # type: ignore[arg-type]


def _marks(mark: str) -> Reply:
    return _draft(lambda _: f"{RIGHT}{mark}.")


THOUGHT = "SECRET-THOUGHT The user wants to know. Document [1] says 45 days?"

ROWS: Mapping[str, Row] = {
    "ordinary": Row(lambda _, says: says),
    # --- marks ---
    **{
        f"mark {mark.strip()}": Row(_marks(mark))
        for mark in (
            " [1]",
            "【1】",
            "【1†source】",
            " (1)",
            "[^1]",
            " [#1]",
            " [document 1]",
            " [Source: 1]",
            "<sup>1</sup>",
            " [1, 1]",
            " [1-1]",
            " ［１］",
            " [1](#1)",
            " [[1]]",
            " (Document 1)",
            " [E1]",
            "【1†L3-L9】",
            " (source: 1)",
            r" \[1\]",
            " [Document 1, Refund policy]",
            " [Source 1: Refund policy, part 2]",
            " [1.]",
            "¹",
            " {1}",
        )
    },
    # --- thoughts and tokens ---
    "DeepSeek-R1: think first": Row(_draft(lambda text: f"<think>\n{THOUGHT}\n</think>\n\n{text}")),
    "vLLM: closing tag only": Row(_draft(lambda text: f"{THOUGHT}\n</think>\n\n{text}")),
    "Qwen3: thinks in the middle": Row(_draft(lambda text: f"{text}\n<think>{THOUGHT}</think>\n")),
    "Magistral": Row(_draft(lambda text: f"[THINK]{THOUGHT}[/THINK]{text}")),
    "Kimi": Row(_draft(lambda text: f"◁think▷{THOUGHT}◁/think▷{text}")),
    "Seed-OSS": Row(_draft(lambda text: f"<seed:think>{THOUGHT}</seed:think>{text}")),
    "gpt-oss: Harmony channels": Row(
        _draft(
            lambda text: (
                f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>"
                f"{text}<|return|>"
            )
        )
    ),
    "thought": Row(_draft(lambda text: f"<thought>{THOUGHT}</thought>{text}")),
    "reasoning": Row(_draft(lambda text: f"<reasoning>{THOUGHT}</reasoning>{text}")),
    "never stops thinking": Row(_draft(lambda _: f"<think>{THOUGHT}"), written=False),
    "DeepSeek: reasoning_content apart": Row(
        _streamed(_event({"reasoning_content": THOUGHT}), _event({"content": ANSWER}), _event({}, "stop"), DONE)
    ),
    "Llama: control tokens": Row(
        _draft(lambda text: f"<|start_header_id|>assistant<|end_header_id|>{text}<|eot_id|></s>")
    ),
    "Mistral: [INST]": Row(_draft(lambda text: f"[INST] {text} [/INST]")),
    "Gemma: turns": Row(_draft(lambda text: f"<start_of_turn>model\n{text}<end_of_turn>")),
    "Hermes: a tool call in place of an answer": Row(
        _draft(lambda _: '<tool_call>{"name": "search_knowledge_base", "arguments": {}}</tool_call>'), written=False
    ),
    "Mistral: [TOOL_CALLS]": Row(_draft(lambda _: '[TOOL_CALLS] [{"name": "search"}]'), written=False),
    "raw JSON in place of an answer": Row(_draft(lambda text: json.dumps({"answer": text})), written=False),
    "fenced JSON in place of an answer": Row(
        _draft(lambda text: f"```json\n{json.dumps({'answer': text})}\n```"), written=False
    ),
    "fences around the answer": Row(_draft(lambda text: f"```markdown\n{text}\n```")),
    "repeats the prompt": Row(
        _draft(lambda text: f"# Task\nThe only numbers that exist here: [1]\n{text}"), written=True
    ),
    "Footnote: before the answer": Row(_draft(lambda text: f"Footnote: {text}")),
    "thinks before every JSON": Row(_every(lambda text: f"<think>{THOUGHT}</think>{text}")),
    "closing tag before every JSON": Row(_every(lambda text: f"{THOUGHT}</think>{text}")),
    "every JSON in a fence with prose around": Row(
        lambda request, says: (
            says if _composing(request) else replace(says, text=f"Sure!\n```json\n{says.text}\n```\nDone.")
        )
    ),
    # --- drafts that are none ---
    "no marks": Row(_draft(lambda _: f"{RIGHT}."), written=False),
    "empty": Row(_only_drafts(Says("")), written=False),
    "white space": Row(_only_drafts(Says("  \n ")), written=False),
    "cut at its length without a word": Row(_only_drafts(Says("", finish="length")), written=False),
    "a text refusal": Row(_only_drafts(Says("I'm sorry, but I can't help with that.")), written=False),
    "the documents do not say, it claims": Row(_only_drafts(Says("The documents do not say this [1].")), written=False),
    "unknown marks": Row(_draft(lambda _: f"{RIGHT} [77]."), written=False),
    "a wrong number": Row(_draft(lambda _: "Refunds stay open for 45 days after the purchase [1]."), written=False),
    "a wrong number, and a checker that nods": Row(
        lambda request, says: (
            Says("Refunds stay open for 45 days after the purchase [1].")
            if _composing(request)
            else Says('{"verdicts": [{"n": 1, "verdict": "supported"}]}')
            if request.task.startswith(prompts.CHECK)
            else says
        ),
        written=False,
    ),
    "a model that grades everything 1": Row(
        lambda request, says: (
            Says(json.dumps({"grades": [{"id": n, "score": 1} for n in range(1, 9)]}))
            if request.task.startswith(prompts.GRADE)
            else says
        ),
        written=False,
    ),
    "nothing but chatter": Row(_all(Says("Sure, I can help with that!")), written=False),
    # --- streams ---
    "llama.cpp: no stream_options, no usage": Row(
        lambda _, says: replace(says, usage=None), supports=FEATURES - {"stream_options"}
    ),
    "Azure: first chunk without choices": Row(
        _streamed(
            b'data: {"choices": [], "prompt_filter_results": []}\n\n',
            _event({"content": ANSWER}),
            _event({}, "stop"),
            DONE,
        )
    ),
    "OpenRouter: comments keep it alive": Row(
        _streamed(
            b": OPENROUTER PROCESSING\n\n", b": PROCESSING\n\n", _event({"content": ANSWER}), _event({}, "stop"), DONE
        )
    ),
    "no [DONE]": Row(_streamed(_event({"content": ANSWER}), _event({}, "stop"))),
    "[DONE] without a finish": Row(_streamed(_event({"content": ANSWER}), DONE)),
    "an odd finish": Row(_streamed(_event({"content": ANSWER}), _event({}, "eos_token"), DONE)),
    "CR LF, no space after data:": Row(
        _streamed(
            _event({"content": ANSWER}).replace(b"data: ", b"data:").replace(b"\n", b"\r\n"), _event({}, "stop"), DONE
        )
    ),
    "content in parts": Row(
        _streamed(_event({"content": [{"type": "text", "text": ANSWER}]}), _event({}, "stop"), DONE)
    ),
    "role-only and null chunks": Row(
        _streamed(
            _event({"role": "assistant"}),
            _event({"content": None}),
            _event({"content": ANSWER}),
            _event({}, "stop"),
            DONE,
        )
    ),
    "index and id missing": Row(
        _streamed(b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % ANSWER.encode(), DONE)
    ),
    "a lone surrogate": Row(
        _streamed(
            b'data: {"choices":[{"delta":{"content":"%s \\ud83d"}}]}\n\n' % ANSWER.encode(), _event({}, "stop"), DONE
        )
    ),
    "does not stream": Row(
        _only_drafts(
            Raw(
                (json.dumps({"choices": [{"message": {"content": ANSWER}, "finish_reason": "stop"}]}).encode(),),
                content_type="application/json",
            )
        )
    ),
    "an error in the middle": Row(
        _streamed(_event({"content": f"{ANSWER} And"}), b'data: {"error": {"message": "upstream died"}}\n\n'),
        written=False,
    ),
    "finish_reason error": Row(
        _streamed(_event({"content": f"{ANSWER} And"}), _event({}, "error"), DONE), written=False
    ),
    "Azure: content filter in the middle": Row(
        _streamed(_event({"content": f"{ANSWER} And"}), _event({}, "content_filter"), DONE), written=False
    ),
    "a refusal apart": Row(_streamed(_event({"refusal": "I cannot help."}), _event({}, "stop"), DONE), written=False),
    "broken off": Row(_only_drafts(Truncates(f"{ANSWER} And")), written=False),
    "ends without an end": Row(_only_drafts(Truncates(f"{ANSWER} And", cleanly=True)), written=False),
    "garbage in the stream": Row(_streamed(_event({"content": ANSWER}), b"data: {broken\n\n"), written=False),
    "keep-alives alone": Row(_streamed(b": ping\n\n", every_seconds=0.02, endless=True), written=False),
    "empty chunks alone": Row(_streamed(_event({"content": ""}), every_seconds=0.02, endless=True), written=False),
    "one character at a time, without end": Row(_only_drafts(Drips(0.02)), written=False),
    "an event without an end": Row(_streamed(b"data: " + b"x" * 1_000_000, endless=True), written=False),
    # --- whole calls ---
    "hangs": Row(_all(Hangs()), written=False),
    "wrong key": Row(_all(Fails(401, "invalid api key")), written=False),
    "no credit": Row(_all(Fails(402, "insufficient credits")), written=False),
    "forbidden": Row(_all(Fails(403, "no access to this model")), written=False),
    "unknown model": Row(_all(Fails(404, "The model `scripted` does not exist")), written=False),
    "rate limited": Row(_all(Fails(429, "slow down", "3600")), written=False),
    "overloaded": Row(_all(Fails(529, "overloaded")), written=False),
    "internal error": Row(_all(Fails(500, "oops")), written=False),
    "Azure: content filter as a 400": Row(
        _all(Fails(400, "The response was filtered: content management policy")), written=False
    ),
    "too long, always": Row(_all(Fails(400, "maximum context length is 512 tokens")), written=False),
    "HTML with 200": Row(_all(Raw((b"<html>hello</html>",), content_type="text/html")), written=False),
    "an error object with 200": Row(
        _all(Raw((b'{"error": {"message": "quota exceeded", "code": 429}}',), content_type="application/json")),
        written=False,
    ),
    "JSON that is no completion": Row(_all(Raw((b'{"ok": true}',), content_type="application/json")), written=False),
    "cut short": Row(_all(Raw((b'{"choices": [{"mess',), content_type="application/json")), written=False),
    "a redirect to nowhere": Row(
        _all(Raw((b"",), status=302, headers={"Location": "http://127.0.0.1:9/v1"})), written=False
    ),
    # --- fields refused ---
    "o1: max_completion_tokens, no temperature": Row(
        lambda _, says: says, supports=FEATURES - {"max_tokens", "temperature"}
    ),
    "no response_format": Row(lambda _, says: says, supports=FEATURES - {"response_format"}),
    "no response_format, unsaid": Row(
        lambda _, says: says, supports=FEATURES - {"response_format"}, names_refusals=False
    ),
    "no tools": Row(lambda _, says: says, supports=FEATURES - {"tools"}),
    "nothing optional": Row(lambda _, says: says, supports=frozenset({"max_tokens"})),
    "nothing optional, unsaid": Row(lambda _, says: says, supports=frozenset({"max_tokens"}), names_refusals=False),
    "400 to everything, unsaid": Row(_all(Fails(400, "bad request")), written=False),
}
