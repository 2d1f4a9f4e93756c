"""The sample set, measured through the real index and the real agent, must not get worse."""

import json
from pathlib import Path

import pytest

from bot.demo import SAMPLES
from bot.evaluation.running import fill, measure, opened, read
from bot.report import page
from core.evaluation.metrics import regressions
from tests.live.conftest import settings_for


@pytest.mark.live
async def test_nothing_measured_on_the_sample_set_fell_below_its_baseline(tmp_path: Path) -> None:
    folder = SAMPLES / "eval"
    baseline = json.loads((folder / "baseline.json").read_text(encoding="utf-8"))["eval"]
    samples = read(folder, None)
    async with opened(settings_for(tmp_path)) as footnote:
        await fill(footnote, samples)
        measured = await measure(footnote, samples, ("bm25", "dense", "hybrid", "agent"))
    assert not regressions(measured.figures(), baseline)
    shown = page([measured])
    assert "<svg" in shown
    assert "http://" not in shown.split("Worst cases")[0]
