"""One model of one OpenAI-compatible endpoint: every call is bounded, counted and retried, and errors are translated.

Calls use the ``openai`` client's own methods, types and streams. The ``dialect`` remembers which features a server
refuses. The reasoner makes the prompts and interprets the replies.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar
from urllib.parse import urlsplit

from adapters.reasoners.openai import responses as replies
from adapters.reasoners.openai.causes import BROKE_OFF, NO_COMPLETION, cause_of
from adapters.reasoners.openai.client import ReportedError, StreamReader, open_client
from adapters.reasoners.openai.dialect import Dialect, context_in, is_too_long
from adapters.reasoners.openai.failures import Failures, OnlyThoughts, PromptTooLong, client_failures, retry_after
from adapters.reasoners.openai.request import CHARACTERS_PER_TOKEN, Completion, Json, ModelRequest, estimated_tokens
from adapters.reasoners.openai.responses import as_chunks, as_completion, as_responses
from core.model.budget import Meter, Prices
from core.model.errors import ModelFailure, ModelUnavailable
from core.ports.usage import DailyBudget

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

MOST_CHARACTERS_PER_TOKEN = 10
FEWEST_TOKENS_OUT = 64  # a call with fewer tokens left is not worth making
LONGEST_WAIT_SECONDS = 15.0  # don't wait for a longer Retry-After
CUT_OFF = " …"
PASSING = frozenset(
    {ModelFailure.RATE_LIMIT, ModelFailure.SERVER, ModelFailure.TIMEOUT, ModelFailure.LOADING}
)  # transient causes
AT_ITS_LENGTH = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete", "model_length"})


class CallOptions(TypedDict, total=False):
    """Options for calling an endpoint. ``ModelEndpoint`` has the defaults."""

    timeout_seconds: float  # for a call with its retries; for a stream, until its first content and between contents
    answer_seconds: float  # for a whole stream; the meter's remaining time also bounds both
    retries: int  # after a rate limit, a server error or a lost connection
    backoff_seconds: float  # before the first retry, doubled for each later one
    temperature: float | None
    reasoning_effort: str  # low, medium or high; empty for the endpoint's default
    context_tokens: int  # size of the context window, if known
    daily_budget: DailyBudget | None  # every call is charged to the day's budget, at these prices
    prices: Prices | None


class ModelEndpoint:
    """Client for one model of one endpoint."""

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
        reasoning_effort: str = "",
        context_tokens: int = 0,
        daily_budget: DailyBudget | None = None,
        prices: Prices | None = None,
        client: "AsyncOpenAI | None" = None,
    ) -> None:
        """Create without connecting. See ``CallOptions`` for the options. Endpoints may share a ``client``."""
        self.model = model
        self.dialect = Dialect(model, temperature, reasoning_effort, context_tokens)
        self._failures = Failures(urlsplit(base_url).hostname or "the configured address", model)
        self._timeout = timeout_seconds
        self._answer_seconds = answer_seconds
        self._retries = retries
        self._backoff = backoff_seconds
        self._daily_budget = daily_budget
        self._prices = prices or Prices()
        self.client = client or open_client(base_url, api_key, timeout_seconds)

    @property
    def refused_features(self) -> frozenset[str]:
        """Optional features that this endpoint has refused so far."""
        return self.dialect.refused

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()

    async def complete(self, request: ModelRequest, meter: Meter) -> Completion:
        """Return one reply. Raises BudgetExhausted before a call over budget, ModelUnavailable without a reply.

        If hidden reasoning used up the reply's tokens, retry once with room for it.
        """
        reasoned = self.dialect.reasons
        try:
            return await self._reply(request, meter)
        except OnlyThoughts:
            self.dialect.reasons = True
            if reasoned:
                raise
            return await self._reply(request, meter)

    async def _reply(self, request: ModelRequest, meter: Meter) -> Completion:
        reply = await self._completion(request, meter)
        choice, found = replies.first_choice(reply), replies.completion_of(reply)
        if replies.finish_of(choice) in AT_ITS_LENGTH:
            thought = any(replies.usage_of(reply)[3:]) or replies.reasoning_of(replies.field_of(choice, "message"))
            if not (found.text or found.calls) or (thought and not self.dialect.reasons):
                raise self._failures.only_thoughts()
        return self._usable(found, choice)

    def _usable(self, found: Completion, choice: object) -> Completion:
        if replies.is_filtered(replies.finish_of(choice)):
            raise self._failures.filter_error()
        if not found.text and not found.calls and replies.refusal_of(replies.field_of(choice, "message")):
            raise self._failures.refusal_error()
        return found

    async def _completion(self, request: ModelRequest, meter: Meter) -> object:
        cap = self._cap(request, meter)
        async with self._paid(request, cap, meter) as bill:
            try:
                async with asyncio.timeout(min(self._timeout, meter.remaining_seconds)):
                    reply = await self._persistently(
                        lambda: self._send_accepted(request, cap, bill, self._request_completion)
                    )
            except TimeoutError:
                raise self._failures.late() from None
            except client_failures() as error:
                raise self._learn_from_error(error) from None
            if (reported := replies.error_in(reply)) is not None:
                raise self._failures.reported_error(reported)
            if not replies.is_completion(reply):
                raise self._failures.because(NO_COMPLETION)
            found = replies.completion_of(reply)
            written = estimated_tokens(found.text, *(call.arguments for call in found.calls))
            bill.count(replies.usage_of(reply), request.tokens, written)
            return reply

    @asynccontextmanager
    async def _paid(self, request: ModelRequest, cap: int, meter: Meter) -> AsyncIterator["_Bill"]:
        """Reserve the most that a call may cost, then count and settle the actual cost. Raises ModelUnavailable."""
        bill = _Bill()
        reserved = self._prices.cost(request.tokens, cap)
        day = await self._daily_budget.reserve(reserved, meter.account) if self._daily_budget is not None else ""
        try:
            yield bill
        finally:
            # The endpoint also processes a cancelled call, so charge at least its prompt.
            read = bill.read or (request.tokens if bill.accepted or bill.waits else 0)
            if bill.calls:
                meter.count_call(read, bill.written, cached=bill.cached, calls=bill.calls)
            if self._daily_budget is not None:
                cost = self._prices.cost(read, bill.written, bill.cached)
                await asyncio.shield(self._daily_budget.settle(reserved, cost, meter.account, day=day))

    async def stream(self, request: ModelRequest, meter: Meter) -> AsyncGenerator[str, None]:
        """Yield the reply's text in pieces. Raises the errors of ``complete``, also after some pieces.

        Ends normally only if the model finished or reached its length limit. Retries once like ``complete``, as long as
        there is no text.
        """
        reasoned, begun = self.dialect.reasons, False
        try:
            async with aclosing(self._stream_once(request, meter)) as pieces:
                async for piece in pieces:
                    begun = begun or bool(piece)
                    yield piece
        except OnlyThoughts:
            self.dialect.reasons = True
            if reasoned or begun:
                raise
        else:
            return
        async with aclosing(self._stream_once(request, meter)) as pieces:
            async for piece in pieces:
                yield piece

    async def _stream_once(self, request: ModelRequest, meter: Meter) -> AsyncGenerator[str, None]:
        cap = self._cap(request, meter)
        deadline = asyncio.get_running_loop().time() + min(self._answer_seconds, meter.remaining_seconds)
        begun = False
        async with self._paid(request, cap, meter) as bill:
            try:
                async with aclosing(self._pieces(request, cap, deadline, bill)) as pieces:
                    async for piece in pieces:
                        begun = begun or bool(piece)
                        yield piece
            except TimeoutError:
                raise self._failures.late("between two pieces" if begun else "with a first word") from None
            except ReportedError as reported:
                raise self._failures.reported_error(reported.error) from None
            except client_failures() as error:
                raise self._learn_from_error(error) from None
            if bill.cut_off:
                meter.notice("The answer had reached the length that it may have and was cut there.")
                yield CUT_OFF

    async def _pieces(
        self, request: ModelRequest, cap: int, deadline: float, bill: "_Bill"
    ) -> AsyncGenerator[str, None]:
        """Yield the text, with a timeout for each wait for content, which keep-alives do not extend."""
        opening = self._persistently(lambda: self._send_accepted(request, cap, bill, self._open_stream, stream=True))
        stream = await self._until(opening, self._patience(deadline))
        reader = StreamReader(self._chunks(stream), request.max_tokens * MOST_CHARACTERS_PER_TOKEN)
        try:
            async with reader:
                while (text := await self._until(reader.take(), self._patience(deadline))) is not None:
                    if text:
                        yield text
        finally:
            bill.count(reader.usage, request.tokens, reader.written // CHARACTERS_PER_TOKEN)
        whole = isinstance(stream, _WholeReply)
        self._require_end(reader, has_ended=whole or getattr(stream.response.stream, "has_ended", False))
        bill.cut_off = reader.finish in AT_ITS_LENGTH

    async def _chunks(self, stream: Any) -> AsyncGenerator[object, None]:
        """Yield the chunks of a stream. If the server does not stream, yield its whole reply as one chunk."""
        if isinstance(stream, _WholeReply):
            yield replies.as_chunk(stream.reply)
            return
        async with stream:
            if "event-stream" not in stream.response.headers.get("content-type", "event-stream"):
                yield replies.as_chunk(replies.parse_completion(await stream.response.aread()))
                return
            if self.dialect.uses_responses:
                async with aclosing(as_chunks(stream)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            async for chunk in stream:
                yield chunk

    def _require_end(self, reader: StreamReader, *, has_ended: bool) -> None:
        """Raise unless the model finished or reached its length limit."""
        if replies.is_filtered(reader.finish):
            raise self._failures.filter_error()
        if reader.finish == "error":
            raise self._failures.reported_error("")
        if not reader.written and reader.refusal:
            raise self._failures.refusal_error()
        if reader.finish in AT_ITS_LENGTH:
            if not reader.written:
                raise self._failures.only_thoughts()
            self.dialect.reasons = self.dialect.reasons or reader.thought
        if not reader.finish and not has_ended:
            raise self._failures.because(BROKE_OFF)

    def _patience(self, deadline: float) -> float:
        return min(deadline, asyncio.get_running_loop().time() + self._timeout)

    async def _until(self, waiting: Awaitable[T], when: float) -> T:
        async with asyncio.timeout_at(when):
            return await waiting

    def _cap(self, request: ModelRequest, meter: Meter) -> int:
        """Return the most tokens of the reply, and admit the call to the budget. Raises BudgetExhausted."""
        room = max(FEWEST_TOKENS_OUT, meter.room - request.tokens)
        cap = max(FEWEST_TOKENS_OUT, self.dialect.cap(request, room))
        meter.admit(request.tokens, cap)
        return cap

    def _learn_from_error(self, error: BaseException) -> ModelUnavailable:
        """Return the translated error, and remember the size of the context window if it names one."""
        translated = self._failures.translate(error)
        if isinstance(translated, PromptTooLong) and (size := context_in(error)):  # type: ignore[arg-type]
            self.dialect.context = size
        return translated

    # --- sending ----------------------------------------------------------------------------------------------------

    async def _request_completion(self, asked: Json) -> object:
        if self.dialect.uses_responses:
            return as_completion(await self.client.responses.create(**as_responses(asked)))
        return await self.client.chat.completions.create(**asked)

    async def _open_stream(self, asked: Json) -> Any:
        """Return the client's stream with untyped events, because building typed objects costs too much.

        If the endpoint has refused to stream, return a whole reply.
        """
        from openai import AsyncStream

        if "stream" not in asked:
            return _WholeReply(await self._request_completion(asked))
        if self.dialect.uses_responses:
            response = await self.client.responses.with_raw_response.create(**as_responses(asked))
            return response.parse(to=AsyncStream[object])
        completion = await self.client.chat.completions.with_raw_response.create(**asked)
        return completion.parse(to=AsyncStream[object])

    async def _persistently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call, with retries after a rate limit, a server error or a lost connection."""
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
        """Return the seconds before a retry, or None if a retry would not help."""
        import httpx2
        import openai

        jittered: float = self._backoff * 2**attempt * (0.5 + random.random())  # noqa: S311 - spreads load only
        if isinstance(error, openai.APIStatusError):
            cause = cause_of(error.status_code, f"{error.message} {error.body} {error.code}")
            passes = cause is not None and cause.kind is ModelFailure.SERVER  # with any status
            if error.status_code not in {408, 409, 429} and error.status_code < 500 and not passes:
                return None
            if is_too_long(error) or (cause and cause.kind not in PASSING):
                return None
            asked = retry_after(error)
            wait = jittered if asked is None else asked
            return wait if wait <= min(LONGEST_WAIT_SECONDS, self._timeout / 2) else None
        circles = isinstance(error.__cause__, httpx2.TooManyRedirects)
        return jittered if isinstance(error, openai.APIConnectionError) and not circles else None

    async def _send_accepted(
        self,
        request: ModelRequest,
        cap: int,
        bill: "_Bill",
        send: Callable[[Json], Awaitable[T]],
        *,
        stream: bool = False,
    ) -> T:
        """Send a request. If the endpoint refuses an optional feature, remember that and send without it."""
        import openai

        before, guesses = self.dialect.refused, None
        while True:
            cap = self.dialect.fit(cap, request)
            asked = self.dialect.parameters(request, cap, stream=stream)
            bill.calls += 1
            bill.waits = True
            try:
                accepted = await send(asked)
            except openai.APIStatusError as error:
                bill.waits = False
                if guesses is None and self.dialect.learn(error, asked, request):
                    continue
                if guesses is None:
                    before, guesses = self.dialect.refused, self.dialect.guesses(error, asked)
                guess = next(guesses, None)
                if guess is None:
                    self.dialect.refused = before
                    raise
                self.dialect.refused = guess
            except Exception:
                bill.waits = False
                raise
            else:
                bill.accepted = True
                return accepted


@dataclass(frozen=True, slots=True)
class _WholeReply:
    """Reply of an endpoint that does not stream."""

    reply: object


@dataclass(slots=True)
class _Bill:
    """Usage of a call: number of requests, and tokens."""

    calls: int = 0
    waits: bool = False  # sent, without a reply or an error yet
    accepted: bool = False
    cut_off: bool = False  # ended at its length limit
    read: int = 0
    cached: int = 0
    written: int = 0

    def count(self, usage: tuple[int, int, int, int], sent: int, written: int) -> None:
        """Set the tokens from the endpoint's usage, or from estimates without it."""
        if not self.accepted:
            return
        read, cached, out, _ = usage
        self.read, self.cached, self.written = read or sent, cached, out or written
