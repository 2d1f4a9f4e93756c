"""What ``python -m research.evaluation`` refuses before it opens anything."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bot.demo import SAMPLES
from core.model.errors import ConfigurationError
from research.evaluation.__main__ import app

SET = str(SAMPLES / "eval")


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    return " ".join(result.output.replace("│", " ").split())


def test_a_leg_that_does_not_exist_is_named_with_those_that_do() -> None:
    assert "There is no leg magic; there are bm25, dense" in refused(SET, "--legs", "bm25,magic")


def test_a_baseline_is_not_held_against_a_part_of_the_questions() -> None:
    assert "leave --limit out" in refused(SET, "--limit", "3", "--baseline", str(SAMPLES / "eval" / "baseline.json"))


def test_a_baseline_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "There is no file" in refused(SET, "--baseline", str(tmp_path / "none.json"))


def failure(*arguments: str) -> BaseException | None:
    return CliRunner().invoke(app, arguments).exception


@pytest.mark.parametrize(
    ("text", "why"), [("{", "is no baseline"), ("[1]", "is no baseline"), ('{"other": {}}', "of other")]
)
def test_a_baseline_that_cannot_be_held_against_is_told_before_anything_is_measured(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "kept.json").write_text(text)
    told = failure(SET, "--baseline", str(tmp_path / "kept.json"))
    assert isinstance(told, ConfigurationError)
    assert why in str(told)


@pytest.mark.parametrize("option", ["--report", "--save-baseline"])
def test_a_page_that_cannot_be_written_is_told_before_anything_is_measured(tmp_path: Path, option: str) -> None:
    (tmp_path / "file").touch()
    assert isinstance(failure(SET, option, str(tmp_path / "file" / "page")), OSError)


@pytest.mark.parametrize("again", [SET, f"{SET}/"])
def test_two_folders_of_one_name_are_refused(again: str) -> None:
    assert "same name" in refused(SET, again)


def test_questions_with_expected_facts_are_not_measured_without_the_agent() -> None:
    questions = Path(__file__).parents[3] / "research" / "questions" / "tune"
    assert "The questions of tune are for the agent: add --agent" in refused(str(questions))
