"""Guarded download of a link (SSRF protection).

Only http and https. A name is resolved once, every address it has is checked, and the connection goes to one of exactly
these addresses. Each redirect is checked the same way. The last check is in the socket factory, so it cannot be
bypassed. Sizes are counted after decompression, and one deadline covers everything. Cookies, credentials and proxies of
this machine are not used. The sandbox detects what the bytes are.
"""

import asyncio
import mimetypes
import re
import socket
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import unquote

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from adapters.documents.web.address_policy import (
    Resolve,
    address_refusal,
    host_refusal,
    is_literal,
    resolve_with_system,
)
from core.model.errors import ConfigurationError, FetchRefused
from core.ports.sources import FetchResult, PageGone

AddressInfo: TypeAlias = tuple[Any, Any, int, str, tuple[Any, ...]]
MakeSocket: TypeAlias = Callable[[AddressInfo], socket.socket]

USER_AGENT = "Footnote/1.0 (knowledge fetcher; honours robots.txt)"
ROBOTS_NAME = "Footnote"
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_GONE = frozenset((404, 410))
_ODD = re.compile(r"[\x00-\x20\x7f\\]")
_CHUNK = 64 * 1024
_CREDENTIAL = re.compile(r"(https://[\w.-]+(?::\d+)?)/?\s+([A-Za-z0-9-]+):\s*([\x20-\x7e]+)")
_NOT_CREDENTIALS = frozenset(("host", "content-length", "transfer-encoding", "connection", "user-agent"))
URL_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class OriginCredential:
    """A header that is sent to one origin only, over https, and never after a redirect."""

    origin: str
    name: str
    value: str = field(repr=False)


def credential_of(text: str) -> OriginCredential | None:
    """Parse a credential such as "https://wiki.example.org Cookie: session=…"; return None for an empty text.

    Raises ConfigurationError, whose message does not contain the credential.
    """
    if not text.strip():
        return None
    found = _CREDENTIAL.fullmatch(text.strip())
    if found is None or found[2].casefold() in _NOT_CREDENTIALS:
        raise ConfigurationError(
            "FETCH_CREDENTIAL is not valid.",
            remedy="Write it as an origin and a header, for example: https://wiki.example.org Authorization: Bearer …",
        )
    return OriginCredential(str(URL(found[1]).origin()), found[2], found[3])


@dataclass(frozen=True, slots=True)
class Rules:
    """Limits of a fetch: allowed hosts, size and time.

    Attributes:
        allow_hosts: if not empty, only these hosts and their subdomains are allowed.
        deny_hosts: these hosts and their subdomains are refused.
        allow_private: 'host:port' of sources inside the internal network; their addresses and ports are not checked.
        ports: allowed ports of public hosts.
        max_bytes: maximum size of the body after decompression.
        seconds: deadline for everything, redirects included.
        redirects: maximum number of redirects.
        credential: a header for one origin.
    """

    allow_hosts: frozenset[str] = frozenset()
    deny_hosts: frozenset[str] = frozenset()
    allow_private: frozenset[str] = frozenset()
    ports: frozenset[int] = frozenset((80, 443))
    max_bytes: int = 50 * 1024 * 1024
    seconds: float = 60.0
    redirects: int = 5
    credential: OriginCredential | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One hop: a checked URL and the addresses that it may connect to."""

    url: URL
    addresses: tuple[str, ...]


def make_socket(info: AddressInfo) -> socket.socket:
    """Return a plain TCP socket for an address."""
    return socket.socket(info[0], info[1], info[2])


class Fetcher:
    """Client that fetches links within the rules.

    Args:
        rules: allowed hosts and limits.
        resolve: resolves a name and port to addresses.
        socket_for: creates the socket of a connection; called only for checked addresses.
    """

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        resolve: Resolve = resolve_with_system,
        socket_for: MakeSocket = make_socket,
    ) -> None:
        self._rules = rules or Rules()
        self._resolve = resolve
        self._socket_for = socket_for

    async def fetch(self, url: str, *, etag: str | None = None, last_modified: str | None = None) -> FetchResult:
        """Return the bytes behind a link.

        Args:
            url: http or https.
            etag: ETag of an earlier fetch; the server may then answer "unchanged".
            last_modified: Last-Modified of an earlier fetch, likewise.

        Raises:
            FetchRefused: with the reason; PageGone if the page does not exist.
        """
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate", "Accept": "*/*"}
        headers |= {"If-None-Match": etag} if etag else {}
        headers |= {"If-Modified-Since": last_modified} if last_modified else {}
        try:
            async with asyncio.timeout(self._rules.seconds):
                return await self._follow(self._parse_url(url), headers)
        except TimeoutError:
            raise FetchRefused(f"It took longer than {self._rules.seconds:g} seconds to arrive.") from None
        except aiohttp.ClientSSLError as error:
            raise FetchRefused("Its certificate is not valid for this host.") from error
        except aiohttp.ClientPayloadError as error:
            raise FetchRefused("The connection ended before the whole file arrived.") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchRefused(f"The host sent an invalid response ({type(error).__name__}).") from error

    async def _follow(self, url: URL, headers: dict[str, str]) -> FetchResult:
        """Request the URL and follow redirects, checking each target again."""
        secret = self._rules.credential
        named = url.scheme == "https" and secret is not None and str(url.origin()) == secret.origin
        own = {secret.name: secret.value} if secret is not None and named else {}
        for _ in range(self._rules.redirects + 1):
            target = await self._check_target(url)
            answer = await self._ask(target, headers | own)
            own = {}  # a redirect target is chosen by the server, so it gets no credential
            if isinstance(answer, FetchResult):
                return answer
            if url.scheme == "https" and answer.scheme == "http":
                raise FetchRefused("It redirects from https to http, which is not secure.")
            url = answer
        raise FetchRefused(f"It redirects more than {self._rules.redirects} times.")

    async def _ask(self, target: Target, headers: dict[str, str]) -> "FetchResult | URL":
        """Send one request to one checked target; return the file or the redirect target."""
        async with (
            aiohttp.ClientSession(
                connector=self._pinned_to(target, force_close=True),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
                trust_env=False,
                requote_redirect_url=False,
            ) as session,
            session.get(target.url, headers=headers, allow_redirects=False) as response,
        ):
            if response.status in _REDIRECTS:
                return self._next(target.url, response.headers.get("Location"))
            if response.status not in (200, 304):
                refusal = PageGone if response.status in _GONE else FetchRefused
                raise refusal(f"The host replied with {response.status} {response.reason or ''}".rstrip() + ".")
            data = b"" if response.status == 304 else await self._body(response)
            return _to_fetched(target.url, response, data)

    async def pinned_connector(self, url: str) -> aiohttp.TCPConnector:
        """Return a connector to the checked addresses of one host, for several requests. Raises FetchRefused."""
        return self._pinned_to(await self._check_target(self._parse_url(url)))

    def _pinned_to(self, target: Target, *, force_close: bool = False) -> aiohttp.TCPConnector:
        return aiohttp.TCPConnector(
            resolver=_PinnedResolver(target),
            use_dns_cache=False,
            force_close=force_close,
            socket_factory=self._pinned_socket_factory(target),
        )

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        """Return the decompressed body; stop reading at the size limit."""
        most = self._rules.max_bytes
        if (response.content_length or 0) > most:
            raise _too_large(most)
        body = bytearray()
        async for chunk in _unpack(response, most):
            body += chunk
            if len(body) > most:
                raise _too_large(most)
        return bytes(body)

    def _parse_url(self, text: str) -> URL:
        """Return the link as a URL that every parser reads the same way. Raises FetchRefused."""
        if len(text) > URL_CHARS:
            raise FetchRefused("This link is too long.")
        if _ODD.search(text):
            raise FetchRefused("This link has characters that are not allowed in links.")
        try:
            url = URL(text)
            host, port = url.raw_host, url.port
        except ValueError as error:
            raise FetchRefused("This link cannot be fetched.") from error
        if url.scheme not in ("http", "https"):
            raise FetchRefused("Only http and https links are fetched.")
        if not host or port is None:
            raise FetchRefused("This link has no host.")
        if url.raw_user is not None or url.raw_password is not None:
            raise FetchRefused("This link contains a user name or password. They are never sent.")
        return url.with_fragment(None)

    def _next(self, url: URL, location: str | None) -> URL:
        if not location:
            raise FetchRefused("The host sent a redirect without an address.")
        if _ODD.search(location.strip()) or len(location) > URL_CHARS:
            raise FetchRefused("The host redirects to something that is not a link.")
        try:
            joined = url.join(URL(location.strip(), encoded=True))
        except ValueError as error:
            raise FetchRefused("The host redirects to something that is not a link.") from error
        return self._parse_url(str(joined))

    async def _check_target(self, url: URL) -> Target:
        """Check host, port and every address of the name. Raises FetchRefused."""
        host, port = (url.raw_host or "").lower(), url.port or 0
        bare = host.rstrip(".")
        if _is_listed(bare, self._rules.deny_hosts):
            raise FetchRefused(f"{bare} is on the list of blocked hosts.")
        private = f"{bare}:{port}" in self._rules.allow_private
        if self._rules.allow_hosts and not private and not _is_listed(bare, self._rules.allow_hosts):
            raise FetchRefused(f"{bare} is not on the list of allowed hosts.")
        if not private and port not in self._rules.ports:
            raise FetchRefused(f"Port {port} is not allowed.")
        if not private and (why := host_refusal(host)):
            raise FetchRefused(f"This host is not allowed: {why}.")
        addresses = [bare] if is_literal(bare) else await self._addresses(bare, port)
        for address in addresses:
            if not private and (why := address_refusal(address)):
                raise FetchRefused(f"{bare} has an address that is not allowed: {why}.")
        return Target(url, tuple(addresses))

    async def _addresses(self, host: str, port: int) -> list[str]:
        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            raise FetchRefused(f"There is no host called {host}.") from error
        if not addresses:
            raise FetchRefused(f"There is no host called {host}.")
        return addresses

    def _pinned_socket_factory(self, target: Target) -> MakeSocket:
        """Return a socket factory that accepts only the addresses of this target."""

        def make(info: AddressInfo) -> socket.socket:
            if str(info[4][0]) not in target.addresses or info[4][1] != target.url.port:
                raise FetchRefused("The connection went to an unchecked address, so it was closed.")
            return self._socket_for(info)

        return make


class _PinnedResolver(AbstractResolver):
    """Resolver that returns only the checked addresses of one host."""

    def __init__(self, target: Target) -> None:
        self._target = target

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the checked addresses of this connection's host, IPv4 and IPv6."""
        del family
        if host.rstrip(".").lower() != (self._target.url.raw_host or "").rstrip(".").lower():
            raise OSError("another host than the one that was checked")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in self._target.addresses
        ]

    async def close(self) -> None:
        """Nothing to close."""


async def _unpack(response: aiohttp.ClientResponse, most: int) -> AsyncIterator[bytes]:
    """Yield the body decompressed (gzip, deflate) in chunks, never more than the limit at once."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in ("", "identity"):
        async for chunk in response.content.iter_chunked(_CHUNK):
            yield chunk
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise FetchRefused(f"The host compressed the file in a way that is not supported ({encoding[:20]}).")
    unpack = zlib.decompressobj(47 if encoding != "deflate" else zlib.MAX_WBITS)
    try:
        async for chunk in response.content.iter_chunked(_CHUNK):
            yield unpack.decompress(chunk, most + 1)
            if unpack.unconsumed_tail:
                raise _too_large(most)
    except zlib.error as error:
        raise FetchRefused("The file arrived damaged.") from error
    if not unpack.eof:
        raise FetchRefused("The connection ended before the whole file arrived.")


def _to_fetched(url: URL, response: aiohttp.ClientResponse, data: bytes) -> FetchResult:
    media_type = response.headers.get("Content-Type", "").split(";")[0].strip().lower()
    return FetchResult(
        url=str(url),
        status=response.status,
        media_type=media_type,
        data=data,
        etag=response.headers.get("ETag"),
        last_modified=response.headers.get("Last-Modified"),
        file_name=_file_name(url, response, media_type),
    )


def _file_name(url: URL, response: aiohttp.ClientResponse, media_type: str) -> str:
    """Return the name from Content-Disposition, the last path segment or the host, with an extension if possible."""
    disposition = response.content_disposition
    stated = disposition.filename if disposition is not None else None
    name = PurePosixPath(unquote(stated or url.raw_path).replace("\\", "/")).name
    name = re.sub(r"[\x00-\x1f<>:\"|?*]", "", name).strip(". ")[:150] or (url.host or "page")
    if stated is None and (not PurePosixPath(name).suffix or name == url.host):
        name += mimetypes.guess_extension(media_type) or ""
    return name


def _is_listed(host: str, hosts: frozenset[str]) -> bool:
    return any(host == entry or host.endswith("." + entry) for entry in (h.lower().strip(".") for h in hosts))


def _too_large(most: int) -> FetchRefused:
    size = f"{most // 2**20} MB" if most >= 2**20 else f"{most} bytes"
    return FetchRefused(f"It is larger than {size}, which is too much for one link.")
