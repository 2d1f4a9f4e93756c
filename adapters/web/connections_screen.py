"""Connections screen: admins see sources with their state and errors, and connect, map and remove them.

A secret is typed into a hidden field. It is checked at the source before it is stored, encrypted, and no page ever
shows it again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from aiohttp import web

from adapters.web.access.forms import read_form
from adapters.web.pages import Pages
from adapters.web.routing import MenuEntry, Right, Route, Visitor
from core.model.connections import Connection, SyncedItem
from core.model.errors import ConfigurationError, FootnoteError, NotFound, StoreUnavailable
from core.ports.connector import ANYONE, EVERYONE_IN_SITE, PUBLIC, ConnectorPlugin
from core.service.kb.queries import KnowledgeQueries
from core.service.sync.connections import ConnectionOverview, Connections, check_lines
from core.service.sync.documents import listed_item

LONGEST_VALUE = 20_000  # characters; the JSON key of a service account has some 2,400
MOST_FAILING = 100  # documents in the error table
MINUTES, HOURS = (5, 15, 1440), (1, 24, 720)  # least, usual, most
_PATH = "/connections"
_GROUPS = {
    EVERYONE_IN_SITE: "everyone at the source",
    ANYONE: "anyone with the link",
    PUBLIC: "everyone, as it is public",
}


@dataclass(frozen=True, slots=True)
class ConnectionsScreen:
    """The connections screen. ``kinds`` returns the names of the installed connectors."""

    pages: Pages
    connections: Connections
    queries: KnowledgeQueries
    kinds: Callable[[], Sequence[str]]
    menu: tuple[MenuEntry, ...] = (MenuEntry("Connect", _PATH, Right.CONNECTIONS),)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes, all for admins."""
        right = Right.CONNECTIONS
        return (
            Route("GET", _PATH, self._list, right),
            Route("GET", "/connect/{kind}", self._form, right),
            Route("POST", "/connect/{kind}", self._connect, right),
            Route("GET", f"{_PATH}/{{name}}", self._show, right),
            Route("POST", f"{_PATH}/{{name}}/map", self._map, right),
            Route("POST", f"{_PATH}/{{name}}/sync", self._sync, right),
            Route("POST", f"{_PATH}/{{name}}/remove", self._remove, right),
        )

    # --- looking

    async def _list(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        found = await self.connections.overview()
        removed = request.query.get("removed", "")[:60]
        titles = {kind: self._title(kind) for kind in self.kinds()}
        return self.pages.html(request, visitor, "connections.html", found=found, titles=titles, removed=removed)

    async def _show(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        return await self._page(request, visitor, await self._overview(request))

    async def _page(
        self,
        request: web.Request,
        visitor: Visitor,
        one: ConnectionOverview,
        notes: Sequence[str] = (),
        mistake: str = "",
    ) -> web.StreamResponse:
        failing = await self._failing(one, visitor)
        connection = one.connection
        return self.pages.html(
            request,
            visitor,
            "connection.html",
            one=one,
            title=self._title(connection.kind),
            notes=notes,
            mistake=mistake,
            failing=failing[:MOST_FAILING],
            more_failing=len(one.failing) - len(failing[:MOST_FAILING]),
            unknown=[(group, _GROUPS.get(group, group), named) for group, named in one.state.groups.items()],
            mapped=[(group, _GROUPS.get(group, group), sorted(to)) for group, to in sorted(connection.mapping.items())],
            forms=", ".join(map(str, self.connections.forms)),
            status=422 if mistake else 200,
        )

    async def _failing(self, one: ConnectionOverview, visitor: Visitor) -> list[dict[str, str]]:
        """Return the failed documents whose titles this visitor may see."""
        bases = {base.name for base in await self.queries.visible(visitor.caller())}
        seen = [
            item for item in one.failing if visitor.is_operator or one.state.bases.get(item.readers, item.base) in bases
        ]
        return [_failed(item) for item in seen]

    async def _overview(self, request: web.Request) -> ConnectionOverview:
        connection = await self.connections.find(request.match_info["name"])
        return next(one for one in await self.connections.overview() if one.connection.name == connection.name)

    def _title(self, kind: str) -> str:
        """Return the title of a kind of source, or its name if its package is not installed."""
        try:
            return self.connections.plugins(kind).title
        except ConfigurationError:
            return kind

    # --- changing

    async def _form(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Return the form, with the settings of the existing connection ``of``."""
        plugin, name = self._plugin(request), request.query.get("of", "")
        before = await self.connections.find(name) if name else None
        given = _typed(before) if before is not None and before.kind == plugin.name else {}
        return self._form_page(request, visitor, plugin, given)

    def _form_page(
        self,
        request: web.Request,
        visitor: Visitor,
        plugin: ConnectorPlugin,
        given: Mapping[str, str],
        mistake: str = "",
    ) -> web.StreamResponse:
        """Return the form with the submitted values, except secrets."""
        secret = {f"set-{one.name}" for one in plugin.fields if one.secret}
        kept = {name: value for name, value in given.items() if name not in secret}
        forms = ", ".join(map(str, self.connections.forms))
        context = {"plugin": plugin, "given": kept, "mistake": mistake, "forms": forms, "longest": LONGEST_VALUE}
        context |= {"minutes": MINUTES, "hours": HOURS}
        return self.pages.html(request, visitor, "connect_form.html", **context, status=422 if mistake else 200)

    def _plugin(self, request: web.Request) -> ConnectorPlugin:
        kind = request.match_info["kind"]
        if kind not in self.kinds():
            raise NotFound("This kind of source does not exist.")
        return self.connections.plugins(kind)

    async def _connect(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Test the settings at the source, and save them if it accepts them."""
        plugin, form = self._plugin(request), await read_form(request)
        values = {one.name: form.get(f"set-{one.name}", "").strip()[:LONGEST_VALUE] for one in plugin.fields}
        readers = () if plugin.states_readers else form.get("readers", "").replace(",", " ").split()
        try:
            check = await self.connections.check(plugin.name, values)
            made = await self.connections.connect(
                form.get("name", "").strip() or plugin.name,
                plugin.name,
                values,
                visitor.person,
                readers=readers,
                minutes=_number(form.get("minutes", ""), MINUTES),
                hours=_number(form.get("hours", ""), HOURS),
            )
        except StoreUnavailable:
            raise
        except FootnoteError as error:
            return self._form_page(request, visitor, plugin, form, str(error))
        overview = ConnectionOverview(made, await self.connections.store.state(made.name))
        return await self._page(
            request, visitor, overview, notes=[*check_lines(plugin, check), "The first sync has started."]
        )

    async def _map(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Map a group of the source to principals; to nobody if none are given."""
        form, one = await read_form(request), await self._overview(request)
        group = form.get("group", "").strip()[:200]
        principals = form.get("principals", "").replace(",", " ").split()
        if not group:
            return await self._page(request, visitor, one, mistake="Enter a group or a person of the source.")
        try:
            await self.connections.map_group(one.connection.name, group, principals, visitor.person)
        except NotFound as error:
            return await self._page(request, visitor, one, mistake=str(error))
        return _to(one.connection.name, "#readers")

    async def _sync(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        connection = (await self._overview(request)).connection
        await self.connections.begin_sync(connection, visitor.caller())
        return _to(connection.name)

    async def _remove(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name = (await self._overview(request)).connection.name
        await self.connections.disconnect(name, visitor.person)
        return web.Response(status=303, headers={"Location": f"{_PATH}?removed={quote(name)}"})


def _typed(connection: Connection) -> Mapping[str, str]:
    """Return the form values of a connection, except its secrets."""
    settings = {f"set-{name}": value for name, value in connection.settings.items()}
    rest = {"name": connection.name, "readers": " ".join(sorted(connection.readers))}
    return {**settings, **rest, "minutes": str(connection.minutes), "hours": str(connection.hours)}


def _number(text: str, bounds: tuple[int, int, int]) -> int:
    """Return a number within its bounds (least, usual, most); the usual one if the text is not a number."""
    least, usual, most = bounds
    return min(max(int(text), least), most) if text.isdecimal() and len(text) < 6 else usual


def _to(name: str, anchor: str = "") -> web.Response:
    return web.Response(status=303, headers={"Location": f"{_PATH}/{quote(name)}{anchor}"})


def _failed(item: SyncedItem) -> dict[str, str]:
    since = f"{item.failed_since:%Y-%m-%d %H:%M} UTC" if item.failed_since else ""
    return {"title": listed_item(item).title if item.listed else item.id, "reason": item.reason, "since": since}
