"""The fields of a form without files, within limits: each request is read once, however many ask for it."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from aiohttp import web

from core.model.errors import DocumentRejected

MOST_FIELDS = 50  # of a form
LONGEST_FORM = 256 * 1024  # bytes, as they are sent
_KIND = "application/x-www-form-urlencoded"
_FIELDS = web.RequestKey("fields", dict[str, str])
AGAIN = "Reload the page and try again."


async def read_form(request: web.Request) -> Mapping[str, str]:
    """The form's fields; of two with one name the first. Raises DocumentRejected for what is no form of ours."""
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
