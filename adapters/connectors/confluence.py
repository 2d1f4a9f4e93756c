"""Confluence Cloud: pages, blog posts and the files on them, with the readers of spaces, of pages above, and their own.

Restricting a page does not change its version, so each round lists all pages without their bodies: one call for up to
100 of them, rights included, and one for up to 100 files and comments on these. A comment is part of its page's text; a
file has the readers of its page. Bodies are fetched for what changed, 25 in one call.
Interface: https://developer.atlassian.com/cloud/confluence/rest/ (v1 for content, groups and people; v2 for the
permissions of spaces, which v1 no longer has).
"""

from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, urlsplit

from adapters.connectors.confluence_storage import to_html
from adapters.documents.format import by_suffix
from core.model.errors import ConfigurationError, DocumentRejected, NotFound, RightMissing, SourceUnavailable
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

LISTED = "100"  # pages of one call; Confluence may give fewer
MOST_ANSWERS = 1_000  # to one query: a site that never comes to an end is given up
BATCH = 25
MEMBERS = 200
PEOPLE = 100
_SEARCH = "/rest/api/content/search"
_RESTRICTIONS = ("restrictions.read.restrictions.user", "restrictions.read.restrictions.group")
_EXPAND = ",".join(("version", "space", "ancestors", *_RESTRICTIONS, *(f"ancestors.{one}" for one in _RESTRICTIONS)))
_CHILD = "container,version"
_COMMENT = "container,history,body.storage,extensions.inlineProperties"
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
        page = await self._get(_SEARCH, cql=self._cql(), limit="1", expand=_EXPAND)
        items = [await self._item(one, page) for one in page["results"]]
        if not items:
            raise NotFound("This token sees no page.", remedy="Check the keys of the spaces and its rights to them.")
        warnings = []
        space = items[0].readers[0]
        if space == NOBODY:
            warnings.append("The readers of a space could not be read, so nobody could read its pages here.")
        people = [one for group in sorted(space.groups)[:1] for one in await self.members(group)]
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
        """Return the next page of all pages, with the files on them."""
        params = {"cql": f"{self._cql()} order by created", "limit": LISTED, "expand": _EXPAND}
        page = await self._get(_SEARCH, **params, **({"cursor": cursor} if cursor else {}))
        unread: Counter[str] = Counter()
        items = await self._items(page, unread)
        following = _next_cursor(page)
        return ChangePage(tuple(items), cursor=following, more=bool(following), whole=True, unread=unread)

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Return those of these pages and files that are there."""
        cql = self._cql({one.partition("/")[0] for one in ids})
        pages = self._pages(_SEARCH, cql=cql, limit=LISTED, expand=_EXPAND)
        return [item async for page in pages for item in await self._items(page, Counter()) if item.id in ids]

    async def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Fetch these pages with their comments, as HTML, and download these files."""
        if titles := {item.id: item.title for item in items if "/" not in item.id}:
            comments = await self._children("comment", titles, _COMMENT)
            async for page in self._pages(_SEARCH, cql=self._cql(titles), limit=LISTED, expand="body.storage"):
                for found in page["results"]:
                    yield _content(found, titles.get(str(found["id"]), ""), comments[str(found["id"])])
        for item in (one for one in items if "/" in one.id):
            page_id, _, file_id = item.id.partition("/")
            path = f"{self.prefix}/rest/api/content/{page_id}/child/attachment/{file_id}/download"
            try:
                yield Content(item.id, item.title, await self.http.download(path))
            except NotFound:
                continue
            except (DocumentRejected, RightMissing) as error:
                yield FetchFailure(item.id, str(error))

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return the people in a group. Groups of Confluence have no groups in them."""
        found: list[SourcePerson] = []
        while group not in {EVERYONE_IN_SITE, ANYONE} and ":" not in group:
            page = await self._get(
                f"/rest/api/group/{group}/membersByGroupId", start=str(len(found)), limit=str(MEMBERS)
            )
            found += [_person(one) for one in page["results"]]
            if not page["results"] or not page.get("_links", {}).get("next"):
                break
        return found

    async def people(self, ids: Collection[str]) -> Sequence[SourcePerson]:
        """Return these people; addresses that they hide stay empty."""
        wanted, found = sorted(ids), []
        for start in range(0, len(wanted), PEOPLE):
            some = await self.http.get(
                f"{self.prefix}/rest/api/user/bulk", {"accountId": wanted[start : start + PEOPLE]}
            )
            found += [_person(one) for one in some["results"]]
        return found

    async def _items(self, page: Mapping[str, Any], unread: Counter[str]) -> list[SourceItem]:
        """Return the pages of an answer and the files on them; count in ``unread`` those of other types."""
        children = await self._children("attachment,comment", [str(one["id"]) for one in page["results"]], _CHILD)
        items = []
        for found in page["results"]:
            below = children[str(found["id"])]
            said = [str(one["version"]["when"]) for one in below if one["type"] == "comment"]
            item = await self._item(found, page)
            item = replace(item, version=f"{item.version} {len(said)} {max(said)}") if said else item
            items.append(item)
            for one in below:
                name = str(one.get("title", ""))
                suffix = PurePosixPath(name).suffix.lower()
                if one["type"] == "attachment" and suffix.lstrip(".") in by_suffix():
                    items.append(_file(one, item, page))
                elif one["type"] == "attachment":
                    unread[f"files of type {suffix}" if suffix else "files without a type"] += 1
        return items

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
            url=_address(found, page),
            path=(str(space.get("name", "")), *(str(one.get("title", "")) for one in above)),
            dated=str(version.get("when") or "")[:10],
            readers=tuple(dict.fromkeys(sets)),
        )

    async def _children(
        self, kinds: str, ids: Collection[str], expand: str
    ) -> defaultdict[str, list[Mapping[str, Any]]]:
        """Return the files or comments on these pages, by the page's id, the oldest first."""
        found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        if ids:
            cql = f"type in ({kinds}) and container in ({','.join(sorted(ids))}) order by created"
            async for page in self._pages(_SEARCH, cql=cql, limit=LISTED, expand=expand):
                for one in page["results"]:
                    found[str((one.get("container") or {}).get("id", ""))].append(one)
        return found

    async def _space_readers(self, key: str) -> ReaderSet:
        """Return who may read a space, asked once while this is open; nobody where the token may not see that."""
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
        people, groups = set[str](), set[str]()
        async for page in self._pages(f"/api/v2/spaces/{spaces[0]['id']}/permissions", limit="250"):
            for one in page["results"]:
                operation, holder = one.get("operation", {}), one.get("principal") or {}
                if (operation.get("key"), operation.get("targetType")) != ("read", "space"):
                    continue
                kind, name = str(holder.get("type", "")), str(holder.get("id", ""))
                if kind == "user":
                    people.add(name)
                else:  # a role or a class of access is mapped by an admin, as "role:ID"
                    groups.add(name if kind == "group" else f"{kind}:{name}" if name else ANYONE)
        return ReaderSet(frozenset(people), frozenset(groups))

    def _cql(self, ids: Collection[str] = ()) -> str:
        """Return the query for pages and blog posts of the chosen spaces; for some of these where ids are given."""
        parts = ["type in (page,blogpost)"]
        if self.spaces:
            parts.append(f"space in ({','.join(_quoted(one) for one in self.spaces)})")
        if ids:
            parts.append(f"id in ({','.join(one for one in sorted(ids) if one.isdecimal())})")
        return " and ".join(parts)

    async def _pages(self, path: str, **params: str) -> AsyncIterator[Any]:
        """Yield the answers to a query, one page of results after another."""
        more: dict[str, str] = {}
        for _ in range(MOST_ANSWERS):
            page = await self._get(path, **params, **more)
            yield page
            more = {"cursor": _next_cursor(page)}
            if not more["cursor"]:
                return
        raise SourceUnavailable("Confluence's listing does not end.")

    async def _get(self, path: str, **params: str) -> Any:
        return await self.http.get(f"{self.prefix}{path}", params)


def _next_cursor(page: Mapping[str, Any]) -> str:
    """Return the cursor of the page behind this one; empty where it is the last."""
    following = str((page.get("_links") or {}).get("next") or "")
    return parse_qs(urlsplit(following).query).get("cursor", [""])[0]


def _restricted_to(found: Mapping[str, Any]) -> ReaderSet | None:
    """Return who may read a page by its own restriction; None where it has none, nobody where that is not said."""
    try:
        stated = found["restrictions"]["read"]["restrictions"]
        people = frozenset(str(one["accountId"]) for one in stated["user"]["results"])
        groups = frozenset(str(one["id"]) for one in stated["group"]["results"])
    except (KeyError, TypeError):
        return NOBODY
    return ReaderSet(people, groups) if people or groups else None


def _address(found: Mapping[str, Any], page: Mapping[str, Any]) -> str:
    return f"{page['_links'].get('base', '')}{found.get('_links', {}).get('webui', '')}"


def _file(found: Mapping[str, Any], owner: SourceItem, page: Mapping[str, Any]) -> SourceItem:
    """Return a file on a page, whose readers it has."""
    title, version = str(found["title"]), found["version"]
    return SourceItem(
        id=f"{owner.id}/{found['id']}",
        version=f"{version['number']} {title}",
        title=title,
        url=_address(found, page),
        path=(*owner.path, owner.title),
        dated=str(version["when"])[:10],
        readers=owner.readers,
    )


def _content(found: Mapping[str, Any], title: str, comments: Sequence[Mapping[str, Any]]) -> Content | FetchFailure:
    text = _storage(found)
    if text is None:
        return FetchFailure(str(found["id"]), "Confluence sent the page without its text.")
    return Content(str(found["id"]), "page.html", to_html(title, text + "".join(map(_comment, comments))))


def _storage(found: Mapping[str, Any]) -> str | None:
    text = found.get("body", {}).get("storage", {}).get("value")
    return None if text is None else str(text)


def _comment(found: Mapping[str, Any]) -> str:
    """Return a comment in storage format, below a heading that says who wrote it, when, and about which words."""
    history = found.get("history") or {}
    author = _person(history.get("createdBy") or {}).name or "somebody"
    words = ((found.get("extensions") or {}).get("inlineProperties") or {}).get("originalSelection")
    about = f" on “{words}”" if words else ""
    heading = f"Comment{about} by {author}, {str(history.get('createdDate', ''))[:10]}"
    return f"<h1>{escape(heading)}</h1>{_storage(found) or ''}"


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
        "readonly:content.attachment:confluence",
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
