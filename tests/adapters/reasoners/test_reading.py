"""Sentences are read together with the question: what is counted brings them up, what is read decides as well."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.reading import ALONE, AnswerReader, Leaning, stretch_around, text_of
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from adapters.reasoners.extractive.evidence.thread import leaning_of
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.conversation import Exchange
from core.model.errors import ModelUnavailable
from core.model.inquiry import Investigate
from core.model.passage_units import units
from tests.adapters.reasoners.scene import inquiry, library, meter, thread
from tests.adapters.reasoners.scene import text_of as text_of_parts
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


@pytest.mark.parametrize(("odds", "read"), [(6.0, weights.UNITS_READ_FIRST), (-2.0, weights.UNITS_READ)])
async def test_the_most_likely_are_read_and_more_only_where_none_of_them_is_clear(odds: float, read: int) -> None:
    texts = [f"| Plan | Room |\n|---|---|\n| {number} | room for nine |" for number in range(30)]
    reader = Reader({"": odds})
    units = [one for found in await weighed(reader, "Which plan has room for nine?", *texts) for one in found.units]
    assert len(reader.asked) == read < len(units)
    ranked = sorted(units, key=lambda one: -one.odds)
    assert {text_of(one) for one in ranked[:read]} == set(reader.asked)


SETTING = "The engine that keeps the records. Default: sqlite. Others need a server.\n\n```\nset DB\n```"


async def test_what_answers_only_with_what_stands_around_it_is_read_with_that() -> None:
    question = "which engine keeps the records by default?"
    (alone,) = await weighed(Reader({"": NEVER}), question, SETTING)
    (together,) = await weighed(Reader({"records. Default": 5.0, "": NEVER}), question, SETTING)
    assert alone.units[0].odds < 0 < together.units[0].odds
    told = [unit.text for unit in together.units[0].stretch]
    assert told == ["The engine that keeps the records.", "Default: sqlite.", "Others need a server."]


async def test_no_more_is_read_where_something_answers_by_itself() -> None:
    reader = Reader({"Default": 6.0, "": -6.0})
    (found,) = await weighed(reader, "which engine keeps the records by default?", SETTING)
    assert len(reader.asked) == len(found.units)
    assert not any(one.stretch for one in found.units)


async def best_of(question: str, text: str, read: float, leaning: Leaning = ALONE) -> ScoredUnit:
    """The best unit, where only the first two sentences together are read as an answer."""
    items = library(text).items_found()
    reasoner = ExtractiveReasoner(HashingEncoder(), Reader({"records. Default": read, "": NEVER}))
    (found,) = await reasoner.weigh(question, items, items, leaning)
    return found.units[0]


async def test_what_is_cut_out_of_a_longer_passage_has_to_be_read_as_an_answer_more_clearly() -> None:
    question, whole = "which engine keeps the records by default?", SETTING.partition("\n\n")[0]
    assert (await best_of(question, whole, -4.2)).odds > 0
    assert (await best_of(question, SETTING, -4.2)).odds < 0
    assert (await best_of(question, SETTING, -2.5)).odds > 0


async def test_a_follow_up_or_a_question_in_another_language_is_answered_by_single_sentences() -> None:
    question = "which engine keeps the records by default?"
    assert (await best_of(question, SETTING, 9.0)).stretch
    assert not (await best_of(question, SETTING, 9.0, Leaning(typed="and by default?"))).stretch
    assert not (await best_of("welche engine keeps the records?", SETTING, 9.0)).stretch


async def test_a_figure_or_a_person_is_told_by_single_sentences() -> None:
    assert (await best_of("which engine keeps the records by default?", SETTING, 9.0)).stretch
    assert not (await best_of("who keeps the records by default?", SETTING, 9.0)).stretch


async def test_where_a_way_is_asked_for_what_was_read_together_has_to_tell_it() -> None:
    question = "how do i set the engine that keeps the records?"
    assert not (await best_of(question, SETTING, 9.0)).stretch
    assert (await best_of(question, SETTING.replace("Others need", "Set the engine; others need"), 9.0)).stretch


async def test_what_was_read_together_is_quoted_together() -> None:
    question = "which engine keeps the records by default?"
    reasoner = ExtractiveReasoner(HashingEncoder(), Reader({"records. Default": 9.0, "": NEVER}))
    found = library(SETTING, grade=8)
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)))
    text = await text_of_parts(reasoner.compose(asked, thread(), found.relevant(5), meter()))
    assert "keeps the records. [1] Default: sqlite. [1]" in text


def test_only_so_much_is_read_around_a_sentence_and_none_of_it_twice() -> None:
    said = " ".join(f"Sentence number {number} says one thing more about it." for number in range(20))
    (item,) = library(said).items_found()
    unit = units(said)[10]
    stretch = stretch_around(ScoredUnit(item, unit, 1.0, 1.0))
    assert stretch == units(said)[7:14]


async def test_of_what_a_later_search_finds_nothing_is_read_that_is_less_likely_than_what_was_found_before() -> None:
    likely = [f"Plan {number} has room for nine. Plan {number} seats nine at a table." for number in range(15)]
    *found, last = library(*likely, "The garden opens in May. The garden is watered twice.").items_found()
    later = replace(last, query="the garden")
    reader = Reader({"": 6.0})
    weigh = ExtractiveReasoner(HashingEncoder(), reader).weigh
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
        await reasoner.weigh(resolved, items, items),
        await reasoner.weigh(resolved, items, items, Leaning(typed)),
    )
    assert right.units[0].odds > wrong.units[0].odds + DOUBTED


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
    assert followed.units[0].odds > alone.units[0].odds + DOUBTED


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
    assert (old.units[0].odds > new.units[0].odds - DOUBTED / 2) is counts


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
