"""Answers with one planted error each, and a checker that supports everything."""

import random

from research.measure.mutations import KINDS, Planted, measure, passes, planted, true_is_struck

VALUES = {"number", "unit", "name"}  # other planted errors are in the documents, and left to the reader


async def test_a_value_that_the_documents_do_not_have_fails_though_a_believed_checker_nods() -> None:
    total, passed, let_through = await measure(169)
    assert len(total) == KINDS
    shown = sum(passed[kind] for kind in VALUES)
    assert shown <= 0.05 * sum(total[kind] for kind in VALUES), let_through


async def test_a_planted_falsehood_is_struck_where_the_checker_is_not_believed() -> None:
    total, passed, let_through = await measure(169, believed=False)
    assert passed.total() <= 0.01 * total.total(), let_through


async def test_a_true_sentence_stays() -> None:
    true = [one for one in planted(random.Random(11)) if one.kind == "heading"][:60]
    shown = [await passes(Planted("true", one.passage, one.true, f"{one.true.rstrip('.')} [1]")) for one in true]
    assert sum(shown) >= 0.95 * len(shown)


async def test_strikes_few_true_paraphrases_if_the_checker_is_not_trusted() -> None:
    true = [one for one in planted(random.Random(11)) if one.kind == "heading"][:60]
    chance = random.Random(11)
    struck = [await true_is_struck(one, chance, believed=False) for one in true]
    assert sum(struck) <= 0.15 * len(struck)
