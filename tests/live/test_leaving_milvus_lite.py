"""Leaving Milvus Lite: a backup moves documents and vectors to another index without encoding them."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.milvus.embedded_server import EmbeddedMilvus
from bot.container import Footnote, open_footnote
from bot.demo import SAMPLES
from core.model.conversation import Audience, ThreadKey
from core.model.events import AgentCompleted
from core.ports.index import Scope, Vectors
from core.service.question_service import Question
from tests.cut_home import ADA
from tests.live.conftest import settings_for
from tests.sample_home import BASE

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]
QUERIES = (SAMPLES / "eval" / "queries.jsonl").read_text().splitlines()[:10]
QUESTIONS = [json.loads(line)["text"] for line in QUERIES]


class NoEncoder:
    """An encoder that may only be asked which model it is."""

    def __init__(self, name: str, dimension: int) -> None:
        self.name, self.dimension, self.window = name, dimension, 256

    async def encode_queries(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        raise AssertionError(texts)


@asynccontextmanager
async def _server(file: Path) -> AsyncIterator[str]:
    """Run another program's Milvus Lite, which is a server to us: all that is known of it is its address."""
    server = EmbeddedMilvus(file)
    try:
        yield server.address()
    finally:
        server.close()


async def _look(footnote: Footnote) -> tuple[int, int, list[tuple[str, list[str]]]]:
    """Return how many documents and passages there are, and ten answers with what they cite."""
    scope = Scope(frozenset({BASE}))
    answers = []
    for number, text in enumerate(QUESTIONS):
        key = ThreadKey("console", "", "terminal", f"{footnote.settings.home}-{number}")
        asked = Question(text, key, ADA, Audience(unrestricted=True), footnote.policy, scope.bases)
        events = [event async for event in footnote.question_service.ask(asked)]
        assert isinstance(events[-1], AgentCompleted)
        answer = events[-1].answer
        answers.append((answer.text, [citation.passage for citation in answer.citations]))
    return len(await footnote.catalog.documents(scope.bases)), await footnote.index.count(), answers


async def test_vectors_move_to_another_index_without_encoding(footnote: Footnote, tmp_path: Path) -> None:
    before = await _look(footnote)
    assert before[0] > 1
    assert sum(bool(cited) for _, cited in before[2]) > 5
    await footnote.backup.make(tmp_path / "backup", lambda *_: None)
    async with _server(tmp_path / "other.db") as address:
        for uri in (address, None):  # None: a new file in a new data directory
            settings = settings_for(tmp_path / f"home-{uri is None}").model_copy(update={"milvus_uri": uri})
            async with open_footnote(settings, models=False) as moved:
                encoder = NoEncoder(moved.encoder.name, moved.encoder.dimension)
                await replace(moved.backup, encoder=encoder).restore(tmp_path / "backup", lambda *_: None)
                assert (await moved.knowledge_stack.deps.consistency.report()).incomplete == ()
                assert await _look(moved) == before
