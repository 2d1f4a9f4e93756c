"""The sample set, measured through the real index and the real agent, must not get worse; feedback is a set like it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bot.container import Footnote
from bot.demo import SAMPLES
from bot.evaluation.baseline import worse_than
from bot.evaluation.dataset_loader import read
from bot.evaluation.feedback import export_feedback
from bot.evaluation.report_page import page
from bot.evaluation.runner import measure
from bot.evaluation.temp_index import fill, open_temporary
from core.model.answer import Citation
from core.model.conversation import Person
from core.ports.feedback import Feedback
from tests.live.conftest import settings_for

pytestmark = pytest.mark.live


async def test_nothing_measured_on_the_sample_set_fell_below_its_baseline(tmp_path: Path) -> None:
    folder = SAMPLES / "eval"
    samples = read(folder, None)
    async with open_temporary(settings_for(tmp_path)) as footnote:
        await fill(footnote, samples, tmp_path / "vectors")
        measured = await measure(footnote, samples, ("bm25", "dense", "hybrid", "agent"))
    assert not worse_than(folder / "baseline.json", [measured])
    shown = page([measured])
    assert "Wrong refusals and wrong answers" in shown


@pytest.mark.asyncio(loop_scope="session")
async def test_answers_that_people_found_helpful_are_measured_as_any_set(footnote: Footnote, tmp_path: Path) -> None:
    pages = ("handbook/leave.md", "handbook/expenses.md")
    citations = tuple(Citation(n, n, "", "samples", name, name, "", "", 0.9) for n, name in enumerate(pages, 1))
    person = Person("slack:T1/U1")
    for trace, question in (("t1", "How many days of leave do I get?"), ("t2", "What may a hotel cost per night?")):
        word = Feedback(trace, person, helpful=True, question=question, citations=citations)
        await footnote.feedback.keep(word)
    (await export_feedback(footnote.feedback, footnote.catalog, footnote.index, footnote.memory)).write(
        tmp_path / "rated"
    )
    rated = read(tmp_path / "rated", None)
    few = replace(rated, documents=tuple(d for d in rated.documents if d.id.startswith("samples:handbook/")))
    await fill(footnote, few)
    measured = await measure(footnote, few, ("bm25", "dense", "hybrid"))
    assert measured.questions == 2
    assert measured.several
    assert measured.legs["hybrid"]["metrics"]["Recall@5"]["mean"] > 0.4


async def test_questions_with_expected_facts_are_asked_in_their_threads_and_judged(tmp_path: Path) -> None:
    folder = tmp_path / "few"
    (folder / "documents").mkdir(parents=True)
    (folder / "documents" / "leave.md").write_text("# Leave\n\nOffice staff have 26 days of annual leave.\n")
    (folder / "documents.json").write_text('{"leave.md": "handbook"}')
    rows: list[dict[str, object]] = [
        {"id": "a", "text": "How many days of annual leave?", "kind": "quantity", "facts": [["26 days"]]},
        {"id": "b", "text": "What colour is the moon base?", "kind": "unanswerable", "unanswerable": True},
        {"id": "c", "text": "and for office staff?", "kind": "follow_up", "facts": [["27 days"]], "follows": "a"},
    ]
    lines = (json.dumps({"documents": ["leave.md"], **row}) + "\n" for row in rows)
    (folder / "questions.jsonl").write_text("".join(lines))
    few = read(folder, None)
    async with open_temporary(settings_for(tmp_path)) as footnote:
        await fill(footnote, few)
        measured = await measure(footnote, few, ("agent",))
    assert measured.verdicts is not None
    found = {one["id"]: one for one in measured.verdicts["each"]}
    assert found["a"]["verdict"] == "right"
    assert found["a"]["cites_gold"]
    assert found["b"]["verdict"] == "right"
    assert found["c"]["verdict"] in ("wrong", "refused")
    assert found["c"]["after"] == ["How many days of annual leave?"]
    assert measured.figures()["verdicts right"].questions == 3
