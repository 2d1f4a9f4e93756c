"""While the index opens, the real process says that it is starting, and answers as soon as it can."""

import asyncio
import fcntl
import subprocess
import sys
from asyncio.subprocess import DEVNULL
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.e2e.test_slack_process import (
    ROOT,
    STARTING,
    answered,
    end_server,
    environment,
    free_port,
    serving,
)
from tests.fakes.slack import FakeSlack, Message, specs_are_here

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Path]:
    """A data directory with one document."""
    home, document = tmp_path / "home", tmp_path / "lift.md"
    document.write_text("# Lift\n\nThe lift is inspected every spring by Mr Otis.\n")
    ingest = [sys.executable, "-m", "bot", "ingest", str(document)]
    subprocess.run(ingest, env=environment(home), cwd=ROOT, check=True, stdout=DEVNULL, timeout=300)
    yield home
    asyncio.run(end_server(home))


@contextmanager
def held(home: Path) -> Iterator[None]:
    """Hold the embedded index in another process that does not serve it yet."""
    with (home / "milvus.db.holder").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def told(slack: FakeSlack, question: Message) -> str:
    """Return the steps of the answer in progress."""
    return " ".join(str(step) for answer in slack.answers_to(question) for step in answer.tasks.values())


async def said(port: int, path: str) -> tuple[int, dict[str, Any]]:
    async with aiohttp.ClientSession() as web, web.get(f"http://127.0.0.1:{port}/{path}") as response:
        return response.status, await response.json()


async def test_a_question_asked_while_the_index_opens_is_kept_and_answered(filled: Path) -> None:
    port = free_port()
    async with FakeSlack() as slack, AsyncExitStack() as stack:
        with held(filled):
            await stack.enter_async_context(serving(filled, slack, port=port))
            question = await slack.person("alice").says("<@bot> who inspects the lift?", "general")
            await slack.until(lambda: "still starting" in told(slack, question), STARTING, what="a word about it")
            assert await said(port, "healthz") == (200, {"status": "ok"})
            status, body = await said(port, "readyz")
            assert (status, list(body["waiting_for"])) == (503, ["index"])
        answer = await answered(slack, question, "Otis", within=STARTING)
        assert slack.answers_to(question) == [answer]
        assert await said(port, "readyz") == (200, {"ready": True, "waiting_for": {}})
        assert slack.violations == []
