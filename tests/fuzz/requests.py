"""Requests that nobody sends in earnest, made of an app's own routes: wrong bytes, headers, cookies, verbs and bodies.

Everything follows from a seed. What is sent is bytes over a socket, so that no client library repairs it.
"""

import asyncio
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from aiohttp import web

VERBS = ("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "\xff")
WORDS = (
    "",
    "x",
    "0",
    "-1",
    "1e9",
    "99999999999999999999",
    "\u0661",
    "\u00b2",
    "true",
    "null",
    "../../etc/passwd",
    "..\\..",
    "{{7*7}}",
    "${x}",
    "%",
    "%00",
    "%ff",
    "%ed%a0%80",
    "%F0%9F%98%80",
    "\x00",
    "\xff\xfe",
    "'\"><b>",
    "\u202e",
    "a" * 300,
    "x" * 3_000,
    "0123456789abcdef",
    "default",
    "yes",
    "every day",
    "slack:channel:T1/C1",
    "https://[::1",
    "http://[",
    "//",
    "file:///etc/passwd",
    "1,1,1," * 200,
    "\r\nX: y",
    "2026-13-45",
    "web:user:",
    "*",
    "\ud800",
)
NAMES = (
    "question",
    "base",
    "verb",
    "target",
    "text",
    "principals",
    "every",
    "limit",
    "confirmed",
    "everyone",
    "checkpoint",
    "choice",
    "words",
    "helpful",
    "reason",
    "answer",
    "path",
    "title",
    "token",
    "setting",
    "password",
    "next",
    "page",
    "days",
    "id",
    "run",
    "q",
    "query",
    "channel",
    "source",
    "doctor",
    "csrf",
    "files",
    "format",
)
KINDS = (
    "application/x-www-form-urlencoded",
    "application/x-www-form-urlencoded; charset=none",
    "application/json",
    "text/plain",
    "multipart/form-data",
    "multipart/form-data; boundary=B",
    "multipart/form-data; boundary=",
    "multipart/mixed; boundary=B",
    "multipart/form-data; boundary=" + "B" * 300,
    "multipart/form-data; boundary=\xff",
    "application/xml",
    "\xff",
    "/",
    "",
)
HEADERS = (
    "Accept",
    "Accept-Encoding",
    "Accept-Language",
    "Authorization",
    "Content-Encoding",
    "Content-Language",
    "Cookie",
    "Expect",
    "Forwarded",
    "HX-Request",
    "HX-Target",
    "If-Modified-Since",
    "If-None-Match",
    "Last-Event-ID",
    "Origin",
    "Range",
    "Referer",
    "Sec-WebSocket-Key",
    "Upgrade",
    "User-Agent",
    "X-CSRF-Token",
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "Host",
    "Mcp-Session-Id",
    "MCP-Protocol-Version",
    "Connection",
)
VALUES = (
    "*/*",
    "text/event-stream",
    "gzip",
    "br",
    "identity",
    "deflate, gzip",
    "100-continue",
    "bytes=0-",
    "bytes=9-1",
    "close",
    "upgrade",
    "websocket",
    "Bearer",
    "Bearer \xff",
    "Basic \xff\xfe",
    "true",
    "footnote=\xff",
    'footnote="\\377"; a=b;;=',
    "Thu, 99 Foo 2026",
    'W/"x"',
    "null",
    "http://[::1",
    "http://127.0.0.1",
    ",,,",
    ";q=9",
    "x" * 7_000,
)
NO_ANSWER = 599
_PARAMETER = re.compile(r"\{[^}]+\}")


@dataclass(frozen=True)
class Identity:
    """Who sends it: the headers that let somebody in, and the token of their forms."""

    headers: tuple[tuple[str, str], ...] = ()
    csrf: str = ""


@dataclass
class Fuzzer:
    """Makes requests for these routes; ``words`` are what their path parameters may really be."""

    host: str
    routes: Sequence[tuple[str, str]]
    identities: Sequence[Identity]
    words: Sequence[str] = ()
    seed: int = 0
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def request(self, number: int) -> bytes:
        """One request; routes come in turn, so that none is left out."""
        chance, (method, path) = self._random, self.routes[number % len(self.routes)]
        if chance.random() < 0.1:
            method = chance.choice(VERBS)
        identity = chance.choice(self.identities)
        headers = [("Host", self.host), *identity.headers]
        if chance.random() < 0.9:
            headers.append(("Origin", f"http://{self.host}"))
        if identity.csrf and chance.random() < 0.5:
            headers.append(("X-CSRF-Token", identity.csrf))
        strange = chance.choice((0, 0, 1, 2, 4))
        headers += [(chance.choice(HEADERS), chance.choice(VALUES + WORDS)) for _ in range(strange)]
        body = self._body(headers, identity.csrf) if method not in ("GET", "HEAD") or chance.random() < 0.1 else b""
        line = f"{method} {self._path(path)} HTTP/1.1"
        head = "\r\n".join([line, *(f"{name}: {_one_line(value)}" for name, value in headers)])
        return _bytes(head) + b"\r\n\r\n" + body

    def _path(self, path: str) -> str:
        filled = _PARAMETER.sub(lambda _: self._escaped(self._random.choice((*self.words, *self.words, *WORDS))), path)
        if self._random.random() < 0.4:
            pairs = [f"{self._random.choice(NAMES)}={self._escaped(self._random.choice(WORDS))}" for _ in range(3)]
            filled += "?" + self._random.choice("&;").join(pairs)
        return filled

    def _escaped(self, word: str) -> str:
        """The word as it may be in an address: mostly escaped, sometimes not."""
        if self._random.random() < 0.2:
            return _one_line(word).replace(" ", "+")
        return "".join(f"%{byte:02X}" if not chr(byte).isalnum() else chr(byte) for byte in _bytes(word))

    def _body(self, headers: list[tuple[str, str]], csrf: str) -> bytes:
        chance = self._random
        fields = [(chance.choice(NAMES), chance.choice(WORDS)) for _ in range(chance.choice((0, 1, 3, 8, 200)))]
        if csrf and chance.random() < 0.7:
            fields.insert(0, ("csrf", csrf))
        made = chance.randrange(4)
        if made == 0:
            kind, body = (
                KINDS[0],
                "&".join(f"{name}={self._escaped(value)}" for name, value in fields).encode("latin-1", "replace"),
            )
        elif made == 1:
            kind, body = KINDS[5], self._multipart(fields)
        elif made == 2:
            kind, body = "application/json", _bytes(self._json(3))
        else:
            kind, body = chance.choice(KINDS), chance.randbytes(chance.choice((0, 1, 50, 5_000)))
        if chance.random() < 0.1:
            kind = chance.choice(KINDS)
        headers.append(("Content-Type", kind))
        if chance.random() < 0.15:
            headers.append(("Transfer-Encoding", "chunked"))
            return chance.choice((b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body), b"zz\r\n" + body, b"5\r\nab"))
        length = len(body) if chance.random() < 0.9 else chance.choice((0, 1, len(body) + 9))
        headers.append(("Content-Length", str(length)))
        return body if chance.random() < 0.85 else body[: len(body) // 2]

    def _multipart(self, fields: list[tuple[str, str]]) -> bytes:
        chance, parts = self._random, list[bytes]()
        for name, value in fields:
            file = f'; filename="{chance.choice(WORDS)}"' if chance.random() < 0.3 else ""
            head = (
                f'Content-Disposition: form-data; name="{name}"{file}'
                if chance.random() < 0.95
                else chance.choice(WORDS)
            )
            parts.append(b"--B\r\n" + _bytes(_one_line(head)) + b"\r\n\r\n" + _bytes(value) + b"\r\n")
        return b"".join(parts) + (b"--B--\r\n" if chance.random() < 0.7 else b"")

    def _json(self, depth: int) -> str:
        chance = self._random
        made = chance.randrange(8 if depth else 5)
        if made < 5:
            return chance.choice(
                ("null", "1e999", "-0", "NaN", '"\\ud800"', '"x"', "true", "[" * 2_000, '"' + "y" * 5_000 + '"')
            )
        inner = [self._json(depth - 1) for _ in range(3)]
        if made == 5:
            return f"[{','.join(inner)}]"
        names = [
            chance.choice((*NAMES, "jsonrpc", "method", "params", "conversation", "messages", "model")) for _ in inner
        ]
        return "{" + ",".join(f'"{name}": {value}' for name, value in zip(names, inner, strict=True)) + "}"


def routes_of(app: web.Application) -> list[tuple[str, str]]:
    """All of an app's routes but those for HEAD, which aiohttp adds."""
    found = {
        (route.method, route.resource.canonical)
        for route in app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    return sorted(found)


async def answer_to(host: str, sent: bytes, seconds: float = 20.0) -> tuple[int, bytes]:
    """The status of the answer and the beginning of its body; 0 where the server hangs up
    without one, 599 where nothing comes."""
    name, _, port = host.rpartition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    try:
        writer.write(sent)
        if sent.endswith(b"half"):
            writer.write_eof()
        async with asyncio.timeout(seconds):
            line = await reader.readline()
            status = int(line.split()[1]) if line.startswith(b"HTTP/") else 0
            return status, await reader.read(20_000) if status == 422 or status >= 500 else b""
    except (ConnectionError, asyncio.LimitOverrunError):
        return 0, b""
    except TimeoutError:
        return NO_ANSWER, b""
    finally:
        writer.close()


def _one_line(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def _bytes(text: str) -> bytes:
    """As it is where a byte of that number exists, as UTF-8 elsewhere."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
