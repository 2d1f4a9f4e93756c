"""Gaps screen: the gaps in the documents over a period, with a chart, downloads, and drafts to propose.

The chart is an SVG styled by attributes, because the page allows no inline styles.
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
from core.service.gaps.report import GapReport, Week, as_csv
from core.service.kb.queries import KnowledgeQueries

WIDTH, HEIGHT = 440, 190  # in SVG units
LEFT, BOTTOM, TOP = 34, 26, 10  # margins for axis labels
KINDS = (
    ("answered", "Answered"),
    ("abstained", "Not in the documents"),
    ("unanswered", "Left open"),
    ("failed", "Failed"),
)
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Bar:
    """One kind of outcome in one week, as a rectangle."""

    kind: str
    name: str
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Label:
    """An axis label and the position of its tick."""

    text: str
    at: float


@dataclass(frozen=True, slots=True)
class WeekChart:
    """The chart that the template draws: stacked columns, horizontal lines with counts, and the weeks below."""

    parts: tuple[Bar, ...]
    counts: tuple[Label, ...]
    weeks: tuple[Label, ...]
    summary: str


def week_chart(weeks: Sequence[Week]) -> WeekChart:
    """Return the chart of these weeks, from the first week with questions."""
    weeks = weeks[next((n for n, week in enumerate(weeks) if week.asked), 0) :]
    ticks = count_ticks(max((sum(_counts(week)) for week in weeks), default=0))
    slot = (WIDTH - LEFT) / max(len(weeks), 4)  # keeps a single week's column narrow
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
    """Return round numbers from 0 to at least ``most``, in at most five steps."""
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
    """The gaps screen. Only for admins, because it shows other people's questions."""

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
        body = text.encode("utf-8-sig")  # the BOM shows spreadsheets the encoding
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
        """Return the bases that a draft can go into. Bases of connected sources are filled there."""
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
        """Save the edited draft as a proposal, and go to the page of proposals."""
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
    """Return the requested period if it is one of ``PERIODS``, otherwise the default."""
    given = request.query.get("days", "")
    return int(given) if given.isdecimal() and int(given) in PERIODS else PERIOD


def _file(body: bytes, kind: str, name: str) -> web.Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)
