"""Google Drive from the terminal: checked, connected, asked, changed at the source, withdrawn, and refused.

The real command, the real stores and the packaged model, against a Drive on a socket. The connector comes from another
package, as anybody's may: it is ours with the addresses of this socket.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.gdrive.server import ACCOUNT, FakeDrive, key_file, user
from tests.several_commands import run_commands

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]
ROOT = Path(__file__).parents[2]
CONNECTOR = """
from adapters.connectors.gdrive import GoogleDrivePlugin

PLUGIN = GoogleDrivePlugin(name="ourdrive", tokens={url!r}, api={url!r}, directory={url!r})
"""


@pytest.fixture
async def drive() -> AsyncIterator[FakeDrive]:
    async with FakeDrive() as drive:
        drive.add_file(
            "1", "Refund policy", "Refunds of annual plans are paid within 14 days.", permissions=[user("ada")]
        )
        drive.add_file("2", "Badge", "A lost badge is replaced at the front desk.", permissions=[user("ada")])
        drive.add_file("3", "Salaries/2026", "The salary is secret.", permissions=None)
        yield drive
        assert not drive.violations


@pytest.fixture
def home(drive: FakeDrive, tmp_path: Path) -> Path:
    """A data directory, with the package of the connector beside it."""
    package = tmp_path / "packages" / "our_drive-1.0.dist-info"
    package.mkdir(parents=True)
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: our-drive\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[footnote.connectors]\nourdrive = our_drive:PLUGIN\n")
    (package.parent / "our_drive.py").write_text(CONNECTOR.format(url=drive.url))
    (tmp_path / "key.json").write_text(json.dumps(json.loads(key_file()), indent=2))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def environment(drive: FakeDrive, home: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "LLM_", "SLACK_"))}
    return clean | {
        "FOOTNOTE_HOME": str(home),
        "FETCH_ALLOW_PRIVATE": f"127.0.0.1:{drive.port}",
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(home.parent / "packages"))),
    }


async def run(drive: FakeDrive, home: Path, *words: str, code: int = 0) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, env=environment(drive, home), cwd=home, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said = (await process.communicate())[0].decode()
    assert process.returncode == code, said
    assert secret_line() not in said
    return said


async def run_all(drive: FakeDrive, home: Path, *commands: list[str]) -> list[str]:
    """What each command prints; the source does not change between them, so they share a process."""
    printed = await asyncio.to_thread(run_commands, commands, environment(drive, home))
    assert secret_line() not in str(printed)
    return ["".join(each) for each in printed]


QUESTION = ["ask", "When are refunds of annual plans paid?"]


def secret_line() -> str:
    """A line from the middle of the private key."""
    return str(json.loads(key_file())["private_key"]).splitlines()[5]


async def test_a_drive_is_checked_connected_asked_changed_and_withdrawn(drive: FakeDrive, home: Path) -> None:
    connect = ["connect", "ourdrive", "--secret-file", str(home.parent / "key.json")]
    said, listed, connected, answer = await run_all(
        drive,
        home,
        [*connect, "--check"],
        ["connections", "list", "--json"],
        [*connect, "--name", "drive", "--yes"],
        QUESTION,
    )
    said = " ".join(said.split())
    assert f"The token belongs to {ACCOUNT}" in said
    assert "The readers of 1 of the first 3 files cannot be looked up" in said
    assert json.loads(listed) == []
    assert "2 added" in connected
    assert "within 14 days" in answer
    assert "https://docs.google.com/document/d/1/edit" in answer
    drive.minute += 1
    drive.files["1"].text, drive.files["1"].edited = "Refunds of annual plans are paid within 30 days.", drive.minute
    drive.files["2"].is_trashed = True
    synced, answer = await run_all(drive, home, ["connections", "sync", "drive"], QUESTION)
    assert "1 updated, 1 removed" in synced
    assert "within 30 days" in answer
    drive.is_revoked = True
    assert "rejected the token" in await run(drive, home, "connections", "sync", "drive", code=1)
    assert not [path for path in home.rglob("*") if path.is_file() and secret_line().encode() in path.read_bytes()]
    shown, removed = await run_all(
        drive,
        home,
        ["connections", "show", "drive", "--json"],
        ["connections", "remove", "drive", "--yes"],
    )
    assert "rejected the token" in shown
    assert "private_key" not in shown
    assert "Removed: 1 document." in removed
