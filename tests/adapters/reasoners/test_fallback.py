"""Someone always answers: the breaker, the handing over, and what is said about it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from adapters.reasoners.circuit_breaker import BreakerState
from adapters.reasoners.fallback import CAPPED, OF_THIS_QUESTION, QUOTING, STOOD_IN, FallbackReasoner, Reserves
from core.model.answer import Claim
from core.model.budget import Meter
from core.model.errors import BudgetExhausted, ModelFailure, ModelMisbehaved, ModelUnavailable
from core.model.inquiry import Inquiry, Insufficient, Investigate, Reply, Sufficient
from core.ports.reasoner import DraftDeclined, DraftRestarted
from tests.adapters.reasoners.harness import inquiry, library, meter, opened, thread, turn
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner
from tests.fakes.model.endpoint import ScriptedEndpoint

DOWN = ModelUnavailable("The model endpoint at example.com cannot be reached.")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def model() -> ScriptedReasoner:
    return ScriptedReasoner("model")


@pytest.fixture
def quoting() -> ScriptedReasoner:
    return ScriptedReasoner("extractive", top_k=16)


@pytest.fixture
def pair(model: ScriptedReasoner, quoting: ScriptedReasoner, clock: ManualClock) -> FallbackReasoner:
    return FallbackReasoner(model, quoting, clock=clock, failures=5, cool_down_seconds=30)


async def written(pair: FallbackReasoner, counted: Meter | None = None, **asked: Any) -> list[object]:
    stream = pair.compose(inquiry(**asked), thread(), library(grade=8).items, counted or meter())
    return [part async for part in stream]


async def test_while_the_model_works_nothing_is_said_and_the_standby_rests(
    pair: FallbackReasoner, quoting: ScriptedReasoner
) -> None:
    counted = meter()
    await pair.understand(inquiry(), thread(), counted)
    await written(pair, counted)
    assert counted.notices == []
    assert counted.written_by == "model"
    assert quoting.calls == []


async def test_the_standby_writes_when_the_model_is_down_and_says_so_once(
    pair: FallbackReasoner, model: ScriptedReasoner, quoting: ScriptedReasoner
) -> None:
    for step in ("understand", "grade", "decide", "compose", "check"):
        model.always(step, lambda *_: (_ for _ in ()).throw(DOWN))
    quoting.enqueue("compose", "“Refunds stay open for 30 days.” [1]")
    counted = meter()
    await pair.understand(inquiry(), thread(), counted)
    await pair.grade(inquiry(), library().items, counted)
    await pair.decide(inquiry(), thread(), counted)
    assert counted.notices == [STOOD_IN]
    assert await written(pair, counted) == ["“Refunds stay open for 30 days.” [1]"]
    await pair.check(inquiry(), [Claim("A.", (1,))], (), counted)
    assert counted.notices == [QUOTING]
    assert counted.written_by == "extractive"


async def test_an_answer_that_breaks_off_begins_again(
    pair: FallbackReasoner, model: ScriptedReasoner, quoting: ScriptedReasoner
) -> None:
    model.enqueue("compose", ["Refunds ", "stay ", DOWN])
    quoting.enqueue("compose", "Quoted [1].")
    assert await written(pair) == ["Refunds ", "stay ", DraftRestarted(QUOTING), "Quoted [1]."]


@pytest.mark.parametrize("away", [DOWN, BudgetExhausted("all used")])
async def test_an_attempt_is_withheld_rather_than_quoted_from_evidence_that_nobody_graded(
    pair: FallbackReasoner, model: ScriptedReasoner, quoting: ScriptedReasoner, away: Exception
) -> None:
    model.enqueue("compose", ["Refunds ", away])
    assert await written(pair, fast_path=True) == ["Refunds ", DraftDeclined()]
    assert quoting.calls == []


async def test_a_draft_that_the_model_withholds_shows_that_the_model_works(
    pair: FallbackReasoner, model: ScriptedReasoner
) -> None:
    model.enqueue("decide", *[DOWN] * 4, DOWN).enqueue("compose", [DraftDeclined("the price")])
    for _ in range(4):
        await pair.decide(inquiry(), thread(), meter())
    async with aclosing(pair.compose(inquiry(fast_path=True), thread(), library().items, meter())) as parts:
        assert await anext(parts) == DraftDeclined("the price")
    await pair.decide(inquiry(), thread(), meter())
    assert pair.state is BreakerState.CLOSED


async def test_nothing_usable_counts_as_a_failure_too(
    pair: FallbackReasoner, model: ScriptedReasoner, quoting: ScriptedReasoner
) -> None:
    model.enqueue("check", ModelMisbehaved("no verdicts"))
    verdicts = await pair.check(inquiry(), [Claim("A.", (1,))], (), meter())
    assert len(verdicts) == 1
    assert len(quoting.calls_of("check")) == 1


async def test_after_five_failures_the_model_is_not_asked_until_the_cool_down_is_over(
    pair: FallbackReasoner, model: ScriptedReasoner, clock: ManualClock
) -> None:
    model.enqueue("decide", *[DOWN] * 5)
    for _ in range(5):
        assert pair.state is BreakerState.CLOSED
        await pair.decide(inquiry(), thread(), meter())
    assert pair.state is BreakerState.OPEN
    assert (pair.name, pair.top_k) == ("extractive", 16)
    await pair.decide(inquiry(), thread(), meter())
    clock.advance(29)
    await pair.decide(inquiry(), thread(), meter())
    assert len(model.calls) == 5
    clock.advance(1)
    await pair.decide(inquiry(), thread(), meter())
    assert len(model.calls) == 6
    assert (pair.name, pair.top_k) == ("model", 8)


async def test_a_trial_that_fails_opens_the_breaker_again(
    pair: FallbackReasoner, model: ScriptedReasoner, clock: ManualClock
) -> None:
    model.enqueue("decide", *[DOWN] * 6)
    for _ in range(5):
        await pair.decide(inquiry(), thread(), meter())
    clock.advance(30)
    await pair.decide(inquiry(), thread(), meter())
    assert pair.state is BreakerState.OPEN
    clock.advance(10)
    await pair.decide(inquiry(), thread(), meter())
    assert len(model.calls) == 6


async def test_a_success_in_between_starts_the_count_again(pair: FallbackReasoner, model: ScriptedReasoner) -> None:
    model.enqueue("decide", *[DOWN] * 4, Sufficient(), *[DOWN] * 4)
    for _ in range(9):
        await pair.decide(inquiry(), thread(), meter())
    assert pair.state is BreakerState.CLOSED


@pytest.mark.parametrize("kind", OF_THIS_QUESTION)
async def test_what_a_model_has_against_one_question_leaves_the_next_ones_alone(
    pair: FallbackReasoner, model: ScriptedReasoner, kind: ModelFailure
) -> None:
    filtered = ModelMisbehaved("not this one", kind=kind)
    model.enqueue("decide", *[filtered] * 20).enqueue("compose", filtered)
    for _ in range(20):
        await pair.decide(inquiry(), thread(), meter())
    counted = meter()
    assert await written(pair, counted)
    await pair.critique(inquiry(), "…", counted)
    assert counted.notices == [OF_THIS_QUESTION[kind]], "the model did answer, so nothing says that it does not"
    assert pair.state is BreakerState.CLOSED


async def test_a_budget_of_ours_that_is_used_up_counts_as_no_failure_of_the_endpoint(
    model: ScriptedReasoner, quoting: ScriptedReasoner, clock: ManualClock
) -> None:
    kinds: list[ModelFailure] = []
    pair = FallbackReasoner(model, quoting, clock=clock, on_failure=kinds.append)
    spent = ModelUnavailable("This channel's budget is used up.", kind=ModelFailure.BUDGET)
    model.enqueue("decide", DOWN, spent)
    await pair.decide(inquiry(), thread(), meter())
    await pair.decide(inquiry(), thread(), counted := meter())
    assert (pair.last_failure, kinds) == (str(DOWN), [ModelFailure.OTHER])
    assert counted.causes == [str(spent)], "the answer's trace says it"


async def test_does_not_wait_each_time_for_an_endpoint_whose_streams_never_start(
    pair: FallbackReasoner, model: ScriptedReasoner, clock: ManualClock
) -> None:
    model.enqueue("compose", *[DOWN] * 6)
    for _ in range(8):
        await pair.decide(inquiry(), thread(), meter())
        await written(pair)
    assert len(model.calls_of("compose")) == 5
    assert len(model.calls_of("decide")) == 8, "what it can do, it goes on doing"
    assert (pair.state, pair.name, pair.top_k) == (BreakerState.OPEN, "extractive", 8)
    clock.advance(30)
    await written(pair)
    await written(pair)
    assert len(model.calls_of("compose")) == 6, "one more tries after the cool-down"
    clock.advance(30)
    await written(pair)
    assert (pair.state, pair.name) == (BreakerState.CLOSED, "model")


async def test_only_one_question_tries_after_the_cool_down(quoting: ScriptedReasoner, clock: ManualClock) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedReasoner):
        async def critique(self, inquiry: Inquiry, answer: str, meter: Meter) -> str:
            arrived.set()
            await go_on.wait()
            return "asked"

    model = Slow("model").enqueue("decide", *[DOWN] * 5)
    pair = FallbackReasoner(model, quoting, clock=clock)
    for _ in range(5):
        await pair.decide(inquiry(), thread(), meter())
    clock.advance(30)
    trial = asyncio.create_task(pair.critique(inquiry(), "…", meter()))
    await arrived.wait()
    await pair.decide(inquiry(), thread(), meter())
    assert len(model.calls_of("decide")) == 5, "the second one went to the standby"
    go_on.set()
    assert await trial == "asked"
    assert pair.state is BreakerState.CLOSED


async def test_a_trial_that_is_called_off_lets_another_one_try(
    pair: FallbackReasoner, model: ScriptedReasoner, clock: ManualClock
) -> None:
    model.enqueue("decide", *[DOWN] * 5, BudgetExhausted("all used"))
    for _ in range(5):
        await pair.decide(inquiry(), thread(), meter())
    clock.advance(30)
    with pytest.raises(BudgetExhausted):
        await pair.decide(inquiry(), thread(), meter())
    await pair.decide(inquiry(), thread(), meter())
    assert pair.state is BreakerState.CLOSED


async def test_a_cap_while_searching_is_passed_on_but_the_answer_is_still_quoted(
    pair: FallbackReasoner, model: ScriptedReasoner, quoting: ScriptedReasoner
) -> None:
    model.enqueue("decide", BudgetExhausted("all used"))
    model.enqueue("compose", BudgetExhausted("all used"))
    counted = meter()
    with pytest.raises(BudgetExhausted):
        await pair.decide(inquiry(), thread(), counted)
    assert await written(pair, counted)
    assert counted.notices == [CAPPED]
    assert len(quoting.calls_of("compose")) == 1


async def test_a_greeting_from_the_standby_is_signed_by_it(
    pair: FallbackReasoner, model: ScriptedReasoner, quoting: ScriptedReasoner
) -> None:
    model.enqueue("understand", DOWN)
    quoting.enqueue("understand", Reply("Hello!"))
    counted = meter()
    assert await pair.understand(inquiry("hi"), thread(), counted) == Reply("Hello!")
    assert counted.written_by == "extractive"


async def test_nobody_waits_twice_for_a_hanging_model_with_one_question(
    model: ScriptedReasoner, quoting: ScriptedReasoner, clock: ManualClock
) -> None:
    def after_a_while(*_: object) -> None:
        clock.advance(20)
        raise DOWN

    model.enqueue("understand", after_a_while)
    pair = FallbackReasoner(model, quoting, clock=clock)
    await pair.understand(inquiry(id="one"), thread(), meter(clock))
    await pair.decide(inquiry(id="one"), thread(), meter(clock))
    assert not model.calls_of("decide")
    await pair.decide(inquiry(id="two"), thread(), meter(clock))
    assert len(model.calls_of("decide")) == 1


async def test_with_too_little_time_left_the_standby_is_asked_at_once(
    pair: FallbackReasoner, model: ScriptedReasoner, clock: ManualClock
) -> None:
    counted = meter(clock, seconds=60)
    clock.advance(59)
    assert await written(pair, counted)
    await pair.understand(inquiry(), thread(), counted)
    assert not model.calls


async def test_summaries_and_critiques_have_a_standby_too(
    pair: FallbackReasoner, model: ScriptedReasoner, quoting: ScriptedReasoner
) -> None:
    model.enqueue("summarise", DOWN).enqueue("critique", DOWN)
    quoting.enqueue("summarise", "They talked.").enqueue("critique", "")
    assert await pair.summarise("", [turn("How long?", "30 days.")], meter()) == "They talked."
    assert await pair.critique(inquiry(), "30 days.", meter()) == ""


# --- the same with a real socket in between ---------------------------------------------------------------------------


@pytest.fixture
async def endpoint() -> AsyncIterator[ScriptedEndpoint]:
    async with ScriptedEndpoint() as running:
        yield running


async def test_a_hang_in_the_middle_leaves_time_for_the_standby(endpoint: ScriptedEndpoint) -> None:
    endpoint.drips(every_seconds=0.01, begins="Thirty days [1]. Then")
    async with opened(endpoint, seconds=30) as reasoner:
        reserves = Reserves(understand=57, gather=57, write=57)
        quoting = ScriptedReasoner("extractive").enqueue("compose", "Quoted [1].")
        pair = FallbackReasoner(reasoner, quoting, clock=ManualClock(), reserves=reserves)
        parts = [part async for part in pair.compose(inquiry(), thread(), library(grade=8).items, meter(seconds=60))]
    assert parts[-2:] == [DraftRestarted(QUOTING), "Quoted [1]."]
    assert str(parts[0]).startswith("Thirty days [1]. Then")


async def test_the_standby_has_written_before_the_time_is_over(endpoint: ScriptedEndpoint) -> None:
    endpoint.hangs()
    async with opened(endpoint, seconds=30) as reasoner:
        reserves = Reserves(understand=29.9, gather=29.9, write=29.9)
        pair = FallbackReasoner(reasoner, ScriptedReasoner("extractive"), clock=ManualClock(), reserves=reserves)
        async with asyncio.timeout(30):  # as the loop that waits for it would
            assert await written(pair, meter(seconds=30))


async def test_five_failing_calls_open_the_breaker_and_the_endpoint_is_left_in_peace(
    endpoint: ScriptedEndpoint,
) -> None:
    endpoint.fails(401, times=50)
    async with opened(endpoint) as reasoner:
        pair = FallbackReasoner(reasoner, ScriptedReasoner("extractive"), clock=ManualClock())
        for _ in range(20):
            assert isinstance(await pair.understand(inquiry(), thread(), meter()), Investigate)
            assert not isinstance(await pair.decide(inquiry(), thread(), meter()), Insufficient)
    assert pair.state is BreakerState.OPEN
    assert len(endpoint.requests) == 5
