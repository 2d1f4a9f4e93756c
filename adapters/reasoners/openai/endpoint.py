"""One OpenAI-compatible endpoint: every call bounded, counted, retried within reason, and its errors translated.

Only chat completions are used, because that is what every compatible server has. What a server refuses (tools,
``response_format``, ``stream_options``, a temperature, the name of the token cap) is left out once and remembered.
Prompts and the meaning of replies are left to the reasoner.
"""

import asyncio
import json
import random
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar
from urllib.parse import urlsplit

from adapters.reasoners.openai.request import CHARACTERS_PER_TOKEN, Completion, ModelRequest, ToolCall, estimated_tokens
from adapters.reasoners.openai.server_sent_events import ServerSentEvents
from adapters.reasoners.openai.structured_output import as_number
from core.model.budget import Meter, Prices
from core.model.errors import ModelMisbehaved, ModelUnavailable
from core.ports.daily_budget import DailyBudget

if TYPE_CHECKING:
    from openai import APIStatusError

T = TypeVar("T")
Json = dict[str, Any]

MOST_CHARACTERS_PER_TOKEN = 10
FEWEST_TOKENS_OUT = 64  # with less than this left, a call is not worth making
DRAIN_SECONDS = 0.1  # for the end of a stream that has said that it is done
LONGEST_WAIT_SECONDS = 15.0  # a longer Retry-After is not waited for
CUT_OFF = " …"

# The request fields of each optional feature, in the order in which they are suspected of an unnamed refusal.
FEATURES: Mapping[str, tuple[str, ...]] = {
    "response_format": ("response_format",),
    "stream_options": ("stream_options",),
    "tools": ("tools",),
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens",),
}
_NAMES = {
    "tools": re.compile(r"\btools?\b|function.call"),
    "response_format": re.compile(r"response.format|json_object"),
}
_TOO_LONG = re.compile(
    r"context.(?:length|window|size)|maximum context|too (?:long|many tokens)|prompt is too", re.IGNORECASE
)
_REFUSALS = frozenset({400, 404, 422, 500, 501})  # some servers answer 500 to a field they do not know, naming it
_UNNAMED_REFUSALS = frozenset({400, 422})


class Calling(TypedDict, total=False):
    """How an endpoint is called; what is left out is as ``Endpoint`` has it."""

    timeout_seconds: float  # of a call with its retries, and in a stream of the wait for the next piece
    answer_seconds: float  # of a whole stream; the meter's remaining time bounds both once more
    retries: int  # after a rate limit, a server's error or a lost connection
    backoff_seconds: float  # before the first retry, doubled for each further one
    temperature: float | None
    purse: DailyBudget | None  # every call is paid from the day's budget, at these prices
    prices: Prices | None


class Endpoint:
    """Calls one model of one endpoint."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout_seconds: float = 20.0,
        answer_seconds: float = 60.0,
        retries: int = 2,
        backoff_seconds: float = 0.4,
        temperature: float | None = 0.0,
        purse: DailyBudget | None = None,
        prices: Prices | None = None,
    ) -> None:
        """Nothing is connected yet. What the options mean stands at ``Calling``."""
        import httpx2
        from openai import AsyncOpenAI

        from adapters.reasoners.openai.transport import http_client

        self.model = model
        self.host = urlsplit(base_url).hostname or "the configured address"
        self._timeout = timeout_seconds
        self._answer_seconds = answer_seconds
        self._retries = retries
        self._backoff = backoff_seconds
        self._temperature = temperature
        self._purse = purse
        self._prices = prices or Prices()
        self._refused: set[str] = set()
        # Whatever is awaited here has a deadline; one more in the transport would be set anew with each piece it reads.
        patience = httpx2.Timeout(None, connect=timeout_seconds)
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",
            timeout=patience,
            max_retries=0,  # retries are ours: the client's own know nothing of a meter
            http_client=http_client(patience),
        )

    @property
    def refused(self) -> frozenset[str]:
        """The optional features that this endpoint has refused so far."""
        return frozenset(self._refused)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def probe(self) -> None:
        """The smallest possible call, for a diagnosis. Raises ModelUnavailable with what to do about it."""
        ask = ModelRequest("Answer with one word.", "Say: ready", max_tokens=FEWEST_TOKENS_OUT)
        try:
            async with asyncio.timeout(self._timeout):
                await self._accepted(ask, ask.max_tokens, self._completed)
        except TimeoutError:
            raise self._late() from None
        except _vendor_errors() as error:
            raise self._translated(error) from None

    async def complete(self, ask: ModelRequest, meter: Meter) -> Completion:
        """One reply. Raises BudgetExhausted before a call that would go over, ModelUnavailable when there is none."""
        ceiling = _ceiling(ask, meter)
        async with self._paid(ask, ceiling) as bill:
            return await self._completion(ask, ceiling, meter, bill)

    async def _completion(self, ask: ModelRequest, ceiling: int, meter: Meter, bill: "_Bill") -> Completion:
        try:
            async with asyncio.timeout(min(self._timeout, meter.remaining)):
                body = await self._persistently(lambda: self._accepted(ask, ceiling, self._completed))
        except (TimeoutError, asyncio.CancelledError) as error:
            bill.tokens = (ask.tokens, 0)
            meter.called(ask.tokens, 0)  # it was sent, and whoever runs the endpoint will count it
            if isinstance(error, TimeoutError):
                raise self._late() from None
            raise
        except _vendor_errors() as error:
            raise self._translated(error) from None
        completion = _read(body)
        usage = _usage(body.get("usage"))
        written = estimated_tokens(completion.text, *(call.arguments for call in completion.calls))
        bill.tokens = (usage[0] or ask.tokens, usage[1] or written)
        meter.called(*bill.tokens)
        return completion

    @asynccontextmanager
    async def _paid(self, ask: ModelRequest, ceiling: int) -> AsyncIterator["_Bill"]:
        """Reserve what a call may cost at most, and settle what it did cost. Raises ModelUnavailable without budget."""
        bill = _Bill()
        reserved = self._prices.cost(ask.tokens, ceiling)
        if self._purse is not None and not await self._purse.reserve(reserved):
            raise ModelUnavailable("Today's budget for the model is used up.", remedy="It is fresh at midnight UTC.")
        try:
            yield bill
        finally:
            if self._purse is not None:
                await asyncio.shield(self._purse.settle(reserved, self._prices.cost(*bill.tokens)))

    async def stream(self, ask: ModelRequest, meter: Meter) -> AsyncGenerator[str, None]:
        """The reply's text in pieces. Raises what ``complete`` raises, also in the middle.

        Ends normally only when the model said that it was done, or had reached the length that it may write.
        """
        ceiling = _ceiling(ask, meter)
        tally = _Tally(ceiling * MOST_CHARACTERS_PER_TOKEN)
        deadline = asyncio.get_running_loop().time() + min(self._answer_seconds, meter.remaining)
        async with self._paid(ask, ceiling) as bill:
            try:
                async with aclosing(self._chunks(ask, ceiling, deadline, tally)) as received:
                    async for chunks in received:
                        if piece := tally.take(chunks):
                            yield piece
                        if tally.full:
                            break
                tally.require_end()
                if tally.finish == "length":
                    meter.notice("The answer had reached the length that it may have and was cut there.")
                    yield CUT_OFF
            except TimeoutError:
                raise self._late() from None
            except _vendor_errors() as error:
                raise self._translated(error) from None
            finally:
                if tally.sent:
                    written = tally.usage[1] or tally.written // CHARACTERS_PER_TOKEN
                    bill.tokens = (tally.usage[0] or ask.tokens, written)
                    meter.called(*bill.tokens)

    async def _chunks(
        self, ask: ModelRequest, ceiling: int, deadline: float, tally: "_Tally"
    ) -> AsyncGenerator[Sequence[Any], None]:
        """The chunks, those that came together together; each wait for more is bounded."""
        opening = self._persistently(lambda: self._accepted(ask, ceiling, self._opened, stream=True))
        stream = await self._soon(opening, deadline)
        tally.sent = True
        async with stream:
            response = stream.response
            if "event-stream" not in response.headers.get("content-type", "event-stream"):
                body = await self._soon(response.aread(), deadline)  # it does not stream: all at once then
                yield [_as_chunk(_object(body))]
                return
            events, received = ServerSentEvents(), aiter(response.aiter_bytes())
            while not events.done and (data := await self._soon(anext(received, None), deadline)) is not None:
                yield [self._chunk(event) for event in events.feed(data)]
            yield [self._chunk(event) for event in events.finish()]
            # A connection whose stream was read to its end can be used again; the answer is there, whatever comes now.
            with suppress(TimeoutError, *_vendor_errors()):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await anext(received, None)

    def _chunk(self, event: bytes) -> Any:
        chunk = json.loads(event)
        if _mapping(chunk).get("error"):
            raise self._reported()
        return chunk

    async def _soon(self, waiting: Awaitable[T], deadline: float) -> T:
        async with asyncio.timeout_at(min(deadline, asyncio.get_running_loop().time() + self._timeout)):
            return await waiting

    # Past the client's typed methods and its reading of streams. Compatible servers send shapes that its types do not
    # foresee; and turning a request into its types and each chunk into a model was more than half of an answer's time
    # on the processor. Events are read in ``_chunks``, all that came at once together.

    async def _completed(self, parameters: Json) -> Json:
        import httpx2

        raw = await self._client.post("/chat/completions", body=parameters, cast_to=httpx2.Response)
        return _object(raw.content)

    async def _opened(self, parameters: Json) -> Any:
        from openai import AsyncStream

        return await self._client.post(
            "/chat/completions", body=parameters, cast_to=object, stream=True, stream_cls=AsyncStream[object]
        )

    async def _persistently(self, call: Callable[[], Awaitable[T]]) -> T:
        """The call, again after a rate limit, a server's error or a lost connection, while it is worth it."""
        for attempt in range(self._retries):
            try:
                return await call()
            except Exception as error:
                wait = self._worth_waiting(error, attempt)
                if wait is None:
                    raise
                await asyncio.sleep(wait)
        return await call()

    def _worth_waiting(self, error: Exception, attempt: int) -> float | None:
        """Seconds until another attempt, or None when it would not help."""
        import openai

        jittered: float = self._backoff * 2**attempt * (0.5 + random.random())  # noqa: S311 - spreads load only
        if isinstance(error, openai.APIStatusError):
            if error.status_code not in {408, 409, 429} and error.status_code < 500:
                return None
            if error.code == "insufficient_quota":
                return None
            asked = _retry_after(error)
            wait = jittered if asked is None else asked
            return wait if wait <= min(LONGEST_WAIT_SECONDS, self._timeout / 2) else None
        if isinstance(error, openai.APITimeoutError):
            return None
        return jittered if isinstance(error, openai.APIConnectionError) else None

    async def _accepted(
        self, ask: ModelRequest, ceiling: int, send: Callable[[Json], Awaitable[T]], *, stream: bool = False
    ) -> T:
        """Send; when the endpoint refuses an optional feature, send without it and remember that."""
        import openai

        refused = frozenset(self._refused)
        guesses: Iterator[frozenset[str]] | None = None
        while True:
            parameters = self._parameters(ask, ceiling, refused, stream=stream)
            try:
                accepted = await send(parameters)
            except openai.APIStatusError as error:
                named = _named(error, parameters)
                if named:
                    refused |= named
                    continue
                guesses = guesses or _guesses(error, refused, parameters)
                guess = next(guesses, None)
                if guess is None:
                    raise
                refused = guess
            else:
                self._refused |= refused
                return accepted

    def _parameters(self, ask: ModelRequest, ceiling: int, refused: frozenset[str], *, stream: bool) -> Json:
        spoken = bool(ask.tools) and "tools" in refused
        user = f"{ask.user}\n\n{ask.tools_in_words}" if spoken else ask.user
        messages = [("system", ask.system), ("user", user), *ask.further]
        parameters: Json = {
            "model": self.model,
            "messages": [{"role": role, "content": text} for role, text in messages],
            "max_tokens": ceiling,
        }
        if "max_tokens" in refused:  # newer models of the first vendor know it under this name only
            parameters["max_completion_tokens"] = parameters.pop("max_tokens")
        if self._temperature is not None:
            parameters["temperature"] = self._temperature
        if ask.schema and "json_schema" not in refused:
            parameters["response_format"] = {"type": "json_schema", "json_schema": ask.schema}
        elif ask.schema or spoken:
            parameters["response_format"] = {"type": "json_object"}
        if ask.tools:
            parameters["tools"] = list(ask.tools)
        if stream:
            parameters |= {"stream": True, "stream_options": {"include_usage": True}}
        left_out = {field for feature in refused for field in FEATURES[feature]}
        return {name: value for name, value in parameters.items() if name not in left_out}

    def _late(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"The model endpoint at {self.host} did not answer in time.",
            remedy="If this happens often, use a faster model or raise LLM_TIMEOUT.",
        )

    def _translated(self, error: Exception) -> ModelUnavailable:
        """Our error for a vendor's. Nothing the endpoint says is repeated: some repeat the key in it."""
        import httpx2
        import openai

        match error:
            case openai.APIStatusError():
                return self._for_status(error)
            case openai.APITimeoutError() | httpx2.TimeoutException():
                return self._late()
            case openai.APIError() if not isinstance(error, openai.APIConnectionError):
                return self._reported()
            case ValueError() | TypeError() | AttributeError() | LookupError():
                return ModelMisbehaved(
                    f"The model endpoint at {self.host} sent something that is no chat completion.",
                    remedy="Check that LLM_BASE_URL ends where /chat/completions begins, usually in /v1.",
                )
            case _:
                return self._gone()

    def _reported(self) -> ModelUnavailable:
        return ModelUnavailable(f"The model endpoint at {self.host} reported an error.", remedy="Try again.")

    def _gone(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"The model endpoint at {self.host} cannot be reached, or broke off.",
            remedy="Check LLM_BASE_URL and that the server runs.",
        )

    def _for_status(self, error: "APIStatusError") -> ModelUnavailable:
        status = error.status_code
        where = f"The model endpoint at {self.host}"
        if _TOO_LONG.search(f"{error.message} {error.body}"):
            return ModelUnavailable(
                f"The question with its evidence is too long for {self.model}.",
                remedy="Use a model with a larger context window.",
            )
        said, remedy = _STATUS_WORDS.get(
            status, (f"refused the request ({status})", "Check LLM_BASE_URL and LLM_MODEL.")
        )
        if status >= 500:
            said, remedy = f"has an internal error ({status})", "Try again in a moment."
        return ModelUnavailable(f"{where} {said}.", remedy=remedy)


_STATUS_WORDS = {
    401: ("does not accept our key (401)", "Check LLM_API_KEY."),
    402: ("wants to be paid first (402)", "Check the account behind LLM_API_KEY."),
    403: ("does not allow this (403)", "Check LLM_API_KEY and whether it may use LLM_MODEL."),
    404: ("does not know the address or the model (404)", "Check LLM_BASE_URL and LLM_MODEL."),
    429: ("has too many requests at the moment (429)", "Try again in a while, or raise the account's limit."),
}


def _vendor_errors() -> tuple[type[Exception], ...]:
    """What the client may raise: its own errors, its transport's, and what reading odd shapes raises."""
    import httpx2
    import openai

    return (openai.OpenAIError, httpx2.HTTPError, ValueError, TypeError, AttributeError, LookupError)


@dataclass(slots=True)
class _Bill:
    """Tokens in and out that a call has come to."""

    tokens: tuple[int, int] = (0, 0)


class _Tally:
    """What a stream has brought so far."""

    def __init__(self, most: int) -> None:
        self.sent = False
        self.finish = ""
        self.written = 0  # characters
        self.usage = (0, 0)
        self._most = most  # characters

    @property
    def full(self) -> bool:
        """Whether it is longer than was asked for: not every endpoint keeps to the length itself."""
        return self.written > self._most

    def take(self, chunks: Sequence[Any]) -> str:
        """The text of these chunks, until it is full."""
        pieces = []
        for chunk in chunks:
            pieces.append(self._taken(_mapping(chunk)))
            if self.full:
                self.finish = "length"
                break
        return "".join(pieces)

    def _taken(self, chunk: Json) -> str:
        usage = _usage(chunk.get("usage"))
        self.usage = usage if any(usage) else self.usage
        choice = _mapping(next(iter(chunk.get("choices") or ()), None))
        self.finish = str(choice.get("finish_reason") or self.finish)
        content = _mapping(choice.get("delta")).get("content")
        text = content if isinstance(content, str) else ""
        self.written += len(text)
        return text

    def require_end(self) -> None:
        """Raise unless the model ended by itself or at its length limit."""
        if self.finish == "content_filter":
            raise ModelMisbehaved("The endpoint's content filter stopped the answer.")
        if not self.finish:
            raise ModelUnavailable("The model's answer broke off in the middle.", remedy="Try again.")


def _ceiling(ask: ModelRequest, meter: Meter) -> int:
    """How many tokens the reply may have; admits the whole call. Raises BudgetExhausted."""
    room = meter.room - ask.tokens
    ceiling = max(FEWEST_TOKENS_OUT, min(ask.max_tokens, room))
    meter.admit(ask.tokens, ceiling)
    return ceiling


def _named(error: "APIStatusError", parameters: Json) -> frozenset[str]:
    """The optional features of a request that its refusal names."""
    said = f"{error.message} {error.body} {error.param}".casefold()
    if error.status_code not in _REFUSALS or _TOO_LONG.search(said):
        return frozenset()
    return frozenset(
        feature
        for feature, fields in FEATURES.items()
        if fields[0] in parameters and _NAMES.get(feature, re.compile(feature)).search(said)
    )


def _guesses(error: "APIStatusError", refused: frozenset[str], parameters: Json) -> Iterator[frozenset[str]]:
    """What else may have been refused when the refusal does not say: each feature, then all of them."""
    if error.status_code not in _UNNAMED_REFUSALS or _TOO_LONG.search(f"{error.message} {error.body}"):
        return
    present = [feature for feature, fields in FEATURES.items() if fields[0] in parameters]
    yield from (refused | {feature} for feature in present)
    if len(present) > 1:
        yield refused | frozenset(FEATURES)


def _retry_after(error: "APIStatusError") -> float | None:
    """Seconds that the endpoint asks us to wait (RFC 9110, 10.2.3: seconds or a date)."""
    value = error.response.headers.get("retry-after", "")
    if re.fullmatch(r"\d+(?:\.\d+)?", value.strip()):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        served = parsedate_to_datetime(error.response.headers.get("date", ""))
        return max(0.0, (date - served).total_seconds())
    except (ValueError, TypeError):
        return None


def _object(body: str | bytes) -> Json:
    value = json.loads(body)
    if not isinstance(value, dict) or not isinstance(value.get("choices"), list):
        raise TypeError("not a chat completion")
    return value


def _read(body: Json) -> Completion:
    """What a completion says, whatever of it is missing or of another type."""
    choice = next((choice for choice in body["choices"] if isinstance(choice, dict)), {})
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    functions = [call.get("function") for call in message.get("tool_calls") or () if isinstance(call, dict)]
    calls = [_call(function) for function in functions if isinstance(function, dict)]
    return Completion(_content(message.get("content")), tuple(calls))


def _call(function: Json) -> ToolCall:
    arguments = function.get("arguments")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(function.get("name") or ""), written)


def _content(content: object) -> str:
    if isinstance(content, list):  # some servers send parts
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _usage(usage: object) -> tuple[int, int]:
    """Tokens read and written, 0 where the endpoint does not say."""

    def count(name: str) -> int:
        return max(0, int(as_number(_mapping(usage).get(name)) or 0))

    return count("prompt_tokens"), count("completion_tokens")


def _as_chunk(body: Json) -> Json:
    """A whole completion in the shape of one streamed chunk."""
    choice = {"delta": {"content": _read(body).text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": body.get("usage")}


def _mapping(value: object) -> Json:
    """The object, or an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}
