"""The search rows of the benchmark run on the real stores, at a size that says nothing about speed."""

from pathlib import Path

import pytest

from research.benchmark import corpus, measure, yardstick
from tests.live.conftest import settings_for

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]


async def test_every_row_has_a_figure_and_no_target_of_another_size_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "QUERIES", 20)
    monkeypatch.setattr(yardstick, "IMPORTS", 1)
    rows = [row async for row in measure(settings_for(tmp_path), 200, parts=("search",))]
    figures = {row.what: row.value for row in rows}
    assert len(figures) == 13
    assert all(any(letter.isdigit() for letter in value) for value in figures.values()), figures
    assert figures["of the ten nearest, the dense leg finds"] == "1.000"  # below 100,000 every vector is compared
    assert {row.met for row in rows if "in imports" not in row.what} == {None}  # a start is judged in its own units
    assert not list(tmp_path.iterdir())  # it works in a home of its own
