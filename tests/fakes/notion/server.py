"""A Notion workspace on a real socket: the pages that are shared with an integration, and its bad days on demand.

Every request is checked against the published description: the path, the headers and the body of a search.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

import jsonschema
from aiohttp import web

TOKEN = "ntn_secret"
SPECIFICATION = Path(__file__).parents[4] / "shared" / "specs" / "notion-openapi.json"


@dataclass
class Page:
    """A page; ``edited`` counts minutes."""

    id: str
    title: str
    text: str
    edited: int = 0
    is_deleted: bool = False


@dataclass
class FakeNotion:
    """See the module. ``faults`` are answered to the next calls, one each: a status and headers, or None for a pass."""

    page_size: int = 3
    pages: dict[str, Page] = field(default_factory=dict)
    faults: list[tuple[int, dict[str, str]] | None] = field(default_factory=list)
    is_revoked: bool = False
    duplicates: bool = False
    refused: set[str] = field(default_factory=set)
    before_answer: Callable[[int], None] | None = None
    calls: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    minute: int = 0
    _listings: int = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def add_page(self, page_id: str, title: str, text: str) -> None:
        """Add a page."""
        self.minute += 1
        self.pages[page_id] = Page(page_id, title, text, self.minute)

    def change(self, page_id: str, **given: Any) -> None:
        """Edit or rename a page."""
        self.minute += 1
        page = self.pages[page_id]
        for name, value in {**given, "edited": self.minute}.items():
            setattr(page, name, value)

    async def _answer(self, request: web.Request) -> web.Response:
        path = request.path
        self.calls.append(path)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            return web.Response(status=fault[0], headers=fault[1], text="{}")
        if self.is_revoked or request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"object": "error", "status": 401, "code": "unauthorized"}, status=401)
        given = await request.json() if request.can_read_body else None
        self._check(request.method.lower(), path, request.headers.get("Notion-Version", ""), given)
        if path == "/v1/users/me":
            return web.json_response({"object": "user", "id": "bot", "type": "bot", "name": "Footnote", "bot": {}})
        if path == "/v1/search":
            return web.json_response(self._search(given))
        return self._page(path)

    def _page(self, path: str) -> web.Response:
        found = re.fullmatch(r"/v1/pages/([^/]+)(/markdown)?", path)
        page = self.pages.get(found[1]) if found else None
        if found is None or page is None:
            return web.json_response({"object": "error", "status": 404, "code": "object_not_found"}, status=404)
        if not found[2]:
            return web.json_response(_object(page))
        if page.id in self.refused:
            return web.json_response({"object": "error", "status": 403, "code": "restricted_resource"}, status=403)
        if page.is_deleted:
            return web.json_response({"object": "error", "status": 404, "code": "object_not_found"}, status=404)
        head = {"object": "page_markdown", "id": page.id, "truncated": False, "unknown_block_ids": []}
        return web.json_response({**head, "markdown": page.text})

    def _search(self, given: Any) -> dict[str, Any]:
        self._listings += 1
        if self.before_answer is not None:
            self.before_answer(self._listings)
        there = sorted((one for one in self.pages.values() if not one.is_deleted), key=lambda one: one.edited)
        start, size = int(given.get("start_cursor") or 0), min(int(given.get("page_size", 100)), self.page_size)
        first = max(0, start - 1) if self.duplicates else start
        more = start + size < len(there)
        following = str(start + size) if more else None
        results = [_object(one) for one in there[first : start + size]]
        return {"object": "list", "results": results, "next_cursor": following, "has_more": more, "type": "page"}

    def _check(self, method: str, path: str, version: str, given: Any) -> None:
        paths = _description()["paths"]
        name = next((one for one in paths if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), path)), "")
        operation = paths.get(name, {}).get(method)
        if operation is None or version < "2025-09-03":
            self.violations.append(f"there is no {method} {path} in {version}")
            return
        if given is not None:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            for error in jsonschema.Draft202012Validator(schema).iter_errors(given):
                self.violations.append(f"{path}: {error.message}")
            self.violations += [f"{path}: unknown {name}" for name in set(given) - set(schema["properties"])]


def _object(page: Page) -> dict[str, Any]:
    moment = f"2026-01-05T{page.edited // 60:02}:{page.edited % 60:02}:00.000Z"
    title = {"id": "title", "type": "title", "title": [{"type": "text", "plain_text": page.title}]}
    status = {"id": "s", "type": "status", "status": {"name": "Done"}}
    return {
        "object": "page", "id": page.id, "last_edited_time": moment, "in_trash": page.is_deleted,
        "url": f"https://www.notion.so/{page.id}", "properties": {"Name": title, "Status": status},
    }  # fmt: skip


@cache
def _description() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(SPECIFICATION.read_text("utf-8"))
    return found
