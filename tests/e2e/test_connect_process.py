"""Connecting a source from the terminal: checked, synced, asked, changed at the source, withdrawn, and removed.

The real command, the real stores and the packaged model, against a site on a socket.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.confluence.contract import SPECIFICATION
from tests.fakes.confluence.server import EMAIL, TOKEN, FakeConfluence

pytestmark = [
    pytest.mark.e2e,
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


async def run(site: FakeConfluence, home: Path, *words: str, code: int = 0) -> str:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("CONFLUENCE_", "LLM_", "SLACK_"))
    }
    given = {
        "FOOTNOTE_HOME": str(home),
        "FETCH_ALLOW_PRIVATE": f"127.0.0.1:{site.port}",
        "CONFLUENCE_URL": site.url,
        "CONFLUENCE_EMAIL": EMAIL,
        "CONFLUENCE_TOKEN": TOKEN,
        "PYTHONPATH": str(ROOT),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, env=clean | given, cwd=home, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said = (await process.communicate())[0].decode()
    assert process.returncode == code, said
    assert TOKEN not in said
    return said


async def listed(site: FakeConfluence, home: Path) -> Any:
    (found,) = json.loads(await run(site, home, "connections", "list", "--json"))
    return found


async def test_a_source_is_connected_asked_changed_withdrawn_and_removed(site: FakeConfluence, tmp_path: Path) -> None:
    said = await run(site, tmp_path, "connect", "confluence", "--name", "wiki", "--yes")
    assert "sees 2 documents" in said
    assert "2 added" in said
    answer = await run(site, tmp_path, "ask", "When are refunds of annual plans paid?")
    assert "within 14 days" in answer
    assert f"{site.url}/wiki/spaces/ENG/pages/1" in answer
    site.change("1", body="<p>Refunds of annual plans are paid within 30 days.</p>")
    site.pages["2"].is_deleted = True
    assert "1 updated, 1 removed" in await run(site, tmp_path, "connections", "sync", "wiki")
    assert "within 30 days" in await run(site, tmp_path, "ask", "When are refunds of annual plans paid?")
    site.is_revoked = True
    assert "rejected the token" in await run(site, tmp_path, "connections", "sync", "wiki", code=1)
    found = await listed(site, tmp_path)
    assert "rejected the token" in found["state"]["failure"]
    assert "secrets" not in found
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]
    assert "Removed: 1 document." in await run(site, tmp_path, "connections", "remove", "wiki", "--yes")
    assert json.loads(await run(site, tmp_path, "connections", "list", "--json")) == []
