"""Sentences are read together with the question: what is counted brings them up, what is read decides as well."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.leaning import Leaning
from adapters.reasoners.extractive.evidence.reading import AnswerReader, text_of
from adapters.reasoners.extractive.evidence.scoring import WeighedPassage
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner, leaning_of
from adapters.testing.encoder import HashingEncoder
from core.model.conversation import Exchange
from core.model.errors import ModelUnavailable
from core.model.inquiry import Investigate
from tests.adapters.reasoners.scene import inquiry, library

STUDIO = "The Studio plan has support by mail. The Studio plan has room for nine people."


@dataclass
class Reader:
    """Says what it was told to say of the texts with a word in them, and remembers what it was asked."""

    says: Mapping[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    questions: set[str] = field(default_factory=set)

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Even odds where nothing is said."""
        self.asked.extend(texts)
        self.questions.add(question)
        return [next((odds for word, odds in self.says.items() if word in text), 0.0) for text in texts]


class Away:
    """A reader whose model is not there."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Raises ModelUnavailable."""
        raise ModelUnavailable("The model is not on this machine.")


async def weighed(reader: AnswerReader | None, question: str, *texts: str) -> list[WeighedPassage]:
    items = library(*texts).items_found()
    return await ExtractiveReasoner(HashingEncoder(), reader).weigh(question, items, items)


def first(found: Sequence[WeighedPassage]) -> str:
    return found[0].units[0].unit.text


@pytest.mark.parametrize(("word", "quoted"), [("mail", "by mail"), ("nine", "nine people")])
async def test_the_sentence_that_is_read_as_the_answer_comes_first(word: str, quoted: str) -> None:
    found = await weighed(Reader({word: 6.0}), "What about the Studio plan?", STUDIO)
    assert quoted in first(found)


async def test_what_reads_like_no_answer_is_less_likely_one() -> None:
    question = "How many people does Studio have room for?"
    (counted,), (refused,) = await weighed(None, question, STUDIO), await weighed(Reader({"": -6.0}), question, STUDIO)
    assert max(one.odds for one in refused.units) < max(one.odds for one in counted.units)


async def test_without_its_model_what_is_counted_decides() -> None:
    question = "How many people does Studio have room for?"
    assert await weighed(Away(), question, STUDIO) == await weighed(None, question, STUDIO)


async def test_only_the_most_likely_are_read_and_the_rest_counts_like_the_worst_of_them() -> None:
    texts = [f"Plan {number} has room for nine. It has mail. It has a name." for number in range(30)]
    reader = Reader({"": -6.0})
    units = [one for found in await weighed(reader, "Which plan has room for nine?", *texts) for one in found.units]
    assert len(reader.asked) == weights.UNITS_READ < len(units)
    ranked = sorted(units, key=lambda one: -one.odds)
    assert {text_of(one) for one in ranked[: weights.UNITS_READ]} == set(reader.asked)


async def test_of_what_a_later_search_finds_nothing_is_read_that_is_less_likely_than_what_was_found_before() -> None:
    likely = [f"Plan {number} has room for nine. Plan {number} seats nine at a table." for number in range(15)]
    *found, last = library(*likely, "The garden opens in May. The garden is watered twice.").items_found()
    later = replace(last, query="the garden")
    reader = Reader()
    weigh = ExtractiveReasoner(HashingEncoder(), reader).weigh
    (garden,) = await weigh("Which plan has room?", [later], [*found, later])
    assert "garden" in garden.units[0].unit.text
    assert len(reader.asked) == weights.UNITS_READ
    assert not any("garden" in text for text in reader.asked)


GERMAN = "Wie viele Leute passen in den Plan Studio?"


async def test_a_question_in_the_documents_other_language_is_read_in_english_as_they_are() -> None:
    reader = Reader()
    await weighed(reader, GERMAN, "Der Plan Studio hat Platz für neun Leute. Hilfe gibt es mit der Post.")
    assert reader.questions == {"how many people fit in the plan Studio?"}
    assert "Refunds: The plan Studio has place for nine people." in reader.asked


async def test_a_question_in_another_language_than_the_documents_is_read_as_it_was_translated() -> None:
    reader = Reader()
    await weighed(reader, GERMAN, STUDIO)
    assert reader.questions == {"how many people fit in the plan Studio?"}


async def test_a_question_that_leads_from_one_document_to_the_next_is_not_read() -> None:
    """What stands on the way does not answer, and has to be found all the same."""
    reader = Reader()
    await weighed(reader, "Who leads the team of Refunds that owns it?", STUDIO)
    assert not reader.asked


async def test_a_follow_up_is_read_with_the_topic_that_it_was_given_and_without() -> None:
    """The topic may be meant or not: trains are booked in one way, whatever was spoken of before."""

    class Literal:
        async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            return [-6.0 if "annual plans" in question else 6.0 for _ in texts]

    trains = "Trains are booked in second class."
    (alone,) = await weighed(Literal(), "How are trains booked?", trains)
    (followed,) = await weighed(Literal(), "and how are trains booked (annual plans)?", trains)
    assert followed.units[0].odds > alone.units[0].odds - 3


async def test_a_follow_up_is_read_as_it_was_typed_too() -> None:
    """What was put in may be the wrong thing: the tag survives the washes, and not the power that was asked about."""

    class Literal:
        async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            return [6.0 if question == "How many washes does it survive?" else -6.0 for _ in texts]

    tag = "A tag survives about 200 washes."
    items = library(tag).items_found()
    reasoner = ExtractiveReasoner(HashingEncoder(), Literal())
    resolved, typed = "How many washes does the power survive?", "How many washes does it survive?"
    (wrong,), (right,) = (
        await reasoner.weigh(resolved, items, items),
        await reasoner.weigh(resolved, items, items, Leaning(typed)),
    )
    assert right.units[0].odds > wrong.units[0].odds + 3


async def test_what_a_person_typed_reaches_the_reader_with_the_question_that_was_made_of_it() -> None:
    plan = Investigate("How many washes does the power survive?", ("How many washes does the power survive?",))
    asked = inquiry("How many washes does it survive?", plan=plan)
    assert not leaning_of(asked).typed
    resolved = replace(asked, plan=replace(plan, resolved_from_thread=True))
    assert leaning_of(resolved).typed == "How many washes does it survive?"


class ReadsWhole:
    """Takes what stands there for the answer where it was told of the plan and asked for its price at once."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Sure of both together, and of neither alone."""
        return [6.0 if "Studio" in question and "charge" in question else -6.0 for _ in texts]


async def test_a_follow_up_is_read_behind_the_question_before_it() -> None:
    """ "What do they charge?" says nothing alone, and what was put in may be the wrong thing."""
    items = library("The Studio plan is run by Callum Vale and costs 45 euros.").items_found()
    reasoner = ExtractiveReasoner(HashingEncoder(), ReadsWhole())
    question, behind = "What does Callum Vale charge?", "Who runs the Studio plan? What does he charge?"
    (alone,) = await reasoner.weigh(question, items, items)
    (followed,) = await reasoner.weigh(question, items, items, Leaning(behind=behind))
    assert followed.units[0].odds > alone.units[0].odds + 3


@pytest.mark.parametrize(("alone", "counts"), [(12.0, False), (5.0, True)], ids=["better", "worse"])
async def test_what_answers_the_question_before_better_than_both_answers_but_that(alone: float, counts: bool) -> None:
    """It is half of an answer to the two of them anyway."""
    who, said = "Who runs the Studio plan?", "The Studio plan is run by Callum Vale."

    class Reads:
        async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            return [{who: alone, f"{who} What does he charge?": 6.0}.get(question, -6.0) for _ in texts]

    items = library(said).items_found()
    reasoner = ExtractiveReasoner(HashingEncoder(), Reads())
    leaning = Leaning(before=who, behind=f"{who} What does he charge?")
    question = "What does Callum Vale charge?"
    (new,) = await reasoner.weigh(question, items, items, leaning)
    (old,) = await reasoner.weigh(question, items, items, replace(leaning, answered=f"Of plans: {said}"))
    assert (old.units[0].odds > new.units[0].odds - 3) is counts


async def test_the_question_before_reaches_the_reader_with_what_was_typed() -> None:
    asked = "What does he charge?"
    plan = Investigate(asked, (asked,), follows=Exchange("Who runs the Studio plan?", "Callum Vale runs it."))
    leaning = leaning_of(inquiry(asked, plan=plan))
    assert leaning.behind == "Who runs the Studio plan? What does he charge?"
    assert leaning.answered == "Callum Vale runs it."


async def test_what_is_doubted_and_read_as_the_answer_all_the_same_is_quoted_first() -> None:
    """The order is that of the odds: an empty cell for "—" in another column does not hide the row that is meant."""
    table = "| Work | Post | Shop |\n|---|---|---|\n| Flute, full repad | — | 190 |\n\nPrices are in pounds."
    (found,) = await weighed(Reader({"full repad": 9.0}), "full repad of a flute, post or shop?", table)
    best = max(found.units, key=lambda one: one.odds)
    assert "repad" in best.unit.text
    assert found.units[0] == best
