"""The real process, started as a person starts it, against the fake Discord: embedded stores and no key."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.e2e.fake_discord import SPECIFICATION, FakeDiscord

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not SPECIFICATION.exists(), reason="the shared discord-openapi.json is not beside the checkout"),
]

ROOT = Path(__file__).parents[2]
START_SECONDS = 120
POLICY = """\
# Refunds

Annual plans are refunded within 30 days of purchase.

# Travel

Trains are booked in second class.
"""


def environment(discord: FakeDiscord, home: Path) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "LLM_", "REDIS_"))}
    return clean | discord.environment() | {"FOOTNOTE_HOME": str(home), "HTTP_PORT": "0", "OMP_NUM_THREADS": "1"}


async def run(discord: FakeDiscord, home: Path, *words: str) -> str:
    """A command of Footnote, to its end; what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", *words, cwd=ROOT, env=environment(discord, home),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(START_SECONDS):
        printed, _ = await process.communicate()
    assert process.returncode == 0, printed.decode()
    return printed.decode()


@asynccontextmanager
async def serving(discord: FakeDiscord, home: Path, *, end: signal.Signals = signal.SIGTERM) -> AsyncIterator[Path]:
    """``footnote serve`` until the block ends; the file that it logs to."""
    log = home / f"serve-{discord.identifies}.log"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", "serve", cwd=ROOT, env=environment(discord, home), stdout=out, stderr=out
        )
    try:
        before = discord.identifies
        await discord.until(lambda: discord.identifies > before and discord.is_connected(), START_SECONDS, what="a bot")
        yield log
    finally:
        if process.returncode is None:
            process.send_signal(end)
        async with asyncio.timeout(40):
            await process.wait()


@pytest.fixture
async def discord() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as server:
        yield server
        assert server.violations == []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "policy.md").write_text(POLICY, encoding="utf-8")
    return tmp_path


async def test_from_nothing_to_a_cited_answer_and_on_after_a_kill(discord: FakeDiscord, home: Path) -> None:
    await run(discord, home, "ingest", str(home / "policy.md"))
    alice = discord.person("alice")
    async with serving(discord, home, end=signal.SIGKILL) as log:
        asked = await alice.says("<@bot> within how many days are annual plans refunded?")
        answer = await discord.reply_to(asked, 60)
        assert "30 days" in answer.text
        assert "[1]" in answer.text
        assert "[1] Refunds" in answer.text
    async with serving(discord, home) as again:
        quotes = await alice.clicks(answer, "Show quotes")
        await discord.until(lambda: "Annual plans are refunded within 30 days" in quotes.text, 30, what="the quote")
        follow_up = await alice.says("and how are trains booked?", thread=asked)
        assert "second class" in (await discord.reply_to(follow_up, 60)).text
    assert discord.token not in log.read_text() + again.read_text()
    assert discord.pings() == []
