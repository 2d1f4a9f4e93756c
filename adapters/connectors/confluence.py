"""Confluence Cloud: pages and blog posts, with the readers of their spaces, of every page above them, and their own.

Restricting a page does not change its version, so each round lists all pages without their bodies: one call for up to
100 of them, rights included. Bodies are fetched for what changed, 25 in one call.
Interface: https://developer.atlassian.com/cloud/confluence/rest/ (v1 for content, groups and people; v2 for the
permissions of spaces, which v1 no longer has).
"""

from base64 import b64encode
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from adapters.connectors.confluence_storage import to_html
from core.model.errors import ConfigurationError, NotFound, RightMissing
from core.ports.connector import (
    ANYONE,
    EVERYONE_IN_SITE,
    ChangePage,
    Connector,
    ConnectorPlugin,
    Content,
    FetchFailure,
    Http,
    OpenHttp,
    ReaderSet,
    SettingField,
    SourceCheck,
    SourceItem,
    SourcePerson,
)

LISTED = 100  # pages of one call; Confluence may give fewer
BATCH = 25
MEMBERS = 200
PEOPLE = 100
_RESTRICTIONS = ("restrictions.read.restrictions.user", "restrictions.read.restrictions.group")
_EXPAND = ",".join(("version", "space", "ancestors", *_RESTRICTIONS, *(f"ancestors.{one}" for one in _RESTRICTIONS)))
NOBODY = ReaderSet()


@dataclass(slots=True)
class Confluence(Connector):
    """One site. ``prefix`` is the path before ``/rest`` and ``/api``; ``spaces`` are keys, none for all."""

    http: Http
    prefix: str
    spaces: tuple[str, ...] = ()
    _readers_of_space: dict[str, ReaderSet] = field(default_factory=dict)

    async def check(self) -> SourceCheck:
        """Try the token, one page, the readers of its space, and the addresses of people."""
        me = await self._get("/rest/api/user/current")
        found = await self._get("/rest/api/search", cql=self._cql(), limit="1")
        page = await self._search(self._cql(), "", "1", _EXPAND)
        items = [await self._item(one, page) for one in page["results"]]
        if not items:
            raise NotFound("This token sees no page.", remedy="Check the keys of the spaces and its rights to them.")
        warnings = []
        space = items[0].readers[0]
        if space == NOBODY:
            warnings.append("The readers of a space could not be read, so nobody could read its pages here.")
        people = [one for group in sorted(space.groups)[:1] for one in await self._members(group)]
        people += await self.people(sorted(space.people)[:PEOPLE])
        hidden = sum(not one.email for one in people)
        if hidden:
            warnings.append(
                f"Confluence hides the e-mail addresses of {hidden} of {len(people)} people. They read nothing here, "
                "until they show their address to the organization or an admin maps them."
            )
        name = str(me.get("displayName") or me.get("publicName") or me.get("accountId"))
        return SourceCheck(name, int(found["totalSize"]), items[0].title, tuple(warnings))

    async def changes(self, cursor: str) -> ChangePage:
        """Return the next page of all pages."""
        page = await self._search(f"{self._cql()} order by created", cursor, str(LISTED), _EXPAND)
        items = [await self._item(one, page) for one in page["results"]]
        following = _next_cursor(page)
        return ChangePage(tuple(items), cursor=following, more=bool(following), whole=True)

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Those of these pages that are there."""
        return [await self._item(one, page) async for one, page in self._every(self._cql(ids), len(ids), _EXPAND)]

    async def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Yield the bodies of these pages, as HTML."""
        titles = {item.id: item.title for item in items}
        async for found, _ in self._every(self._cql(titles), len(titles), "body.storage"):
            body = found.get("body", {}).get("storage", {}).get("value")
            if body is None:
                yield FetchFailure(str(found["id"]), "Confluence sent the page without its text.")
                continue
            yield Content(str(found["id"]), "page.html", to_html(titles.get(str(found["id"]), ""), str(body)))

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return the people in a group. Groups of Confluence have no groups in them."""
        return [] if group in {EVERYONE_IN_SITE, ANYONE} or ":" in group else await self._members(group)

    async def people(self, ids: Collection[str]) -> Sequence[SourcePerson]:
        """Return these people; addresses that they hide stay empty."""
        wanted, found = sorted(ids), []
        for start in range(0, len(wanted), PEOPLE):
            some = await self.http.get(
                f"{self.prefix}/rest/api/user/bulk", {"accountId": wanted[start : start + PEOPLE]}
            )
            found += [_person(one) for one in some["results"]]
        return found

    async def _members(self, group: str) -> list[SourcePerson]:
        found: list[SourcePerson] = []
        while True:
            page = await self._get(
                f"/rest/api/group/{group}/membersByGroupId", start=str(len(found)), limit=str(MEMBERS)
            )
            found += [_person(one) for one in page["results"]]
            if not page["results"] or not page.get("_links", {}).get("next"):
                return found

    async def _item(self, found: Mapping[str, Any], page: Mapping[str, Any]) -> SourceItem:
        space = found.get("space", {})
        above = found.get("ancestors") or []
        sets = [await self._space_readers(str(space.get("key", "")))]
        sets += [one for part in (*above, found) if (one := _restricted_to(part)) is not None]
        version = found.get("version", {})
        return SourceItem(
            id=str(found["id"]),
            version=str(version.get("number", "")),
            title=str(found.get("title", "")),
            url=f"{page['_links'].get('base', '')}{found.get('_links', {}).get('webui', '')}",
            path=(str(space.get("name", "")), *(str(one.get("title", "")) for one in above)),
            dated=str(version.get("when") or "")[:10],
            readers=tuple(dict.fromkeys(sets)),
        )

    async def _space_readers(self, key: str) -> ReaderSet:
        """Who may read a space, asked once while this is open; nobody where the token may not see that."""
        if key not in self._readers_of_space:
            try:
                self._readers_of_space[key] = await self._read_space_readers(key)
            except (NotFound, RightMissing):
                self._readers_of_space[key] = NOBODY
        return self._readers_of_space[key]

    async def _read_space_readers(self, key: str) -> ReaderSet:
        spaces = (await self._get("/api/v2/spaces", keys=key, limit="1"))["results"]
        if not spaces:
            return NOBODY
        people: set[str] = set()
        groups: set[str] = set()
        path, cursor = f"/api/v2/spaces/{spaces[0]['id']}/permissions", ""
        while True:
            page = await self._get(path, limit="250", **({"cursor": cursor} if cursor else {}))
            for one in page["results"]:
                operation, holder = one.get("operation", {}), one.get("principal") or {}
                if (operation.get("key"), operation.get("targetType")) != ("read", "space"):
                    continue
                kind, name = str(holder.get("type", "")), str(holder.get("id", ""))
                if kind == "user":
                    people.add(name)
                else:  # a role or a class of access is mapped by an admin, as "role:ID"
                    groups.add(name if kind == "group" else f"{kind}:{name}" if name else ANYONE)
            cursor = _next_cursor(page)
            if not cursor:
                return ReaderSet(frozenset(people), frozenset(groups))

    def _cql(self, ids: Collection[str] = ()) -> str:
        """Return the pages and blog posts of the chosen spaces; of these only some where ids are given."""
        parts = ["type in (page,blogpost)"]
        if self.spaces:
            parts.append(f"space in ({','.join(_quoted(one) for one in self.spaces)})")
        if ids:
            parts.append(f"id in ({','.join(one for one in sorted(ids) if one.isdecimal())})")
        return " and ".join(parts)

    async def _every(self, cql: str, most: int, expand: str) -> AsyncIterator[tuple[Mapping[str, Any], Any]]:
        """All results, each with its page: Confluence may give fewer at once than it was asked for."""
        cursor = ""
        for _ in range(most + 1):  # a page has at least one result
            page = await self._search(cql, cursor, str(most), expand)
            for one in page["results"]:
                yield one, page
            cursor = _next_cursor(page)
            if not cursor:
                return

    async def _search(self, cql: str, cursor: str, limit: str, expand: str) -> Any:
        more = {"cursor": cursor} if cursor else {}
        return await self._get("/rest/api/content/search", cql=cql, limit=limit, expand=expand, **more)

    async def _get(self, path: str, **params: str) -> Any:
        return await self.http.get(f"{self.prefix}{path}", params)


def _next_cursor(page: Mapping[str, Any]) -> str:
    """Return the cursor of the page behind this one; empty where it is the last."""
    following = str((page.get("_links") or {}).get("next") or "")
    return parse_qs(urlsplit(following).query).get("cursor", [""])[0]


def _restricted_to(found: Mapping[str, Any]) -> ReaderSet | None:
    """Who may read a page by its own restriction; None where it has none, nobody where Confluence does not say."""
    try:
        stated = found["restrictions"]["read"]["restrictions"]
        people = frozenset(str(one["accountId"]) for one in stated["user"]["results"])
        groups = frozenset(str(one["id"]) for one in stated["group"]["results"])
    except (KeyError, TypeError):
        return NOBODY
    return ReaderSet(people, groups) if people or groups else None


def _person(found: Mapping[str, Any]) -> SourcePerson:
    name = str(found.get("displayName") or found.get("publicName") or "")
    return SourcePerson(str(found.get("accountId", "")), str(found.get("email") or ""), name)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class ConfluencePlugin(ConnectorPlugin):
    """What ``footnote connect confluence`` asks for, and how a site is opened."""

    name: str = "confluence"
    title: str = "Confluence"
    fields: tuple[SettingField, ...] = (
        SettingField("url", "Address of the site", "https://example.atlassian.net", "CONFLUENCE_URL"),
        SettingField("email", "E-mail address of the account", "the account that made the token", "CONFLUENCE_EMAIL"),
        SettingField(
            "token",
            "API token",
            "made at https://id.atlassian.com/manage-profile/security/api-tokens",
            "CONFLUENCE_TOKEN",
            secret=True,
        ),
        SettingField("spaces", "Keys of the spaces", "with commas between them; empty for all", required=False),
    )
    scopes: tuple[str, ...] = (
        "search:confluence",
        "read:confluence-content.all",
        "read:confluence-space.summary",
        "read:space:confluence",
        "read:confluence-groups",
        "read:confluence-user",
    )
    states_readers: bool = True
    batch: int = BATCH

    @asynccontextmanager
    async def open(self, settings: Mapping[str, str], http: OpenHttp) -> AsyncIterator[Connector]:
        """Yield a site of Confluence Cloud, by its own address or through api.atlassian.com."""
        url = urlsplit(settings["url"].strip().rstrip("/"))
        if not settings.get("email"):
            raise ConfigurationError(
                "Confluence Cloud needs the e-mail address of the account.", remedy="Data Center is not supported yet."
            )
        prefix = url.path.removesuffix("/wiki") + "/wiki"
        spaces = tuple(one.strip() for one in settings.get("spaces", "").split(",") if one.strip())
        pair = b64encode(f"{settings['email'].strip()}:{settings['token']}".encode()).decode()
        async with http(f"{url.scheme}://{url.netloc}", {"Authorization": f"Basic {pair}"}) as calls:
            yield Confluence(calls, prefix, spaces)


PLUGIN = ConfluencePlugin()
