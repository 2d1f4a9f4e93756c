"""A recreated, copied or restored home: ingesting the same folder creates no duplicates."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_slack_process import ROOT, end_server, environment

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

FILES = {
    "leave.md": "# Leave\n\nYou have 30 days.",
    "travel.md": "# Travel\n\nBook the train.",
    "deep/lift.md": "# Lift\n\nMr Otis.",
}


class Machine:
    """A host name of its own, as each container has one. Skips the test where none can be made."""

    def __init__(self, name: str) -> None:
        self._enter = ["unshare", "--uts", "sh", "-c", f'hostname {name} && exec "$@"', "sh"]
        if shutil.which("unshare") is None or subprocess.run([*self._enter, "true"], check=False).returncode:
            pytest.skip("A host name of its own cannot be made here.")

    def runs(self, home: Path, *words: str) -> str:
        """What a command prints there."""
        command = [*self._enter, sys.executable, "-m", "bot", *words]
        ended = subprocess.run(
            command, env=environment(home), cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def ingests(self, home: Path, folder: Path) -> tuple[int, int, int]:
        """How many documents are added, updated and unchanged by an ingest there."""
        told = json.loads(self.runs(home, "ingest", str(folder), "--json"))
        return told["added"], told["updated"], told["unchanged"]

    def sources(self, home: Path) -> list[str]:
        """What is indexed."""
        return sorted(one["source"] for one in json.loads(self.runs(home, "sources", "list", "--json")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[tuple[Path, Path, Path]]:
    made = (tmp_path / "home", tmp_path / "copied", tmp_path / "restored")
    yield made
    for home in made:
        if home.exists():
            asyncio.run(end_server(home))


def test_a_container_made_again_and_a_copied_or_restored_home_double_no_document(
    folder: Path, homes: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    home, copied, restored = homes
    first, second = Machine("first"), Machine("second")
    assert first.ingests(home, folder) == (3, 0, 0)
    sources = first.sources(home)
    assert second.ingests(home, folder) == (0, 0, 3)
    shutil.copytree(home, copied, ignore=shutil.ignore_patterns("*.sock"))
    assert second.ingests(copied, folder) == (0, 0, 3)
    second.runs(home, "backup", str(tmp_path / "backup"))
    second.runs(restored, "restore", str(tmp_path / "backup"))
    assert second.ingests(restored, folder) == (0, 0, 3)
    (folder / "leave.md").write_text("# Leave\n\nYou have 31 days.")
    for each in homes:
        assert second.ingests(each, folder) == (0, 1, 2)
        assert second.sources(each) == sources
