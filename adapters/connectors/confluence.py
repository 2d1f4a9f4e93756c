"""Confluence: pages, blog posts and their files, with readers from spaces, parent pages and the pages themselves.

Restricting a page does not change its version. So each round lists all pages without their bodies: one call for up to
100 pages with their restrictions, and one for up to 100 of their files and comments. A comment is part of its page's
text, and a file has the readers of its page. Bodies of changed pages are fetched, 25 in one call. API:
https://developer.atlassian.com/cloud/confluence/rest/ (v1 for content, groups and people; v2 for permissions of spaces,
which v1 no longer has). Data Center has v1 with other names for people and groups
(https://developer.atlassian.com/server/confluence/rest/), and since 9.1 a separate call for permissions of spaces.
"""

from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import PurePosixPath
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from adapters.connectors.confluence_storage import to_html
from adapters.connectors.http import call_for_each, fetched, pages_of
from adapters.documents.format import by_suffix
from core.model.errors import ConfigurationError, NotFound, RightMissing, SourceUnavailable
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

LISTED = "100"  # pages per call; Confluence may return fewer
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
    """One site. ``prefix`` is the path before ``/rest`` and ``/api``. ``spaces`` are space keys; empty means all."""

    person_key: ClassVar[str] = "accountId"
    group_key: ClassVar[str] = "id"
    http: Http
    prefix: str
    spaces: tuple[str, ...] = ()
    _readers_of_space: dict[str, ReaderSet] = field(default_factory=dict)

    async def check(self) -> SourceCheck:
        """Try the token, one page, the readers of its space, and people's e-mail addresses."""
        me = await self._get("/rest/api/user/current")
        found = await self._get("/rest/api/search", cql=self._cql(), limit="1")
        page = await self._get(_SEARCH, cql=self._cql(), limit="1", expand=_EXPAND)
        items = [await self._item(one, page) for one in page["results"]]
        if not items:
            raise NotFound(
                "This token cannot see any page.",
                remedy="Check the space keys, and the token's permissions for these spaces.",
            )
        warnings = []
        space = items[0].readers[0]
        if space == NOBODY:
            warnings.append("The readers of a space could not be looked up, so nobody could read its pages here.")
        people = [one for group in sorted(space.groups)[:1] for one in await self.members(group)]
        people += await self.people(sorted(space.people)[:PEOPLE])
        hidden = sum(not one.email for one in people)
        if hidden:
            warnings.append(
                f"Confluence hides the e-mail addresses of {hidden} of {len(people)} people. They can read nothing"
                " here until they show their address or an admin maps them."
            )
        return SourceCheck(_name(me), int(found["totalSize"]), items[0].title, tuple(warnings))

    async def changes(self, cursor: str) -> ChangePage:
        """Return the next page of all pages, with the files on them."""
        params = {"cql": f"{self._cql()} order by created", "limit": LISTED, "expand": _EXPAND}
        page = await self._get(_SEARCH, **params, **dict(parse_qsl(cursor)))
        unread: Counter[str] = Counter()
        items, following = await self._items(page, unread), _next(page)
        return ChangePage(tuple(items), cursor=following, more=bool(following), whole=True, unread=unread)

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Return those of these pages and files that still exist."""
        cql = self._cql({one.partition("/")[0] for one in ids})
        pages = self._pages(_SEARCH, cql=cql, limit=LISTED, expand=_EXPAND)
        return [item async for page in pages for item in await self._items(page, Counter()) if item.id in ids]

    async def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Yield these pages with their comments as HTML, and the content of these files."""
        if titles := {item.id: item.title for item in items if "/" not in item.id}:
            comments = await self._children("comment", titles, _COMMENT)
            async for page in self._pages(_SEARCH, cql=self._cql(titles), limit=LISTED, expand="body.storage"):
                for found in page["results"]:
                    yield _content(found, titles.get(str(found["id"]), ""), comments[str(found["id"])])
        for item in (one for one in items if "/" in one.id):
            if (file := await fetched(item.id, item.title, self.http.download(self._download(item)))) is not None:
                yield file

    def _download(self, item: SourceItem) -> str:
        page_id, _, file_id = item.id.partition("/")
        return f"{self.prefix}/rest/api/content/{page_id}/child/attachment/{file_id}/download"

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return the people in a group. Confluence has no nested groups."""
        return [self._person(one) for one in await self._members(group, "membersByGroupId")]

    async def _members(self, group: str, name: str) -> list[Mapping[str, Any]]:
        if group in {EVERYONE_IN_SITE, ANYONE} or ":" in group:
            return []
        pages = self._pages(f"/rest/api/group/{quote(group, safe='')}/{name}", limit=str(MEMBERS))
        return [one async for page in pages for one in page["results"]]

    async def people(self, ids: Collection[str]) -> Sequence[SourcePerson]:
        """Return these people. Hidden e-mail addresses stay empty."""
        wanted, found = sorted(ids), []
        for start in range(0, len(wanted), PEOPLE):
            some = await self.http.get(
                f"{self.prefix}/rest/api/user/bulk", {"accountId": wanted[start : start + PEOPLE]}
            )
            found += [self._person(one) for one in some["results"]]
        return found

    async def _items(self, page: Mapping[str, Any], unread: Counter[str]) -> list[SourceItem]:
        """Return the pages of an answer and their files. Count files of unsupported types in ``unread``."""
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
        sets += [one for part in (*above, found) if (one := self._restricted_to(part)) is not None]
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
        """Return the files or comments of these pages, by page id, oldest first."""
        found: defaultdict[str, list[Mapping[str, Any]]] = defaultdict(list)
        if ids:
            cql = f"type in ({kinds}) and container in ({','.join(sorted(ids))}) order by created"
            async for page in self._pages(_SEARCH, cql=cql, limit=LISTED, expand=expand):
                for one in page["results"]:
                    found[str((one.get("container") or {}).get("id", ""))].append(one)
        return found

    async def _space_readers(self, key: str) -> ReaderSet:
        """Return the readers of a space, cached while the connector is open; nobody if the token may not see them."""
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
        pages = self._pages(f"/api/v2/spaces/{spaces[0]['id']}/permissions", limit="250")
        stated = [one async for page in pages for one in page["results"] if _lets_read(one, "key")]
        holders = [one.get("principal") or {} for one in stated]
        return _reader_set((str(one.get("type", "")), str(one.get("id", ""))) for one in holders)

    def _cql(self, ids: Collection[str] = ()) -> str:
        """Return the query for pages and blog posts of the chosen spaces, limited to ``ids`` if given."""
        parts = ["type in (page,blogpost)"]
        if self.spaces:
            parts.append(f"space in ({','.join(_quoted(one) for one in self.spaces)})")
        if ids:
            parts.append(f"id in ({','.join(one for one in sorted(ids) if one.isdecimal())})")
        return " and ".join(parts)

    def _restricted_to(self, found: Mapping[str, Any]) -> ReaderSet | None:
        """Return the readers that a page's restriction allows; None without one, nobody if the answer omits it."""
        try:
            stated = found["restrictions"]["read"]["restrictions"]
            people = frozenset(str(one[self.person_key]) for one in stated["user"]["results"])
            groups = frozenset(str(one[self.group_key]) for one in stated["group"]["results"])
        except (KeyError, TypeError):
            return NOBODY
        return ReaderSet(people, groups) if people or groups else None

    def _person(self, found: Mapping[str, Any]) -> SourcePerson:
        return SourcePerson(str(found.get(self.person_key, "")), str(found.get("email") or ""), _name(found))

    def _pages(self, path: str, **params: str) -> AsyncIterator[Any]:
        """Yield the answers to a query, one page of results at a time."""
        return pages_of(lambda cursor: self._get(path, **params, **dict(parse_qsl(cursor))), _next)

    async def _get(self, path: str, **params: str) -> Any:
        return await self.http.get(f"{self.prefix}{path}", params)


@dataclass(slots=True)
class DataCenter(Confluence):
    """A Data Center site, 9.1 or later. People have keys as ids, groups have names."""

    person_key: ClassVar[str] = "userKey"
    group_key: ClassVar[str] = "name"

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return the people in a group, with one call per person for the e-mail address."""
        return await call_for_each(self._with_address, await self._members(group, "member"))

    async def people(self, ids: Collection[str]) -> Sequence[SourcePerson]:
        """Return these people. Deleted ones have no e-mail address."""
        return await call_for_each(self._find_person, sorted(ids))

    async def _find_person(self, key: str) -> SourcePerson:
        try:
            return await self._with_address(await self._get("/rest/api/user", key=key))
        except NotFound:
            return SourcePerson(key)

    async def _with_address(self, found: Mapping[str, Any]) -> SourcePerson:
        """Return a person with the e-mail address from their profile, which other calls omit."""
        person = self._person(found)
        try:
            profile = await self._get(f"/rest/mobile/1.0/profile/{quote(str(found.get('username', '')), safe='')}")
        except (NotFound, RightMissing):
            return person
        return replace(person, email=str(profile.get("email") or person.email))

    async def _read_space_readers(self, key: str) -> ReaderSet:
        try:
            stated = await self._get(f"/rest/api/space/{quote(key, safe='')}/permissions")
        except SourceUnavailable as error:  # Confluence answers 500 if the account does not administer the space
            if error.after or isinstance(error, RightMissing):
                raise
            raise SourceUnavailable(
                f"Could not look up who may read the space {key}. {error}",
                remedy="The account must be an administrator of the space.",
            ) from error
        holders = [one.get("subject") or {} for one in stated if _lets_read(one, "operationKey")]
        return _reader_set(
            (str(one.get("type", "")), str(one.get("userKey") or one.get("name") or "")) for one in holders
        )

    def _download(self, item: SourceItem) -> str:
        return f"{self.prefix}{item.reference}"


def _next(page: Mapping[str, Any]) -> str:
    """Return the query string with the cursor or start of the next page, or an empty string."""
    following = str((page.get("_links") or {}).get("next") or "")
    return urlencode([pair for pair in parse_qsl(urlsplit(following).query) if pair[0] in {"cursor", "start"}])


def _lets_read(permission: Mapping[str, Any], key: str) -> bool:
    operation = permission.get("operation") or {}
    return (operation.get(key), operation.get("targetType")) == ("read", "space")


def _reader_set(holders: Iterable[tuple[str, str]]) -> ReaderSet:
    """Return the readers of a space from (kind, name) pairs. An admin maps roles and classes, as "role:ID"."""
    people, groups = set[str](), set[str]()
    for kind, name in holders:
        if kind == "user":
            people |= {name} - {""}
        else:
            groups.add(name if kind == "group" else f"{kind}:{name}" if name else ANYONE)
    return ReaderSet(frozenset(people), frozenset(groups))


def _address(found: Mapping[str, Any], page: Mapping[str, Any]) -> str:
    return f"{page['_links'].get('base', '')}{found.get('_links', {}).get('webui', '')}"


def _file(found: Mapping[str, Any], owner: SourceItem, page: Mapping[str, Any]) -> SourceItem:
    """Return a file of a page, with the page's readers."""
    title, version = str(found["title"]), found["version"]
    return SourceItem(
        id=f"{owner.id}/{found['id']}",
        version=f"{version['number']} {title}",
        title=title,
        url=_address(found, page),
        path=(*owner.path, owner.title),
        dated=str(version["when"])[:10],
        readers=owner.readers,
        reference=str((found.get("_links") or {}).get("download", "")),
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
    """Return a comment in storage format, below a heading with its author, date and the words it comments on."""
    history = found.get("history") or {}
    author = _name(history.get("createdBy") or {}) or "somebody"
    words = ((found.get("extensions") or {}).get("inlineProperties") or {}).get("originalSelection")
    about = f" on “{words}”" if words else ""
    heading = f"Comment{about} by {author}, {str(history.get('createdDate', ''))[:10]}"
    return f"<h1>{escape(heading)}</h1>{_storage(found) or ''}"


def _name(found: Mapping[str, Any]) -> str:
    return str(found.get("displayName") or found.get("publicName") or found.get("accountId") or "")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class ConfluencePlugin(ConnectorPlugin):
    """The settings of ``footnote connect confluence``, and the opening of a site."""

    name: str = "confluence"
    title: str = "Confluence"
    fields: tuple[SettingField, ...] = (
        SettingField("url", "Address of the site", "https://example.atlassian.net", "CONFLUENCE_URL"),
        SettingField(
            "email",
            "E-mail address of the account",
            "the account that made the token; empty for Data Center",
            "CONFLUENCE_EMAIL",
            required=False,
        ),
        SettingField(
            "token",
            "API token",
            "made at https://id.atlassian.com/manage-profile/security/api-tokens; of Data Center in your profile",
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
        """Yield a Cloud site, through its own address or api.atlassian.com; without an e-mail, a Data Center site."""
        url, email = urlsplit(settings["url"].strip().rstrip("/")), settings.get("email", "").strip()
        if not email and (url.hostname or "").endswith((".atlassian.net", "api.atlassian.com")):
            raise ConfigurationError("Confluence Cloud needs the e-mail address of the account.")
        spaces = tuple(one.strip() for one in settings.get("spaces", "").split(",") if one.strip())
        pair = b64encode(f"{email}:{settings['token']}".encode()).decode()
        headers = {"Authorization": f"Basic {pair}" if email else f"Bearer {settings['token']}"}
        async with http(f"{url.scheme}://{url.netloc}", headers) as calls:
            if email:
                yield Confluence(calls, url.path.removesuffix("/wiki") + "/wiki", spaces)
            else:
                yield DataCenter(calls, url.path, spaces)


PLUGIN = ConfluencePlugin()
