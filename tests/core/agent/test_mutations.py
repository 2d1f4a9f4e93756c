"""Answers with one planted falsehood each, and a checker that calls everything supported: next to none passes."""

import random

from tests.measure.mutations import Planted, measure, passes, planted

LEXICAL = {"number", "unit", "negation", "name", "swapped entity"}


async def test_a_planted_falsehood_is_struck_or_marked() -> None:
    total, passed, let_through = await measure(165)
    assert len(total) == 11
    lexical = sum(passed[kind] for kind in LEXICAL)
    assert lexical <= 0.02 * sum(total[kind] for kind in LEXICAL), let_through
    assert passed.total() == lexical, "no form is exempt"


async def test_a_true_sentence_stays() -> None:
    true = [one for one in planted(random.Random(11)) if one.kind == "heading"][:60]
    shown = [await passes(Planted("true", one.passage, one.true, f"{one.true.rstrip('.')} [1]")) for one in true]
    assert sum(shown) >= 0.95 * len(shown)
