"""A package with one of our names: one line with a remedy, no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def start(*path: Path, alone: bool = False) -> "subprocess.CompletedProcess[str]":
    """The command's beginning with these folders first on Python's path; ``alone`` without what is installed here.

    An installation that can be edited would find our modules whatever lies on the path.
    """
    first = ", ".join(repr(str(one)) for one in path)
    code = f"import sys; sys.path[:0] = [{first}]; sys.argv = ['footnote', '--help']; import footnote; footnote.main()"
    return subprocess.run(
        [sys.executable, "-P", *(["-S"] if alone else []), "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT.parent,
        timeout=120,
    )


def test_alone_it_starts() -> None:
    ran = start(ROOT)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Usage: footnote")


@pytest.mark.parametrize("name", ["bot", "core", "adapters"])
def test_a_package_that_is_found_before_ours_is_named_with_its_place(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise SystemExit('theirs was imported')")
    ran = start(tmp_path, ROOT)
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"Another package is called '{name}' here")
    assert str(tmp_path / name) in ran.stderr
    assert "pipx install" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_a_package_that_was_installed_over_ours_is_told(tmp_path: Path) -> None:
    (tmp_path / "footnote.py").write_text((ROOT / "footnote.py").read_text())
    for name in ("bot", "core", "adapters"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    ran = start(tmp_path, alone=True)
    assert ran.returncode == 1
    assert ran.stderr.startswith("Another package wrote into the folder 'bot' of Footnote: No module named")
    assert ran.stderr.count("\n") == 1


def test_an_interruption_before_anything_has_begun_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt  # Ctrl-C while the command's modules are imported")
    ran = start(tmp_path, ROOT)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "Stopped.\n")
