"""Notion: the pages shared with an integration, as Markdown rendered by Notion.

Notion's API does not say who may read a page, so an admin sets the readers of everything shared with the integration.
Pages are listed by search, which may lag. So a page missing from it is looked up by id before it is withdrawn. API:
https://developers.notion.com/reference (2026-03-11, which has pages as Markdown).
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.connectors.http import fetched
from core.model.errors import NotFound, RightMissing
from core.ports.connector import (
    ChangePage,
    Connector,
    ConnectorPlugin,
    Content,
    FetchFailure,
    Http,
    OpenHttp,
    SettingField,
    SourceCheck,
    SourceItem,
)

VERSION = "2026-03-11"
ORIGIN = "https://api.notion.com"
LISTED = 100
BATCH = 10
MOST_PARTS = 50  # of a page that Notion does not send at once
RECENT = timedelta(minutes=2)
_NO_VALUE = frozenset({"title", "relation", "rollup", "files", "button", "verification", "unique_id"})


@dataclass(slots=True)
class Notion(Connector):
    """One workspace, limited to what is shared with the integration."""

    http: Http

    async def check(self) -> SourceCheck:
        """Try the token and one page."""
        me = await self.http.get("/v1/users/me")
        page = await self._search("", 1)
        if not page["results"]:
            raise NotFound(
                "Nothing is shared with this integration.",
                remedy="In Notion, open a page, choose ••• and Connections, and add the integration.",
            )
        item = _item(page["results"][0])
        name = str(me.get("name") or (me.get("bot") or {}).get("workspace_name") or me.get("id"))
        return SourceCheck(name, None, item.title)

    async def changes(self, cursor: str) -> ChangePage:
        """Return the next page of all pages. The oldest edits come first, so that new edits do not shift others."""
        page = await self._search(cursor, LISTED)
        items = tuple(_item(one) for one in page["results"] if not _is_gone(one))
        following = str(page.get("next_cursor") or "")
        return ChangePage(items, cursor=following, more=bool(page.get("has_more") and following), whole=True)

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Return those of these pages that still exist and are shared."""
        found = []
        for one in ids:
            try:
                page = await self.http.get(f"/v1/pages/{one}")
            except NotFound:
                continue
            if not _is_gone(page):
                found.append(_item(page))
        return found

    async def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Yield these pages as Markdown with their properties, with at least one call per page."""
        for item in items:
            if (found := await fetched(item.id, "page.md", self._markdown(item))) is not None:
                yield found

    async def _markdown(self, item: SourceItem) -> bytes:
        """Return a page's properties and text. Long pages are read in parts."""
        found = await self.http.get(f"/v1/pages/{item.id}/markdown")
        texts, left, asked = [item.reference, str(found["markdown"])], list(found.get("unknown_block_ids") or ()), 0
        while left and asked < MOST_PARTS:
            asked += 1
            try:
                part = await self.http.get(f"/v1/pages/{left.pop(0)}/markdown")
            except (NotFound, RightMissing):  # a block that is not shared
                continue
            texts.append(str(part["markdown"]))
            left += part.get("unknown_block_ids") or ()
        texts += ["(Notion did not send the rest of this page.)"] if left else []
        return "\n\n".join(text for text in texts if text.strip()).encode()

    async def _search(self, cursor: str, size: int) -> Any:
        body: dict[str, Any] = {
            "filter": {"property": "object", "value": "page"},
            "sort": {"timestamp": "last_edited_time", "direction": "ascending"},
            "page_size": size,
        }
        return await self.http.post("/v1/search", body | ({"start_cursor": cursor} if cursor else {}))


def _item(page: Mapping[str, Any]) -> SourceItem:
    edited = str(page.get("last_edited_time", ""))
    properties = page.get("properties") or {}
    title = next((_plain(one["title"]) for one in properties.values() if one.get("type") == "title"), "")
    lines = [f"{name}: {value}" for name, one in properties.items() if (value := _value(one))]
    return SourceItem(
        id=str(page["id"]),
        version=f"{edited}{'…' if _is_recent(edited) else ''}",
        title=title or "Untitled",
        url=str(page.get("url", "")),
        dated=edited[:10],
        reference="\n".join(lines),
    )


def _is_recent(edited: str) -> bool:
    """Return whether a page may change without a new version, because Notion rounds edit times to a minute."""
    try:
        return datetime.now(UTC) - datetime.fromisoformat(edited) < RECENT
    except (ValueError, TypeError):
        return True


def _is_gone(page: Mapping[str, Any]) -> bool:
    return bool(page.get("in_trash") or page.get("archived"))


def _plain(texts: Sequence[Mapping[str, Any]]) -> str:
    return "".join(str(one.get("plain_text", "")) for one in texts)


def _value(found: Mapping[str, Any]) -> str:
    """Return a property as text, or an empty string for one without text or value."""
    kind = str(found.get("type", ""))
    value = found.get(kind)
    if kind in _NO_VALUE or value is None or isinstance(value, bool):
        return ""
    if kind == "formula":
        return str(value.get(value.get("type", ""), "") or "")
    if kind == "date":
        return " to ".join(str(one) for one in (value.get("start"), value.get("end")) if one)
    if isinstance(value, Mapping):
        return str(value.get("name") or "")
    if isinstance(value, list):
        return ", ".join(filter(None, (str(one.get("plain_text") or one.get("name") or "") for one in value)))
    return str(value)


@dataclass(frozen=True, slots=True)
class NotionPlugin(ConnectorPlugin):
    """The settings of ``footnote connect notion``. ``origin`` is Notion's, except in tests."""

    name: str = "notion"
    title: str = "Notion"
    fields: tuple[SettingField, ...] = (
        SettingField(
            "token",
            "Token of the integration",
            "made at https://www.notion.so/profile/integrations; then share pages with it",
            "NOTION_TOKEN",
            secret=True,
        ),
    )
    scopes: tuple[str, ...] = ("Read content",)
    states_readers: bool = False
    batch: int = BATCH
    origin: str = ORIGIN

    @asynccontextmanager
    async def open(self, settings: Mapping[str, str], http: OpenHttp) -> AsyncIterator[Connector]:
        """Yield the workspace of this token."""
        headers = {"Authorization": f"Bearer {settings['token']}", "Notion-Version": VERSION}
        async with http(self.origin, headers) as calls:
            yield Notion(calls)


PLUGIN = NotionPlugin()
