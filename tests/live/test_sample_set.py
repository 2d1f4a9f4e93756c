"""The sample set, measured through the real index and the real agent, must not get worse."""

import asyncio
import json
from pathlib import Path

import pytest

from bot.demo import SAMPLES
from bot.evaluation.temp_index import open_temporary
from research.evaluation.baseline import worse_than
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import read
from research.evaluation.report_page import page
from research.evaluation.runner import measure
from tests.live.conftest import settings_for
from tests.sample_home import sample_vectors

pytestmark = pytest.mark.live


async def test_nothing_measured_on_the_sample_set_fell_below_its_baseline(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> None:
    folder = SAMPLES / "eval"
    samples = read(folder, None)
    vectors = await asyncio.to_thread(sample_vectors, tmp_path_factory, worker_id)
    async with open_temporary(settings_for(tmp_path)) as footnote:
        await fill(footnote, samples, vectors)
        measured = await measure(footnote, samples, ("bm25", "dense", "hybrid", "agent"))
    assert not worse_than(folder / "baseline.json", [measured])
    shown = page([measured])
    assert "Wrong refusals and wrong answers" in shown


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
