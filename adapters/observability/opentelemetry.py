"""Optional export of traces as OpenTelemetry spans: one span per answer and one per step, without any user text.

Spans are created after a run ends, from the recorded events, so that answering is not slowed down.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, assert_never

from core.model.answer import UsageCounts
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    GenerationCompleted,
    GenerationStarted,
    GradingCompleted,
    HallucinationChecked,
    Noticed,
    QueryRefined,
    RerankingCompleted,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
    TracedEvent,
)
from core.ports.usage import TraceStore

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

NANO = 1_000_000_000
Attributes = dict[str, str | int | float | bool]


class TracingStore(TraceStore):
    """A trace store that also exports every finished run."""

    def __init__(self, trace_store: TraceStore, tracer: "Tracer") -> None:
        """Record to ``trace_store``, export with ``tracer``."""
        self._trace_store = trace_store
        self._tracer = tracer

    async def record(
        self, trace_id: str, events: Sequence[TracedEvent], *, person_id: str = "", thread: str = ""
    ) -> None:
        """Record events; if the last one ends the run, export the run."""
        await self._trace_store.record(trace_id, events, person_id=person_id, thread=thread)
        if events and isinstance(events[-1].event, AgentCompleted | AgentFailed | CheckpointReached):
            self._export(trace_id, _last_run(await self._trace_store.trace(trace_id)))

    async def trace(self, trace_id: str) -> Sequence[TracedEvent]:
        """Return the trace from the wrapped store."""
        return await self._trace_store.trace(trace_id)

    async def count(self, added: UsageCounts) -> None:
        """Add counts in the wrapped store."""
        await self._trace_store.count(added)

    async def counts(self) -> UsageCounts:
        """Return the counts of the wrapped store."""
        return await self._trace_store.counts()

    def _export(self, trace_id: str, events: Sequence[TracedEvent]) -> None:
        from opentelemetry.trace import set_span_in_context

        if not events:
            return
        root = self._tracer.start_span(
            "answer", start_time=int(events[0].at * NANO), attributes={"footnote.trace_id": trace_id}
        )
        inside = set_span_in_context(root)
        for traced in events:
            name, seconds, attributes = _step(traced.event)
            root.set_attributes(attributes if not name else {})
            if name:
                start = int((traced.at - seconds) * NANO)
                self._tracer.start_span(name, inside, start_time=start, attributes=attributes).end(
                    int(traced.at * NANO)
                )
        root.end(int(events[-1].at * NANO))


def _last_run(events: Sequence[TracedEvent]) -> Sequence[TracedEvent]:
    """Return the events since the last start; a resumed run gets its own span."""
    starts = [position for position, traced in enumerate(events) if isinstance(traced.event, AgentStarted)]
    return events[starts[-1] :] if starts else events


def _step(event: AgentEvent) -> tuple[str, float, Attributes]:  # noqa: PLR0911 - one arm for each event is the point
    """Return (span name, seconds, attributes); an empty name adds the attributes to the root span."""
    match event:
        case RetrievalCompleted():
            found: Attributes = {"iteration": event.iteration, "found": event.total_docs, "new": event.new}
            return "search", event.duration_ms / 1000, found
        case RerankingCompleted():
            return "rerank", event.duration_ms / 1000, {"candidates": event.candidates}
        case GradingCompleted():
            return "grade", event.duration_ms / 1000, {"total": event.total, "relevant": event.relevant}
        case GenerationCompleted():
            return "compose", event.duration_ms / 1000, {"citations": event.citations, "tokens": event.tokens}
        case HallucinationChecked():
            return "verify", event.duration_ms / 1000, {"grounding": event.confidence}
        case AgentStarted():
            return "", 0.0, {"profile": event.profile, "reasoner": event.reasoner, "resumed": event.resumed}
        case AgentCompleted() | CheckpointReached():
            spent = event.answer.spent
            return "", 0.0, {"outcome": event.answer.outcome.value, "searches": spent.searches, "tokens": spent.tokens}
        case AgentFailed():
            return "", 0.0, {"outcome": "failed"}
        case (
            RoutingDecided()
            | RetrievalStarted()
            | QueryRefined()
            | GenerationStarted()
            | AnswerDelta()
            | AnswerReset()
            | Noticed()
        ):
            return "", 0.0, {}
        case _:
            assert_never(event)


def tracer_to(endpoint: str) -> "tuple[Tracer, Callable[[], None]]":
    """Return a tracer that exports to this OTLP endpoint over HTTP, and its shutdown function, to call in a thread.

    Raises ConfigurationError if the OpenTelemetry packages are not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        from core.model.errors import ConfigurationError

        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the OpenTelemetry packages are not installed.",
            remedy="pip install 'footnote[otel]', or unset it.",
        ) from None
    provider = TracerProvider(resource=Resource.create({"service.name": "footnote"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")))
    return provider.get_tracer("footnote"), provider.shutdown
