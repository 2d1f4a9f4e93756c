"""Health, readiness and metrics over HTTP, beside whatever routes a platform brings."""

import os
from collections.abc import Awaitable, Callable, Iterable
from json import JSONDecodeError

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from core.model.errors import ConfigurationError

BODY_LIMIT = 2 * 1024 * 1024  # bytes of one request; platforms send far less
log = structlog.get_logger(__name__)
Ready = Callable[[], Awaitable[dict[str, str]]]


def application(
    ready: Ready, routes: Iterable[web.RouteDef] = (), model_failure: Callable[[], str] | None = None
) -> web.Application:
    """An app with ``/healthz``, ``/readyz``, ``/metrics`` and these routes.

    ``model_failure`` says what was last wrong at the model's endpoint: answers are quotes then, so that it is healthy
    all the same. ``ready`` names what is not ready, each with its reason; empty means that questions can be answered.
    """

    async def healthz(_request: web.Request) -> web.Response:
        failure = model_failure() if model_failure is not None else ""
        return web.json_response({"status": "ok", "model": failure} if failure else {"status": "ok"})

    async def readyz(_request: web.Request) -> web.Response:
        waiting = await ready()
        return web.json_response({"ready": not waiting, "waiting_for": waiting}, status=503 if waiting else 200)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application(client_max_size=BODY_LIMIT, middlewares=[_malformed_bodies])
    app.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz), web.get("/metrics", metrics), *routes])
    return app


@web.middleware
async def _malformed_bodies(request: web.Request, handler: Handler) -> web.StreamResponse:
    """A body that is not what it says it is, is the sender's mistake: 400, and no traceback."""
    try:
        return await handler(request)
    except (UnicodeDecodeError, JSONDecodeError, LookupError) as error:
        if request.method != "POST":
            raise
        log.warning("malformed_body", path=request.path, reason=type(error).__name__)
        return web.Response(status=400, text="The body cannot be read.")


async def listen(app: web.Application, host: str, port: int) -> web.AppRunner:
    """Serve the app; the runner's ``cleanup`` ends it. Raises ConfigurationError when the address cannot be had."""
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        await runner.cleanup()
        why = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)
        raise ConfigurationError(
            f"Port {port} on {host} cannot be listened on: {why}.", remedy="Set HTTP_PORT and HTTP_HOST to a free one."
        ) from error
    return runner


def reply_target_of(runner: web.AppRunner) -> str:
    """Where it listens, as a browser on this machine reaches it."""
    host, port = runner.addresses[0][:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
