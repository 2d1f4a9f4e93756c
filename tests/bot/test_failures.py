"""Unexpected errors are one line without secrets; expected errors say what to do."""

import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.terminal.output import print_json
from bot import __main__ as command_line
from bot.cli.failures import explain_failure
from bot.doctor import explain
from bot.health import application, listen
from bot.readiness import ReadinessReport
from core.model.errors import ConfigurationError, NotFound


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is configured."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_HOME", str(tmp_path / "home"))
    for name in ("LLM_MODEL", "LLM_API_KEY", "LOG_LEVEL", "REDIS_URL", "MILVUS_URI"):
        monkeypatch.delenv(name, raising=False)


def failed(error: Exception) -> Exception:
    """The error as it is when it was raised in our own code."""
    try:
        raise error
    except type(error) as raised:
        return raised


def test_what_nobody_foresaw_is_one_line_with_its_place() -> None:
    line = explain_failure(failed(KeyError("colour")))
    assert line.startswith("Footnote failed unexpectedly: KeyError: 'colour' (tests/bot/test_failures.py:")
    assert line.endswith("Run it again with LOG_LEVEL=debug to see the details.\n")
    assert line.count("\n") == 1


def test_a_file_that_cannot_be_read_is_named_without_the_number_of_the_error() -> None:
    assert (
        explain_failure(failed(PermissionError(13, "Permission denied", "/secret"))) == "Permission denied: /secret.\n"
    )
    assert explain_failure(failed(OSError(28, "No space left on device"))) == "No space left on device.\n"


def test_ours_is_found_in_a_group_and_says_its_own_line() -> None:
    group = ExceptionGroup("tasks", [ValueError("x"), ExceptionGroup("more", [NotFound("There is no such thing.")])])
    assert explain_failure(group) == "There is no such thing.\n"


def test_a_secret_in_an_unforeseen_failure_is_hidden_also_in_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLM_MODEL", "m")
    monkeypatch.setenv("LLM_API_KEY", "our-own-key-1234")
    monkeypatch.setenv("LOG_LEVEL", "DEBUG")
    told = explain_failure(failed(RuntimeError("refused: our-own-key-1234 and redis://bot:hunter22@host/0")))
    assert "Traceback" in told
    assert "our-own-key-1234" not in told
    assert "hunter22" not in told


def test_the_command_line_ends_with_that_line_and_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(**_: object) -> int:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(command_line, "app", broken)
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 1
    assert "ZeroDivisionError: division by zero (tests/bot/test_failures.py:" in capsys.readouterr().err


def test_replaces_characters_that_the_terminal_encoding_lacks() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "from bot.__main__ import _speak_as_the_terminal_can as s; s(); print('✓ é')"],
        env={**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONPATH": str(Path(command_line.__file__).parents[1])},
        capture_output=True,
        check=True,
    )
    assert shown.stdout.decode("latin-1").strip() == "? é"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, errors="replace"))
    print_json({"é": "✓ 🙂"})
    sys.stdout.flush()
    assert json.loads(written.getvalue().decode(encoding)) == {"é": "✓ 🙂"}


async def test_a_port_that_is_taken_is_said_and_nothing_stays_open() -> None:
    async def ready() -> ReadinessReport:
        return ReadinessReport()

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigurationError, match=r"cannot be used: address already in use\. Set HTTP_PORT"):
            await listen(application(ready), "127.0.0.1", taken.getsockname()[1])


async def test_a_channel_that_doctor_is_asked_about_must_be_one() -> None:
    said = r"'general' is no channel\. A channel looks like .*slack:channel:TEAM/CHANNEL\."
    with pytest.raises(NotFound, match=said):
        await explain("general", as_json=False)


def test_a_path_in_milvus_uri_is_ours_alone() -> None:
    """pymilvus reads that name itself, as an address, while it is imported."""
    code = "import os; from adapters.milvus.connection import _pymilvus as p; p(); print(os.environ['MILVUS_URI'])"
    root = str(Path(command_line.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MILVUS_URI": "here/index.db", "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "here/index.db\n", done.stderr
