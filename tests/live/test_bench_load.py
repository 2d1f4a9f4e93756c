"""The load rows of the benchmark run on the real road, at a size that says nothing about speed."""

from pathlib import Path

import pytest

from research.benchmark import load
from research.benchmark.yardstick import Yardstick
from tests.live.conftest import settings_for

pytestmark = pytest.mark.live


async def test_every_row_has_a_figure_and_a_refused_question_is_no_answer(
    tmp_path: Path, few_samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "SAMPLES", few_samples)
    rows = await load.load_rows(
        settings_for(tmp_path),
        Yardstick(1.0, 1.0, 1.0),
        answers=4,
        seconds=0.01,
        threads=2,
        lanes=1,
        rounds=1,
        thinking=0.01,
        refused=1,
    )
    figures = {row.what: row.value for row in rows}
    assert len(figures) == 11
    assert all(any(letter.isdigit() for letter in value) for value in figures.values()), figures
    (failed,) = [row for row in rows if row.what == "questions that failed"]
    assert failed.value == "1 of 14"
    assert failed.met is False
