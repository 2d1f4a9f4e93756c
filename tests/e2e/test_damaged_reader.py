"""The weights of the reader of answers are cut off on the disk: ``doctor`` says so, and answers go on without them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(900)]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of ours, as a download or a disk left it."""
    place = tmp_path / "installed"
    for name in ("bot", "core", "adapters"):
        shutil.copytree(ROOT / name, place / name)  # what is compiled too, which is as old as its source
    weights = place / "adapters" / "encoders" / "answer_reader.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    return place


def run(place: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "TMPDIR", "LANG"}}
    own = {"FOOTNOTE_HOME": str(place / "home"), "PYTHONPATH": str(place), "COLUMNS": "300", "HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [sys.executable, "-m", "bot", *command],
        env=kept | own, cwd=place, capture_output=True, text=True, check=False, timeout=400,
    )  # fmt: skip


def test_doctor_names_it_and_questions_are_answered_without(installed: Path) -> None:
    (installed / "lift.md").write_text("# Lift\n\nThe lift is inspected every spring by Mr Otis.\n")
    assert run(installed, "ingest", "lift.md").returncode == 0
    examined = run(installed, "doctor", "--seconds", "200")
    (line,) = re.findall(r".*answer reader .*", examined.stdout)
    assert "not available, answers do without" in line
    assert "answer_reader.safetensors" in line
    assert "Install Footnote" in examined.stdout
    assert (examined.returncode, examined.stderr) == (0, "")
    asked = run(installed, "ask", "Who inspects the lift?")
    assert "inspected every spring by Mr Otis" in asked.stdout
    assert (asked.returncode, asked.stderr) == (0, "")
