"""Sentences are read together with the question: what is counted brings them up, what is read decides as well."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import WeighedPassage
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.score.reading import AnswerReader, Leaning, text_of
from adapters.reasoners.extractive.score.weighing import BUSY
from adapters.reasoners.extractive.understand.thread import leaning_of
from core.model.errors import ModelFailure, ModelUnavailable
from core.model.inquiry import Investigate
from core.ports.index import Vectors
from tests.adapters.reasoners.harness import inquiry, library, meter
from tests.fakes.memory.encoder import HashingEncoder

DOUBTED = weights.READ * 4  # less than what is read of -6 in place of 6 takes off
NEVER = -30.0  # odds that no words of the question outweigh
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
    return await ExtractiveReasoner(HashingEncoder(), reader).weigher.weigh(question, items, items)


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


@dataclass
class Late(Reader):
    """A reader on a machine that is busy, whose time runs out here or in the model's thread."""

    timeout: bool = False

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Raises ModelUnavailable, or never returns."""
        if self.timeout:
            raise ModelUnavailable("took longer", kind=ModelFailure.TIMEOUT)
        await asyncio.Event().wait()
        return []


@pytest.mark.parametrize("timeout", [True, False])
async def test_an_answer_without_the_reader_in_time_says_so(*, timeout: bool) -> None:
    items = library(STUDIO).items_found()
    reasoner, asked = ExtractiveReasoner(HashingEncoder(), Late(timeout=timeout)), inquiry("Who has room for nine?")
    await reasoner.grade(asked, items, counted := meter(seconds=0.4))
    assert counted.notices == [BUSY]


async def test_an_answer_without_vectors_in_time_says_so() -> None:
    class Hangs(HashingEncoder):
        async def encode_passages(self, texts: Sequence[str]) -> Vectors:
            await asyncio.Event().wait()
            return await super().encode_passages(texts)

    items = library(STUDIO).items_found()
    await ExtractiveReasoner(Hangs()).grade(inquiry("Who has room for nine?"), items, counted := meter(seconds=0.4))
    assert counted.notices == [BUSY]


@pytest.mark.parametrize(("odds", "read"), [(6.0, weights.UNITS_READ_FIRST), (-2.0, weights.UNITS_READ)])
async def test_the_most_likely_are_read_and_more_only_where_none_of_them_is_clear(odds: float, read: int) -> None:
    texts = [f"| Plan | Room |\n|---|---|\n| {number} | room for nine |" for number in range(30)]
    reader = Reader({"": odds})
    units = [one for found in await weighed(reader, "Which plan has room for nine?", *texts) for one in found.units]
    assert len(reader.asked) == read < len(units)
    ranked = sorted(units, key=lambda one: -one.odds)
    assert {text_of(one) for one in ranked[:read]} == set(reader.asked)


async def test_reads_no_later_hit_that_is_less_likely_than_the_earlier_ones() -> None:
    likely = [f"Plan {number} has room for nine. Plan {number} seats nine at a table." for number in range(15)]
    *found, last = library(*likely, "The garden opens in May. The garden is watered twice.").items_found()
    later = replace(last, query="the garden")
    reader = Reader({"": 6.0})
    weigh = ExtractiveReasoner(HashingEncoder(), reader).weigher.weigh
    (garden,) = await weigh("Which plan has room?", [later], [*found, later])
    assert "garden" in garden.units[0].unit.text
    assert len(reader.asked) == weights.UNITS_READ_FIRST
    assert not any("garden" in text for text in reader.asked)


GERMAN = "Wie viele Leute passen in den Plan Studio?"


async def test_a_question_in_the_documents_other_language_is_read_in_english_as_they_are() -> None:
    reader = Reader()
    await weighed(reader, GERMAN, "Der Plan Studio hat Platz für neun Leute. Hilfe gibt es mit der Post.")
    assert reader.questions == {"how many people fit in the plan Studio?"}
    assert "Refunds: The plan Studio has place for nine people." in reader.asked


async def test_reads_the_translated_question_if_the_documents_are_in_another_language() -> None:
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
    assert followed.units[0].odds > alone.units[0].odds - DOUBTED


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
        await reasoner.weigher.weigh(resolved, items, items),
        await reasoner.weigher.weigh(resolved, items, items, Leaning(typed)),
    )
    assert right.units[0].odds > wrong.units[0].odds + DOUBTED


async def test_the_reader_gets_the_typed_question_and_the_rewritten_one() -> None:
    plan = Investigate("How many washes does the power survive?", ("How many washes does the power survive?",))
    asked = inquiry("How many washes does it survive?", plan=plan)
    assert not leaning_of(asked).typed
    resolved = replace(asked, plan=replace(plan, resolved_from_thread=True))
    assert leaning_of(resolved).typed == "How many washes does it survive?"


async def test_what_is_doubted_and_read_as_the_answer_all_the_same_is_quoted_first() -> None:
    """The order is that of the odds: an empty cell for "—" in another column does not hide the row that is meant."""
    table = "| Work | Post | Shop |\n|---|---|---|\n| Flute, full repad | — | 190 |\n\nPrices are in pounds."
    (found,) = await weighed(Reader({"full repad": 9.0}), "full repad of a flute, post or shop?", table)
    best = max(found.units, key=lambda one: one.odds)
    assert "repad" in best.unit.text
    assert found.units[0] == best
