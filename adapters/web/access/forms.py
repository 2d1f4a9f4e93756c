"""Form parsing: fields and files are read part by part as they arrive, with limits.

Each request body is read only once, however often it is requested.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from aiohttp import web
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from core.model.errors import DocumentRejected

MOST_PARTS = 1_000  # in one form, files and fields together
KIND = "multipart/form-data"
_CHUNK = 64 * 1024  # bytes
_CUT_SHORT = "The form arrived incomplete."
_AGAIN = "Send it again."


@dataclass(frozen=True, slots=True)
class FormPart:
    """A field's name, and for a file also the name given by the browser."""

    name: str
    file: str | None = None


class MultipartForm:
    """The parts of a request's body in order.

    Every read raises DocumentRejected if the body is malformed, truncated or has too many parts.
    """

    def __init__(self, request: web.Request) -> None:
        self._content = request.content
        self._events: deque[FormPart | bytes | None] = deque()  # a part, pieces of its content, None at its end
        self._header = (bytearray(), bytearray())  # name and value of the current header
        self._disposition = b""
        self._count = 0
        self._inside = self._complete = False
        try:
            boundary = parse_options_header(request.headers.get("Content-Type", ""))[1][b"boundary"]
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin_part,
                    "on_header_field": lambda data, start, end: self._header[0].extend(data[start:end]),
                    "on_header_value": lambda data, start, end: self._header[1].extend(data[start:end]),
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_headers,
                    "on_part_data": lambda data, start, end: self._events.append(data[start:end]),
                    "on_part_end": lambda: self._events.append(None),
                    "on_end": self._end,
                },
            )
        except (KeyError, ValueError):
            raise DocumentRejected("This form cannot be read: it has no boundary.", remedy=_AGAIN) from None

    async def next(self) -> FormPart | None:
        """Skip the rest of the current part and return the next one; None after the last."""
        while self._inside:
            await self.read()
        part = await self._event()
        self._inside = part is not None
        assert not isinstance(part, bytes)
        return part

    async def read(self) -> bytes:
        """Return the next piece of the current part, at most 64 KB; empty at its end."""
        if not self._inside:
            return b""
        piece = await self._event()
        if isinstance(piece, bytes):
            return piece
        self._inside = False
        return b""

    async def read_text(self, longest: int) -> str:
        """Return the current part as text, cut off after this many bytes."""
        data = bytearray()
        while len(data) < longest and (piece := await self.read()):
            data += piece
        return data[:longest].decode(errors="replace")

    async def _event(self) -> FormPart | bytes | None:
        while not self._events:
            if self._complete:
                return None
            data = await self._content.read(_CHUNK)
            if not data:
                raise DocumentRejected(_CUT_SHORT, remedy=_AGAIN)
            try:
                self._parser.write(data)
            except FormParserError:
                raise DocumentRejected("This form cannot be read.", remedy=_AGAIN) from None
        return self._events.popleft()

    def _begin_part(self) -> None:
        self._count += 1
        if self._count > MOST_PARTS:
            raise DocumentRejected(f"This form has over {MOST_PARTS:,} parts.", remedy="Send fewer files at once.")
        self._disposition = b""

    def _end_header(self) -> None:
        name, value = self._header
        if name.lower() == b"content-disposition":
            self._disposition = bytes(value)
        self._header = (bytearray(), bytearray())

    def _end_headers(self) -> None:
        options = parse_options_header(self._disposition)[1]
        name, file = options.get(b"name", b""), options.get(b"filename")
        self._events.append(
            FormPart(name.decode(errors="replace"), None if file is None else file.decode(errors="replace"))
        )

    def _end(self) -> None:
        self._complete = True


MOST_FIELDS = 50  # of a form
LONGEST_FORM = 256 * 1024  # bytes, as sent
_KIND = "application/x-www-form-urlencoded"
_FIELDS = web.RequestKey("fields", dict[str, str])
AGAIN = "Reload the page and try again."


async def read_form(request: web.Request) -> Mapping[str, str]:
    """Return the form's fields, the first of each name. Raises DocumentRejected if it is not one of our forms."""
    fields = request.get(_FIELDS)
    if fields is None:
        fields = request[_FIELDS] = await _read(request)
    return fields


async def _read(request: web.Request) -> dict[str, str]:
    if not request.can_read_body:
        return {}
    if request.content_type != _KIND:
        raise DocumentRejected("This form cannot be read.", remedy=AGAIN)
    body = bytearray()
    async for part in request.content.iter_chunked(16 * 1024):
        body += part
        if len(body) > LONGEST_FORM:
            raise DocumentRejected(f"This form is larger than {LONGEST_FORM // 1024} KB.", remedy="Send less at once.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:  # too many, or not UTF-8
        raise DocumentRejected(
            f"This form cannot be read: it has over {MOST_FIELDS} fields, or is not UTF-8.", remedy=AGAIN
        ) from None
    return dict(reversed(pairs))
