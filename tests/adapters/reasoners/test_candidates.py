"""Which units are compared by meaning: by their words, and by how near their passage is."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import ScoredUnit
from adapters.reasoners.extractive.score.answer_odds import most_promising
from core.model.evidence import Evidence
from core.model.passage_units import units
from tests.adapters.reasoners.harness import library

MANY = 20  # passages of one search


def found(query: str = "the lift", dense: float | None = 0.5) -> list[Evidence]:
    items = library(*(f"Lift {at} runs. Lift {at} stops. Lift {at} rests." for at in range(MANY))).items_found()
    return [replace(item, query=query, hit=replace(item.hit, dense=dense)) for item in items]


def by_words(items: Sequence[Evidence], promise: float = 0.5) -> list[list[ScoredUnit]]:
    return [[ScoredUnit(item, unit, promise, promise) for unit in units(item.passage.text)] for item in items]


def compared(chosen: Sequence[Sequence[ScoredUnit]]) -> list[int]:
    """How many units of each passage."""
    return [len(listed) for listed in chosen]


def nearer(items: Sequence[Evidence], at: int, dense: float | None) -> list[Evidence]:
    return [replace(item, hit=replace(item.hit, dense=dense)) if n == at else item for n, item in enumerate(items)]


def test_of_one_search_no_more_are_compared_than_the_weights_say() -> None:
    assert sum(compared(most_promising(found(), by_words(found())))) == weights.UNITS_COMPARED < 3 * MANY


def test_each_search_has_as_many_as_any_other() -> None:
    both = [*found("the lift"), *found("its owner")]
    chosen = compared(most_promising(both, by_words(both)))
    assert sum(chosen[:MANY]) == sum(chosen[MANY:]) == weights.UNITS_COMPARED


def test_what_has_more_of_the_questions_words_comes_before_what_stands_further_up() -> None:
    items = found()
    worded = [*by_words(items[:-1]), *by_words(items[-1:], promise=0.9)]
    assert compared(most_promising(items, worded))[-1] == 3


def test_of_equal_words_those_of_the_nearer_passage_are_compared() -> None:
    items = nearer(found(), MANY - 1, 0.9)
    assert compared(most_promising(items, by_words(items)))[-1] == 3


def test_a_passage_that_only_words_found_is_taken_for_as_far_as_the_farthest() -> None:
    items = nearer(nearer(found(), 0, 0.3), MANY - 1, None)
    worded = [*by_words(items[:-1]), *by_words(items[-1:], promise=0.8)]
    assert compared(most_promising(items, worded))[-1] == 3


def test_embeds_few_sentences_of_long_passages_and_more_of_the_top_hits() -> None:
    text = " ".join(f"The lift has {number} doors." for number in range(10))
    items = library(*[text] * 6).items_found()
    of_first = [*weights.UNITS_OF_FIRST, weights.UNITS_OF_PASSAGE, weights.UNITS_OF_PASSAGE]
    close = [replace(item, query="the lift" if at < 3 else "its doors") for at, item in enumerate(items)]
    assert compared(most_promising(items[:4], by_words(items[:4]))) == of_first[:4]
    assert compared(most_promising(close, by_words(close))) == of_first[:3] * 2
