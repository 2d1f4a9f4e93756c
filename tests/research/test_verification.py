"""The measurement of verification: how an answer is judged, and the whole of it on one small company."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core.model.answer import Answer, Outcome
from research.verification.asking import open_bench, read_companies
from research.verification.judging import Fate, has_absent_value, judge, tokens_of
from tests.fakes.model.pairs import Pair, Support

KNOWN = tokens_of("Everybody has 28 days of paid leave. 38 people work in Hull. The office costs 2,700 euros.")
REST = "What is left in March is lost [leave.md]."
PAIR = Pair(
    id="leave-1",
    company="acme",
    kind="number",
    language="en",
    question="How much paid leave do I have?",
    right=f"You have 28 days of paid leave [leave.md]. {REST}",
    right_claim="You have 28 days of paid leave [leave.md].",
    false=f"You have 38 days of paid leave [leave.md]. {REST}",
    false_claim="You have 38 days of paid leave [leave.md].",
    supports=(
        Support("You have 28 days of paid leave [leave.md].", "leave.md", "28 days of paid leave"),
        Support(REST, "leave.md", "lost at the end of March"),
    ),
)


def answered(text: str, *, by: str = "honest") -> Answer:
    return Answer(Outcome.ANSWERED, text, written_by=by)


@pytest.mark.parametrize(
    ("answer", "fate"),
    [
        (answered("You have 28 days of paid leave. [1]\nWhat is left in March is lost [2]."), Fate.AS_WRITTEN),
        (answered("What is left in March is lost [1]."), Fate.STRUCK),
        (answered("You have 30 days of paid leave [1]. What is left in March is lost [1]."), Fate.ALTERED),
        (answered("You have 28 days of paid leave [1].", by="quotes"), Fate.QUOTES),
        (answered("You have 28 days of paid leave (not from the documents)."), Fate.MARKED),
        (Answer(Outcome.ABSTAINED, "The documents don't say."), Fate.DECLINED),
        (None, Fate.FAILED),
    ],
)
def test_tells_what_became_of_a_right_answer(answer: Answer | None, fate: Fate) -> None:
    assert judge(PAIR, answer, "honest", false=False, known=KNOWN).fate is fate


@pytest.mark.parametrize(
    ("posted", "stands", "just"),
    [
        ("You have 38 days of paid leave [1]. What is left in March is lost [1].", True, False),
        ("**You have 38 days of paid leave** (not from the documents). What is left is lost [1].", True, False),
        ("So you have 38 days of paid leave [1].", True, False),
        ("You have 28 days of paid leave [1]. What is left in March is lost [1].", False, True),
        ("What is left in March is lost [1].", False, True),
        ("You have 28 days of paid leave [1].", False, False),
    ],
)
def test_tells_whether_the_falsehood_stands_and_only_it_was_lost(posted: str, stands: bool, just: bool) -> None:
    found = judge(PAIR, answered(posted), "honest", false=True, known=KNOWN)
    assert (found.stands, found.just) == (stands, just)


@pytest.mark.parametrize(
    ("claim", "absent"),
    [
        ("You have 38 days of paid leave [leave.md].", False),
        ("You have 47 days of paid leave [leave.md].", True),
        ("You have 28 weeks of paid leave [leave.md].", True),
        ("The office costs 2.700 euros [leave.md].", False),
        ("You have 28 days of paid leave from Kestrel [leave.md].", True),
    ],
)
def test_tells_a_value_that_no_document_has(claim: str, absent: bool) -> None:
    assert has_absent_value(replace(PAIR, false_claim=claim), KNOWN) is absent


@pytest.mark.live
async def test_asks_the_agent_over_documents_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    (folder / "documents").mkdir(parents=True)
    leave = "# Leave\n\nEverybody has 28 days of paid leave. What is not taken is lost at the end of March.\n"
    (folder / "documents" / "leave.md").write_text(leave)
    supports = [{"claim": one.claim, "file": one.file, "words": one.words} for one in PAIR.supports]
    fields = ("id", "kind", "language", "question", "right", "right_claim", "false", "false_claim")
    row = {name: getattr(PAIR, name) for name in fields} | {"supports": supports}
    (folder / "pairs.jsonl").write_text(json.dumps(row))
    companies = read_companies([tmp_path])
    async with open_bench(companies) as bench:
        [asked] = [one async for one in bench.ask(companies[0].pairs, "honest", false=True)]
    assert asked.conversation.drafts[-1].startswith("You have 38 days of paid leave [")
    assert "check" in asked.conversation.steps
    assert not asked.judgement.stands
