"""The page, ``/v1`` and MCP in this process, on the ports that are really used, for requests that nobody means."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog
from structlog.testing import LogCapture

from adapters.http_bounds import HttpBounds
from adapters.mcp.server import PATH, serve_http
from adapters.web.access.guard import COOKIE
from adapters.web.access.rules import AccessRules, hash_password, operator
from bot.health import application, listen
from bot.readiness import ReadinessReport
from tests.adapters.mcp.test_tools import Desk
from tests.adapters.web.api.office import Office
from tests.adapters.web.page_office import PageOffice
from tests.fuzz.requests import Fuzzer, Identity, answer_to, routes_of

BOUNDS = HttpBounds(head=1, body=0.5, body_rate=10_000_000, linger=0.1)
RULES = AccessRules(reader_password_hash=hash_password("read me"))
QUESTION = "How long do refunds take?"
AT_ONCE = 8


@dataclass(frozen=True)
class Failure:
    """An answer that a server must not give, and the request that it was for."""

    status: int
    body: bytes
    sent: bytes


async def _ready() -> ReadinessReport:
    return ReadinessReport()


@asynccontextmanager
async def page_and_api(seed: int) -> AsyncIterator[Fuzzer]:
    """A fuzzer of the page and ``/v1`` with an operator, a program and nobody."""
    page, programs = PageOffice(RULES), Office()
    for harness in (page.harness, programs.harness):
        await harness.knows("Refunds take 14 days.", title="Refunds")
    session = operator()
    token = await page.sessions.begin(session)
    secret = (await programs.program()).secret
    app = application(_ready, [*page.page.routes(), *programs.api().routes()], bounds=BOUNDS)
    routes = [route for route in routes_of(app) if route[1] != "/sign-out"]
    port = await listen(app, "127.0.0.1", 0)
    identities = (
        Identity(),
        Identity((("Cookie", f"{COOKIE}={token}"),), session.csrf),
        Identity((("Cookie", f"{COOKIE}={token}"),), session.csrf),
        Identity((("Authorization", f"Bearer {secret}"),)),
    )
    (document,) = await page.harness.catalog.documents(frozenset({"default"}))
    try:
        host = urlsplit(port.address).netloc
        yield Fuzzer(host, routes, identities, ("default", document.id, "slack", document.version, "1"), seed)
    finally:
        await port.cleanup()


@asynccontextmanager
async def tools(seed: int) -> AsyncIterator[Fuzzer]:
    """A fuzzer of MCP over HTTP with a program and nobody."""
    desk, told = Desk(over_http=True), asyncio.Queue[str]()
    await desk.admit()
    serving = asyncio.create_task(serve_http(desk.server, "127.0.0.1", 0, told.put_nowait, BOUNDS))
    try:
        host = urlsplit(await asyncio.wait_for(told.get(), 60)).netloc
        program = Identity(
            (("Authorization", f"Bearer {desk.secret}"), ("Accept", "application/json, text/event-stream"))
        )
        yield Fuzzer(host, [("POST", PATH), ("GET", PATH), ("DELETE", PATH)], (Identity(), program, program), seed=seed)
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def failures(fuzzer: Fuzzer, count: int) -> Sequence[Failure]:
    """Send so many requests; those that were answered with 5xx, but for a 503 that says why."""
    found: list[Failure] = []
    numbers = iter(range(count))

    async def client() -> None:
        for number in numbers:
            sent = fuzzer.request(number)
            status, body = await answer_to(fuzzer.host, sent)
            if status >= 500 and not (status == 503 and body):
                found.append(Failure(status, body, sent))

    await asyncio.gather(*(client() for _ in range(AT_ONCE)))
    return found


@contextmanager
def errors_logged() -> Iterator[list[str]]:
    """What is logged as an error meanwhile, by us or by a library."""
    found: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            found.append(self.format(record))

    handler, capture, before = Handler(logging.ERROR), LogCapture(), structlog.get_config()
    logging.getLogger().addHandler(handler)
    structlog.configure(processors=[structlog.processors.format_exc_info, capture])
    try:
        yield found
    finally:
        structlog.configure(**before)
        logging.getLogger().removeHandler(handler)
        wrong = [one for one in capture.entries if one["log_level"] in ("error", "critical")]
        found.extend(f"{one['event']} {one.get('path', '')}\n{one.get('exception', '')}" for one in wrong)
