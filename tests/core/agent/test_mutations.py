"""Answers with one planted falsehood each, and a checker that calls everything supported: next to none passes."""

import random

from tests.measure.mutations import KINDS, Planted, measure, passes, planted, true_is_struck

LEXICAL = {"number", "unit", "negation", "name", "swapped entity", "another entity's value"}
READ = {"qualifier from the question"}  # words alone say nothing against it


async def test_a_planted_falsehood_is_struck_or_marked() -> None:
    total, passed, let_through = await measure(169)
    assert len(total) == KINDS
    lexical = sum(passed[kind] for kind in LEXICAL)
    assert lexical <= 0.02 * sum(total[kind] for kind in LEXICAL), let_through
    assert passed.total() - sum(passed[kind] for kind in READ) == lexical, "no form is exempt"


async def test_what_only_the_question_names_is_struck_once_the_checker_is_not_believed() -> None:
    total, passed, let_through = await measure(169, believed=False)
    assert passed.total() <= 0.01 * total.total(), let_through
    assert not sum(passed[kind] for kind in READ)


async def test_a_true_sentence_stays() -> None:
    true = [one for one in planted(random.Random(11)) if one.kind == "heading"][:60]
    shown = [await passes(Planted("true", one.passage, one.true, f"{one.true.rstrip('.')} [1]")) for one in true]
    assert sum(shown) >= 0.95 * len(shown)


async def test_a_true_sentence_in_other_words_mostly_stays_where_the_checker_is_not_believed() -> None:
    true = [one for one in planted(random.Random(11)) if one.kind == "heading"][:60]
    chance = random.Random(11)
    struck = [await true_is_struck(one, chance, believed=False) for one in true]
    assert sum(struck) <= 0.15 * len(struck)
