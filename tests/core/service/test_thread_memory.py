"""The earlier turns of a long thread that are recalled."""

from datetime import UTC, datetime

from core.model.answer import Outcome
from core.model.conversation import Audience, Person, Turn
from core.model.knowledge import KnowledgeBase
from core.service.thread_memory import recall_turns
from tests.core.harness import Harness


def turn(question: str, answer: str, rewritten: str = "") -> Turn:
    asker = Person("slack:T1/U1")
    return Turn(question, answer, Outcome.ANSWERED, asker, datetime(2026, 1, 1, tzinfo=UTC), question, rewritten)


LEAVE = turn("How many days of leave do I have?", "You have thirty days of annual leave.")
CARRY = turn("And can I carry them over?", "Up to five days.", "Can I carry annual leave over to next year?")
PRINTER = turn("Where is the printer?", "The printer is on the second floor.")
PARKING = turn("Is there parking?", "Behind the building, twelve places.")
THREAD = (LEAVE, PRINTER, CARRY, PARKING)


def test_the_turns_about_the_same_thing_come_back_in_the_order_they_happened() -> None:
    assert recall_turns(THREAD, "What did you say about carrying annual leave over?", 2) == (LEAVE, CARRY)


def test_a_follow_up_is_found_by_what_it_meant() -> None:
    assert recall_turns(THREAD, "carry annual leave to next year", 1) == (CARRY,)


def test_nothing_comes_back_when_nothing_matches() -> None:
    assert recall_turns(THREAD, "Who wrote the incident review of March?", 3) == ()
    assert recall_turns(THREAD, "and why?", 3) == ()
    assert recall_turns((), "leave", 3) == ()
    assert recall_turns(THREAD, "leave", 0) == ()


def test_one_word_in_a_long_question_is_not_enough() -> None:
    question = "Which floor covering did the architects of the Hamburg warehouse order last winter?"
    assert recall_turns(THREAD, question, 3) == ()


def test_a_single_turn_can_be_recalled() -> None:
    assert recall_turns((PRINTER,), "where was that printer again?", 3) == (PRINTER,)


BOARD = Audience(frozenset({"test:channel:T/board"}))


async def test_turns_of_a_base_that_is_no_more_for_the_readers_do_not_go_to_the_summariser() -> None:
    harness = Harness()
    await harness.knows("Refunds are paid within 14 days.", base="board", grants=frozenset({"test:channel:T/board"}))
    for n in range(10):
        await harness.asks(f"question {n} about refunds", audience=BOARD)
    await harness.catalog.save_base(KnowledgeBase("board", "", frozenset({"nobody"})))
    await harness.question_service.reflect(harness.key(), BOARD)
    assert harness.script.calls_of("summarise") == []
    record = await harness.memory.recall(harness.key())
    assert (record.summarised, record.summary) == (2, "")


async def test_turns_that_may_be_read_are_summarised() -> None:
    harness = Harness()
    await harness.knows("Refunds are paid within 14 days.", base="board", grants=frozenset({"test:channel:T/board"}))
    for n in range(10):
        await harness.asks(f"question {n} about refunds", audience=BOARD)
    await harness.question_service.reflect(harness.key(), BOARD)
    assert "question 0" in (await harness.memory.recall(harness.key())).summary
