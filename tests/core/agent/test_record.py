"""The recorded events of a run, with names, fields and figures that others rely on."""

from dataclasses import fields
from typing import get_args

import pytest

from core.model.answer import Support
from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    CheckpointReached,
    GenerationCompleted,
    GenerationStarted,
    GradingCompleted,
    HallucinationChecked,
    QueryRefined,
    RerankingCompleted,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
)
from core.model.inquiry import CUTOFFS, AnswerPolicy, Insufficient, Investigate, Reply, SearchKnowledge
from core.model.profile import Behaviour
from tests.core.harness import Harness

PROMISED: dict[type, tuple[str, set[str]]] = {
    AgentStarted: ("AGENT_STARTED", set()),
    RoutingDecided: ("AGENT_ROUTING_DECISION", {"needs_retrieval", "reason"}),
    RetrievalStarted: ("AGENT_RETRIEVAL_STARTED", {"iteration"}),
    RetrievalCompleted: (
        "AGENT_RETRIEVAL_COMPLETED",
        {"iteration", "strategies", "vector_results", "bm25_results", "total_docs", "duration_ms"},
    ),
    GradingCompleted: ("AGENT_GRADING_COMPLETED", {"total", "relevant", "average"}),
    RerankingCompleted: ("AGENT_RERANKING_COMPLETED", set()),
    QueryRefined: ("AGENT_QUERY_REFINEMENT", {"original", "refined", "reason"}),
    CheckpointReached: ("AGENT_CHECKPOINT", set()),
    GenerationStarted: ("AGENT_GENERATION_STARTED", set()),
    GenerationCompleted: ("AGENT_GENERATION_COMPLETED", {"citations", "tokens"}),
    HallucinationChecked: ("AGENT_HALLUCINATION_CHECK", {"is_grounded", "confidence", "hallucinated_claims"}),
    AgentCompleted: ("AGENT_COMPLETED", set()),
    AgentFailed: ("AGENT_FAILED", set()),
}
REFUNDS = "Refunds are paid within 14 days."


@pytest.fixture
async def harness() -> Harness:
    harness = Harness()
    await harness.knows(REFUNDS, "Refunds above 2,000 euros are approved by Finance.", title="Refund policy")
    return harness


@pytest.mark.parametrize("event", list(PROMISED), ids=lambda event: event.__name__)
def test_an_event_has_the_name_and_the_fields_that_others_read(event: type) -> None:
    kind, names = PROMISED[event]
    by_name = {field.name: field for field in fields(event)}
    assert by_name["kind"].default == kind
    assert names <= by_name.keys()
    assert event in get_args(AgentEvent)


async def test_a_search_is_told_with_what_each_leg_found(harness: Harness) -> None:
    told = await harness.asks("refunds")
    (began,), (ended,) = told.all(RetrievalStarted), told.all(RetrievalCompleted)
    assert (began.iteration, began.query) == (ended.iteration, ended.query) == (1, "refunds")
    assert ended.strategies == ("dense", "bm25")
    assert (ended.vector_results, ended.bm25_results, ended.total_docs, ended.new) == (2, 2, 2, 2)
    assert ended.sources == ("Refund policy",)


async def test_searches_are_counted_on_through_the_rounds(harness: Harness) -> None:
    harness.script.enqueue("understand", Investigate("q", ("refunds", "finance")))
    harness.script.enqueue("decide", Insufficient("x", (SearchKnowledge("euros"),)))
    told = await harness.asks("refunds?")
    assert [event.iteration for event in told.all(RetrievalStarted)] == [1, 2, 3]
    assert [event.iteration for event in told.all(RetrievalCompleted)] == [1, 2, 3]


@pytest.mark.parametrize("behaviour", list(Behaviour))
async def test_grading_is_told_with_how_many_count_here(harness: Harness, behaviour: Behaviour) -> None:
    harness.script.enqueue("grade", CUTOFFS[behaviour], CUTOFFS[behaviour] - 1)
    at_the_cutoff = await harness.asks("refunds", policy=AnswerPolicy(behaviour=behaviour))
    below = await harness.asks("refunds", thread="u", policy=AnswerPolicy(behaviour=behaviour, checkpoints=frozenset()))
    (counts,), (counts_not,) = at_the_cutoff.all(GradingCompleted), below.all(GradingCompleted)
    assert (counts.total, counts.relevant, counts.average) == (2, 2, CUTOFFS[behaviour])
    assert (counts_not.total, counts_not.relevant) == (2, 0)


async def test_writing_is_told_with_its_citations_and_tokens() -> None:
    harness = Harness()
    harness.script._tokens = (30, 12)
    await harness.knows(REFUNDS)
    told = await harness.asks("refunds")
    (wrote,) = told.all(GenerationCompleted)
    assert (wrote.citations, wrote.tokens) == (1, 42)
    assert told.all(GenerationStarted)[0].evidence == 1


async def test_checking_is_told_with_what_did_not_hold(harness: Harness) -> None:
    harness.script.enqueue("compose", f"{REFUNDS} [1]\nThe moon is made of green cheese [1].")
    harness.script.always("check", Support.UNSUPPORTED)
    told = await harness.asks("How many days until refunds are paid?")
    (checked,) = told.all(HallucinationChecked)
    assert not checked.is_grounded
    assert checked.confidence == 0.5
    assert checked.hallucinated_claims == ("The moon is made of green cheese [1].",)


async def test_routing_says_why(harness: Harness) -> None:
    harness.script.enqueue("understand", Reply("Hello!", "a greeting"), Investigate("q", ("refunds",), "a question"))
    greeted, asked = await harness.asks("hi"), await harness.asks("refunds?")
    assert [(e.needs_retrieval, e.reason) for told in (greeted, asked) for e in told.all(RoutingDecided)] == [
        (False, "a greeting"),
        (True, "a question"),
    ]
    assert greeted.all(AgentStarted)[0].question == "hi"
