"""Commands that open the stores, on a terminal of 40 columns without colours: no line is longer, no word is cut."""

import os
import sys
from pathlib import Path

import pexpect
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

SAID = {
    "forget --person slack:T1/U1": (
        "No question of slack:T1/U1 is stored. An id looks like slack:T1/U1: a workspace and its member."
    ),
    "forget --thread yesterday": "There is no thread yesterday.",
    "trace 596002ff5ee946a6": "There is no trace 596002ff5ee946a6. Traces are kept for 14 days.",
    "kb grant handbook everyone": "There is no knowledge base called “handbook” here. Available: none yet.",
    "token list": "There are no tokens yet. Create one with footnote token create.",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.mark.parametrize("command", SAID)
def test_what_a_command_says_is_broken_between_words(home: Path, command: str) -> None:
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR"}}
    shown = pexpect.run(
        f"{sys.executable} -m bot {command}",
        env=kept | {"FOOTNOTE_HOME": str(home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "NO_COLOR": "1"},
        cwd=str(home),
        encoding="utf-8",
        timeout=240,
        dimensions=(24, 40),
    )
    lines = [line.rstrip() for line in shown.replace("\r", "").rstrip().split("\n")]
    assert max(map(len, lines)) <= 40
    assert " ".join(" ".join(lines).split()) == SAID[command]
