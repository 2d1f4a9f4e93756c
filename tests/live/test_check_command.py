"""``footnote check`` as a process: documents with and without faults, and answers that a change would alter."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.live

TESTS = """
documents: docs
tests:
  - {ask: "How long is the trial period?", has: 14 days, cites: trial.md}
  - {ask: "Who inspects the lift?", has: Otis}
  - {ask: "What is the capital of Peru?", abstains: true}
"""


def check(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bot", "check", str(folder / "tests.yaml"), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, days in (("docs", 30), ("before", 14)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "trial.md").write_text(f"# Trial\n\nThe trial period is {days} days long.\n")
        (tmp_path / name / "lift.md").write_text("# Lift\n\nThe lift is inspected by Mr Otis every spring.\n")
    (tmp_path / "tests.yaml").write_text(TESTS)
    return tmp_path


def test_names_the_broken_document_and_the_answer_that_changed(folder: Path) -> None:
    done = check(folder, "--against", str(folder / "before"), "--junit", str(folder / "report.xml"))
    assert done.returncode == 1, done.stderr
    assert "FAIL  How long is the trial period?\n      Lacks “14 days”." in done.stdout
    assert "2 of 3 passed." in done.stdout
    assert done.stdout.count("changed  ") == 1
    assert 'failures="1"' in (folder / "report.xml").read_text()


def test_passes_for_the_documents_that_it_is_given_instead(folder: Path) -> None:
    done = check(folder, "--documents", str(folder / "before"))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "3 of 3 passed."), done.stderr


def test_says_before_any_work_what_it_cannot_do(folder: Path) -> None:
    no_folder = check(folder, "--junit", str(folder / "none" / "report.xml"))
    assert (no_folder.returncode, no_folder.stdout) == (2, "")
    assert "There is no folder" in no_folder.stderr
