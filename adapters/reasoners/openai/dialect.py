"""Features of one model at one endpoint, learned from its refusals, and requests that fit them.

If a refusal names an unsupported field, the request is retried without it. If it names none, the request is first
retried unchanged, since the error may be transient. Then fields are left out by guessing, a bounded number of times
per process. Later calls use what was learned.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adapters.reasoners.openai.causes import cause_of
from adapters.reasoners.openai.request import Json, ModelRequest

if TYPE_CHECKING:
    from openai import APIStatusError

MOST_GUESSES = 36  # retries per process after refusals that name no field
REASONING_ROOM = 6_000  # tokens for hidden reasoning, in addition to the reply
CONTEXT_MARGIN = 64  # tokens of the context left free, in addition to a quarter of the prompt's estimate
LEAST_CONTEXT = 512  # tokens; a smaller number in an error is not a context window

# Optional features, and how a refusal names them.
FEATURES: Mapping[str, re.Pattern[str]] = {
    "reasoning_effort": re.compile(r"reasoning.effort|\breasoning\b"),
    "json_schema": re.compile(r"json.?schema|response.format"),
    "response_format": re.compile(r"response.format|json.object|json mode"),
    "tool_choice": re.compile(r"tool.choice"),
    "stream_options": re.compile(r"stream.options"),
    "stream": re.compile(r"\bstream(?:ing)?\b(?!.options)"),
    "tools": re.compile(r"\btools?\b(?!.choice)|function.call"),
    "temperature": re.compile(r"temperature"),
    "max_tokens": re.compile(r"max_tokens(?! ?(?:is|are|too|must|exceeds|=|:) ?(?:too|larg|\d))"),
    "system": re.compile(r"\bsystem\b.{0,40}\b(?:role|message|prompt)|\brole\b.{0,40}\bsystem\b|system role"),
}
# Words near the name of an unsupported field. An error that only mentions a field ("stream disconnected before
# completion") does not refuse it.
_NEAR = 80  # characters
_NOT_TAKEN = (
    r"support|not (?:be )?(?:allow|permit|accept|enabl|availab|implement)|extra|forbidden|disallow|disabled|must|only"
)
_NOT_TAKEN_SO = re.compile(
    rf"{_NOT_TAKEN}|unknown|unrecogni|unexpected|invalid|not (?:valid|compatib)|incompatib|deprecated|should"
    r"|requires?\b|need|cannot|can['’]t"
)
_NO_STREAM = re.compile(_NOT_TAKEN)  # streams also fail with words like "unexpected" and "unknown"
_ECHOES = frozenset({"input", "body", "failed_generation"})  # parts of a refusal that repeat the request or the reply
_JSON = frozenset({"json_schema", "response_format"})
_TOOLS = frozenset({"tools", "tool_choice"})
# Features to leave out, in this order, if a refusal names none: new or rare ones first, all of them last.
SUSPECTS: Sequence[frozenset[str]] = (
    frozenset({"reasoning_effort"}),
    frozenset({"json_schema"}),
    _JSON,
    frozenset({"tool_choice"}),
    frozenset({"stream_options"}),
    _TOOLS,
    _TOOLS | _JSON,
    frozenset({"temperature"}),
    frozenset({"max_tokens"}),
    frozenset({"system"}),
    frozenset(FEATURES) - {"max_tokens", "system"},
    frozenset(FEATURES),
)
_REFUSALS = frozenset({400, 404, 405, 415, 422, 500, 501})  # some servers answer 500 to an unknown field, and name it
_UNNAMED_REFUSALS = frozenset({400, 422})
_TOO_LONG = re.compile(
    r"context.?(?:length|window|size)|maximum context|max(?:imum)?.?model.?len|too (?:long|many (?:input )?tokens)"
    r"|prompt is too|exceeds? (?:the )?(?:available |model'?s? )?(?:context|maximum)|n_ctx|input (?:is )?too large"
    r"|reduce the length|tokens? limit exceeded|string too long|request too large|input token count exceeds"
    r"|exceeded (?:the )?model token limit|input length should be|(?:exceeds max|maximum prompt) length"
    r"|`?inputs`? (?:tokens \+|must have less than)|contextwindowexceeded|exceed_context_size",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"(?:context(?: length| window| size)?|n_ctx|model.?len(?:gth)?)[^\d]{0,40}(\d[\d,]{2,9})"
    r"|(\d[\d,]{2,9}) tokens? (?:context|maximum|limit)",
    re.IGNORECASE,
)
_NAMED_CONTEXT = re.compile(
    r"model token limit: ?(\d{3,9})|input length should be \[\d+, ?(\d{3,9})|prompt length is (\d{3,9})"
    r"|n_ctx[\"']?: ?(\d{3,9})|max_new_tokens`? must be <= ?(\d{3,9})|less than (\d{3,9}) tokens",
    re.IGNORECASE,
)
_CAP_TOO_LARGE = re.compile(
    r"max_(?:completion_)?tokens\W+(?:is |are )?(?:too large|must be|exceeds)[^\d]{0,60}(\d[\d,]*)?"
    r"|range of max_(?:completion_)?tokens|max_(?:completion_)?tokens: \d+ > \d",
    re.IGNORECASE,
)
_CAP_LIMIT = re.compile(
    r"(?:at most|less than or equal to|<=|supports at most|maximum (?:is|of)|\[1,|tokens: \d+ >) ?(\d[\d,]*)",
    re.IGNORECASE,
)
_RESPONSES_ONLY = re.compile(
    r"only supported in v1/responses|use the responses api|not a chat model|v1/responses", re.IGNORECASE
)
_REASONS = re.compile(
    r"(?:^|/)(?:o[1-9](?:-|$)|gpt-5|gpt-oss)|\br1\b|deepseek-reasoner|qwq|qwen3|thinking|reason|magistral|glm-4\.[5-9]|kimi-k2",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Dialect:
    """Known features of one model. ``context`` is in tokens, 0 if unknown."""

    model: str
    temperature: float | None = 0.0
    reasoning_effort: str = ""
    context: int = 0
    most_out: int = 0  # most tokens of a reply, 0 if unknown
    uses_responses: bool = False  # it does not support chat completions
    reasons: bool = False  # it reasons unseen, which counts towards the cap
    refused: frozenset[str] = frozenset()
    _guesses_left: int = MOST_GUESSES
    _hopeless: set[tuple[str, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.reasons = bool(_REASONS.search(self.model)) or bool(self.reasoning_effort)

    def cap(self, request: ModelRequest, room: int) -> int:
        """Return the most tokens of the reply within the ``room`` that the budget leaves."""
        wanted = self.fit(request.max_tokens + (REASONING_ROOM if self.reasons else 0), request)
        return max(min(request.max_tokens, room), min(wanted, room))

    def fit(self, cap: int, request: ModelRequest) -> int:
        """Reduce a cap to the model's limit for a reply and to its context minus the prompt.

        The visible reply keeps its ``max_tokens``. If that does not fit the context, the prompt has to be shorter.
        """
        cap = min(cap, self.most_out or cap)
        left = self.context - request.tokens * 5 // 4 - CONTEXT_MARGIN
        return min(cap, max(left, request.max_tokens)) if self.context else cap

    def parameters(self, request: ModelRequest, cap: int, *, stream: bool) -> Json:
        """Return the parameters for chat completions, without refused features."""
        asked = self._full_request(request, cap, stream=stream)
        if "max_tokens" in self.refused:  # OpenAI's newer models only accept this name
            asked["max_completion_tokens"] = asked.pop("max_tokens")
        if "system" in self.refused:
            first, second, *rest = asked["messages"]
            asked["messages"] = [{"role": "user", "content": f"{first['content']}\n\n{second['content']}"}, *rest]
        for feature in self.refused - {"json_schema", "max_tokens", "system"}:
            asked.pop(feature, None)
        return asked

    def _full_request(self, request: ModelRequest, cap: int, *, stream: bool) -> Json:
        in_words = bool(request.tools) and "tools" in self.refused
        user = f"{request.user}\n\n{request.tools_in_words}" if in_words else request.user
        messages = [("system", request.system), ("user", user), *request.further]
        asked: Json = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in messages],
            "max_tokens": cap,
        }
        if self.temperature is not None:
            asked["temperature"] = self.temperature
        if self.reasoning_effort:
            asked["reasoning_effort"] = self.reasoning_effort
        if request.schema and "json_schema" not in self.refused:
            asked["response_format"] = {"type": "json_schema", "json_schema": request.schema}
        elif request.schema or in_words:
            asked["response_format"] = {"type": "json_object"}
        if request.tools and not in_words:
            asked |= {"tools": list(request.tools), "tool_choice": "required"}
        if stream:
            asked |= {"stream": True, "stream_options": {"include_usage": True}}
        return asked

    def learn(self, error: "APIStatusError", asked: Json, request: ModelRequest) -> bool:
        """Learn this model's limits from a refusal. Return whether a changed request is worth a retry."""
        said = _words_of(error)
        if _RESPONSES_ONLY.search(said) and not self.uses_responses:
            self.uses_responses = True
            return True
        if _CAP_TOO_LARGE.search(said) and self._lower_cap(said, asked):
            return True
        if is_too_long(error):
            self.context = context_in(error) or self.context
            return self.fit(_cap_of(asked), request) < _cap_of(asked)
        if error.status_code not in _REFUSALS:
            return False
        named = self._refused_features(said.casefold(), asked)
        named -= frozenset({"stream"}) if error.status_code == 500 else frozenset()  # the stream failed, not refused
        self.refused |= named
        return bool(named)

    def guesses(self, error: "APIStatusError", asked: Json) -> Iterator[frozenset[str]]:
        """Yield the sets of features to leave out in the next retries: none, then each suspect, then all of them."""
        shape = tuple(sorted(asked))
        tells = is_too_long(error) or cause_of(error.status_code, f"{error.message} {error.body}")
        if error.status_code not in _UNNAMED_REFUSALS or tells or shape in self._hopeless:
            return
        before = self.refused
        yield before
        for guess in SUSPECTS:
            if not any(self._is_asked(feature, asked) for feature in guess):
                continue
            if self._guesses_left <= 0:
                return
            self._guesses_left -= 1
            yield before | guess
        self._hopeless.add(shape)

    def _refused_features(self, said: str, asked: Json) -> frozenset[str]:
        named = {name for name in FEATURES if self._is_asked(name, asked) and _is_not_taken(name, said)}
        if "json_schema" in named and "schema" not in said:  # then both JSON formats are refused
            named.add("response_format")
        return frozenset(named)

    def _is_asked(self, feature: str, asked: Json) -> bool:
        kind = (asked.get("response_format") or {}).get("type")
        match feature:
            case "json_schema":
                return kind == "json_schema"
            case "response_format":
                return kind == "json_object"
            case "system":
                return any(message["role"] == "system" for message in asked["messages"])
            case _:
                return feature in asked

    def _lower_cap(self, said: str, asked: Json) -> bool:
        """Lower the cap to the model's limit. Return whether the error allowed that."""
        cap = _cap_of(asked)
        limits = [int(found.replace(",", "")) for found in _CAP_LIMIT.findall(said)]
        limit = min((one for one in limits if 0 < one < cap), default=0) or (cap // 2 if cap > LEAST_CONTEXT else 0)
        if not limit or is_about_context(said):
            return False
        self.most_out = limit
        return True


def _cap_of(asked: Json) -> int:
    return int(asked.get("max_tokens") or asked.get("max_completion_tokens") or 0)


def _words_of(error: "APIStatusError") -> str:
    """Return the text of a refusal without its copy of the request."""
    whole = isinstance(error.body, dict | list)
    return f"{_without_echo(error.body) if whole else error.message} {error.param or ''}"


def _without_echo(said: object) -> object:
    if isinstance(said, dict):
        return {name: _without_echo(value) for name, value in said.items() if name not in _ECHOES}
    return [_without_echo(one) for one in said] if isinstance(said, list) else said


def _is_not_taken(feature: str, said: str) -> bool:
    """Return whether a refusal (in lower case) says near the feature's name that it is unsupported."""
    refusing = _NO_STREAM if feature == "stream" else _NOT_TAKEN_SO
    near = (said[max(0, one.start() - _NEAR) : one.end() + _NEAR] for one in FEATURES[feature].finditer(said))
    return any(refusing.search(words) for words in near)


def is_too_long(error: "APIStatusError") -> bool:
    """Return whether the prompt was longer than the model's context."""
    said = f"{error.message} {error.body}"
    if error.status_code == 429:  # one request alone exceeds the limit per minute
        return "request too large" in said.casefold()
    return error.status_code == 413 or (error.status_code in {400, 422, 500} and is_about_length(said))


def is_about_length(said: str) -> bool:
    """Return whether an error says that the prompt was too long, not only the cap too large."""
    return bool(_TOO_LONG.search(said)) and (not _CAP_TOO_LARGE.search(said) or is_about_context(said))


def is_about_context(said: str) -> bool:
    """Return whether an error about too many tokens is about the context, not only the cap."""
    return bool(re.search(r"context|model.?len|n_ctx", said, re.IGNORECASE))


def context_in(error: "APIStatusError") -> int:
    """Return the size of the context window in tokens from a refusal, or 0."""
    said = f"{error.message} {error.body}"
    found = _NAMED_CONTEXT.search(said) or _CONTEXT.search(said)
    size = int(next(group for group in found.groups() if group).replace(",", "")) if found else 0
    return size if size >= LEAST_CONTEXT else 0
