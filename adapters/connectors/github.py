"""GitHub: issues, discussions and releases of repositories, through GraphQL. Repository files are read by git.

Content of a public repository is open to everyone. Readers of any other repository are its collaborators, as the group
``repository:OWNER/NAME``. Collaborators whose e-mail address GitHub shows are matched; an admin maps the others. API:
https://docs.github.com/graphql. A listing costs about one point per 100 items, of 5,000 points an hour.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.connectors.http import MOST_PAGES, pages_of
from core.model.errors import ConfigurationError, NotFound, RightMissing, SourceUnavailable
from core.ports.connector import (
    PUBLIC,
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

ORIGIN = "https://api.github.com"
BATCH = 20
MOST_COMMENTS = 2_000  # of one item
MOST_TEXT = 8_000_000  # characters of one item; the rest is not read
RECENT = timedelta(seconds=10)
LONGEST_PAUSE = 3_600.0  # seconds
KINDS = ("issues", "discussions", "releases")
_REPOSITORY = re.compile(r"(?:https://github\.com/)?([\w.-]+/[\w.-]+?)(?:\.git)?/?")
_PAGE = "pageInfo { hasNextPage endCursor }"
_LIMIT = "rateLimit { remaining resetAt }"
_LAST = "comments(last: 1) { totalCount nodes { updatedAt } }"  # editing a comment may not change the item's date
_WHERE = "repository { nameWithOwner visibility }"
_LISTED = f"""
fragment issue on Issue {{ __typename id title url updatedAt {_LAST} {_WHERE} }}
fragment discussion on Discussion {{ __typename id title url updatedAt {_LAST} {_WHERE} }}
fragment release on Release {{ __typename id name tagName isDraft url updatedAt {_WHERE} }}
"""
_SAID = "body createdAt isMinimized author { login }"
_COMMENTS = f"""
fragment ofIssue on IssueCommentConnection {{ {_PAGE} nodes {{ {_SAID} }} }}
fragment ofDiscussion on DiscussionCommentConnection {{
  {_PAGE} nodes {{ {_SAID} isAnswer replies(first: 20) {{ nodes {{ {_SAID} }} }} }}
}}
"""
LIST = {
    kind: f"""query($owner: String!, $name: String!, $after: String) {{ {_LIMIT}
  repository(owner: $owner, name: $name) {{ databaseId nameWithOwner
    items: {kind}(first: 100, after: $after, orderBy: {{ field: CREATED_AT, direction: ASC }}) {{
      {_PAGE} nodes {{ ...{kind.removesuffix("s")} }} }} }} }}
{next(one for one in _LISTED.splitlines() if one.startswith(f"fragment {kind.removesuffix('s')} "))}"""
    for kind in KINDS
}
LOOKUP = f"query($ids: [ID!]!) {{ {_LIMIT} nodes(ids: $ids) {{ ...issue ...discussion ...release }} }} {_LISTED}"
FETCH = f"""query($ids: [ID!]!) {{ {_LIMIT} nodes(ids: $ids) {{ __typename id
  ... on Issue {{ body state {_WHERE} comments(first: 50) {{ ...ofIssue }} }}
  ... on Discussion {{ body {_WHERE} comments(first: 50) {{ ...ofDiscussion }} }}
  ... on Release {{ description {_WHERE} }} }} }} {_COMMENTS}"""
MORE = f"""query($id: ID!, $after: String!) {{ {_LIMIT} node(id: $id) {{
  ... on Issue {{ comments(first: 100, after: $after) {{ ...ofIssue }} }}
  ... on Discussion {{ comments(first: 100, after: $after) {{ ...ofDiscussion }} }} }} }} {_COMMENTS}"""
CHECK = f"""query($owner: String!, $name: String!) {{ {_LIMIT} viewer {{ login }}
  repository(owner: $owner, name: $name) {{ visibility isInOrganization
    issues {{ totalCount }} discussions {{ totalCount }} releases {{ totalCount }} }} }}"""
MEMBERS = f"""query($owner: String!, $name: String!, $after: String, $org: Boolean!) {{ {_LIMIT}
  repository(owner: $owner, name: $name) {{ collaborators(first: 100, after: $after) {{ {_PAGE}
    nodes {{ login email organizationVerifiedDomainEmails(login: $owner) @include(if: $org) }} }} }} }}"""


@dataclass(slots=True)
class GitHub(Connector):
    """Repositories, as OWNER/NAME, with these kinds of items."""

    http: Http
    repositories: tuple[str, ...]
    kinds: tuple[str, ...] = KINDS
    _reset: str = field(default="")  # when GitHub's rate limit resets

    async def check(self) -> SourceCheck:
        """Try the token at each repository, and check whether collaborators have e-mail addresses."""
        account, total, warnings = "", 0, []
        for one in self.repositories:
            found = await self._repository(CHECK, one)
            account = str(found["viewer"]["login"])
            total += sum(int(found["repository"][kind]["totalCount"]) for kind in self.kinds)
            if found["repository"]["visibility"] == "PUBLIC":
                continue
            people = await self.members(f"repository:{one}")
            known = len({person.id for person in people if person.email})
            warnings.append(
                f"{one} is not public. GitHub shows the addresses of {known} of its {len({who.id for who in people})} "
                f"collaborators; map repository:{one} for the others."
            )
        page = await self.changes("")
        while not page.items and page.more:
            page = await self.changes(page.cursor)
        if not page.items:
            raise NotFound(
                "These repositories have no issues, discussions or releases.",
                remedy="For the files of a repository, run footnote kb ingest github://OWNER:REPOSITORY@BRANCH.",
            )
        return SourceCheck(account, total, page.items[0].title, tuple(warnings))

    async def changes(self, cursor: str) -> ChangePage:
        """Return the next page of all items, ordered by repository and kind."""
        places = [f"{one} {kind}" for one in self.repositories for kind in self.kinds]
        place, _, after = (cursor or f"{places[0]}\n").partition("\n")
        if place not in places:  # the settings changed during a round
            return await self.changes("")
        name, _, kind = place.partition(" ")
        repository = (await self._repository(LIST[kind], name, after=after or None))["repository"]
        called, found = str(repository["nameWithOwner"]), repository["items"]
        if called.casefold() != name:
            raise RightMissing(f"{name} is now called {called}.", remedy="Connect it again under its new name.")
        items = tuple(_item(one) for one in found["nodes"] if one and not one.get("isDraft"))
        following = f"{place}\n{_next(found)}" if _next(found) else ""
        following = following or "".join(f"{one}\n" for one in places[places.index(place) + 1 :][:1])
        places_seen = {name: str(repository["databaseId"])}
        return ChangePage(items, cursor=following, more=bool(following), whole=True, places=places_seen)

    async def lookup(self, ids: Sequence[str]) -> Sequence[SourceItem]:
        """Return those of these items that are still in the repositories."""
        data, _ = await self._query(LOOKUP, ids=list(ids))
        there = [one for one in data.get("nodes") or () if one and not one.get("isDraft")]
        return [_item(one) for one in there if _name(one) in self.repositories]

    async def fetch(self, items: Sequence[SourceItem]) -> AsyncIterator[Content | FetchFailure]:
        """Yield these items with their comments as Markdown."""
        data, errors = await self._query(FETCH, ids=[item.id for item in items])
        refused = {error["path"][1]: error for error in errors if len(error.get("path") or ()) > 1}
        for number, (item, node) in enumerate(zip(items, data.get("nodes") or (), strict=False)):
            if node is not None and item.reference not in ("", _reference(node)):
                yield FetchFailure(
                    item.id, "The repository's readers changed during this sync. The next sync reads it."
                )
            elif node is not None:
                yield Content(item.id, "item.md", (await self._text(node)).encode())
            elif (error := refused.get(number)) is not None and error.get("type") != "NOT_FOUND":
                yield FetchFailure(item.id, f"GitHub did not send it: {str(error.get('message', ''))[:200]}")

    async def members(self, group: str) -> Sequence[SourcePerson]:
        """Return a repository's collaborators, once per e-mail address; nobody if GitHub hides them."""
        kind, _, name = group.partition(":")
        if kind != "repository" or name not in self.repositories:
            return ()
        org = bool((await self._repository(CHECK, name))["repository"]["isInOrganization"])

        async def page_after(after: str) -> Mapping[str, Any]:
            data = await self._repository(MEMBERS, name, after=after or None, org=org)
            return data["repository"]["collaborators"] or {"nodes": ()}  # visible only to accounts with push access

        people = [one async for page in pages_of(page_after, _next) for one in page["nodes"] if one]
        return [
            SourcePerson(str(one["login"]), str(address))
            for one in people
            for address in one.get("organizationVerifiedDomainEmails") or [one.get("email") or ""]
        ]

    async def _text(self, node: Mapping[str, Any]) -> str:
        """Return an item as Markdown, without hidden comments."""
        parts = [str(node.get("body") or node.get("description") or "")]
        page, read, pages = node.get("comments"), 0, 0
        while page is not None:
            for one in filter(None, page["nodes"]):
                parts += _comment("Answer" if one.get("isAnswer") else "Comment", one)
                for reply in filter(None, (one.get("replies") or {}).get("nodes", ())):
                    parts += _comment("Reply", reply)
            read, pages = read + len(page["nodes"]), pages + 1
            if not page["pageInfo"]["hasNextPage"]:
                break
            if read >= MOST_COMMENTS or pages >= MOST_PAGES or sum(map(len, parts)) > MOST_TEXT:
                parts.append(f"(Comments after the first {read:,} are not read.)")
                break
            data, _ = await self._query(MORE, id=node["id"], after=page["pageInfo"]["endCursor"])
            page = (data.get("node") or {}).get("comments")
        parts += ["(This issue is closed.)"] if node.get("state") == "CLOSED" else []
        return "\n\n".join(part for part in parts if part.strip())

    async def _repository(self, query: str, name: str, **more: Any) -> Mapping[str, Any]:
        """Run a query about one repository. Raises RightMissing if the token does not see it."""
        owner, _, short = name.partition("/")
        data, _ = await self._query(query, owner=owner, name=short, **more)
        if not data.get("repository"):
            raise RightMissing(
                f"The token cannot see the repository {name}.", remedy="Give it access, or connect without it."
            )
        return data

    async def _query(self, query: str, **variables: Any) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]:
        """Return the data and the errors beside it. Raises SourceUnavailable if the rate limit is used up."""
        answer = await self.http.post("/graphql", {"query": query, "variables": variables})
        data, errors = answer.get("data") or {}, answer.get("errors") or ()
        if any(error.get("type") == "RATE_LIMITED" for error in errors):
            raise SourceUnavailable("GitHub's rate limit is reached.", after=_seconds_until(self._reset))
        self._reset = str((data.get("rateLimit") or {}).get("resetAt") or self._reset)
        if not data and errors:
            raise SourceUnavailable(f"GitHub does not answer: {str(errors[0].get('message', ''))[:200]}")
        return data, errors


def _item(found: Mapping[str, Any]) -> SourceItem:
    where, updated, name = found["repository"], str(found["updatedAt"]), _name(found)
    last = found.get("comments") or {"totalCount": 0, "nodes": ()}
    marks = [updated, str(last["totalCount"]), *(str(one["updatedAt"]) for one in last["nodes"] if one)]
    title = str(found.get("title") or found.get("name") or found.get("tagName") or "")
    return SourceItem(
        id=str(found["id"]),
        version=f"{' '.join(marks)} {title}{'…' if _is_recent(max(marks[::2])) else ''}",
        title=title,
        url=str(found["url"]),
        path=(name, f"{found['__typename']}s"),
        dated=updated[:10],
        readers=(ReaderSet(groups=frozenset({PUBLIC if where["visibility"] == "PUBLIC" else f"repository:{name}"})),),
        reference=_reference(found),
    )


def _next(page: Mapping[str, Any]) -> str:
    """Return the cursor of the next page, or an empty string."""
    info = page.get("pageInfo") or {}
    return str(info["endCursor"]) if info.get("hasNextPage") else ""


def _reference(found: Mapping[str, Any]) -> str:
    """Return what determines an item's readers, so that a change between listing and fetching is noticed."""
    return f"{_name(found)} {found['repository']['visibility']}"


def _name(found: Mapping[str, Any]) -> str:
    return str(found["repository"]["nameWithOwner"]).casefold()


def _is_recent(changed: str) -> bool:
    """Return whether a later change could have the same date, because GitHub's dates have whole seconds."""
    return datetime.now(UTC) - datetime.fromisoformat(changed) < RECENT


def _comment(kind: str, found: Mapping[str, Any]) -> list[str]:
    if found["isMinimized"]:  # hidden as spam, abuse or outdated
        return []
    who = (found.get("author") or {}).get("login") or "somebody"
    return [f"## {kind} by {who}, {str(found['createdAt'])[:10]}", str(found["body"])]


def _seconds_until(moment: str) -> float:
    """Return the seconds until the rate limit resets, at most an hour, or 0 if unknown."""
    if not moment:
        return 0.0
    return min(max(60.0, (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds()), LONGEST_PAUSE)


@dataclass(frozen=True, slots=True)
class GitHubPlugin(ConnectorPlugin):
    """The settings of ``footnote connect github``. ``origin`` is GitHub's, except in tests."""

    name: str = "github"
    title: str = "GitHub"
    fields: tuple[SettingField, ...] = (
        SettingField("repositories", "Repositories", "as owner/name, with commas between them"),
        SettingField(
            "token", "Token", "made at https://github.com/settings/personal-access-tokens", "GITHUB_TOKEN", secret=True
        ),
        SettingField("kinds", "What to read", f"{', '.join(KINDS)}; empty for all", required=False),
    )
    scopes: tuple[str, ...] = (
        "Contents: read (releases)",
        "Issues: read",
        "Discussions: read",
        "Metadata: read",
        "Administration: read (collaborators of repositories that are not public)",
    )
    states_readers: bool = True
    batch: int = BATCH
    origin: str = ORIGIN

    @asynccontextmanager
    async def open(self, settings: Mapping[str, str], http: OpenHttp) -> AsyncIterator[Connector]:
        """Yield the repositories."""
        found = [_REPOSITORY.fullmatch(one) for one in settings["repositories"].replace(",", " ").split()]
        names = tuple(dict.fromkeys(one[1].casefold() for one in found if one is not None))
        kinds = tuple(settings.get("kinds", "").replace(",", " ").casefold().split()) or KINDS
        if not names or None in found or not set(kinds) <= set(KINDS):
            raise ConfigurationError(
                "A repository or a kind of item is not valid.",
                remedy=f"Write repositories as owner/name. The kinds are {', '.join(KINDS)}.",
            )
        async with http(self.origin, {"Authorization": f"Bearer {settings['token']}"}) as calls:
            yield GitHub(calls, names, tuple(one for one in KINDS if one in kinds))


PLUGIN = GitHubPlugin()
