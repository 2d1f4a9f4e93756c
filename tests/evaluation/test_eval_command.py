"""What ``footnote eval`` refuses before it opens anything."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from bot.commands import measuring
from bot.demo import SAMPLES

SET = str(SAMPLES / "eval")


def refused(*arguments: str) -> str:
    app = typer.Typer()
    measuring.register(app)
    result = CliRunner().invoke(app, ["eval", *arguments])
    assert result.exit_code == 2
    return " ".join(result.output.replace("│", " ").split())


def test_a_leg_that_does_not_exist_is_named_with_those_that_do() -> None:
    assert "There is no leg magic; there are bm25, dense" in refused(SET, "--legs", "bm25,magic")


def test_a_baseline_is_not_held_against_a_part_of_the_questions() -> None:
    assert "leave --limit out" in refused(SET, "--limit", "3", "--baseline", str(SAMPLES / "eval" / "baseline.json"))


def test_a_baseline_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "There is no file" in refused(SET, "--baseline", str(tmp_path / "none.json"))


@pytest.mark.parametrize("again", [SET, f"{SET}/"])
def test_two_folders_of_one_name_are_refused(again: str) -> None:
    assert "same name" in refused(SET, again)
