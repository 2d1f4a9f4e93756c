"""Tests with the reasoner that quotes: what it makes of a message, of evidence, and of its own answer."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.answer import Claim, Outcome, Support
from core.model.conversation import Turn
from core.model.errors import Unavailable
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import AskBack, CheckpointKind, Investigate, Plan, Reply, Sufficient
from core.ports.index import Vectors
from core.ports.reasoner import DraftPart
from tests.adapters.reasoners.harness import ADA, NOW, inquiry, library, meter, passage, thread, turn
from tests.fakes.memory.encoder import HashingEncoder

KEPT = "Driver positions are kept for 90 days and are then deleted. Photos are kept for 18 months."


@pytest.fixture
def reasoner() -> ExtractiveReasoner:
    return ExtractiveReasoner(HashingEncoder())


async def understood(reasoner: ExtractiveReasoner, message: str, *turns: Turn) -> Plan:
    return await reasoner.understand(inquiry(message), thread(*turns), meter())


async def composed(reasoner: ExtractiveReasoner, question: str, found: EvidenceLibrary, **more: Any) -> str:
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)), **more)
    return "".join([part async for part in reasoner.compose(asked, thread(), tuple(found), meter())])


@pytest.mark.parametrize(
    "message",
    ["Hi!", "good morning", "thanks, that was quick", "what can you do?", "who are you", "how are you?", "👍"],
)
async def test_small_talk_is_answered_without_a_search(reasoner: ExtractiveReasoner, message: str) -> None:
    assert isinstance(await understood(reasoner, message), Reply)


async def test_padding_goes_and_the_question_stays(reasoner: ExtractiveReasoner) -> None:
    plan = await understood(reasoner, "Hi team, quick question, does anyone know how long refunds stay open? Thanks!")
    assert isinstance(plan, Investigate)
    assert plan.queries == ("How long refunds stay open?",)


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("WHEN ARE FLIGHTS ALLOWED INSTEAD OF TRAINS?", "When are flights allowed instead of trains?"),
        ("WHAT DOES INC-2025-014 SAY", "What does INC-2025-014 say"),
        ("Do you know who approves refunds? Would be great, thank you", "Who approves refunds?"),
        ("How long do refunds take? Kind regards", "How long do refunds take?"),
    ],
)
async def test_capitals_and_politeness_do_not_change_the_question(
    reasoner: ExtractiveReasoner, message: str, question: str
) -> None:
    plan = await understood(reasoner, message)
    assert isinstance(plan, Investigate)
    assert plan.question == question


async def test_two_unrelated_needs_are_two_searches(reasoner: ExtractiveReasoner) -> None:
    plan = await understood(reasoner, "How long is the job timeout and who approves refunds?")
    assert isinstance(plan, Investigate)
    assert plan.queries == ("How long is the job timeout?", "who approves refunds?")


async def test_a_second_part_that_speaks_of_the_first_is_asked_with_what_it_speaks_of(
    reasoner: ExtractiveReasoner,
) -> None:
    plan = await understood(reasoner, "What is the job timeout and how do I change it?")
    assert isinstance(plan, Investigate)
    assert plan.queries == ("What is the job timeout?", "how do I change the job timeout?")


@pytest.mark.parametrize(
    ("before", "message", "standing_alone"),
    [
        ("What does the Depot plan cost?", "and Fleet?", "What does the Fleet plan cost?"),
        ("What is the connection timeout?", "And the job timeout?", "What is the job timeout?"),
        (
            "How much may a hotel cost per night?",
            "what about in London?",
            "How much may a hotel cost per night in London?",
        ),
        ("Who leads Team Harbour?", "Which services do they own?", "Which services do Team Harbour own?"),
        ("What is the refund policy?", "When does it apply?", "When does the refund policy apply?"),
    ],
)
async def test_a_follow_up_is_made_to_stand_alone(
    reasoner: ExtractiveReasoner, before: str, message: str, standing_alone: str
) -> None:
    plan = await understood(reasoner, message, turn(before, "As quoted [1].", 1))
    assert isinstance(plan, Investigate)
    assert plan.question == standing_alone


@pytest.mark.parametrize(
    "message",
    [
        "How many days of annual leave do we get?",
        "Is it possible to change a locked plan?",
        "Which Android version does the driver app need?",
        "Wie lange dauert die Probezeit für neue Mitarbeiter?",
        "年次有給休暇は何日ありますか？",
    ],
)
async def test_a_new_topic_is_left_alone(reasoner: ExtractiveReasoner, message: str) -> None:
    plan = await understood(reasoner, message, turn("How long are driver positions kept?", "90 days [1].", 1))
    assert isinstance(plan, Investigate)
    assert plan.question == message


async def test_nothing_to_go_on_is_asked_back(reasoner: ExtractiveReasoner) -> None:
    assert isinstance(await understood(reasoner, "what about it?"), AskBack)


async def test_sources_are_wanted_first_when_they_are_asked_for(reasoner: ExtractiveReasoner) -> None:
    plan = await understood(reasoner, "Show me the sources on refunds")
    assert isinstance(plan, Investigate)
    assert plan.sources_first
    assert "refunds" in plan.queries[0]


async def test_shorter_please_quotes_the_last_answer_with_its_evidence(reasoner: ExtractiveReasoner) -> None:
    said = "From *Refunds*:\n\n> Refunds stay open for 30 days. [1]\n> Bank charges are ours. [1]\n> Ask Finance. [2]\n"
    plan = await understood(reasoner, "in short?", turn("How long are refunds open?", said, 7, 9))
    assert isinstance(plan, Reply)
    assert "Refunds stay open for 30 days. [7]" in plan.text
    assert "[1]" not in plan.text


async def test_it_remembers_what_was_asked(reasoner: ExtractiveReasoner) -> None:
    plan = await understood(reasoner, "What did I just ask?", turn("How long are refunds open?", "30 days [1].", 1))
    assert isinstance(plan, Reply)
    assert "How long are refunds open?" in plan.text


async def test_a_passage_that_answers_is_graded_above_one_that_does_not(reasoner: ExtractiveReasoner) -> None:
    found = library("Refunds stay open for 30 days after the purchase.", "The canteen serves soup on Fridays.")
    question = "How long do refunds stay open after the purchase?"
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)))
    good, bad = await reasoner.grade(asked, tuple(found), meter())
    assert good.score >= 5 > bad.score
    assert good.summary == "Refunds stay open for 30 days after the purchase."


class Away(HashingEncoder):
    """An encoder that does not respond."""

    async def encode_queries(self, texts: Sequence[str]) -> Vectors:
        raise Unavailable("The encoder is away.")


async def test_grading_goes_on_by_words_when_the_encoder_is_away() -> None:
    found = library("Refunds stay open for 30 days.", "The canteen serves soup.")
    question = "How long do refunds stay open?"
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)))
    good, bad = await ExtractiveReasoner(Away()).grade(asked, tuple(found), meter())
    assert good.score >= bad.score


async def test_several_timeouts_are_offered_as_readings(reasoner: ExtractiveReasoner) -> None:
    hits = [
        Hit(passage(1, "The connection timeout is 10 seconds.", "API reference", heading=("Connection timeout",)), 0.8),
        Hit(passage(2, "The job timeout is 15 minutes.", "API reference", heading=("Job timeout",)), 0.7),
    ]
    found, added = EvidenceLibrary().add(hits, "timeout")
    found = found.with_grades({item.id: Grade(7) for item in added})
    question = "How do I configure the timeout?"
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)))
    decision = await reasoner.decide(asked, thread(), meter())
    assert isinstance(decision, AskBack)
    assert decision.options == (
        "How do I configure the connection timeout (API reference)?",
        "How do I configure the job timeout (API reference)?",
    )


class Doubter:
    """A reader to whom nothing answers."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [-9.0] * len(texts)


@pytest.mark.parametrize(
    ("question", "settled", "counts"),
    [
        ("How do I configure the connection timeout (API reference)?", {CheckpointKind.CLARIFY}, [True, False]),
        ("How do I configure the connection timeout (API reference)?", set(), [False, False]),
        ("What does “API reference” say about “Job timeout”?", set(), [False, True]),
        ("Was steht in „API reference“ zu „Job timeout“?", set(), [False, True]),
        ("What does “Handbook” say about “Job timeout”?", set(), [False, False]),
    ],
)
async def test_a_section_that_was_offered_counts_whatever_is_read_of_it(
    question: str, settled: set[CheckpointKind], counts: list[bool]
) -> None:
    hits = [
        Hit(passage(1, "It cannot be changed.", "API reference", heading=("Connection timeout",)), 0.8),
        Hit(passage(2, "Up to 15 minutes.", "API reference", heading=("Job timeout",)), 0.7),
    ]
    found = EvidenceLibrary().add(hits, "timeout")[0]
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)), settled=frozenset(settled))
    grades = await ExtractiveReasoner(HashingEncoder(), Doubter()).grade(asked, tuple(found), meter())
    assert [grade.score >= asked.cutoff for grade in grades] == counts


async def test_what_one_passage_covers_is_enough(reasoner: ExtractiveReasoner) -> None:
    question = "How long do refunds stay open?"
    asked = inquiry(question, library=library(grade=8), plan=Investigate(question, (question,)))
    assert isinstance(await reasoner.decide(asked, thread(), meter()), Sufficient)


async def test_an_answer_is_the_documents_own_sentence(reasoner: ExtractiveReasoner) -> None:
    text = await composed(reasoner, "How long are driver positions kept?", library(KEPT, grade=8))
    assert "> Driver positions are kept for 90 days and are then deleted. [1]" in text
    assert text.startswith("From *Refunds*:")


async def test_a_table_row_comes_with_its_header(reasoner: ExtractiveReasoner) -> None:
    table = "| Plan | Requests |\n|---|---|\n| Starter | 60 |\n| Fleet | 600 |"
    text = await composed(reasoner, "How many requests may Fleet send?", library(table, grade=8))
    assert "| Plan | Requests |\n|---|---|\n| Fleet | 600 [1] |" in text


async def test_numbered_steps_stay_together(reasoner: ExtractiveReasoner) -> None:
    steps = "1. Open the console.\n2. Choose the standby region.\n3. Press Move and confirm."
    text = await composed(reasoner, "How do I choose the standby region?", library(steps, grade=8))
    assert text.count("[1]") == 3


async def test_of_two_versions_the_newer_is_quoted_and_the_other_named(reasoner: ExtractiveReasoner) -> None:
    hits = [
        Hit(replace(passage(1, "Refunds arrive within five days.", "Refund policy (2026)"), dated="2026-02-01"), 0.8),
        Hit(replace(passage(2, "Refunds arrive within ten days.", "Refund policy (2024)"), dated="2024-03-01"), 0.8),
    ]
    found, added = EvidenceLibrary().add(hits, "refunds")
    text = await composed(reasoner, "When do refunds arrive?", found.with_grades({item.id: Grade(8) for item in added}))
    assert "five days. [1]" in text
    assert "ten days" not in text
    assert "*Refund policy (2024)* (2024-03-01)" in text


async def test_weak_evidence_is_called_weak(reasoner: ExtractiveReasoner) -> None:
    text = await composed(reasoner, "How long are driver positions kept?", library(KEPT, grade=4), caveats=True)
    assert text.startswith("This may not answer your question.")


@pytest.mark.parametrize(
    ("claim", "support"),
    [
        ("Driver positions are kept for **90 days** and are then deleted.", Support.SUPPORTED),
        ("Driver positions are kept for 60 days and are then deleted.", Support.CONTRADICTED),
        ("Driver positions are not kept for 90 days and then deleted.", Support.CONTRADICTED),
        ("The canteen serves soup on Fridays.", Support.UNSUPPORTED),
    ],
)
async def test_claims_are_held_against_the_words_of_their_evidence(
    reasoner: ExtractiveReasoner, claim: str, support: Support
) -> None:
    (verdict,) = await reasoner.check(inquiry(library=library(KEPT)), [Claim(claim, (1,))], (), meter())
    assert verdict.support is support


async def test_a_summary_keeps_questions_and_stays_short(reasoner: ExtractiveReasoner) -> None:
    turns = [turn(f"Question number {n}?", f"> Answer number {n} is here. [1]", 1) for n in range(60)]
    summary = await reasoner.summarise("", turns, meter())
    assert len(summary) <= 1_200
    assert "Question number 59? → Answer number 59 is here." in summary


async def test_a_turn_without_an_answer_is_summed_up_as_such(reasoner: ExtractiveReasoner) -> None:
    lost = replace(turn("Is there a pension?", "", 1), outcome=Outcome.ABSTAINED, asker=ADA, at=NOW)
    assert "not in the documents" in await reasoner.summarise("", [lost], meter())


async def test_the_same_question_gets_the_same_answer(reasoner: ExtractiveReasoner) -> None:
    found = library(KEPT, "Positions of drivers are seen by dispatchers only.", grade=8)
    first = await composed(reasoner, "How long are driver positions kept?", found)
    assert first == await composed(reasoner, "How long are driver positions kept?", found)
    assert np.isfinite(len(first))


async def test_show_me_more_quotes_the_rest_and_nothing_twice(reasoner: ExtractiveReasoner) -> None:
    question = "How long are refunds open?"
    found = library("Refunds stay open for 30 days. Annual plans are refunded in part.", grade=8)
    plan = Investigate(question, (question,), "more of what was asked last", resolved_from_thread=True)
    asked = inquiry("show me more", library=found, plan=plan)
    turns = [turn(question, "From *Refunds*:\n\n> Refunds stay open for 30 days. [1]", 1)]
    first = await _joined(reasoner.compose(asked, thread(*turns), found.items, meter()))
    assert first == "From *Refunds*:\n\n> Annual plans are refunded in part. [1]\n\n"
    turns.append(replace(turn("show me more", first, 1), rewritten=question))
    again = await _joined(reasoner.compose(asked, thread(*turns), found.items, meter()))
    assert again.startswith("I found nothing more on this. Once more:")
    assert "Refunds stay open for 30 days. [1]" in again
    behind = replace(
        found, further=(Hit(passage(7, "Late.", "Delays"), 0.1), Hit(passage(8, "Not.", "Exceptions"), 0.1))
    )
    named = await _joined(reasoner.compose(replace(asked, library=behind), thread(*turns), found.items, meter()))
    assert "Next in the search, and not quoted, came *Delays*, *Exceptions*. Once more:" in named


async def _joined(parts: AsyncIterator[DraftPart]) -> str:
    return "".join([str(part) async for part in parts])
