"""What the documents lack: the gaps of a period with a chart, tables to download, and drafts to propose.

The chart is an SVG that is drawn by attributes, because the page allows no inline styles.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import accumulate

from aiohttp import web

from adapters.web.access.forms import read_form
from adapters.web.markdown import render_passage
from adapters.web.pages import Pages
from adapters.web.routing import MenuEntry, Right, Route, Visitor
from core.model.errors import DocumentRejected
from core.model.json_codec import to_json
from core.service.gaps.analysis import GapAnalysis, Reader
from core.service.gaps.drafts import MOST_CHARACTERS, Draft, GapDrafts
from core.service.gaps.export import as_csv
from core.service.gaps.report import GapReport, Week
from core.service.kb.queries import KnowledgeQueries

WIDTH, HEIGHT = 440, 190  # of the drawing, in its own units
LEFT, BOTTOM, TOP = 34, 26, 10  # room for the labels of the axes
KINDS = (
    ("answered", "Answered"),
    ("abstained", "Not in the documents"),
    ("unanswered", "Left open"),
    ("failed", "Failed"),
)
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Bar:
    """One kind of outcome of one week, as a rectangle."""

    kind: str
    name: str
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Label:
    """A label of an axis, and where its tick is."""

    text: str
    at: float


@dataclass(frozen=True, slots=True)
class WeekChart:
    """What the template draws: stacked columns, lines across with their counts, and the weeks below."""

    parts: tuple[Bar, ...]
    counts: tuple[Label, ...]
    weeks: tuple[Label, ...]
    summary: str


def week_chart(weeks: Sequence[Week]) -> WeekChart:
    """Draw these weeks, from the first in which anybody asked."""
    weeks = weeks[next((n for n, week in enumerate(weeks) if week.asked), 0) :]
    ticks = count_ticks(max((sum(_counts(week)) for week in weeks), default=0))
    slot = (WIDTH - LEFT) / max(len(weeks), 4)  # a single week is no wall
    tall = (HEIGHT - TOP - BOTTOM) / ticks[-1]
    parts = []
    for n, week in enumerate(weeks):
        counts = _counts(week)
        for (kind, name), count, top in zip(KINDS, counts, accumulate(counts), strict=True):
            if count:
                x, y = LEFT + slot * (n + 0.2), HEIGHT - BOTTOM - top * tall
                parts.append(Bar(kind, name.lower(), count, x, y, slot * 0.6, count * tall))
    every = -(-len(weeks) // 6)  # as many labels as fit side by side
    below = tuple(
        Label(f"{week.start:%d %b}", LEFT + slot * (n + 0.5)) for n, week in enumerate(weeks) if n % every == 0
    )
    counts_beside = tuple(Label(str(tick), HEIGHT - BOTTOM - tick * tall) for tick in ticks)
    said = "; ".join(f"week of {week.start}: {week.asked} asked, {week.answered} answered" for week in weeks)
    return WeekChart(tuple(parts), counts_beside, below, said)


def count_ticks(most: int) -> list[int]:
    """Round numbers from 0 to at least ``most``, in at most five steps."""
    size = 1
    while True:
        for step in (size * one for one in _STEPS):
            if step * 5 >= most:
                return list(range(0, max(most + step - 1, step) // step * step + 1, step))
        size *= 10


def _counts(week: Week) -> tuple[int, ...]:
    return tuple(getattr(week, kind) for kind, _ in KINDS)


PERIODS = (7, 30, 90, 180)  # days
PERIOD = 30
LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class GapScreen:
    """For admins: it has other people's questions."""

    pages: Pages
    analysis: GapAnalysis
    drafts: GapDrafts
    queries: KnowledgeQueries
    menu: tuple[MenuEntry, ...] = (MenuEntry("Gaps", "/gaps", Right.ADMIN),)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the report on gaps."""
        return (
            Route("GET", "/gaps", self._overview, Right.ADMIN),
            Route("GET", "/gaps/gaps.csv", self._csv, Right.ADMIN),
            Route("GET", "/gaps/gaps.json", self._json, Right.ADMIN),
            Route("GET", "/gaps/{gap}/draft", self._draft, Right.ADMIN),
            Route("POST", "/gaps/{gap}/draft", self._propose, Right.ADMIN),
        )

    async def _overview(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        report = await self._report(request, visitor)
        return self.pages.html(
            request,
            visitor,
            "gaps.html",
            report=report,
            days=_days(request),
            periods=PERIODS,
            once=[gap for gap in report.gaps if gap.questions == 1],
            chart=week_chart(report.weeks),
            chart_size=(WIDTH, HEIGHT),
            kinds=KINDS,
        )

    async def _csv(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        text = as_csv(await self._report(request, visitor))
        body = text.encode("utf-8-sig")  # the mark tells spreadsheets what it is
        return _file(body, "text/csv", "gaps.csv")

    async def _json(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        report = json.loads(to_json(await self._report(request, visitor)))
        return _file(json.dumps(report, indent=2).encode(), "application/json", "gaps.json")

    async def _report(self, request: web.Request, visitor: Visitor) -> GapReport:
        return await self.analysis.report(timedelta(days=_days(request)), await self._reader(visitor))

    async def _reader(self, visitor: Visitor) -> Reader:
        bases = await self.queries.visible(visitor.caller())
        return Reader(frozenset(base.name for base in bases), is_operator=visitor.audience.unrestricted)

    # --- a draft of what is missing

    async def _begin(self, request: web.Request, visitor: Visitor) -> Draft:
        reader = await self._reader(visitor)
        gap = await self.analysis.gap(request.match_info["gap"], timedelta(days=_days(request)), reader)
        draft = await self.drafts.begin(gap, reader.bases)
        return draft if draft.base in await self._own_bases(visitor) else replace(draft, base="")

    async def _own_bases(self, visitor: Visitor) -> list[str]:
        """Return the bases that a draft can go into: those of connected sources are filled there."""
        return sorted(base.name for base in await self.queries.visible(visitor.caller()) if not base.connection)

    async def _draft(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        return await self._draft_page(request, visitor, await self._begin(request, visitor))

    async def _draft_page(
        self, request: web.Request, visitor: Visitor, draft: Draft, *, mistake: str = "", status: int = 200
    ) -> web.StreamResponse:
        return self.pages.html(
            request,
            visitor,
            "gap_draft.html",
            draft=draft,
            notes=render_passage(draft.notes),
            bases=await self._own_bases(visitor),
            days=_days(request),
            most=MOST_CHARACTERS,
            mistake=mistake,
            status=status,
        )

    async def _propose(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Return what the admin made of the draft waits for a decision; the page of proposals shows it."""
        form = await read_form(request)
        begun = await self._begin(request, visitor)
        base = form.get("base", "")
        written = replace(
            begun,
            title=form.get("title", "")[:LONGEST_TITLE] or begun.title,
            text=form.get("text", "").replace("\r\n", "\n"),
            base=base if base in await self._own_bases(visitor) else "",
        )
        try:
            await self.drafts.propose(written, visitor.person, is_admin=visitor.is_admin)
        except DocumentRejected as error:
            return await self._draft_page(request, visitor, written, mistake=str(error), status=422)
        return web.Response(status=303, headers={"Location": "/knowledge/proposals"})


def _days(request: web.Request) -> int:
    """Return the period that is asked for, where it is one of those."""
    given = request.query.get("days", "")
    return int(given) if given.isdecimal() and int(given) in PERIODS else PERIOD


def _file(body: bytes, kind: str, name: str) -> web.Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)
