"""What stays of a question when it has ended, and what does not."""

from datetime import UTC, datetime

from core.model.answer import Outcome
from core.model.conversation import Audience
from core.model.inquiry import Insufficient, Reply
from core.ports.question_log import LoggedQuestion
from tests.core.scene import ALICE, Scene

REFUNDS = "Refunds are paid within 14 days."
PUBLIC = Audience(public=True)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


async def logged(scene: Scene) -> list[LoggedQuestion]:
    return [question async for question in scene.questions.since(LONG_AGO)]


async def test_an_answer_is_logged_with_what_it_cites_and_whose_it_is() -> None:
    scene = Scene()
    await scene.knows(REFUNDS, title="Refunds")
    answered = await scene.asks("When are refunds paid?", audience=PUBLIC)
    (question,) = await logged(scene)
    assert (question.trace_id, question.outcome) == (answered.trace_id, Outcome.ANSWERED)
    assert (question.asker, question.thread) == (ALICE.id, str(scene.key()))
    assert question.question == "When are refunds paid?"
    assert [document.title for document in question.cited] == ["Refunds"]
    assert question.vector is not None
    assert len(question.vector.decode()) == scene.encoder.dimension


async def test_words_of_a_place_that_not_everybody_may_read_are_not_kept() -> None:
    scene = Scene()
    await scene.knows(REFUNDS)
    await scene.asks("When are refunds paid?", audience=Audience(frozenset({"test:channel:T/C"})))
    (question,) = await logged(scene)
    assert question.private
    assert question.question == ""
    assert question.vector is not None


async def test_an_abstention_is_logged_with_the_documents_that_came_nearest() -> None:
    scene = Scene()
    await scene.knows(REFUNDS, title="Refunds")
    scene.script.always("grade", 1)
    scene.script.always("decide", Insufficient("parking"))
    await scene.asks("Where may I park when refunds are late?", audience=PUBLIC)
    (question,) = await logged(scene)
    assert question.outcome is Outcome.ABSTAINED
    assert question.cited == ()
    assert [document.title for document in question.nearest] == ["Refunds"]


async def test_documents_that_came_behind_one_long_page_are_near_as_well() -> None:
    scene = Scene()
    await scene.knows(*(f"Refunds of kind {n} are paid." for n in range(8)), title="Refunds")
    for title in ("Leave", "Travel"):
        await scene.knows(f"{title} costs are refunded late.", title=title)
    scene.script.always("grade", 1)
    scene.script.always("decide", Insufficient("parking"))
    await scene.asks("Refunds of which kind are paid?", audience=PUBLIC)
    (question,) = await logged(scene)
    assert question.nearest[0].title == "Refunds"
    assert {document.title for document in question.nearest} == {"Refunds", "Leave", "Travel"}


async def test_a_question_that_was_parked_is_logged_once_with_its_last_outcome() -> None:
    scene = Scene()
    await scene.knows(REFUNDS, title="Refunds")
    scene.script.always("grade", 3)
    scene.script.always("decide", Insufficient("parking"))
    parked = await scene.asks("Where may I park when refunds are late?", audience=PUBLIC)
    assert [question.outcome for question in await logged(scene)] == [Outcome.PARKED]
    ended = await scene.presses(parked.checkpoint, "stop")
    assert [(question.trace_id, question.outcome) for question in await logged(scene)] == [
        (parked.trace_id, ended.outcome)
    ]
    assert ended.outcome is not Outcome.PARKED


async def test_small_talk_has_no_meaning_to_be_grouped_by() -> None:
    scene = Scene()
    scene.script.enqueue("understand", Reply("You are welcome."))
    await scene.asks("Thank you!", audience=PUBLIC)
    (question,) = await logged(scene)
    assert question.vector is None


async def test_two_documents_that_an_answer_cites_and_that_disagree_are_logged_as_a_conflict() -> None:
    scene = Scene()
    await scene.knows(REFUNDS, title="Refunds")
    await scene.knows("Refunds are paid within 30 days.", title="Payments")
    await scene.knows("Refunds are approved by the finance lead.", title="Approvals")
    await scene.asks("When are refunds paid?", audience=PUBLIC)
    (question,) = await logged(scene)
    assert len(question.cited) == 3
    assert [{one.title, two.title} for one, two in question.conflicts] == [{"Refunds", "Payments"}]
