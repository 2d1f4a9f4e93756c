"""Usage screen: answers, tokens and cost of the last 30 days by channel, base and day. For admins."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from aiohttp import web

from adapters.web.pages import Pages
from adapters.web.routing import MenuEntry, Right, Route, Visitor
from core.model.clock import Days
from core.ports.usage import UsageBook, UsageRow
from core.service.kb.queries import KnowledgeQueries

PERIOD = 30  # days
MOST_SHOWN = 50  # channels, or bases
OTHERS = "others"
NOWHERE = "no source"


@dataclass(frozen=True, slots=True)
class UsageTable:
    """Usage added up in one way; ``more`` rows are left out."""

    title: str
    rows: Sequence[tuple[str, UsageRow]]
    more: int = 0


@dataclass(frozen=True, slots=True)
class UsageScreen:
    """The usage screen. It names channels by id and only visible bases, and no people or questions."""

    pages: Pages
    book: UsageBook
    days: Days
    queries: KnowledgeQueries
    menu: tuple[MenuEntry, ...] = (MenuEntry("Usage", "/usage", Right.ADMIN),)

    def routes(self) -> tuple[Route, ...]:
        """Return the route of the page."""
        return (Route("GET", "/usage", self._show, Right.ADMIN),)

    async def _show(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        visible = {base.name for base in await self.queries.visible(visitor.caller())}
        kept = await self.book.rows([self.days.today(ago=ago) for ago in range(PERIOD)])
        rows = [row if row.base in visible or not row.base else replace(row, base=OTHERS) for row in kept]
        by_day = _added(rows, lambda row: row.day)
        tables = (
            _largest("By channel", _added(rows, lambda row: row.place or OTHERS)),
            _largest("By knowledge base", _added(rows, lambda row: row.base or NOWHERE)),
            UsageTable("By day", sorted(by_day.items(), reverse=True)),
        )
        total = _added(rows, lambda _: "").get("")
        return self.pages.html(request, visitor, "usage.html", period=PERIOD, total=total, tables=tables)


def _added(rows: Iterable[UsageRow], key: Callable[[UsageRow], str]) -> dict[str, UsageRow]:
    """Return the rows added up by a key."""
    sums: dict[str, UsageRow] = {}
    for row in rows:
        name = key(row)
        sums[name] = sums[name].plus(row) if name in sums else row
    return sums


def _largest(title: str, sums: dict[str, UsageRow]) -> UsageTable:
    def size(pair: tuple[str, UsageRow]) -> tuple[float, int, str]:
        name, used = pair
        return -used.cost, -(used.answers + used.quotes + used.not_found), name

    rows = sorted(sums.items(), key=size)
    return UsageTable(title, rows[:MOST_SHOWN], max(0, len(rows) - MOST_SHOWN))
