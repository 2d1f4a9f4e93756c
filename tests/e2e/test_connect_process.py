"""Connecting a source from the terminal: checked, synced, asked, changed at the source, withdrawn, and removed.

The real command, the real stores and the packaged model, against a site on a socket.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence
from tests.several_commands import run_commands

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="The description is not shared here."),
]
ROOT = Path(__file__).parents[2]


@pytest.fixture
async def site() -> AsyncIterator[FakeConfluence]:
    async with FakeConfluence() as site:
        site.add_page("1", "Refund policy", "<p>Refunds of annual plans are paid within 14 days.</p>")
        site.add_page("2", "Badge", "<p>A lost badge is replaced at the front desk.</p>")
        yield site
        assert not site.violations


def environment(site: FakeConfluence, home: Path) -> dict[str, str]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("CONFLUENCE_", "LLM_", "SLACK_"))
    }
    return clean | {
        "FOOTNOTE_HOME": str(home),
        "FETCH_ALLOW_PRIVATE": f"127.0.0.1:{site.port}",
        "CONFLUENCE_URL": site.url,
        "CONFLUENCE_EMAIL": EMAIL,
        "CONFLUENCE_TOKEN": TOKEN,
        "PYTHONPATH": str(ROOT),
    }


async def run(site: FakeConfluence, home: Path, *words: str, code: int = 0) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, env=environment(site, home), cwd=home, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said = (await process.communicate())[0].decode()
    assert process.returncode == code, said
    assert TOKEN not in said
    return said


async def run_all(site: FakeConfluence, home: Path, *commands: list[str]) -> list[str]:
    """What each command prints; the source does not change between them, so they share a process."""
    printed = await asyncio.to_thread(run_commands, commands, environment(site, home))
    assert TOKEN not in str(printed)
    return ["".join(each) for each in printed]


QUESTION = ["ask", "When are refunds of annual plans paid?"]
LIST = ["connections", "list", "--json"]


async def test_a_source_is_connected_asked_changed_withdrawn_and_removed(site: FakeConfluence, tmp_path: Path) -> None:
    said, answer = await run_all(site, tmp_path, ["connect", "confluence", "--name", "wiki", "--yes"], QUESTION)
    assert "sees 2 documents" in said
    assert "2 added" in said
    assert "within 14 days" in answer
    assert f"{site.url}/wiki/spaces/ENG/pages/1" in answer
    site.change("1", body="<p>Refunds of annual plans are paid within 30 days.</p>")
    site.pages["2"].is_deleted = True
    synced, answer = await run_all(site, tmp_path, ["connections", "sync", "wiki"], QUESTION)
    assert "1 updated, 1 removed" in synced
    assert "within 30 days" in answer
    site.is_revoked = True
    assert "rejected the token" in await run(site, tmp_path, "connections", "sync", "wiki", code=1)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    listed, removed, empty = await run_all(site, tmp_path, LIST, ["connections", "remove", "wiki", "--yes"], LIST)
    (found,) = json.loads(listed)
    assert "rejected the token" in found["state"]["failure"]
    assert "secrets" not in found
    assert "Removed: 1 document." in removed
    assert json.loads(empty) == []
