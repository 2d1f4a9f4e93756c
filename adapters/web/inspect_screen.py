"""Inspection screens: search scores, traces of answers as timelines, settings in force, and doctor's checks."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from aiohttp import web

from adapters.web.ask.conversations import Conversations
from adapters.web.ask.turn_views import NOT_READABLE, TurnViews
from adapters.web.pages import Pages
from adapters.web.routing import MenuEntry, Right, Route, Visitor
from core.model.answer import Answer
from core.model.channel_settings import ChannelSettings, ChosenSettings, channel_settings
from core.model.errors import Denied, NotFound
from core.model.events import AgentCompleted, AgentStarted, CheckpointReached, TimedEvent, TracedEvent
from core.model.health import Check
from core.ports.index import Scope
from core.ports.platform import ChannelSettingsStore
from core.ports.usage import TraceStore
from core.retrieval.hybrid import Retriever
from core.service.channel_settings import explain_settings
from core.service.explanations import describe_event
from core.service.kb.queries import KnowledgeQueries

_LEAST = 0.4  # percent, so that instant events are visible too


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One event. ``start`` and ``width`` are percent of the whole; ``seconds`` is the time since the start."""

    name: str
    text: str
    seconds: float
    took: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class TraceTimeline:
    """All events of a trace. ``answer`` is the latest one, with its usage."""

    question: str
    rows: tuple[TraceRow, ...]
    seconds: float
    answer: Answer | None


def timeline(events: Sequence[TracedEvent]) -> TraceTimeline:
    """Return the timeline of events. Events are recorded at their end, so each bar ends at its event's time."""
    began = min((traced.at - _took(traced) for traced in events), default=0.0)
    whole = max((traced.at for traced in events), default=0.0) - began
    per_cent = 100 / whole if whole > 0 else 0.0
    rows = tuple(_row(traced, began, per_cent) for traced in events)
    question = next((one.event.question for one in events if isinstance(one.event, AgentStarted)), "")
    ends = [one.event.answer for one in events if isinstance(one.event, AgentCompleted | CheckpointReached)]
    return TraceTimeline(question, rows, whole, ends[-1] if ends else None)


def _row(traced: TracedEvent, began: float, per_cent: float) -> TraceRow:
    took = _took(traced)
    start = (traced.at - took - began) * per_cent
    width = max(took * per_cent, _LEAST)
    name = str(traced.event.kind).removeprefix("AGENT_").replace("_", " ").capitalize()
    at = traced.at - began
    return TraceRow(name, describe_event(traced.event), at, took, min(start, 100 - _LEAST), min(width, 100))


def _took(traced: TracedEvent) -> float:
    """Return the seconds that an event took; 0 for events without a duration."""
    return traced.event.duration_ms / 1000 if isinstance(traced.event, TimedEvent) else 0.0


HITS = 20
LONGEST_QUERY = 500
LONGEST_PLACE = 200
GONE = "There is no trace with this id. Traces are kept for 14 days."

Examine = Callable[[], Awaitable[Sequence[Check]]]


@dataclass(frozen=True, slots=True)
class InspectScreen:
    """The inspection screens. ``examine`` runs doctor; ``defaults`` are the settings of a channel without choices."""

    pages: Pages
    retriever: Retriever
    queries: KnowledgeQueries
    traces: TraceStore
    settings_store: ChannelSettingsStore
    defaults: ChannelSettings
    conversations: Conversations
    turns: TurnViews
    examine: Examine
    menu: tuple[MenuEntry, ...] = (MenuEntry("Look inside", "/inspect", Right.ADMIN),)

    def routes(self) -> tuple[Route, ...]:
        """Return the routes of the inspection screens."""
        return (
            Route("GET", "/inspect", self._search, Right.ADMIN),
            Route("GET", "/inspect/settings", self._settings, Right.ADMIN),
            Route("GET", "/inspect/doctor", self._doctor, Right.ADMIN),
            Route("GET", "/inspect/trace", self._trace, Right.ADMIN),
            Route("GET", "/ask/{name}/{question}/trace", self._own_trace),
        )

    async def _search(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Show both legs of a search side by side, in the bases that this visitor may see."""
        query = request.query.get("q", "").strip()[:LONGEST_QUERY]
        bases = frozenset(base.name for base in await self.queries.visible(visitor.caller()))
        chosen = request.query.get("base", "")
        scope = Scope(frozenset({chosen}) if chosen in bases else bases)
        found = await self.retriever.search(query, scope, HITS) if query else None
        return self.pages.html(
            request, visitor, "inspect_search.html", query=query, bases=sorted(bases), chosen=chosen, found=found
        )

    async def _settings(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        place = request.query.get("place", "").strip()[:LONGEST_PLACE]
        chosen = await self.settings_store.read(place) if place else ChosenSettings()
        rows = explain_settings(channel_settings(self.defaults, chosen), chosen)
        return self.pages.html(request, visitor, "inspect_settings.html", place=place, rows=rows)

    async def _doctor(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        checks = await self.examine() if request.query.get("run") else None
        return self.pages.html(request, visitor, "inspect_doctor.html", checks=checks)

    async def _trace(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        """Show any trace, only to this machine's operator, because it contains other people's questions."""
        trace_id = request.query.get("id", "").strip()
        if trace_id and not visitor.audience.unrestricted:
            raise Denied(
                "Only the operator of this machine can see other people's traces.",
                remedy="Your own traces are linked below your answers. To see others, run footnote trace.",
            )
        return await self._timeline(request, visitor, trace_id, back="/inspect")

    async def _own_trace(self, request: web.Request, visitor: Visitor) -> web.StreamResponse:
        name, question = request.match_info["name"], request.match_info["question"]
        message = await self.conversations.question(visitor, name, question)
        if message is None:
            raise NotFound(GONE)
        turn = await self.turns.one(visitor, message)
        if turn.failure == NOT_READABLE:
            raise NotFound(NOT_READABLE)
        return await self._timeline(request, visitor, turn.trace_id, back=f"/ask/{name}#q-{question}")

    async def _timeline(self, request: web.Request, visitor: Visitor, trace_id: str, back: str) -> web.StreamResponse:
        events = await self.traces.trace(trace_id) if trace_id else ()
        if trace_id and not events:
            raise NotFound(GONE)
        return self.pages.html(
            request,
            visitor,
            "inspect_trace.html",
            trace_id=trace_id,
            trace=timeline(events) if events else None,
            back=back,
        )
