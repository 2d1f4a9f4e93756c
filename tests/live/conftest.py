"""One Footnote on the embedded stores with the sample documents, opened once for all live tests."""

import io
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from rich.console import Console

from bot.container import Footnote, open_footnote
from bot.demo import SAMPLES
from bot.settings import Settings
from tests.sample_home import BASE, copy_sample_home

if TYPE_CHECKING:
    from adapters.terminal.chat import Chat


def settings_for(home: Path, **more: object) -> Settings:
    """Settings that read neither the environment's services nor a .env file."""
    return Settings(_env_file=None, footnote_home=home, redis_url=None, milvus_uri=None, llm_model=None, **more)  # type: ignore[call-arg,arg-type]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    home = tmp_path_factory.mktemp("footnote") / "home"
    copy_sample_home(tmp_path_factory, worker_id, home)
    return home


@pytest.fixture
def few_samples(tmp_path: Path) -> Path:
    """A small sample set: three documents and the questions that need no other, for tests that judge no answer."""
    documents = ("handbook/leave.md", "handbook/expenses.md", "handbook/on-call.md")
    few = tmp_path / "few"
    for name in documents:
        (few / "documents" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SAMPLES / "documents" / name, few / "documents" / name)
    (few / "eval").mkdir()
    shutil.copy(SAMPLES / "eval" / "qrels.tsv", few / "eval")
    queries = (SAMPLES / "eval" / "queries.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in queries if {*json.loads(line)["metadata"]["documents"]} <= {*documents}]
    (few / "eval" / "queries.jsonl").write_text("".join(kept), encoding="utf-8")
    return few


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def footnote(home: Path) -> AsyncIterator[Footnote]:
    async with open_footnote(settings_for(home)) as opened:
        yield opened


class Dialogue:
    """A chat in the terminal as a test: say something, read what was shown."""

    def __init__(self, footnote: Footnote) -> None:
        self._screen = io.StringIO()
        self.chat: Chat = footnote.chat(Console(file=self._screen, width=200, no_color=True), frozenset({BASE}))

    async def say(self, text: str) -> str:
        """What is shown after this line; white space folded."""
        start = self._screen.tell()
        await self.chat.say(text)
        self._screen.seek(start)
        return " ".join(self._screen.read().split())


@pytest_asyncio.fixture(loop_scope="session")
async def dialogue(footnote: Footnote) -> Dialogue:
    return Dialogue(footnote)
