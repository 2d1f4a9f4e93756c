"""GitHub's GraphQL interface on a real socket: every query is executed against the types of GitHub's own schema.

Bad days on demand: ``faults`` are answered to the next calls; pages may repeat an item, and items vanish between them.
``endless`` collaborators, comments and listings lead back to where they were; ``misread`` is answered to every call.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from graphql import GraphQLError, GraphQLSchema, build_schema, graphql_sync

TOKEN = "github_pat_secret"
Comment = tuple[str, str, bool]  # who, what, whether it was hidden


@dataclass
class Item:
    """An issue, a discussion or a release; ``changed`` counts minutes."""

    id: str
    title: str
    body: str
    kind: str = "Issue"
    repository: str = "acme/site"
    changed: int = 0
    is_deleted: bool = False
    is_draft: bool = False
    comments: list[Comment] = field(default_factory=list)


@dataclass
class FakeGitHub:
    """See the module. ``people`` are e-mail addresses by login, ``collaborators`` logins by repository."""

    page_size: int = 100
    items: dict[str, Item] = field(default_factory=dict)
    public: set[str] = field(default_factory=set)
    people: dict[str, str] = field(default_factory=lambda: {"ada": "ada@example.org", "bo": "bo@example.org"})
    verified: dict[str, list[str]] = field(default_factory=dict)
    collaborators: dict[str, list[str]] = field(default_factory=lambda: {"acme/site": ["ada", "bo"]})
    numbers: dict[str, int] = field(default_factory=dict)  # of repositories that were made again
    hides_collaborators: bool = False
    is_used_up: bool = False
    is_revoked: bool = False
    duplicates: bool = False
    endless: bool = False
    misread: Any = None
    refused: set[str] = field(default_factory=set)
    before_answer: Callable[[int], None] | None = None
    faults: list[tuple[int, dict[str, str]] | None] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    minute: int = 0
    listings: int = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_post("/graphql", self._answer)
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

    def add(self, item: str, title: str, text: str) -> None:
        """Add an issue."""
        self.minute += 1
        self.items[item] = Item(item, title, text, changed=self.minute)

    def change(self, item: str, **given: Any) -> None:
        """Edit or rename an item."""
        self.minute += 1
        for name, value in {**given, "changed": self.minute}.items():
            setattr(self.items[item], name, value)

    async def _answer(self, request: web.Request) -> web.Response:
        fault = self.faults.pop(0) if self.faults else None
        given = await request.json()
        self.calls.append(given["query"][:30])
        if fault is not None:
            return web.Response(status=fault[0], headers=fault[1], text="{}")
        if self.is_revoked or request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"message": "Bad credentials"}, status=401)
        if self.is_used_up:
            return web.json_response({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]})
        if self.misread is not None:
            return web.json_response(self.misread)
        result = graphql_sync(_schema(), given["query"], self._root(), variable_values=given["variables"])
        errors = [self._error(one) for one in result.errors or ()]
        return web.json_response(text=json.dumps({"data": result.data} | ({"errors": errors} if errors else {})))

    def _error(self, error: GraphQLError) -> dict[str, Any]:
        kind = (error.extensions or {}).get("type", "")
        if not kind:
            self.violations.append(error.message)
        return {"type": kind, "message": error.message, "path": error.path}

    # --- what a query is about

    def _root(self) -> dict[str, Any]:
        return {
            "viewer": {"login": "footnote-bot"},
            "rateLimit": {"remaining": 4_000, "resetAt": "2100-01-01T00:00:00Z"},
            "repository": self._repository,
            "node": lambda _, id: self._node(id),  # noqa: A006 - GitHub's name for it
            "nodes": lambda _, ids: [self._node(one) for one in ids],
        }

    def _repository(self, _: object, owner: str, name: str) -> Any:
        full = f"{owner}/{name}"
        return self._described(full) if full in self.collaborators else _refusal("NOT_FOUND", "Could not resolve it")

    def _described(self, name: str) -> dict[str, Any]:
        def items(kind: str) -> Callable[..., Any]:
            return lambda _, first=1, after=None, **order: self._page(name, kind, first, after, order)

        return {
            "databaseId": self.numbers.get(name, 7),
            "nameWithOwner": name, "visibility": "PUBLIC" if name in self.public else "PRIVATE",
            "isInOrganization": bool(self.verified), "collaborators": lambda _, **where: self._people(name, **where),
            "issues": items("Issue"), "discussions": items("Discussion"), "releases": items("Release"),
        }  # fmt: skip

    def _page(self, name: str, kind: str, first: int, after: str | None, order: Any) -> dict[str, Any]:
        if order:
            self.listings += 1
            if self.before_answer is not None:
                self.before_answer(self.listings)
        there = [
            one for one in self.items.values() if (one.repository, one.kind) == (name, kind) and not one.is_deleted
        ]
        page = _page([self._described_item(one) for one in there], min(first, self.page_size), after, self.duplicates)
        page = self._in_circles(page, after) if order else page
        return page | {"totalCount": len(there)}

    def _people(self, name: str, first: int, after: str | None = None) -> Any:
        if self.hides_collaborators:
            return _refusal("FORBIDDEN", "You do not have permission to view repository collaborators.")
        people = [
            {
                "login": one, "email": self.people.get(one, ""),
                "organizationVerifiedDomainEmails": lambda _, login, one=one: self.verified.get(one, []),
            }
            for one in self.collaborators[name]
        ]  # fmt: skip
        return self._in_circles(_page(people, first, after), after)

    def _in_circles(self, page: dict[str, Any], after: str | None) -> dict[str, Any]:
        if not self.endless:
            return page
        nodes = [] if after else page["nodes"]
        return {"nodes": nodes, "pageInfo": {"hasNextPage": True, "endCursor": after or "100"}}

    def _node(self, item: str) -> Any:
        found = self.items.get(item)
        if found is None or found.is_deleted:
            return _refusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{item}'")
        if item in self.refused:
            return _refusal("FORBIDDEN", "Resource protected by organization SAML enforcement.")
        return self._described_item(found)

    def _described_item(self, item: Item) -> dict[str, Any]:
        comments: list[dict[str, Any]] = [
            {
                "body": what, "author": {"__typename": "User", "login": who} if who else None, "isMinimized": hidden,
                "createdAt": _moment(0), "updatedAt": _moment(item.changed), "isAnswer": number == 0,
                "replies": {"nodes": []},
            }
            for number, (who, what, hidden) in enumerate(item.comments)
        ]  # fmt: skip

        def said(_: object, first: int = 0, last: int = 0, after: str | None = None) -> dict[str, Any]:
            page = self._in_circles(_page(comments[-last:] if last else comments, first or last, after), after)
            return page | {"totalCount": len(comments)}

        return {
            "__typename": item.kind, "id": item.id, "title": item.title, "name": item.title, "tagName": "v1",
            "body": item.body, "description": item.body, "state": "OPEN", "isDraft": item.is_draft,
            "url": f"https://github.com/{item.repository}/issues/{item.id}", "updatedAt": _moment(item.changed),
            "repository": self._described(item.repository), "comments": said,
        }  # fmt: skip


def _page(found: list[Any], first: int, after: str | None, duplicates: bool = False) -> dict[str, Any]:
    start = int(after or 0)
    end = min(start + first, len(found))
    some = found[max(0, start - 1) if duplicates else start : end]
    return {"nodes": some, "pageInfo": {"hasNextPage": end < len(found), "endCursor": str(end)}}


def _refusal(kind: str, message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": kind})


def _moment(minute: int) -> str:
    return f"2026-01-05T{minute // 60:02}:{minute % 60:02}:00Z"


@cache
def _schema() -> GraphQLSchema:
    return build_schema((Path(__file__).parent / "schema.graphql").read_text("utf-8"))
