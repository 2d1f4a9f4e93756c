"""A finished run as spans, and nothing anybody said in them."""

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adapters.observability.opentelemetry import TracingStore
from core.model.answer import Answer, Outcome, ResourceUsage
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentStarted,
    GradingCompleted,
    RetrievalCompleted,
    TracedEvent,
)
from tests.fakes.memory.stores import InProcessTraceStore

RUN: tuple[AgentEvent, ...] = (
    AgentStarted("t1", "A private question?", "balanced", "extractive"),
    RetrievalCompleted(1, "a private question", ("dense",), 8, 0, 8, 8, 20.0, ("Private title",)),
    GradingCompleted(8, 3, 4.5, 10.0),
    AgentCompleted(Answer(Outcome.ANSWERED, "A private answer.", spent=ResourceUsage(searches=1))),
)


async def test_a_finished_run_is_one_span_with_its_steps_and_no_words() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace_store = TracingStore(InProcessTraceStore(), provider.get_tracer("test"))
    for second, event in enumerate(RUN):
        await trace_store.record("t1", [TracedEvent(1_000.0 + second, event)])
    spans = exporter.get_finished_spans()
    assert [span.name for span in spans] == ["search", "grade", "answer"]
    answer = spans[-1]
    assert answer.attributes is not None
    assert answer.attributes["outcome"] == "answered"
    assert {span.context.trace_id for span in spans if span.context} == {answer.context.trace_id}
    assert "rivate" not in "".join(span.to_json() for span in spans)
