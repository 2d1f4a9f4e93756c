"""One REST request on its way through the server, and the table of endpoints that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.fakes.discord.contract import Operation
from tests.fakes.discord.refusal import Refusal

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord

Json = dict[str, Any]
FILE_PART = re.compile(r"files\[(\d+)\]")


@dataclass
class Call:
    """A request that names a known operation: its parameters, its JSON and its uploads by index."""

    operation: Operation
    path: str
    query: dict[str, str]
    body: Any = None
    files: dict[int, tuple[str, bytes]] = field(default_factory=dict)
    status: int = 0

    @property
    def params(self) -> dict[str, str]:
        return dict(self.operation.params)

    def snowflake(self, name: str) -> int:
        value = self.params[name]
        if not value.isdigit():
            message = f'Value "{value}" is not snowflake.'
            raise Refusal(400, 50035, "Invalid Form Body", violation=f"{name}: {message}")
        return int(value)


Answer = tuple[int, Any]
Endpoint = Callable[["FakeDiscord", Call], Awaitable[Answer]]
ENDPOINTS: dict[tuple[str, str], Endpoint] = {}


def endpoint(method: str, *templates: str) -> Callable[[Endpoint], Endpoint]:
    """Makes a function answer one method of one or more path templates of the description."""

    def register(function: Endpoint) -> Endpoint:
        for template in templates:
            ENDPOINTS[method, template] = function
        return function

    return register


async def read_body(request: web.Request, call: Call) -> None:
    """Reads JSON, or multipart with ``payload_json`` and ``files[n]``, into the call."""
    if request.content_type == "multipart/form-data":
        await _read_parts(request, call)
    elif request.can_read_body:
        raw = await request.read()
        call.body = json.loads(raw) if raw else None


async def _read_parts(request: web.Request, call: Call) -> None:
    for name, part in (await request.post()).items():
        indexed = FILE_PART.fullmatch(name)
        if name == "payload_json":
            call.body = json.loads(str(part))
        elif indexed is not None and isinstance(part, web.FileField):
            call.files[int(indexed[1])] = (part.filename, part.file.read())
