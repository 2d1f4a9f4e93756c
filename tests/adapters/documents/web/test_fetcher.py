"""Allowed and forbidden addresses of the fetcher. The tests check that no socket was opened."""

import asyncio
import gzip
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web
from yarl import URL

from adapters.documents.web.address_policy import address_refusal, host_refusal
from adapters.documents.web.crawler import crawl
from adapters.documents.web.fetcher import (
    AddressInfo,
    Fetcher,
    OriginCredential,
    Rules,
    Target,
    credential_of,
    make_socket,
)
from core.model.errors import ConfigurationError, FetchRefused
from core.ports.sources import FetchResult, PageGone

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Network:
    """Names and their addresses; remembers every socket that was made and every name that was asked for."""

    names: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    connected: list[tuple[str, int]] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        if host not in self.names:
            raise OSError("unknown")
        return self.names[host]

    def socket_for(self, info: AddressInfo) -> socket.socket:
        self.connected.append((info[4][0], info[4][1]))
        return make_socket(info)

    def fetcher(self, rules: Rules | None = None) -> Fetcher:
        return Fetcher(rules, resolve=self.resolve, socket_for=self.socket_for)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[int]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def inside(port: int, **rules: object) -> Rules:
    return Rules(allow_private=frozenset({f"docs.test:{port}"}), **rules)  # type: ignore[arg-type]


def docs() -> Network:
    return Network(names={"docs.test": ["127.0.0.1"]})


FORBIDDEN_ADDRESSES = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::808:808", "64:ff9b:1::a00:1", "2001::1", "2001:0:7f00:1::", "2001:db8::1", "2002:7f00:1::",
    "2002:a9fe:a9fe::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    "100::1", "5f00::1", "2600:1f00::5efe:7f00:1", "4000::1",
]  # fmt: skip


@pytest.mark.parametrize("address", FORBIDDEN_ADDRESSES)
async def test_a_name_that_leads_to_a_forbidden_address_is_never_connected_to(address: str) -> None:
    network = Network(names={"innocent.example": ["93.184.215.14", address]})
    with pytest.raises(FetchRefused, match="not allowed"):
        await network.fetcher().fetch("http://innocent.example/")
    assert network.connected == []


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450:4001::200e", "100.63.0.1"]
)
def test_public_addresses_are_allowed(address: str) -> None:
    assert address_refusal(address) is None


FORBIDDEN_LINKS = [
    "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/",
    "http://0177.0.0.1/", "http://017700000001/", "http://127.0.0.1./", "http://１２７.0.0.1/", "http://127。0。0。1/",
    "http://[::1]/", "http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[fe80::1%25eth0]/",
    "http://localhost/", "http://LOCALHOST./", "http://app.localhost/", "http://metadata.google.internal/",
    "http://printer.local/", "http://169.254.169.254/latest/meta-data/", "http://192.0.0.192/opc/v2/",
    "http://user:secret@example.com/", "http://example.com@127.0.0.1/", "http://example.com:22/", "http://example.com:6379/",
    "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)", "data:text/html,x",
    "//example.com/", "example.com", "", "http://", "http:///x", "http://exa mple.com/", "http://example.com\\@127.0.0.1/",
    "http://example.com/\r\nHost: x", "http://0/", "http://example.com:99999/", "http://[::1", "http://" + "a" * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("url", FORBIDDEN_LINKS)
async def test_a_forbidden_link_is_neither_looked_up_nor_connected_to(url: str) -> None:
    network = Network(names={"example.com": ["93.184.215.14"]})
    with pytest.raises(FetchRefused):
        await network.fetcher().fetch(url)
    assert network.connected == []
    assert network.asked == []


@pytest.mark.parametrize("host", ["example.com", "docs.example.co.uk", "xn--bcher-kva.example", "1password.com"])
def test_ordinary_hosts_may_be_looked_up(host: str) -> None:
    assert host_refusal(host) is None


async def test_a_file_arrives_with_what_is_needed_to_ask_again() -> None:
    async def handler(request: web.Request) -> web.Response:
        assert "Footnote" in request.headers["User-Agent"]
        if request.headers.get("If-None-Match") == '"v1"':
            return web.Response(status=304)
        return web.Response(
            body=gzip.compress(b"# Guide"),
            headers={"ETag": '"v1"', "Last-Modified": "Mon, 06 May 2024 10:00:00 GMT", "Content-Encoding": "gzip"},
            content_type="text/markdown",
        )

    network = docs()
    async with serving(handler) as port:
        fetcher = network.fetcher(inside(port))
        first = await fetcher.fetch(f"http://docs.test:{port}/a/guide.md?x=1#part")
        again = await fetcher.fetch(first.url, etag=first.etag, last_modified=first.last_modified)
    assert (first.data, first.media_type, first.file_name) == (b"# Guide", "text/markdown", "guide.md")
    assert first.url == f"http://docs.test:{port}/a/guide.md?x=1"
    assert not first.is_unchanged
    assert again.is_unchanged
    assert again.data == b""
    assert network.connected == [("127.0.0.1", port)] * 2


@pytest.mark.parametrize(
    "location",
    ["http://169.254.169.254/latest/", "http://[::ffff:10.0.0.1]/", "http://2852039166/", "http://evil.example/",
     "//127.0.0.1:6379/", "file:///etc/passwd", "http://u:p@docs.test/", "http://localhost/"],
)  # fmt: skip
async def test_a_redirect_to_a_forbidden_place_is_not_followed(location: str) -> None:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": location})

    network = docs()
    network.names["evil.example"] = ["10.0.0.1"]
    async with serving(handler) as port:
        with pytest.raises(FetchRefused):
            await network.fetcher(inside(port)).fetch(f"http://docs.test:{port}/")
        assert network.connected == [("127.0.0.1", port)]


async def test_a_name_that_changes_its_address_between_hops_is_judged_again() -> None:
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])

    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": f"http://rebinding.test:{request.url.port}/next"})

    connected: list[str] = []

    async def resolve(host: str, port: int) -> list[str]:
        return next(answers)

    def socket_for(info: AddressInfo) -> socket.socket:
        connected.append(info[4][0])
        return make_socket(info)

    async with serving(handler) as port:
        rules = Rules(allow_private=frozenset({f"docs.test:{port}"}), ports=frozenset({port}))
        with pytest.raises(FetchRefused, match="metadata"):
            await Fetcher(rules, resolve=resolve, socket_for=socket_for).fetch(f"http://docs.test:{port}/")
    assert connected == ["127.0.0.1"]


async def test_each_hop_resolves_its_name_once() -> None:
    async def handler(request: web.Request) -> web.Response:
        if request.path == "/":
            return web.Response(status=301, headers={"Location": "/there"})
        return web.Response(text="arrived")

    network = docs()
    async with serving(handler) as port:
        fetched = await network.fetcher(inside(port)).fetch(f"http://docs.test:{port}/")
    assert fetched.url.endswith("/there")
    assert network.asked == ["docs.test", "docs.test"]


async def test_redirects_without_end_are_given_up() -> None:
    async def handler(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": f"{request.path}x"})

    network = docs()
    async with serving(handler) as port:
        with pytest.raises(FetchRefused, match="more than 5 times"):
            await network.fetcher(inside(port)).fetch(f"http://docs.test:{port}/")
    assert len(network.connected) == 6


async def test_cookies_of_one_answer_do_not_go_with_the_next_request() -> None:
    seen: list[str | None] = []

    async def handler(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Cookie"))
        response = web.Response(status=302 if request.path == "/" else 200, headers={"Location": "/b"})
        response.set_cookie("session", "secret")
        return response

    network = docs()
    async with serving(handler) as port:
        await network.fetcher(inside(port)).fetch(f"http://docs.test:{port}/")
    assert seen == [None, None]


async def raw_server(answer: bytes, *, drip: bool = False) -> asyncio.Server:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            while drip:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(serve, "127.0.0.1", 0)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


def deflated(data: bytes) -> bytes:
    return zlib.compress(data, 9)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (HEAD + b"Content-Length: 999999999\r\n\r\nshort", "larger than"),
        (HEAD + b"Content-Length: 500\r\n\r\nshort", "ended before"),
        (HEAD + b"\r\n" + b"x" * 60_000, "larger than"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(40_000_000)), "larger than"),
        (HEAD + b"Content-Encoding: deflate\r\n\r\n" + deflated(bytes(40_000_000)), "larger than"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"words " * 500)[:-12], "ended before"),
        (HEAD + b"Content-Encoding: gzip\r\n\r\nnot gzip at all", "damaged"),
        (HEAD + b"Content-Encoding: br\r\n\r\nxxxx", "is not supported"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answered 404 Not Found"),
        (b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", "without an address"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "invalid response"),
        (b"", "invalid response"),
    ],
)
async def test_a_server_that_lies_or_breaks_gets_a_reason(answer: bytes, reason: str) -> None:
    server = await raw_server(answer)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(FetchRefused, match=reason):
            await docs().fetcher(inside(port, max_bytes=50_000)).fetch(f"http://docs.test:{port}/")


async def test_a_server_that_drips_is_left_at_the_deadline() -> None:
    server = await raw_server(HEAD + b"\r\n", drip=True)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(FetchRefused, match=r"longer than 0\.3 seconds"):
            await docs().fetcher(inside(port, seconds=0.3)).fetch(f"http://docs.test:{port}/")


def test_the_last_guard_makes_no_socket_for_an_address_that_was_not_checked() -> None:
    network = docs()
    make = network.fetcher()._pinned_socket_factory(Target(URL("http://docs.test/"), ("93.184.215.14",)))
    for address, port in (("127.0.0.1", 80), ("93.184.215.14", 22)):
        with pytest.raises(FetchRefused, match="not checked"):
            make((socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port)))
    assert network.connected == []


async def test_lists_of_hosts_are_kept() -> None:
    network = Network(names={"a.docs.example": ["10.0.0.1"], "evil.example": ["10.0.0.1"]})
    fetcher = network.fetcher(Rules(allow_hosts=frozenset({"docs.example"}), deny_hosts=frozenset({"b.docs.example"})))
    with pytest.raises(FetchRefused, match="not on the list"):
        await fetcher.fetch("https://evil.example/")
    with pytest.raises(FetchRefused, match="on the list of blocked hosts"):
        await fetcher.fetch("https://x.b.docs.example/")
    with pytest.raises(FetchRefused, match="private"):
        await fetcher.fetch("https://a.docs.example/")
    assert network.asked == ["a.docs.example"]


async def test_a_private_source_is_allowed_on_its_own_port_only() -> None:
    network = Network(names={"wiki.corp": ["10.0.0.1"]})
    rules = Rules(allow_private=frozenset({"wiki.corp:8080"}), seconds=5)
    with pytest.raises(FetchRefused, match="private"):
        await network.fetcher(rules).fetch("http://wiki.corp/")
    assert network.connected == []


SITE = {
    "/robots.txt": "User-agent: *\nDisallow: /docs/secret\n",
    "/docs/": '<html><a href="a">A</a> <a href="b#x">B</a> <a href="/other">O</a> <a href="secret">S</a>'
    '<a href="http://evil.example/docs/x">E</a> <a rel="nofollow" href="n">N</a> <a href="../docs/gone">G</a></html>',
    "/docs/a": '<html><a href="b">B</a><a href="deep/c">C</a></html>',
    "/docs/b": "<html>B</html>",
    "/docs/deep/c": "<html>C</html>",
}


async def site(request: web.Request) -> web.Response:
    if request.path == "/docs/sitemap.xml.gz":
        places = "".join(f"<url><loc>http://{request.host}{path}</loc></url>" for path in ("/docs/a", "/x", "/docs/b"))
        body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
        return web.Response(body=gzip.compress(body.encode()), content_type="application/gzip")
    if request.path == "/docs/bomb.xml.gz":
        return web.Response(body=gzip.compress(b"<urlset>" + b" " * 30_000_000), content_type="application/gzip")
    if request.path not in SITE:
        return web.Response(status=404)
    return web.Response(text=SITE[request.path], content_type="text/html")


async def walked(start: str, limit: int) -> tuple[list[str], list[str]]:
    network, refused = docs(), []
    async with serving(site) as port:
        fetcher = network.fetcher(inside(port))
        pages = crawl(
            fetcher, f"http://docs.test:{port}{start}", limit=limit, pause=0, refused=lambda url, _: refused.append(url)
        )
        found = [page.url.partition(f":{port}")[2] async for page in pages]
    assert set(network.asked) == {"docs.test"}
    return found, [url.rpartition("/")[2] for url in refused]


async def test_a_crawl_stays_under_its_path_and_honours_robots() -> None:
    found, refused = await walked("/docs/", 10)
    assert found == ["/docs/", "/docs/a", "/docs/b", "/docs/deep/c"]
    assert refused == ["gone"]


async def test_a_crawl_ends_at_its_limit() -> None:
    assert (await walked("/docs/", 2))[0] == ["/docs/", "/docs/a"]


async def test_a_packed_sitemap_lists_the_pages() -> None:
    assert (await walked("/docs/sitemap.xml.gz", 10))[0] == ["/docs/a", "/docs/b", "/docs/deep/c"]


async def test_reports_a_sitemap_that_could_not_be_fetched() -> None:
    maps = "".join(f"<sitemap><loc>/docs/{name}.xml</loc></sitemap>" for name in ("away", "there"))
    pages_there = {
        "/docs/sitemap.xml": f"<sitemapindex>{maps}</sitemapindex>",
        "/docs/there.xml": "<urlset><url><loc>/docs/a</loc></url></urlset>",
        "/docs/a": "<html>a</html>",
    }

    async def served(request: web.Request) -> web.Response:
        text = pages_there.get(request.path)
        return web.Response(text=text or "", status=200 if text else 410)

    network = docs()
    refused: list[tuple[str, FetchRefused]] = []
    async with serving(served) as port:
        start = f"http://docs.test:{port}/docs/sitemap.xml"
        pages = crawl(
            network.fetcher(inside(port)), start, limit=5, pause=0, refused=lambda url, why: refused.append((url, why))
        )
        found = [page.url.rpartition("/")[2] async for page in pages]
    assert found == ["a"]
    assert [(url.rpartition("/")[2], type(why)) for url, why in refused] == [("away.xml", PageGone)]


async def test_a_sitemap_that_unpacks_without_end_is_refused() -> None:
    with pytest.raises(FetchRefused, match="too large"):
        await walked("/docs/bomb.xml.gz", 10)


async def test_what_robots_forbids_is_not_begun() -> None:
    with pytest.raises(FetchRefused, match=r"robots\.txt"):
        await walked("/docs/secret", 10)


# --- a header for one origin ----------------------------------------------------------------------------------------

SECRET = credential_of("https://docs.test Cookie: session=s3cret")


class Recorded(Fetcher):
    """Answers without a network; remembers which headers would have gone where."""

    def __init__(self, secret: OriginCredential | None) -> None:
        super().__init__(Rules(credential=secret), resolve=self.lookup)
        self.sent: list[tuple[str, str | None]] = []

    @staticmethod
    async def lookup(host: str, port: int) -> list[str]:
        return ["93.184.215.14"]

    async def _ask(self, target: Target, headers: dict[str, str]) -> FetchResult | URL:
        self.sent.append((str(target.url), headers.get("Cookie")))
        if target.url.path in {"/moved", "/away"}:
            return URL("https://docs.test/page" if target.url.path == "/moved" else "https://evil.example/")
        return FetchResult(str(target.url), 200, "text/plain", b"text", None, None, "page.txt")


@pytest.mark.parametrize(
    ("link", "cookies"),
    [
        ("https://docs.test/page", ["session=s3cret"]),
        ("https://docs.test:443/page", ["session=s3cret"]),
        ("http://docs.test/page", [None]),
        ("https://docs.test.evil.example/page", [None]),
        ("https://sub.docs.test/page", [None]),
        ("https://other.test/page", [None]),
        ("https://docs.test/moved", ["session=s3cret", None]),
        ("https://docs.test/away", ["session=s3cret", None]),
        ("https://other.test/moved", [None, None]),
    ],
)
async def test_a_header_goes_to_its_origin_alone_and_with_no_redirect(link: str, cookies: list[str | None]) -> None:
    fetcher = Recorded(SECRET)
    await fetcher.fetch(link)
    assert [cookie for _, cookie in fetcher.sent] == cookies


async def test_without_a_credential_no_header_goes_anywhere() -> None:
    fetcher = Recorded(credential_of(""))
    await fetcher.fetch("https://docs.test/page")
    assert fetcher.sent == [("https://docs.test/page", None)]


@pytest.mark.parametrize(
    "text",
    [
        "http://docs.test Cookie: s3cret", "https://docs.test/wiki Cookie: s3cret", "docs.test Cookie: s3cret",
        "https://docs.test s3cret", "https://docs.test Host: s3cret", "https://docs.test Cookie: s3cret\r\nX: y",
        "https://user@docs.test Cookie: s3cret",
    ],
)  # fmt: skip
def test_a_credential_that_cannot_be_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        credential_of(text)
    assert "s3cret" not in str(refused.value)
    assert "s3cret" not in repr(SECRET)
