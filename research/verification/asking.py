"""Asks the product's agent the question of every pair, over documents that are ingested once."""

import asyncio
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from pydantic import SecretStr

from adapters.documents.folders import files_in
from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.fallback import FallbackReasoner
from bot.container import CONFIDENT, Footnote
from bot.demo import SAMPLES
from bot.evaluation.asking import pursue_question
from bot.evaluation.temp_index import open_temporary
from bot.model_endpoint import model_endpoint
from bot.plugins import installed_platforms
from bot.settings import Settings
from core.agent.agent import Agent
from core.agent.run import AgentDeps
from core.model.answer import Answer
from core.model.conversation import Thread, ThreadKey
from core.model.inquiry import PROFILE_LIMITS
from core.ports.catalog import Catalog
from core.ports.index import Encoder, Index, Reranker, Scope, Vectors
from core.retrieval.hybrid import Retrieval, Retriever
from research.evaluation.corpus import WrappedEncoder, fill
from research.evaluation.dataset_loader import Dataset
from research.verification.judging import Judgement, judge, tokens_of
from tests.fakes.model.endpoint import ScriptedEndpoint
from tests.fakes.model.model import Conversation, ScriptedModel
from tests.fakes.model.pairs import Pair, read_pairs

AT_ONCE = 8
NEVER_OPEN = 1_000_000  # failures in a row, from which a circuit breaker opens
PATIENCE = 600.0  # seconds: a busy machine is not what is measured
VECTORS = Path(tempfile.gettempdir()) / "footnote-measure"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what came of it, and what it cost."""

    pair: Pair
    verifier: str
    false: bool
    answer: Answer | None
    judgement: Judgement
    conversation: Conversation


@dataclass(frozen=True, slots=True)
class Company:
    """A folder of pairs. Without documents of its own it is the company of the samples."""

    name: str
    documents: Path
    pairs: tuple[Pair, ...]


def read_companies(folders: Sequence[Path]) -> list[Company]:
    """Read every folder below these that has pairs."""
    found = []
    for file in sorted(file for folder in folders for file in folder.glob("*/pairs.jsonl")):
        own = file.parent / "documents"
        documents = own if own.is_dir() else SAMPLES / "documents"
        found.append(Company(file.parent.name, documents, tuple(read_pairs(file, file.parent.name))))
    return found


class RememberingEncoder(WrappedEncoder):
    """Encodes each text once: every verifier hears the same questions."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder)
        self._known: dict[tuple[str, str], Vectors] = {}

    async def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension), float32, unit length."""
        return await self._remember("query", texts)

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension), float32, unit length."""
        return await self._remember("passage", texts)

    async def _remember(self, kind: str, texts: Sequence[str]) -> Vectors:
        fresh = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        if fresh:
            encode = self._encoder.encode_queries if kind == "query" else self._encoder.encode_passages
            self._known.update(zip(((kind, text) for text in fresh), await encode(fresh), strict=True))
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._known[kind, text] for text in texts])


class RememberingRetriever(Retriever):
    """Searches for each query once."""

    def __init__(self, index: Index, encoder: Encoder, reranker: Reranker | None, catalog: Catalog) -> None:
        super().__init__(index, encoder, reranker, catalog)
        self._found: dict[tuple[str, Scope, int], Retrieval] = {}

    async def search(self, query: str, scope: Scope, limit: int = 10) -> Retrieval:
        """See Retriever."""
        key = (query, scope, limit)
        if key not in self._found:
            self._found[key] = await super().search(query, scope, limit)
        return self._found[key]


@dataclass
class RememberingReader:
    """Reads each question with each text once."""

    reader: LowRankAnswerReader
    known: dict[tuple[str, str], float] = field(default_factory=dict)

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the logarithm of the odds that each text answers, in order."""
        fresh = [text for text in dict.fromkeys(texts) if (question, text) not in self.known]
        if fresh:
            odds = await self.reader.read(question, fresh)
            self.known.update(zip(((question, text) for text in fresh), odds, strict=True))
        return [self.known[question, text] for text in texts]


class Bench:
    """A Footnote that knows the documents of all companies, to be asked with one verifier after another."""

    def __init__(
        self, footnote: Footnote, titles: Mapping[tuple[str, str], str], known: Mapping[str, frozenset[str]]
    ) -> None:
        """Open it with ``open_bench``. ``known`` are the words of each company's documents."""
        self._footnote = footnote
        self._titles = titles
        self._known = known
        self._encoder = RememberingEncoder(footnote.encoder)
        self._retriever = RememberingRetriever(footnote.index, self._encoder, footnote.reranker, footnote.catalog)
        self._reader = LowRankAnswerReader()
        self._quoting = ExtractiveReasoner(self._encoder, RememberingReader(self._reader), footnote.index)

    async def close(self) -> None:
        """Let go of the reader's threads."""
        await self._reader.close()

    async def ask(self, pairs: Sequence[Pair], verifier: str, *, false: bool) -> AsyncGenerator[Asked, None]:
        """Ask the question of each pair, some at a time; the answers come in the pairs' order."""
        model = ScriptedModel(pairs, verifier, false=false, titles=self._titles)
        async with ScriptedEndpoint(timed=lambda *_: None) as endpoint, AsyncExitStack() as stack:
            endpoint.answers_with(model)
            footnote = self._footnote.with_agent(self._agent(endpoint.base_url, verifier, stack))
            gate = asyncio.Semaphore(AT_ONCE)

            async def ask_one(pair: Pair) -> Asked:
                async with gate:
                    thread = Thread(ThreadKey("eval", pair.company, "", pair.id))
                    answer, _ = await pursue_question(footnote, pair.company, pair.question, thread)
                found = judge(pair, answer, verifier, false=false, known=self._known[pair.company])
                conversation = model.conversations.get(pair.id) or Conversation(pair)
                return Asked(pair, verifier, false, answer, found, conversation)

            for task in [asyncio.create_task(ask_one(pair)) for pair in pairs]:
                yield await task

    def _agent(self, base_url: str, model: str, stack: AsyncExitStack) -> Agent:
        """Return the agent as the container builds it, with time enough, and without a circuit breaker.

        Otherwise the failures of one question would decide about the next ones, by the clock.
        """
        configured = {
            "llm_base_url": base_url,
            "llm_api_key": SecretStr("none"),
            "llm_model": model,
            "llm_timeout": PATIENCE,
            "answer_deadline": PATIENCE,
        }
        settings = self._footnote.settings.model_copy(update=configured)
        primary = model_endpoint(settings)
        stack.push_async_callback(primary.close)
        deps = AgentDeps(
            reasoner=FallbackReasoner(primary, self._quoting, clock=self._footnote.clock, failures=NEVER_OPEN),
            retriever=self._retriever,
            index=self._footnote.index,
            catalog=self._footnote.catalog,
            clock=self._footnote.clock,
            confident=CONFIDENT,
            names=" ".join(plugin.label for plugin in installed_platforms()),
            quote_fallback=self._quoting,
        )
        return Agent(deps, {name: replace(limits, seconds=PATIENCE) for name, limits in PROFILE_LIMITS.items()})


@asynccontextmanager
async def open_bench(companies: Sequence[Company]) -> AsyncIterator[Bench]:
    """Ingest the documents of these companies into a Footnote that is removed afterwards."""
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    async with open_temporary(settings) as footnote:
        titles: dict[tuple[str, str], str] = {}
        known: dict[str, frozenset[str]] = {}
        for company in companies:
            await fill(footnote, Dataset(company.name, files=tuple(files_in([company.documents]))), VECTORS)
            for document in await footnote.catalog.documents(frozenset({company.name})):
                titles |= {(company.name, name): document.title for name in _names_of(document.source)}
            known[company.name] = await _words_known(footnote, company.name)
        bench = Bench(footnote, titles, known)
        try:
            yield bench
        finally:
            await bench.close()


def _names_of(source: str) -> list[str]:
    """Return the names by which a mark may call a document: its file name, with and without its folders."""
    parts = source.split("/")
    return ["/".join(parts[at:]) for at in range(len(parts))]


async def _words_known(footnote: Footnote, base: str) -> frozenset[str]:
    texts = []
    for document in await footnote.catalog.documents(frozenset({base})):
        passages = await footnote.index.passages(document.id, document.version, Scope(frozenset({base})))
        texts += [passage.searchable for passage in passages]
    return tokens_of("\n".join(texts))
