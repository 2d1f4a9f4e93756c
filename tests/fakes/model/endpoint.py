"""A scripted OpenAI-compatible HTTP server on a real socket: says what it is told, and misbehaves on request.

    async with ScriptedEndpoint() as endpoint:
        endpoint.says('{"action": "reply", "reply": "Hello!"}')
        reasoner = OpenAIReasoner(endpoint.base_url, "key", "scripted")

Replies are taken from a queue, one for each request; when it is empty, from the function given to ``answers_with``.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from aiohttp import web

Json = dict[str, Any]
TASK = "# Task\n"  # the line below which a prompt says what it wants
FEATURES = frozenset({"tools", "response_format", "stream_options", "temperature", "max_tokens"})
_STREAM = {"Content-Type": "text/event-stream"}


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One chat completion that was asked for."""

    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def stream(self) -> bool:
        """Whether it wants a stream."""
        return bool(self.body.get("stream"))

    @property
    def messages(self) -> Sequence[Json]:
        """The messages as sent."""
        return list(self.body.get("messages", ()))

    @property
    def system(self) -> str:
        """What the system messages say."""
        return "\n".join(str(m["content"]) for m in self.messages if m.get("role") == "system")

    @property
    def user(self) -> str:
        """What the user messages say."""
        return "\n".join(str(m["content"]) for m in self.messages if m.get("role") == "user")

    @property
    def task(self) -> str:
        """What the first user message asks for, below the material that it shows."""
        first = next((str(m["content"]) for m in self.messages if m.get("role") == "user"), "")
        return first.rpartition(f"\n{TASK}")[2]

    @property
    def text(self) -> str:
        """Everything that was sent as text."""
        return "\n".join(str(m.get("content")) for m in self.messages)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools offered."""
        return tuple(tool["function"]["name"] for tool in self.body.get("tools", ()))


@dataclass(frozen=True, slots=True)
class Says:
    """An ordinary reply. ``pieces`` are how it is cut when streamed; ``finish`` None never says that it is done.

    A stream sends a piece each ``every_seconds``.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()  # (tool, arguments as written)
    pieces: tuple[str, ...] = ()
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (100, 20)
    cached: int = 0  # tokens of those read
    every_seconds: float = 0.0

    def message(self) -> Json:
        """The assistant's message."""
        message: Json = {"role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = [
                {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
                for n, (name, arguments) in enumerate(self.calls)
            ]
        return message

    def usage_field(self) -> Json:
        """The usage field."""
        read, written = self.usage or (0, 0)
        usage: Json = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        return usage | ({"prompt_tokens_details": {"cached_tokens": self.cached}} if self.cached else {})


@dataclass(frozen=True, slots=True)
class Fails:
    """An HTTP error."""

    status: int
    message: str = "scripted failure"
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class Hangs:
    """No reply at all, until the caller gives up."""


@dataclass(frozen=True, slots=True)
class Drips:
    """A reply of one character each ``every_seconds``, which never ends, after what it ``begins`` with."""

    every_seconds: float = 0.02
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Truncates:
    """A reply whose connection is cut after this text. ``cleanly``: the stream just ends, without being done."""

    text: str
    cleanly: bool = False


@dataclass(frozen=True, slots=True)
class Garbles:
    """A body that is not what it claims to be."""

    body: str = "<html>upstream error</html>"
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Raw:
    """Exactly these bytes, one piece after another, whatever was asked for. ``endless``: the last is sent for ever."""

    pieces: tuple[bytes, ...]
    status: int = 200
    content_type: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    every_seconds: float = 0.0
    endless: bool = False


Scripted = Raw | Says | Fails | Hangs | Drips | Truncates | Garbles
Answering = Callable[[RecordedRequest], Scripted | str | Awaitable[Scripted | str]]
Timed = Callable[
    [RecordedRequest, float, float], None
]  # a call, and when on the monotonic clock it came and was answered


class ScriptedEndpoint:
    """The server. An async context manager; ``base_url`` is what goes into ``LLM_BASE_URL``."""

    def __init__(
        self,
        *,
        supports: frozenset[str] = FEATURES,
        names_refusals: bool = True,
        latency: float = 0.0,
        port: int = 0,
        timed: Timed | None = None,
    ) -> None:
        """What is not in ``supports`` is refused with 400, naming the field unless told not to.

        ``latency`` seconds pass before every reply; ``port`` 0 takes any free one. With ``timed`` every call is told
        to it when it is over, and ``requests`` stays empty: under load they would fill the memory.
        """
        self.supports = supports
        self.latency = latency
        self.requests: list[RecordedRequest] = []
        self._names_refusals = names_refusals
        self._timed = timed
        self._port = port
        self._script: deque[Scripted] = deque()
        self._answering: Answering | None = None
        self._closing = asyncio.Event()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=16 * 1024**2)
        self.routes(app)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    def routes(self, app: web.Application) -> None:
        """The paths that it answers, with their handlers."""
        app.router.add_post("/v1/chat/completions", self._completions)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def base_url(self) -> str:
        """The address, with ``/v1``."""
        return f"http://127.0.0.1:{self._port}/v1"

    def says(self, text: str | Json, *, usage: tuple[int, int] | None = (100, 20), finish: str = "stop") -> None:
        """Reply with a text; an object is sent as JSON."""
        written = text if isinstance(text, str) else json.dumps(text)
        self._script.append(Says(written, usage=usage, finish=finish))

    def calls(self, tool: str, **arguments: Any) -> None:
        """Reply with one function call."""
        self.calls_all((tool, json.dumps(arguments)))

    def calls_all(self, *calls: tuple[str, str], text: str = "") -> None:
        """Reply with several function calls, their arguments as written, valid or not."""
        self._script.append(Says(text, calls=calls, finish="tool_calls"))

    def streams(self, *pieces: str, finish: str | None = "stop", usage: tuple[int, int] | None = (100, 20)) -> None:
        """Reply in exactly these pieces."""
        self._script.append(Says("".join(pieces), pieces=pieces, finish=finish, usage=usage))

    def fails(self, status: int, times: int = 1, *, retry_after: str | None = None, message: str = "scripted") -> None:
        """Answer with an HTTP error."""
        self._script.extend([Fails(status, message, retry_after)] * times)

    def hangs(self, times: int = 1) -> None:
        """Accept the next request and never answer it."""
        self._script.extend([Hangs()] * times)

    def drips(self, every_seconds: float = 0.02, *, begins: str = "") -> None:
        """Answer one character at a time, for ever."""
        self._script.append(Drips(every_seconds, begins))

    def truncates(self, text: str = "Refunds stay", *, cleanly: bool = False) -> None:
        """Break off in the middle."""
        self._script.append(Truncates(text, cleanly))

    def garbles_json(self) -> None:
        """Reply with JSON that is broken off in the middle of a string."""
        self.says('{"action": "search", "queries": ["refund')

    def garbles_body(self) -> None:
        """Answer 200 with a page of HTML that calls itself JSON."""
        self._script.append(Garbles())

    def empty(self, times: int = 1) -> None:
        """Answer the next request with a completion without text."""
        self._script.extend([Says("")] * times)

    def answers_with(self, answering: Answering) -> None:
        """Reply to every request for which nothing is queued with what this function says of it."""
        self._answering = answering

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

    async def _completions(self, incoming: web.Request) -> web.StreamResponse:
        came = time.monotonic()
        request = RecordedRequest(await incoming.json(), dict(incoming.headers))
        if self._timed is None:
            self.requests.append(request)
            return await self._completion(request, incoming)
        try:
            return await self._completion(request, incoming)
        finally:
            self._timed(request, came, time.monotonic())

    async def _completion(self, request: RecordedRequest, incoming: web.Request) -> web.StreamResponse:
        if self.latency:
            await asyncio.sleep(self.latency)
        refused = next((name for name in sorted(FEATURES - self.supports) if name in request.body), None)
        if refused is not None:
            return _error(Fails(400, f"Unsupported parameter: '{refused}'" if self._names_refusals else "Bad request"))
        return await self._send(await self.reply_to(request), request, incoming)

    async def reply_to(self, request: RecordedRequest) -> Scripted:
        """What is scripted for a request."""
        if self._script:
            return self._script.popleft()
        if self._answering is None:
            return Fails(404, "nothing is scripted for this request")
        answer = self._answering(request)
        settled = await answer if isinstance(answer, Awaitable) else answer
        return Says(settled) if isinstance(settled, str) else settled

    async def _send(self, reply: Scripted, request: RecordedRequest, incoming: web.Request) -> web.StreamResponse:
        match reply:
            case Says():
                return await _stream(reply, request, incoming) if request.stream else _whole(reply, request)
            case Fails():
                return _error(reply)
            case Raw() | Drips() | Truncates():
                return await self._send_piecewise(reply, request, incoming)
            case Garbles():
                return web.Response(text=reply.body, content_type=reply.content_type)
            case Hangs():
                await self._closing.wait()
                return web.Response(status=503)

    async def _send_piecewise(
        self, reply: Raw | Drips | Truncates, request: RecordedRequest, incoming: web.Request
    ) -> web.StreamResponse:
        match reply:
            case Raw():
                return await self._send_raw(reply, incoming)
            case Drips():
                return await self._drip(reply, request, incoming)
            case Truncates():
                return await _truncate(reply, request, incoming)

    async def _send_raw(self, reply: Raw, incoming: web.Request) -> web.StreamResponse:
        headers = {"Content-Type": reply.content_type, **reply.headers}
        response = web.StreamResponse(status=reply.status, headers=headers)
        await response.prepare(incoming)
        for piece in reply.pieces:
            await response.write(piece)
            await asyncio.sleep(reply.every_seconds)
        while reply.endless and not self._closing.is_set():
            await response.write(reply.pieces[-1])
            await asyncio.sleep(reply.every_seconds)
        await response.write_eof()
        return response

    async def _drip(self, reply: Drips, request: RecordedRequest, incoming: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers=_STREAM if request.stream else {"Content-Type": "application/json"})
        await response.prepare(incoming)
        drop = _event(_chunk(request, {"content": "a"})) if request.stream else b" "
        if request.stream and reply.begins:
            await response.write(_event(_chunk(request, {"content": reply.begins})))
        while not self._closing.is_set():
            await response.write(drop)
            await asyncio.sleep(reply.every_seconds)
        return response


def _error(reply: Fails) -> web.Response:
    headers = {"Retry-After": reply.retry_after} if reply.retry_after is not None else {}
    body = {"error": {"message": reply.message, "type": "scripted", "code": None}}
    return web.json_response(body, status=reply.status, headers=headers)


def _whole(reply: Says, request: RecordedRequest) -> web.Response:
    body: Json = {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 0,
        "model": request.body.get("model"),
        "choices": [{"index": 0, "message": reply.message(), "finish_reason": reply.finish}],
    }
    if reply.usage is not None:
        body["usage"] = reply.usage_field()
    return web.json_response(body)


async def _stream(reply: Says, request: RecordedRequest, incoming: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers=_STREAM)
    await response.prepare(incoming)
    for piece in reply.pieces or tuple(_split(reply.text)):
        await response.write(_event(_chunk(request, {"content": piece})))
        await asyncio.sleep(reply.every_seconds)
    if reply.finish is not None:
        await response.write(_event(_chunk(request, {}, finish=reply.finish)))
        if reply.usage is not None and (request.body.get("stream_options") or {}).get("include_usage"):
            await response.write(_event({**_chunk(request, {}), "choices": [], "usage": reply.usage_field()}))
        await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


async def _truncate(reply: Truncates, request: RecordedRequest, incoming: web.Request) -> web.StreamResponse:
    length = {} if request.stream else {"Content-Length": "5000", "Content-Type": "application/json"}
    response = web.StreamResponse(headers=_STREAM if request.stream else length)
    await response.prepare(incoming)
    await response.write(_event(_chunk(request, {"content": reply.text})) if request.stream else b'{"choices": [')
    if reply.cleanly:
        await response.write_eof()
    elif incoming.transport is not None:
        incoming.transport.close()
    return response


def _chunk(request: RecordedRequest, delta: Json, *, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": request.body.get("model"),
        "choices": [choice],
    }


def _event(data: Json) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _split(text: str) -> Iterator[str]:
    """A text in pieces of about one word, as models send it."""
    words = text.split(" ")
    for position, word in enumerate(words):
        yield word if position == len(words) - 1 else f"{word} "
