"""What the documents lack: the gaps of a period with a chart, tables to download, and drafts to propose."""

import json
from dataclasses import dataclass, replace
from datetime import timedelta

from aiohttp import web

from adapters.web.access.forms import read_form
from adapters.web.gaps.charts import HEIGHT, KINDS, WIDTH, week_chart
from adapters.web.pages import Pages
from adapters.web.rendering.markdown import render_passage
from adapters.web.routing import MenuEntry, Right, Route, Visitor
from core.model.errors import DocumentRejected
from core.model.json_codec import to_json
from core.service.gaps.analysis import GapAnalysis, Reader
from core.service.gaps.drafts import MOST_CHARACTERS, Draft, GapDrafts
from core.service.gaps.export import as_csv
from core.service.gaps.report import GapReport
from core.service.kb.queries import KnowledgeQueries

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
        """The routes of the report on gaps."""
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
        """The bases that a draft can go into: those of connected sources are filled there."""
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
        """What the admin made of the draft waits for a decision; the page of proposals shows it."""
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
    """The period that is asked for, where it is one of those."""
    given = request.query.get("days", "")
    return int(given) if given.isdecimal() and int(given) in PERIODS else PERIOD


def _file(body: bytes, kind: str, name: str) -> web.Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)
