"""What computes over passages runs off the event loop: judged by the thread that calls it, not by a clock."""

import sys
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from types import CodeType, FrameType
from typing import Any

import pytest

from adapters.reasoners.extractive import candidates as scoring
from adapters.reasoners.extractive import claims, rules
from adapters.reasoners.extractive.compose import selection
from adapters.reasoners.extractive.decide import versions
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.score import answer_odds
from core.model.answer import Claim
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import Investigate
from tests.adapters.reasoners.harness import inquiry, meter, passage, text_of, thread
from tests.fakes.memory.encoder import HashingEncoder

COMPUTING: tuple[Callable[..., Any], ...] = (
    scoring.scored_by_words,
    answer_odds.most_promising,
    answer_odds.score_units,
    answer_odds.grade_of,
    rules.Subjects.names,
    rules.Groups.match,
    versions.without_old_alone,
    selection.rank_units,
    claims.judge_claim,
)
QUESTIONS = {
    "commas": "1," * 700,
    "a paste of words": "how long do refunds stay open after the purchase " * 16,
    "misspelt": "refnds opne dayz purchse " * 60,
    "plain": "How long do refunds stay open?",
}


@pytest.fixture
async def threads() -> AsyncIterator[dict[CodeType, set[int]]]:
    """By the code of each function of ours, the threads that called it."""
    called: dict[CodeType, set[int]] = defaultdict(set)

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called[frame.f_code].add(threading.get_ident())

    threading.setprofile(profile)  # of threads that are still to begin
    sys.setprofile(profile)
    yield called
    sys.setprofile(None)
    threading.setprofile(None)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
async def test_passages_are_weighed_and_claims_judged_off_the_event_loop(
    question: str, threads: dict[CodeType, set[int]]
) -> None:
    reasoner = ExtractiveReasoner(HashingEncoder())
    texts = [f"Refunds stay open for {n} days after the purchase of plan {n}, 1,{n} in all." * 5 for n in range(8)]
    hits = [Hit(passage(n, text, f"Plan {n}"), 0.8 - n / 100) for n, text in enumerate(texts, 1)]
    found, added = EvidenceLibrary().add(hits, question)
    found = found.with_grades({item.id: Grade(8) for item in added})
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)))
    await reasoner.grade(asked, tuple(found), meter())
    await reasoner.decide(asked, thread(), meter())
    await text_of(reasoner.compose(asked, thread(), tuple(found), meter()))
    await reasoner.check(asked, [Claim("Refunds stay open for nine weeks.", (1, 2))], tuple(found), meter())
    for function in COMPUTING:
        assert threads[function.__code__], f"{function.__qualname__} was not called"
        assert threading.get_ident() not in threads[function.__code__], function.__qualname__
