"""The contract of every trace store."""

import pytest
from redis.asyncio import Redis

from adapters.redis.usage import RedisTraceStore
from core.model.answer import Answer, Claim, ClaimVerdict, Outcome, Support, UsageCounts, Verdict
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
from tests.contracts.conversations import parked
from tests.fakes.memory.stores import InProcessTraceStore

VERDICT = Verdict((ClaimVerdict(Claim("Thirty days.", (1,)), Support.CONTRADICTED, 0.4, "Forty days."),))
ANSWER = Answer(Outcome.ANSWERED, "Thirty days [1].", verdict=VERDICT, timings=(("search", 0.25),))
EVERY_EVENT: tuple[AgentEvent, ...] = (
    AgentStarted("t1", "How many?", "balanced", "extractive"),
    RoutingDecided(needs_retrieval=True, reason="a question of fact", queries=("leave days",)),
    RetrievalStarted(1, "leave days"),
    RetrievalCompleted(1, "leave days", ("dense", "bm25"), 20, 18, 30, 12, 4.5, ("Leave",)),
    RerankingCompleted(30, 12.0),
    GradingCompleted(30, 4, 6.5, 8.0),
    QueryRefined("leave", "parental leave", "the plan is missing"),
    CheckpointReached(parked("c1").checkpoint, ANSWER),
    GenerationStarted(4),
    AnswerReset("another reasoner"),
    GenerationCompleted(2, 120, 900.0),
    HallucinationChecked(is_grounded=False, confidence=0.5, hallucinated_claims=("Forty.",), duration_ms=3.0),
    Noticed("The writing model is away."),
    AgentCompleted(ANSWER),
    AgentFailed("It did not work.", "t1"),
)


class JournalContract:
    """Override ``trace_store``."""

    @pytest.fixture
    def trace_store(self) -> TraceStore:
        raise NotImplementedError

    async def test_every_kind_of_event_comes_back_as_itself_and_in_order(self, trace_store: TraceStore) -> None:
        events = [TracedEvent(float(number), event) for number, event in enumerate(EVERY_EVENT)]
        await trace_store.record("t1", events[:5])
        await trace_store.record("t1", events[5:])
        assert await trace_store.trace("t1") == events

    async def test_an_unknown_trace_is_empty(self, trace_store: TraceStore) -> None:
        await trace_store.record("t1", [TracedEvent(1.0, Noticed("here"))])
        assert await trace_store.trace("t2") == []

    async def test_streamed_text_is_not_kept(self, trace_store: TraceStore) -> None:
        await trace_store.record("t1", [TracedEvent(1.0, AnswerDelta("Thir")), TracedEvent(2.0, Noticed("there"))])
        await trace_store.record("t1", [TracedEvent(3.0, AnswerDelta("ty"))])
        assert await trace_store.trace("t1") == [TracedEvent(2.0, Noticed("there"))]

    async def test_counters_add_up(self, trace_store: TraceStore) -> None:
        assert await trace_store.counts() == UsageCounts()
        await trace_store.count(UsageCounts({Outcome.ANSWERED: 1}, helpful=1, searched=2, searched_once=1))
        await trace_store.count(UsageCounts({Outcome.ANSWERED: 3, Outcome.FAILED: 1}, unhelpful=1))
        await trace_store.count(UsageCounts())
        counted = UsageCounts({Outcome.ANSWERED: 4, Outcome.FAILED: 1}, 1, 1, searched=2, searched_once=1)
        assert await trace_store.counts() == counted


class TestInProcessJournal(JournalContract):
    @pytest.fixture
    def trace_store(self) -> TraceStore:
        return InProcessTraceStore()


@pytest.mark.live
class TestRedisJournal(JournalContract):
    @pytest.fixture
    def trace_store(self, redis: Redis) -> TraceStore:
        return RedisTraceStore(redis)
