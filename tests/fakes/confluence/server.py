"""A Confluence site on a real socket: its pages, spaces, people and groups, and its bad days on demand.

    async with FakeConfluence() as site:
        site.add_page("1", "Refunds", "<p>Thirty days.</p>")
        ...open the connector with site.url...
        assert not site.violations

Every request and answer of the v1 interface is checked against the published description.
"""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self
from urllib.parse import quote

from aiohttp import web

from tests.fakes.confluence.contract import contract

TOKEN = "secret-token-of-confluence"
EMAIL = "bot@example.org"


@dataclass
class Page:
    """A page, which may lie below another one."""

    id: str
    title: str
    body: str
    space: str = "ENG"
    parent: str = ""
    version: int = 1
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    is_deleted: bool = False


@dataclass
class Child:
    """A file on a page, whose id begins with "att", or a comment on it, perhaps about some ``words``."""

    id: str
    page: str
    title: str = ""
    data: bytes = b""
    body: str = ""
    words: str = ""
    author: str = "ada"
    version: int = 1
    when: str = "2026-02-03T09:00:00.000Z"

    @property
    def type(self) -> str:
        return "attachment" if self.id.startswith("att") else "comment"


@dataclass
class FakeConfluence:
    """See the module. ``faults`` are answered to the next calls, one each: a status and headers, or None for a pass."""

    context: ClassVar[str] = "/wiki"
    offset: ClassVar[str] = "cursor"  # the parameter that leads to the next page of a search
    page_size: int = 100
    pages: dict[str, Page] = field(default_factory=dict)
    children: dict[str, Child] = field(default_factory=dict)
    spaces: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: {"ENG": [("group", "g-staff")]})
    groups: dict[str, list[str]] = field(default_factory=lambda: {"g-staff": ["ada", "bo"]})
    people: dict[str, str] = field(default_factory=lambda: {"ada": "ada@example.org", "bo": "bo@example.org"})
    faults: list[tuple[int, dict[str, str]] | None] = field(default_factory=list)
    is_revoked: bool = False
    duplicates: bool = False  # the last page of a listing is repeated at the beginning of the next one
    without_body: set[str] = field(default_factory=set)
    before_answer: Callable[[int], None] | None = None  # called with the number of the listing's page
    calls: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    _listings: int = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get(self.context + "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def counts(self) -> Counter[str]:
        """How often each kind of call was made."""
        return Counter(re.sub(r"/(g-\w+|(?:att)?\d+)(?=/|$)", "/ID", one) for one in self.calls)

    def add_page(self, page_id: str, title: str, body: str, **given: Any) -> Page:
        """Add a page."""
        self.pages[page_id] = Page(page_id, title, body, **given)
        return self.pages[page_id]

    def add_file(self, file_id: str, page: str, name: str, data: bytes) -> Child:
        """Attach a file to a page."""
        self.children[file_id] = Child(file_id, page, name, data)
        return self.children[file_id]

    def add_comment(self, comment_id: str, page: str, body: str, **given: Any) -> Child:
        """Comment on a page."""
        self.children[comment_id] = Child(comment_id, page, body=body, **given)
        return self.children[comment_id]

    def change(self, page_id: str, **given: Any) -> None:
        """Edit or rename a page: its version goes up."""
        page = self.pages[page_id]
        for name, value in given.items():
            setattr(page, name, value)
        page.version += 1

    # --- answering

    async def _answer(self, request: web.Request) -> web.Response:
        path = f"/{request.match_info['path']}"
        self.calls.append(path)
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            return web.Response(status=fault[0], headers=fault[1], text="{}")
        if path.startswith("/media/"):  # another service, which checks the address itself
            if "Authorization" in request.headers:
                self.violations.append("the token was sent to the host of files")
            return web.Response(body=self.children[path.removeprefix("/media/")].data)
        if self.is_revoked or not self._knows(request):
            return web.Response(status=401, text="{}")
        query = dict(request.query)
        is_v1 = self.context == "/wiki" and path.startswith("/rest/")
        if is_v1 and (wrong := contract().check_request("GET", path, query)):
            self.violations.append(wrong)
        if "/child/attachment/" in path or path.startswith("/download/"):
            return self._file(path)
        body = self._body(path, request)
        if body is None:
            return web.Response(status=404, text="{}")
        if is_v1 and (wrong := contract().check_answer("GET", path, body)):
            self.violations.append(wrong)
        return web.json_response(text=json.dumps(body))

    def _knows(self, request: web.Request) -> bool:
        return _basic(request) == f"{EMAIL}:{TOKEN}"

    def _file(self, path: str) -> web.Response:
        found = re.fullmatch(r"/rest/api/content/(\d+)/child/attachment/(att\d+)/download", path)
        file = self.children.get(found[2]) if found else None
        if file is None or found is None or file.page != found[1]:
            return web.Response(status=404, text="{}")
        return web.Response(status=302, headers={"Location": f"{self.url}/wiki/media/{file.id}"})

    def _body(self, path: str, request: web.Request) -> Any:  # noqa: PLR0911 - one line a path
        query = request.query
        if path == "/rest/api/content/search":
            return self._search(query)
        if path == "/rest/api/search":
            found = self._found(query["cql"])
            head = {"start": 0, "limit": 1, "size": 1, "cqlQuery": query["cql"], "searchDuration": 1}
            return {"results": [], **head, "totalSize": len(found), "_links": {}}
        if path == "/rest/api/user/current":
            return self._person("ada")
        if path == "/rest/api/user/bulk":
            some = [self._looked_up(one) for one in query.getall("accountId") if one in self.people]
            return {"results": some, "start": 0, "limit": 100, "size": len(some), "_links": {}}
        if found_group := re.fullmatch(r"/rest/api/group/([^/]+)/membersByGroupId", path):
            return self._members(found_group[1], query)
        if path == "/api/v2/spaces":
            keys = [key for key in query["keys"].split(",") if key in self.spaces]
            return {"results": [{"id": str(100 + sorted(self.spaces).index(key)), "key": key} for key in keys]}
        if found_space := re.fullmatch(r"/api/v2/spaces/(\d+)/permissions", path):
            return self._permissions(sorted(self.spaces)[int(found_space[1]) - 100])
        return None

    def _search(self, query: Any) -> dict[str, Any]:
        if "container in" in query["cql"]:
            return self._search_children(query)
        found, expand = self._found(query["cql"]), query.get("expand", "")
        start, limit = int(query.get(self.offset) or 0), min(int(query.get("limit", 25)), self.page_size)
        if "order by" in query["cql"] and self.before_answer is not None:
            self._listings += 1
            self.before_answer(self._listings)
            found = self._found(query["cql"])
        first = max(0, start - 1) if self.duplicates else start
        results = [self._content(page, expand) for page in found[first : start + limit]]
        return self._page_of(results, start, limit, len(found))

    def _page_of(self, results: list[dict[str, Any]], start: int, limit: int, total: int) -> dict[str, Any]:
        links = {"base": f"{self.url}{self.context}", "context": self.context}
        if start + limit < total:
            links["next"] = f"/rest/api/content/search?cql=x&limit={limit}&{self.offset}={start + limit}"
        return {"results": results, "start": start, "limit": limit, "size": len(results), "_links": links}

    def _search_children(self, query: Any) -> dict[str, Any]:
        stated = re.fullmatch(r"type in \(([a-z,]+)\) and container in \(([\d,]+)\) order by created", query["cql"])
        assert stated, query["cql"]
        kinds, pages, names = stated[1].split(","), stated[2].split(","), query.get("expand", "").split(",")
        there = [one for one in self.children.values() if one.type in kinds and one.page in pages]
        found = [one for one in there if not self.pages[one.page].is_deleted]
        start, limit = int(query.get(self.offset) or 0), min(int(query.get("limit", 25)), self.page_size)
        results = [self._child(one, names) for one in found[start : start + limit]]
        return self._page_of(results, start, limit, len(found))

    def _child(self, child: Child, names: list[str]) -> dict[str, Any]:
        page = self.pages[child.page]
        made: dict[str, Any] = {"id": child.id, "type": child.type, "status": "current"}
        made["title"] = child.title or f"Re: {page.title}"
        made["_links"] = {"webui": f"/spaces/{page.space}/pages/{page.id}?preview={child.id}"}
        if "container" in names:
            made["container"] = {"id": page.id, "type": "page", "status": "current", "title": page.title}
        if "version" in names:
            made["version"] = {"number": child.version, "when": child.when, "minorEdit": False}
        if "history" in names:
            made["history"] = {"latest": True, "createdBy": self._person(child.author)}
            made["history"]["createdDate"] = "2026-02-03T09:00:00.000Z"
        if "body.storage" in names:
            made["body"] = {"storage": {"value": child.body, "representation": "storage"}}
        if "extensions.inlineProperties" in names and child.words:
            made["extensions"] = {"inlineProperties": {"originalSelection": child.words}}
        return made

    def _found(self, cql: str) -> list[Page]:
        ids = re.search(r"id in \(([^)]*)\)", cql)
        spaces = re.search(r"space in \(([^)]*)\)", cql)
        keys = set(re.findall(r'"([^"]+)"', spaces[1])) if spaces else set(self.spaces)
        chosen = set(ids[1].split(",")) if ids else set(self.pages)
        return [
            page for page in self.pages.values() if not page.is_deleted and page.space in keys and page.id in chosen
        ]

    def _content(self, page: Page, expand: str) -> dict[str, Any]:
        made: dict[str, Any] = {"id": page.id, "type": "page", "status": "current", "title": page.title}
        made["_links"] = {"webui": f"/spaces/{page.space}/pages/{page.id}"}
        names = expand.split(",")
        if "version" in names:
            made["version"] = {"number": page.version, "when": "2026-01-05T09:00:00.000Z", "minorEdit": False}
        if "space" in names:
            head = {"key": page.space, "name": f"{page.space} space", "type": "global", "status": "current"}
            made["space"] = {**head, "_expandable": {}, "_links": {}}
        if "body.storage" in names and page.id not in self.without_body:
            made["body"] = {"storage": {"value": page.body, "representation": "storage"}}
        if "restrictions.read.restrictions.user" in names:
            made["restrictions"] = self._restrictions(page)
        if "ancestors" in names:
            made["ancestors"] = [
                {"id": one.id, "type": "page", "status": "current", "title": one.title}
                | ({"restrictions": self._restrictions(one)} if "ancestors.restrictions" in expand else {})
                for one in self._above(page)
            ]
        return made

    def _above(self, page: Page) -> list[Page]:
        return [] if not page.parent else [*self._above(self.pages[page.parent]), self.pages[page.parent]]

    def _restrictions(self, page: Page) -> dict[str, Any]:
        users = [self._person(one) for one in page.users]
        groups = [{"type": "group", "name": one.removeprefix("g-"), "id": one} for one in page.groups]
        stated = {
            "user": {"results": users, "start": 0, "limit": 200, "size": len(users)},
            "group": {"results": groups, "start": 0, "limit": 200, "size": len(groups)},
        }
        return {"read": {"operation": "read", "restrictions": stated, "_expandable": {}, "_links": {}}}

    def _members(self, group: str, query: Any) -> Any:
        if group not in self.groups:
            return None
        start, limit = int(query.get("start", 0)), int(query.get("limit", 200))
        some = self.groups[group][start : start + limit]
        links = {"next": f"/rest/api/group/x?start={start + limit}"} if start + limit < len(self.groups[group]) else {}
        return {"results": [self._person(one) for one in some], "start": start, "limit": limit, "_links": links}

    def _permissions(self, space: str) -> dict[str, Any]:
        read = {"key": "read", "targetType": "space"}
        holders: list[dict[str, str] | None] = [{"type": kind, "id": name} for kind, name in self.spaces[space] if kind]
        holders += [None for kind, _ in self.spaces[space] if not kind]  # anonymous access
        results = [{"id": "1", "principal": one, "operation": read} for one in holders]
        results.append({"id": "2", "principal": {"type": "user", "id": "eve"}, "operation": {"key": "delete"}})
        return {"results": results, "_links": {}}

    def _person(self, name: str) -> dict[str, Any]:
        head = {"type": "known", "accountId": name, "accountType": "atlassian", "publicName": name.title()}
        return {**head, "displayName": name.title(), "email": self.people.get(name, "")}

    def _looked_up(self, name: str) -> dict[str, Any]:
        icon = {"path": "/", "width": 1, "height": 1, "isDefault": True}
        return {**self._person(name), "profilePicture": icon, "_expandable": {}, "_links": {}}


class FakeDataCenter(FakeConfluence):
    """A site of Data Center 9.1 or later, as its documentation has it: people have keys and names, groups names alone.

    https://developer.atlassian.com/server/confluence/rest/; CONFSERVER-100505 has the permissions of spaces.
    An account that does not administer a space gets 500 for its permissions (CONFSERVER-99908).
    """

    context: ClassVar[str] = "/confluence"
    offset: ClassVar[str] = "start"
    administers: bool = True
    tells_addresses: bool = True

    def _knows(self, request: web.Request) -> bool:
        return request.headers.get("Authorization") == f"Bearer {TOKEN}"

    async def _answer(self, request: web.Request) -> web.Response:
        if "/permissions" in request.path and not self.administers:
            return web.Response(status=500, text="{}")
        return await super()._answer(request)

    def _file(self, path: str) -> web.Response:
        for one in self.children.values():
            if path == f"/download/attachments/{one.page}/{one.title}":
                return web.Response(body=one.data)
        return web.Response(status=404, text="{}")

    def _child(self, child: Child, names: list[str]) -> dict[str, Any]:
        made = super()._child(child, names)
        made["_links"]["download"] = f"/download/attachments/{child.page}/{quote(child.title)}?api=v2"
        return made

    def _body(self, path: str, request: web.Request) -> Any:
        if found := re.fullmatch(r"/rest/api/group/(.+)/member", path):
            return self._members(found[1], request.query)
        if found := re.fullmatch(r"/rest/api/space/(.+)/permissions", path):
            return [self._permission(kind, name) for kind, name in self.spaces[found[1]]] + [
                {"operation": {"operationKey": "delete", "targetType": "page"}, "subject": {"userKey": "key-eve"}}
            ]
        if path == "/rest/api/user":
            name = request.query["key"].removeprefix("key-")
            return self._person(name) if name in self.people else None
        if found := re.fullmatch(r"/rest/mobile/1.0/profile/(.+)", path):
            address = self.people.get(found[1], "")
            return {"userName": found[1], "email": address} if self.tells_addresses else None
        return super()._body(path, request) if path != "/rest/api/user/bulk" and "/v2/" not in path else None

    def _permission(self, kind: str, name: str) -> dict[str, Any]:
        named = {"userKey": f"key-{name}"} if kind == "user" else {"name": name}
        subject = {"type": kind, **named} if kind else {"type": ""}
        return {"operation": {"operationKey": "read", "targetType": "space"}, "subject": subject, "spaceKey": "ENG"}

    def _person(self, name: str) -> dict[str, Any]:
        return {"type": "known", "username": name, "userKey": f"key-{name}", "displayName": name.title()}

    def _restrictions(self, page: Page) -> dict[str, Any]:
        made = super()._restrictions(page)
        groups = made["read"]["restrictions"]["group"]
        groups["results"] = [{"type": "group", "name": one} for one in page.groups]
        return made


def _basic(request: web.Request) -> str:
    from aiohttp import BasicAuth

    try:
        given = BasicAuth.decode(request.headers.get("Authorization", ""))
    except ValueError:
        return ""
    return f"{given.login}:{given.password}"
