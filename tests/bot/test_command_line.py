"""The terminal as people use it: examples that are right, failures that programs can read, unbroken lines."""

import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest
from rich.padding import Padding
from rich.table import Table
from typer.main import get_command
from typer.testing import CliRunner

from adapters.terminal.answer_view import AnswerMarkdown
from adapters.terminal.console import SafeConsole
from adapters.web.access.rules import fits
from bot.__main__ import app
from bot.cli.help import EXAMPLES, commands_of
from bot.cli.inspect import _forget

ROOT = Path(__file__).parents[2]


def test_every_command_has_an_example_and_nothing_else_has() -> None:
    assert set(EXAMPLES) == {name for name, _ in commands_of(app)}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_is_a_call_that_the_command_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    program, *words = shlex.split(EXAMPLES[name])
    assert program == "footnote"
    command, given = get_command(app), words
    for part in name.split():
        assert given[0] == part
        command, given = command.commands[part], given[1:]  # type: ignore[attr-defined]
    command.make_context(name, list(given))


def footnote(home: Path, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """The real process, without a terminal."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR"}}
    return subprocess.run(
        [sys.executable, "-m", "bot", *words],
        env=kept | {"FOOTNOTE_HOME": str(home), "PYTHONPATH": str(ROOT)} | env,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_a_misspelled_command_is_answered_in_whole_sentences(tmp_path: Path) -> None:
    assert footnote(tmp_path, "aks").stderr == "No such command 'aks'. Did you mean 'ask'? See: footnote --help\n"


def test_a_password_becomes_a_quoted_line_for_env() -> None:
    made = CliRunner().invoke(app, ["web", "--hash"], input="long enough\nlong enough\n")
    line = made.stdout.splitlines()[-1]
    assert re.fullmatch(r"WEB_PASSWORD_HASH='scrypt\$[^']+'", line)
    assert fits("long enough", line.split("'")[1])


def test_a_password_of_three_characters_is_refused() -> None:
    refused = CliRunner().invoke(app, ["web", "--hash"], input="abc\nabc\n")
    assert refused.exit_code == 2
    assert "at least 8 characters" in refused.output
    assert "scrypt" not in refused.output


def test_a_question_of_more_than_4000_characters_is_refused_without_repeating_it() -> None:
    refused = CliRunner().invoke(app, ["ask", "QUJD" * 1_001])
    assert refused.exit_code != 0
    assert "at most 4,000" in " ".join(refused.output.replace("│", "").split())
    assert "QUJD" not in refused.output


def test_help_ends_with_the_example(tmp_path: Path) -> None:
    shown = footnote(tmp_path, "ingest", "--help", COLUMNS="40", NO_COLOR="1").stdout
    assert shown.rstrip().endswith(f"Example:\n\n    {EXAMPLES['ingest']}")


HELP_OF_EVERY_COMMAND = """
from typer.main import get_command
from bot.__main__ import app
from bot.cli.help import commands_of
from bot.cli.help import use_narrow_help

use_narrow_help()
print(get_command(app).make_context("footnote", [], resilient_parsing=True).get_help())
for name, _ in commands_of(app):
    command = get_command(app)
    for part in name.split():
        command = command.commands[part]
    print(command.make_context(f"footnote {name}", [], resilient_parsing=True).get_help())
"""


def test_the_help_of_every_command_fits_a_narrow_terminal_and_shortens_nothing(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR"}}
    shown = subprocess.run(
        [sys.executable, "-c", HELP_OF_EVERY_COMMAND],
        env=kept | {"COLUMNS": "40", "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    examples = {f"    {example}" for example in EXAMPLES.values()}
    assert [line for line in shown.splitlines() if len(line) > 40 and line not in examples] == []
    assert re.findall(r"^.*\w\.\.\.$", shown, re.MULTILINE) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nonsense"], "No such command 'nonsense'. See: footnote --help"),
        (["ask", ""], "The question is empty. See: footnote ask --help"),
        (["serve"], "No platform is configured yet. Run footnote setup. Or run footnote web, which needs no platform."),
        (["forget"], "Use either --thread or --person. See: footnote forget --help"),
    ],
)
def test_a_message_is_broken_between_words_on_a_terminal_and_nowhere_behind_a_pipe(
    tmp_path: Path, words: list[str], said: str
) -> None:
    assert footnote(tmp_path, *words).stderr == f"{said}\n"
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR"}}
    terminal = pexpect.spawn(
        sys.executable,
        ["-m", "bot", *words],
        env=kept | {"FOOTNOTE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "LANG": "C", "NO_COLOR": "1"},
        cwd=str(tmp_path),
        encoding="utf-8",
        timeout=120,
        dimensions=(24, 40),
    )
    shown = str(terminal.read())
    terminal.close()
    lines = shown.rstrip().replace("\r", "").split("\n")
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()) == said


@pytest.mark.parametrize(
    ("words", "env", "code", "error", "remedy"),
    [
        (["doctor"], {"HTTP_PORT": "a"}, 1, "HTTP_PORT must be a whole number.", "describes every setting"),
        (["search", " "], {}, 2, "The search is empty.", "See: footnote search --help"),
        (["ingest", "nowhere"], {}, 2, "There is no file or folder nowhere.", "See: footnote ingest --help"),
        (["sources", "list", "--colour"], {}, 2, "No such option: --colour", "See: footnote sources list --help"),
    ],
)
def test_a_failure_is_a_document_for_who_asked_for_json(
    tmp_path: Path, words: list[str], env: dict[str, str], code: int, error: str, remedy: str
) -> None:
    ran = footnote(tmp_path, *words, "--json", **env)
    assert ran.returncode == code
    told = json.loads(ran.stdout)
    assert set(told) == {"error", "remedy"}
    assert told["error"].startswith(error)
    assert remedy in told["remedy"]
    assert ran.stderr == ""
    plain = footnote(tmp_path, *words, **env)
    assert (plain.returncode, plain.stdout) == (code, "")
    assert plain.stderr.startswith(error)


def test_a_shell_is_told_what_may_come_next(tmp_path: Path) -> None:
    asked = {"_FOOTNOTE_COMPLETE": "complete_bash", "COMP_WORDS": "footnote sou", "COMP_CWORD": "1"}
    assert footnote(tmp_path, **asked).stdout.split() == ["sources"]


def test_behind_a_pipe_no_line_is_broken_and_none_is_filled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    file = io.StringIO()
    console = SafeConsole(file=file)
    long = "word " * 100 + "end"
    table = Table("Name", "What", box=None)
    table.add_row("a", long)
    for shown in (long, AnswerMarkdown(f"# Title\n\n> {long} [1]\n\n---\n\n```\n{long}\n```"), Padding(long, 2), table):
        console.print(shown)
    lines = file.getvalue().splitlines()
    assert sum(long in line for line in lines) == 5
    assert "Title" in lines
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) < len(long) + 20


def test_columns_says_how_wide_a_pipe_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    file = io.StringIO()
    SafeConsole(file=file).print("word " * 100)
    assert max(map(len, file.getvalue().splitlines())) <= 40


@pytest.mark.live
async def test_forgetting_somebody_unknown_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("REDIS_URL", "MILVUS_URI", "LLM_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    assert await _forget(None, "slack:T1/U1") == 0
    assert "No question of slack:T1/U1 is stored." in capsys.readouterr().out
