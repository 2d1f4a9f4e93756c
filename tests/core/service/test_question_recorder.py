"""What is stored about a finished question, and what is not."""

from datetime import UTC, datetime

from core.model.answer import Outcome
from core.model.conversation import Audience
from core.model.inquiry import Insufficient, Reply
from core.ports.usage import LoggedQuestion
from tests.core.harness import ALICE, Harness

REFUNDS = "Refunds are paid within 14 days."
PUBLIC = Audience(public=True)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


async def logged(harness: Harness) -> list[LoggedQuestion]:
    return [question async for question in harness.questions.since(LONG_AGO)]


async def test_an_answer_is_logged_with_what_it_cites_and_whose_it_is() -> None:
    harness = Harness()
    await harness.knows(REFUNDS, title="Refunds")
    answered = await harness.asks("When are refunds paid?", audience=PUBLIC)
    (question,) = await logged(harness)
    assert (question.trace_id, question.outcome) == (answered.trace_id, Outcome.ANSWERED)
    assert (question.asker, question.thread) == (ALICE.id, str(harness.key()))
    assert question.question == "When are refunds paid?"
    assert [document.title for document in question.cited] == ["Refunds"]
    assert question.vector is not None
    assert len(question.vector.decode()) == harness.encoder.dimension


async def test_words_of_a_place_that_not_everybody_may_read_are_not_kept() -> None:
    harness = Harness()
    await harness.knows(REFUNDS)
    await harness.asks("When are refunds paid?", audience=Audience(frozenset({"test:channel:T/C"})))
    (question,) = await logged(harness)
    assert question.private
    assert question.question == ""
    assert question.vector is not None


async def test_an_abstention_is_logged_with_the_documents_that_came_nearest() -> None:
    harness = Harness()
    await harness.knows(REFUNDS, title="Refunds")
    harness.script.always("grade", 1)
    harness.script.always("decide", Insufficient("parking"))
    await harness.asks("Where may I park when refunds are late?", audience=PUBLIC)
    (question,) = await logged(harness)
    assert question.outcome is Outcome.ABSTAINED
    assert question.cited == ()
    assert [document.title for document in question.nearest] == ["Refunds"]


async def test_documents_that_came_behind_one_long_page_are_near_as_well() -> None:
    harness = Harness()
    await harness.knows(*(f"Refunds of kind {n} are paid." for n in range(8)), title="Refunds")
    for title in ("Leave", "Travel"):
        await harness.knows(f"{title} costs are refunded late.", title=title)
    harness.script.always("grade", 1)
    harness.script.always("decide", Insufficient("parking"))
    await harness.asks("Refunds of which kind are paid?", audience=PUBLIC)
    (question,) = await logged(harness)
    assert question.nearest[0].title == "Refunds"
    assert {document.title for document in question.nearest} == {"Refunds", "Leave", "Travel"}


async def test_a_question_that_was_parked_is_logged_once_with_its_last_outcome() -> None:
    harness = Harness()
    await harness.knows(REFUNDS, title="Refunds")
    harness.script.always("grade", 3)
    harness.script.always("decide", Insufficient("parking"))
    parked = await harness.asks("Where may I park when refunds are late?", audience=PUBLIC)
    assert [question.outcome for question in await logged(harness)] == [Outcome.PARKED]
    ended = await harness.presses(parked.checkpoint, "stop")
    assert [(question.trace_id, question.outcome) for question in await logged(harness)] == [
        (parked.trace_id, ended.outcome)
    ]
    assert ended.outcome is not Outcome.PARKED


async def test_small_talk_has_no_meaning_to_be_grouped_by() -> None:
    harness = Harness()
    harness.script.enqueue("understand", Reply("You are welcome."))
    await harness.asks("Thank you!", audience=PUBLIC)
    (question,) = await logged(harness)
    assert question.vector is None


async def test_logs_a_conflict_if_two_cited_documents_disagree() -> None:
    harness = Harness()
    await harness.knows(REFUNDS, title="Refunds")
    await harness.knows("Refunds are paid within 30 days.", title="Payments")
    await harness.knows("Refunds are approved by the finance lead.", title="Approvals")
    await harness.asks("When are refunds paid?", audience=PUBLIC)
    (question,) = await logged(harness)
    assert len(question.cited) == 3
    assert [{one.title, two.title} for one, two in question.conflicts] == [{"Refunds", "Payments"}]
