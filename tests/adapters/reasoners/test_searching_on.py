"""Tests with the reasoner that quotes: when it searches on after the first search, and what for."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.reasoners.extractive.decide.sufficiency import known_by_name
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.score.reading import Leaning
from core.model.answer import Outcome
from core.model.evidence import Evidence, EvidenceLibrary, Grade, Hit
from core.model.inquiry import Decision, Insufficient, Investigate, Search, SearchKnowledge, Sufficient
from tests.adapters.reasoners.harness import inquiry, library, meter, passage, thread, turn
from tests.fakes.memory.encoder import HashingEncoder

BORN = "When was the director of the film Free Guy born?"
DIRECTED = "Free Guy is a comedy film directed by Shawn Levy."


def found(text: str, title: str, grade: int = 7) -> EvidenceLibrary:
    library, added = EvidenceLibrary().add([Hit(passage(1, text, title), 0.8)], BORN)
    return library.with_grades({item.id: Grade(grade) for item in added})


async def decided(question: str, library: EvidenceLibrary, *made: str) -> Decision:
    searches = tuple(Search(SearchKnowledge(query)) for query in made)
    more: dict[str, Any] = {"library": library, "plan": Investigate(question, (question,)), "searches": searches}
    return await ExtractiveReasoner(HashingEncoder()).decide(inquiry(question, **more), thread(), meter())


def queries(decision: Decision) -> list[str]:
    assert isinstance(decision, Insufficient)
    return [action.query for action in decision.actions if isinstance(action, SearchKnowledge)]


def titled(title: str) -> list[Evidence]:
    return list(EvidenceLibrary().add([Hit(passage(1, "…", title), 0.8)], "…")[0])


async def test_a_name_in_the_evidence_is_followed_when_the_answer_lies_behind_it() -> None:
    assert "Shawn Levy director born" in queries(await decided(BORN, found(DIRECTED, "Free Guy"), BORN))


async def test_a_name_in_a_manual_is_not_followed() -> None:
    assert isinstance(await decided(BORN, found(DIRECTED, "Recent releases"), BORN), Sufficient)


async def test_it_searches_on_once_and_never_for_the_same_again() -> None:
    decision = await decided(BORN, found(DIRECTED, "Free Guy"), BORN, "Shawn Levy born")
    assert isinstance(decision, Sufficient)


async def test_where_nothing_was_good_the_names_of_what_came_near_are_followed() -> None:
    assert any("Shawn Levy" in query for query in queries(await decided(BORN, found(DIRECTED, "Free Guy", 2), BORN)))


async def test_does_not_search_again_in_fewer_words_without_a_good_hit_or_a_name() -> None:
    assert queries(await decided("How long is the canteen open?", found("Soup.", "Menu", 1))) == []


async def test_what_another_document_says_behind_is_not_looked_for() -> None:
    question = "How quickly is a complaint answered?"
    behind = [Hit(passage(2, "Gift vouchers are valid for a year.", "Vouchers"), 0.1)]
    old = passage(1, "We answer a complaint within 20 days.", "Terms of 2024")
    first, added = EvidenceLibrary().add([Hit(old, 0.8)], question, behind)
    decision = await decided(question, first.with_grades({item.id: Grade(8) for item in added}), question)
    assert isinstance(decision, Sufficient)


@pytest.mark.parametrize(
    ("question", "title", "known"),
    [
        ("Who is the spouse of the director of Jump for Glory?", "Jump for Glory", True),
        ("Where was the director of film The Singer Of My City born?", "The Singer of My City", True),
        ("When was Susanne Porsche's husband born?", "Susanne Porsche (producer)", True),
        ("What is the population of Jacksonville?", "Jacksonville, Florida", True),
        ("How do I get started with embeddings?", "Get started", False),
        ("Messages are kept for how long?", "Messages", False),
        ("Is a US visa needed?", "US", False),
    ],
)
def test_a_question_names_a_document_by_its_title_written_as_a_name(question: str, title: str, known: bool) -> None:
    assert known_by_name(question, titled(title)) is known


@pytest.mark.parametrize(
    ("said", "leans"),
    [
        ("and under the old terms?", ("Refunds",)),
        ("no, I meant annual plans", ()),
        ("Who approves travel to Leeds?", ()),
        ("which form", ("Refunds",)),
        ("and where do people see the ones on hold", ("Refunds",)),
    ],
    ids=["goes on", "puts right", "a new topic", "says little of its own", "begins with and"],
)
async def test_what_goes_on_leans_on_what_was_quoted_last_and_what_puts_right_does_not(
    said: str, leans: tuple[str, ...]
) -> None:
    earlier = thread(turn("How long are refunds open for monthly plans?", "30 days [1]", 1))
    plan = await ExtractiveReasoner(HashingEncoder()).understand(inquiry(said), earlier, meter())
    assert isinstance(plan, Investigate)
    assert plan.leans_on == leans


async def test_a_follow_up_leans_on_the_last_answer_where_the_question_since_had_none() -> None:
    asked = turn("How long are refunds open for monthly plans?", "30 days [1]", 1)
    refused = replace(turn("and with a voucher?", "The documents don't say."), outcome=Outcome.ABSTAINED)
    plan = await ExtractiveReasoner(HashingEncoder()).understand(
        inquiry("who signs it?"), thread(asked, refused), meter()
    )
    assert isinstance(plan, Investigate)
    assert plan.leans_on == ("Refunds",)


async def test_what_was_quoted_last_comes_before_what_is_as_likely_elsewhere() -> None:
    evidence = tuple(library("The fee is 5 euros.", "The fee is 5 euros."))
    reasoner = ExtractiveReasoner(HashingEncoder())
    plain = await reasoner.weigher.weigh("What is the fee?", evidence, evidence)
    first, second = await reasoner.weigher.weigh("What is the fee?", evidence, evidence, Leaning(titles=("Timeouts",)))
    assert first.units[0].odds < plain[0].units[0].odds
    assert second.units[0].odds > plain[1].units[0].odds
