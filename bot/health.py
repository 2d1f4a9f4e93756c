"""The HTTP port: health, readiness and metrics, next to the platforms' routes, within the limits of ``HttpBounds``."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from json import JSONDecodeError

import structlog
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from adapters.http_bounds import BoundedConnection, BoundedConnections, HttpBounds
from bot.readiness import ReadinessReport
from core.model.errors import ConfigurationError

BODY_LIMIT = 2 * 1024 * 1024  # bytes of one request; platforms send far less
BOUNDS = web.AppKey("bounds", HttpBounds)
ANSWERING = web.RequestKey("answering", bool)
_SERVER_LOG = logging.getLogger(f"{__name__}.server")
log = structlog.get_logger(__name__)
Ready = Callable[[], Awaitable[ReadinessReport]]


def application(
    ready: Ready,
    routes: Iterable[web.RouteDef] = (),
    model_failure: Callable[[], str] | None = None,
    bounds: HttpBounds = HttpBounds(),  # noqa: B008 - it is frozen
) -> web.Application:
    """Return an app with ``/healthz``, ``/readyz``, ``/metrics`` and these routes.

    ``model_failure`` returns the last failure of the model endpoint. Answers are then quotes, so the app is still
    healthy. ``ready`` returns what keeps questions from being answered, and what makes answers worse.
    """

    async def healthz(_request: web.Request) -> web.Response:
        failure = model_failure() if model_failure is not None else ""
        return web.json_response({"status": "ok", "model": failure} if failure else {"status": "ok"})

    async def readyz(_request: web.Request) -> web.Response:
        found = await ready()
        body: dict[str, object] = {"ready": not found.waiting_for, "waiting_for": found.waiting_for}
        if found.degraded:
            body["degraded"] = found.degraded
        return web.json_response(body, status=503 if found.waiting_for else 200)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application(client_max_size=BODY_LIMIT, middlewares=[_slow_bodies, _malformed_bodies])
    app[BOUNDS] = bounds
    app.on_response_prepare.append(_note_response)
    every = [web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics), *routes]
    every.append(web.route("*", "/{path:.*}", _not_found))
    app.add_routes(
        [web.route(one.method, one.path, one.handler, **one.kwargs, expect_handler=_expect) for one in every]
    )
    return app


async def _not_found(_request: web.Request) -> web.StreamResponse:
    """Raise 404 in place of aiohttp, which would first handle an ``Expect`` header itself."""
    raise web.HTTPNotFound


async def _expect(request: web.Request) -> None:
    """Answer ``Expect``. aiohttp's own handler echoes the header, and fails if it is not valid text."""
    if request.headers.get("Expect", "").lower() != "100-continue":
        raise web.HTTPExpectationFailed(text="Only Expect: 100-continue is supported.")
    if request.transport is not None:
        request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")


@web.middleware
async def _malformed_bodies(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer 400 without a traceback if a body does not match its declared type or encoding."""
    try:
        return await handler(request)
    except (UnicodeDecodeError, JSONDecodeError, LookupError, web.RequestPayloadError) as error:
        if request.method != "POST":
            raise
        log.warning("malformed_body", path=request.path, reason=type(error).__name__)
        return web.Response(status=400, text="The body cannot be read.")


@web.middleware
async def _slow_bodies(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer 408 if a body does not arrive in time. A response that has begun is left alone."""
    if request.content.is_eof():
        return await handler(request)
    watch = _BodyWatch(request)
    try:
        async with asyncio.timeout(None) as limit:
            watch.start(limit)
            return await handler(request)
    except TimeoutError:
        if not watch.expired:
            raise
        return web.Response(status=408, text="The body took too long to arrive.", headers={"Connection": "close"})
    finally:
        watch.stop()


class _BodyWatch:
    """Timer that expires a timeout when a request's body is slower than the limits allow."""

    def __init__(self, request: web.Request) -> None:
        self.expired = False
        self._request = request
        self._bounds = request.app[BOUNDS]
        self._loop = asyncio.get_running_loop()
        self._connection = request.transport.get_protocol() if request.transport is not None else None
        self._began, self._before = self._loop.time(), self._received()
        self._timer: asyncio.TimerHandle | None = None

    def start(self, limit: asyncio.Timeout) -> None:
        self._timer = self._loop.call_later(self._bounds.body, self._check, limit)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _check(self, limit: asyncio.Timeout) -> None:
        if self._request.content.is_eof() or ANSWERING in self._request:
            return
        left = self._began + self._bounds.body_deadline(self._received() - self._before) - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(min(left, self._bounds.body), self._check, limit)
        else:
            self.expired = True
            limit.reschedule(self._loop.time())

    def _received(self) -> int:
        return self._connection.received if isinstance(self._connection, BoundedConnection) else 0


async def _note_response(request: web.Request, _response: web.StreamResponse) -> None:
    request[ANSWERING] = True


@dataclass(frozen=True, slots=True)
class HttpPort:
    """A served port; ``cleanup`` closes it."""

    server: asyncio.Server
    runner: web.AppRunner

    @property
    def address(self) -> str:
        """Its address for a browser on this machine."""
        host, port = self.server.sockets[0].getsockname()[:2]
        if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
            host = "127.0.0.1"
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def cleanup(self) -> None:
        """Accept no more connections, and close open ones."""
        self.server.close()
        await self.runner.cleanup()


def _is_ours(record: logging.LogRecord) -> bool:
    """Return whether a logged error is ours. Errors about invalid HTTP or a truncated body are the client's."""
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError | web.RequestPayloadError))


async def listen(app: web.Application, host: str, port: int) -> HttpPort:
    """Serve the app of ``application``. Raises ConfigurationError if the address cannot be used."""
    bounds = app[BOUNDS]
    _SERVER_LOG.addFilter(_is_ours)
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_SERVER_LOG,
        keepalive_timeout=bounds.head,  # aiohttp also applies it from the connection until a head is complete
        max_line_size=bounds.line_size,
        max_field_size=bounds.line_size,
        max_headers=bounds.headers,
        lingering_time=bounds.linger,
    )
    await runner.setup()
    connections = BoundedConnections(bounds)

    def connection() -> asyncio.Protocol:
        assert runner.server is not None
        return connections.wrap(runner.server())

    try:
        server = await asyncio.get_running_loop().create_server(connection, host, port)
    except OSError as error:
        await runner.cleanup()
        why = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)
        raise ConfigurationError(
            f"Port {port} on {host} cannot be used: {why}.", remedy="Set HTTP_PORT and HTTP_HOST to a free address."
        ) from error
    return HttpPort(server, runner)
