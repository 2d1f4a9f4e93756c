"""A question for the version of a change is compared with the lines of a changelog as one about the change."""

from collections.abc import Sequence

import pytest

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.changelog import change_asked
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.evidence import Evidence, EvidenceLibrary, Grade, Hit
from core.model.inquiry import Insufficient, Investigate, Search, SearchKnowledge
from core.model.passage_units import units
from tests.adapters.reasoners.scene import inquiry, meter, passage, thread
from tests.fakes.memory.encoder import HashingEncoder

LAMP = "which firmware introduced the amber lamp?"


def entries(*listed: tuple[str, str, str]) -> tuple[Evidence, ...]:
    """Evidence of title, heading and text."""
    hits = [Hit(passage(at, text, title, heading=(head,)), 0.8) for at, (title, head, text) in enumerate(listed, 1)]
    return EvidenceLibrary().add(hits, "asked")[1]


LAMPS = entries(
    ("Post: firmware", "F29, 10 February 2026", "+ Amber lamp for booked posts."),
    ("Arrivals", "At the gate", "An amber lamp: the guest is not here yet."),
)


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        (LAMP, "what about the amber lamp?"),
        ("since which version are there part refunds", "what about part refunds?"),
        ("in which release of Post did ghosts arrive?", "what about ghosts arrive?"),
        ("when was the PIN removed?", "what about the PIN removed?"),
    ],
)
def test_what_is_asked_of_the_change_alone_is_known(question: str, bare: str) -> None:
    change = change_asked(question, LAMPS)
    assert change is not None
    assert change.bare_question == bare


@pytest.mark.parametrize(
    "question",
    [
        "which version is the newest?",
        "what release are we on?",
        "when was the company founded?",
        "what does an amber lamp mean?",
    ],
)
def test_other_questions_ask_for_no_change(question: str) -> None:
    assert change_asked(question, LAMPS) is None


def test_where_no_changelog_was_found_the_question_stays() -> None:
    assert change_asked(LAMP, LAMPS[1:]) is None


class Literal:
    """Reads a question that asks for a version as answered by nothing, as no entry repeats the word."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [-6.0 if "firmware" in question else 6.0 for _ in texts]


async def test_only_an_entry_is_read_for_the_change_alone() -> None:
    entry, elsewhere = await ExtractiveReasoner(HashingEncoder(), Literal()).weigh(LAMP, LAMPS, LAMPS)
    assert entry.units[0].odds > elsewhere.units[0].odds + weights.READ * 6
    assert entry.asked.question == LAMP


def test_the_entry_of_another_product_counts_less_than_that_of_the_one_that_is_named() -> None:
    both = entries(
        ("Warden app: versions", "5.2", "New: waiting list on the start page."),
        ("Guyline: what has changed", "3.4, 8 September 2026", "New: waiting list."),
    )
    change = change_asked("which guyline version brought the waiting list", both)
    assert change is not None
    listed = [ScoredUnit(item, unit, 1.0, 1.0) for item in both for unit in units(item.passage.text)]
    app, server = change.doubt_others(listed)
    assert (app.doubt, server.doubt) == (weights.OTHER_NUMBER, 1.0)


async def test_what_speaks_of_versions_is_not_all_that_is_searched_for() -> None:
    question = "which guyline version brought the waiting list"
    library, added = EvidenceLibrary().add([Hit(passage(1, "Version 3 is current.", "Guyline API"), 0.8)], question)
    plan = Investigate(question, (question,))
    asked = inquiry(
        question,
        library=library.with_grades({item.id: Grade(1) for item in added}),
        plan=plan,
        searches=(Search(SearchKnowledge(question)),),
    )
    decision = await ExtractiveReasoner(HashingEncoder()).decide(asked, thread(), meter())
    assert isinstance(decision, Insufficient)
    assert decision.actions == (SearchKnowledge("the waiting list"),)
