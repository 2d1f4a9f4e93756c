"""Calls to a source: headers stay at its origin, connections at the checked address, and answers are bounded."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Self

import pytest
from aiohttp import web
from yarl import URL

from adapters.connectors import http as http_module
from adapters.connectors.http import PolicyHttp, opener
from adapters.documents.web.fetcher import Fetcher, Rules, Target, credential_of
from core.model.errors import DocumentRejected, FootnoteError, NotFound, RightMissing, SourceRefused, SourceUnavailable
from core.ports.sources import FetchResult

CREDENTIAL = credential_of("https://wiki.example Cookie: session=s3cret")
SECRET = {"Authorization": "Bearer secret"}


@dataclass
class Server:
    """Answers with what is queued, and remembers requests."""

    answers: list[web.Response] = field(default_factory=list)
    seen: list[web.BaseRequest] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.5)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port, self._runner = runner.addresses[0][1], runner
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        self.seen.append(request)
        return self.answers.pop(0) if self.answers else web.json_response({"ok": True})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def rules(self) -> Rules:
        return Rules(allow_private=frozenset({f"127.0.0.1:{self.port}"}), max_bytes=1_000)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server() as server:
        yield server


async def _no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


async def test_a_redirect_elsewhere_is_followed_without_our_headers(server: Server) -> None:
    async with Server() as other:
        rules = Rules(allow_private=server.rules.allow_private | other.rules.allow_private)
        server.answers.append(web.Response(status=302, headers={"Location": f"{other.url}/file"}))
        other.answers.append(web.Response(body=b"file"))
        async with opener(rules)(server.url, SECRET) as http:
            assert await http.download("/file") == b"file"
        assert server.seen[0].headers["Authorization"] == "Bearer secret"
        assert "Authorization" not in other.seen[0].headers


async def test_a_redirect_to_a_private_address_is_not_followed(server: Server) -> None:
    async with Server() as other:
        server.answers.append(web.Response(status=302, headers={"Location": f"{other.url}/file"}))
        async with opener(server.rules)(server.url, SECRET) as http:
            with pytest.raises(DocumentRejected, match="redirects to a file"):
                await http.download("/file")
        assert other.seen == []


@pytest.mark.parametrize("path", ["https://elsewhere.example/x", "//elsewhere.example/x"])
async def test_a_path_of_another_host_is_refused(server: Server, path: str) -> None:
    async with opener(server.rules)(server.url, SECRET) as http:
        with pytest.raises(SourceUnavailable, match="another host"):
            await http.get(path)


@pytest.mark.parametrize("origin", ["http://example.org", "ftp://example.org", "nothing", "https://127.0.0.1:9"])
async def test_a_token_goes_only_to_public_hosts_over_https(origin: str) -> None:
    with pytest.raises(FootnoteError):
        async with opener(Rules())(origin, SECRET):
            pass


async def test_an_answer_has_a_bound(server: Server) -> None:
    server.answers.append(web.Response(body=b"x" * 2_000))
    async with opener(server.rules)(server.url, {}) as http:
        with pytest.raises(DocumentRejected, match="larger than"):
            await http.download("/large")


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, SourceRefused), (403, RightMissing), (404, NotFound), (410, NotFound), (400, SourceUnavailable)],
)
async def test_what_retrying_does_not_mend_is_asked_once(
    server: Server, status: int, error: type[FootnoteError]
) -> None:
    server.answers.append(web.Response(status=status))
    async with opener(server.rules, sleep=_no_wait)(server.url, {}) as http:
        with pytest.raises(error):
            await http.get("/x")
    assert len(server.seen) == 1


async def test_a_used_up_limit_is_waited_for_by_its_reset(server: Server) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    limited = {"X-RateLimit-Remaining": "0", "Retry-After": "3"}
    server.answers += [web.Response(status=403, headers=limited), web.Response(status=502)]
    async with opener(server.rules, sleep=wait)(server.url, {}) as http:
        assert await http.get("/x") == {"ok": True}
    assert waited == [3.0, 1.0]


async def test_a_source_that_says_never_is_asked_again_after_a_day(server: Server) -> None:
    server.answers.append(web.Response(status=429, headers={"Retry-After": "9" * 400}))
    async with opener(server.rules, sleep=_no_wait)(server.url, {}) as http:
        with pytest.raises(SourceUnavailable) as raised:
            await http.get("/x")
    assert raised.value.after == http_module.LONGEST_PAUSE
    assert len(server.seen) == 1


async def test_trouble_that_lasts_is_named_after_a_few_tries(server: Server) -> None:
    server.answers += [web.Response(status=503) for _ in range(http_module.TRIES)]
    async with opener(server.rules, sleep=_no_wait)(server.url, {}) as http:
        with pytest.raises(SourceUnavailable, match="503"):
            await http.get("/x")
    assert len(server.seen) == http_module.TRIES


async def test_something_that_is_no_json_is_named(server: Server) -> None:
    server.answers.append(web.Response(text="<html>"))
    async with opener(server.rules)(server.url, {}) as http:
        with pytest.raises(SourceUnavailable, match="not JSON"):
            await http.get("/x")


async def test_a_redirect_does_not_send_the_credential_for_links(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, str | None]] = []

    async def lookup(host: str, port: int) -> list[str]:
        return ["93.184.215.14"]

    class Recorded(Fetcher):
        """Answers without a network; remembers which credential would have gone where."""

        def __init__(self, rules: Rules) -> None:
            super().__init__(rules, resolve=lookup)

        async def _ask(self, target: Target, headers: dict[str, str]) -> FetchResult | URL:
            sent.append((str(target.url), headers.get("Cookie")))
            return FetchResult(str(target.url), 200, "text/plain", b"text", None, None, "page.txt")

    monkeypatch.setattr(http_module, "Fetcher", Recorded)
    server.answers.append(web.Response(status=302, headers={"Location": "https://wiki.example/wages"}))
    rules = Rules(allow_private=server.rules.allow_private, credential=CREDENTIAL)
    async with opener(rules)(server.url, SECRET) as http:
        assert await http.download("/file") == b"text"
    assert sent == [("https://wiki.example/wages", None)]


@pytest.mark.parametrize("location", ["http://wiki.example/file", "https://[::1"])
async def test_a_redirect_to_plain_http_or_to_no_link_is_not_followed(location: str) -> None:
    class Redirects(PolicyHttp):
        """Redirects every request there."""

        async def _request(self, *_: object, **__: object) -> tuple[str, bytes]:
            return location, b""

    rules = Rules(allow_private=frozenset({"wiki.example:80"}))
    http = Redirects(URL("https://wiki.example"), None, Fetcher(rules), 1_000)  # type: ignore[arg-type]
    with pytest.raises(SourceUnavailable, match="redirects"):
        await http.download("/file")


async def test_json_of_any_depth_is_refused_in_one_line(server: Server) -> None:
    server.answers.append(web.Response(body=b"[" * 1_000_000))
    async with opener(server.rules)(server.url, {}) as http:
        with pytest.raises(SourceUnavailable, match="not JSON"):
            await http.get("/deep")


async def test_a_token_that_cannot_be_sent_is_refused_and_not_repeated(server: Server) -> None:
    async with opener(server.rules, sleep=_no_wait)(server.url, {"Authorization": "Bearer s3cret\nX-Other: 1"}) as http:
        with pytest.raises(SourceUnavailable, match="invalid characters") as refused:
            await http.get("/x")
    assert "s3cret" not in str(refused.value)
    assert server.seen == []
