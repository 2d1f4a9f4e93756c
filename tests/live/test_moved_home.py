"""A recreated, copied or restored home: ingesting the same folder creates no duplicates."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_slack_process import end_server, environment
from tests.fakes.embeddings import serve_embeddings
from tests.several_commands import run_commands

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

FILES = {
    "leave.md": "# Leave\n\nYou have 30 days.",
    "travel.md": "# Travel\n\nBook the train.",
    "deep/lift.md": "# Lift\n\nMr Otis.",
}


LIST = ("sources", "list", "--json")


class Machine:
    """A host name of its own, as each container has one. Skips the test where none can be made."""

    def __init__(self, name: str, embeddings: str) -> None:
        """``embeddings`` is the address of an endpoint, so that no process loads a model: nothing is searched here."""
        self._embeddings = {"EMBEDDING_BASE_URL": embeddings, "EMBEDDING_MODEL": "says-nothing"}
        self._enter = ["unshare", "--uts", "sh", "-c", f'hostname {name} && exec "$@"', "sh"]
        if shutil.which("unshare") is None or subprocess.run([*self._enter, "true"], check=False).returncode:
            pytest.skip("A host name of its own cannot be made here.")

    async def runs(self, *commands: tuple[Path, tuple[str, ...]]) -> list[str]:
        """What each command prints, in this home; all run in one process, one after the other."""
        words = [[f"FOOTNOTE_HOME={home}", *command] for home, command in commands]
        env = environment(commands[0][0]) | self._embeddings
        return [printed.out for printed in await asyncio.to_thread(run_commands, words, env, prefix=self._enter)]


def ingest(folder: Path) -> tuple[str, ...]:
    return "ingest", str(folder), "--json"


def changes(printed: str) -> tuple[int, int, int]:
    """How many documents an ingest added, updated and left unchanged."""
    told = json.loads(printed)
    return told["added"], told["updated"], told["unchanged"]


def sources(printed: str) -> list[str]:
    """What is indexed."""
    return sorted(one["source"] for one in json.loads(printed))


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


async def test_a_container_made_again_and_a_copied_or_restored_home_double_no_document(
    folder: Path, homes: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    home, copied, restored = homes
    async with serve_embeddings() as server:
        first, second = Machine("first", server.address), Machine("second", server.address)
        added, before = await first.runs((home, ingest(folder)), (home, LIST))
        assert changes(added) == (3, 0, 0)
        (again,) = await second.runs((home, ingest(folder)))
        assert changes(again) == (0, 0, 3)
        shutil.copytree(home, copied, ignore=shutil.ignore_patterns("*.sock"))
        backup = str(tmp_path / "backup")
        of_copied, *_, of_restored = await second.runs(
            (copied, ingest(folder)),
            (home, ("backup", backup)),
            (restored, ("restore", backup)),
            (restored, ingest(folder)),
        )
        assert changes(of_copied) == changes(of_restored) == (0, 0, 3)
        (folder / "leave.md").write_text("# Leave\n\nYou have 31 days.")
        told = await second.runs(*((each, command) for each in homes for command in (ingest(folder), LIST)))
        assert [changes(printed) for printed in told[::2]] == [(0, 1, 2)] * 3
        assert [sources(printed) for printed in told[1::2]] == [sources(before)] * 3
