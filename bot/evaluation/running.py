"""Runs a dataset through the product's own index, retriever and agent, in a temporary home that is removed after."""

import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from adapters.loaders.folders import files_in
from bot.config import Settings
from bot.wiring import Footnote, open_footnote
from core.answer import Answer, Outcome
from core.conversation import Audience, Person, Thread, ThreadKey, Turn
from core.errors import ConfigurationError, NotFound
from core.evaluation.datasets import CorpusDocument, Query, documents_from, grades_from, queries_from, spread
from core.evaluation.metrics import Judged, agent_figures, all_evidence, bootstrap, contains, paired, thresholds
from core.events import AgentCompleted, AgentFailed, CheckpointReached
from core.ingestion.ingestor import Change, Ingestor, Material
from core.ingestion.parsed import Block, Parsed
from core.inquiry import Inquiry
from core.knowledge import KnowledgeBase, Passage
from core.ports import Parser, Scope
from core.retrieval.hybrid import POOL, Retriever
from core.retrieval.ranking import rank_evidence

RETRIEVAL_LEGS = ("bm25", "dense", "hybrid", "rerank")
LEGS = (*RETRIEVAL_LEGS, "agent")
METRICS = {
    "nDCG@10": "ndcg@10",
    "MRR@10": "mrr@10",
    "Recall@5": "recall@5",
    "Recall@10": "recall@10",
    "Recall@20": "recall@20",
}
ALL_EVIDENCE = "all evidence@10"
SCORES = tuple(step / 20 for step in range(20))
WORST = 8
_SNIPPET = 400


@dataclass(frozen=True, slots=True)
class Dataset:
    """A folder in BEIR's layout; without ``corpus.jsonl`` its corpus is the files in ``documents`` beside it."""

    name: str
    queries: tuple[Query, ...]
    documents: tuple[CorpusDocument, ...] = ()
    files: tuple[tuple[Path, str], ...] = ()


@dataclass(slots=True)
class Measured:
    """Everything measured on one dataset. Rankings and scores are by query id."""

    name: str
    passages: int
    questions: int
    legs: dict[str, dict[str, Any]] = field(default_factory=dict)
    agent: dict[str, Any] | None = None
    curve: list[dict[str, Any]] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)  # median milliseconds
    worst: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        """One number for each thing that must not get worse; higher is better."""
        found = {f"{leg} {name}": kept["metrics"][name]["mean"] for leg, kept in self.legs.items() for name in METRICS}
        if self.agent:
            found["agent right refusals"] = 1 - self.agent["wrong_refusals"]
            found["agent right answers"] = 1 - self.agent["wrong_answers"]
        return found


def read(folder: Path, limit: int | None) -> Dataset:
    """Read a dataset. Raises NotFound without its files, ConfigurationError when they are not in the layout."""
    for name in ("queries.jsonl", "qrels.tsv"):
        if not (folder / name).is_file():
            raise NotFound(f"There is no {name} in {folder}.", remedy="A dataset is a folder in BEIR's layout.")
    corpus = folder / "corpus.jsonl"
    beside = folder.parent / "documents"
    if not corpus.is_file() and not beside.is_dir():
        raise NotFound(f"There is no corpus.jsonl in {folder}, and no documents folder beside it.")
    try:
        grades = grades_from(_lines(folder / "qrels.tsv"))
        queries = spread(queries_from(_lines(folder / "queries.jsonl"), grades), limit)
        documents = documents_from(_lines(corpus)) if corpus.is_file() else ()
    except (ValueError, KeyError) as error:
        raise ConfigurationError(f"{folder} is not in BEIR's layout: {error}") from None
    files = () if documents else tuple((p, str(Path(s).relative_to(beside.name))) for p, s in files_in([beside]))
    return Dataset(folder.resolve().name, queries, documents, files)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


class CorpusParser(Parser):
    """The parser of a corpus that is text already: ``name`` is the title."""

    async def parse(self, name: str, data: bytes) -> Parsed:
        """One block."""
        return Parsed(name, (Block(data.decode()),), "text/plain")


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Footnote]:
    """A Footnote of its own, on embedded stores that are gone afterwards, also when interrupted."""
    with tempfile.TemporaryDirectory(prefix="footnote-eval-") as home:
        apart = {"footnote_home": Path(home), "redis_url": None, "milvus_uri": None, "milvus_token": None}
        async with open_footnote(settings.model_copy(update=apart)) as footnote:
            yield footnote


async def fill(footnote: Footnote, dataset: Dataset) -> int:
    """Bring the corpus in by the product's own ingestion; how many passages it became."""
    parser = CorpusParser() if dataset.documents else footnote.parser
    ingestor = Ingestor(
        index=footnote.index,
        encoder=footnote.encoder,
        catalogue=footnote.catalogue,
        parser=parser,
        clock=footnote.clock,
    )
    await ingestor.ensure_base(dataset.name)
    total = 0
    for material in _materials(dataset):
        done = await ingestor.ingest(material, dataset.name)
        if done.change is Change.FAILED and not dataset.documents:
            raise ConfigurationError(f"{done.source}: {done.reason}")
        total += done.passages
    return total


def _materials(dataset: Dataset) -> Sequence[Material]:
    texts = [Material(d.id, d.title or d.id, d.text.encode(errors="replace")) for d in dataset.documents]
    return texts or [Material(source, path.name, path.read_bytes()) for path, source in dataset.files]


async def measure(  # noqa: C901 - one arm for each leg
    footnote: Footnote, dataset: Dataset, legs: Sequence[str]
) -> Measured:
    """Measure these legs on a dataset that is in the index."""
    measured = Measured(dataset.name, await footnote.index.count(_scope(dataset)), len(dataset.queries))
    rankings: dict[str, dict[str, list[str]]] = {leg: {} for leg in legs}
    scored: list[tuple[float, bool]] = []
    seconds: dict[str, list[float]] = {}
    judged: list[Judged] = []
    tops: dict[str, list[Passage]] = {}
    if "rerank" in legs:
        await footnote.reranker.open()
        if not footnote.reranker.available:
            del rankings["rerank"]
            measured.notes.append(f"Not reranked: {footnote.reranker.reason}")
    plain = Retriever(footnote.index, footnote.encoder, None, footnote.catalogue)
    for query in dataset.queries:
        if "agent" in legs:
            one, found = await _asked(footnote, dataset, query)
            judged.append(one)
            rankings["agent"][query.id] = found
        if not query.relevant and query.expect != "abstained":
            continue
        retrieval = await plain.search(query.text, _scope(dataset), POOL)
        for stage, took in retrieval.seconds.items():
            seconds.setdefault(stage, []).append(took * 1000)
        hybrid = _documents([hit.passage for hit in retrieval.hits], query)
        scored.append((retrieval.hits[0].score if retrieval.hits else 0.0, bool(set(hybrid[:5]) & set(query.relevant))))
        tops[query.id] = [hit.passage for hit in retrieval.hits if hit.passage.source not in query.exclude][:3]
        if "hybrid" in rankings:
            rankings["hybrid"][query.id] = hybrid
        if {"bm25", "dense"} & set(rankings):
            vector = (await footnote.encoder.encode_queries([query.text]))[0]
            both = await footnote.index.search(query.text, vector, _scope(dataset), POOL)
            for name, leg in (("bm25", both.bm25), ("dense", both.dense)):
                if name in rankings:
                    rankings[name][query.id] = _documents([passage for passage, _ in leg], query)
        if "rerank" in rankings:
            reranked = await footnote.retriever.search(query.text, _scope(dataset), POOL)
            rankings["rerank"][query.id] = _documents([hit.passage for hit in reranked.hits], query)
    measured.stages = {stage: sorted(values)[len(values) // 2] for stage, values in seconds.items()}
    measured.curve = [asdict(point) for point in thresholds(scored, SCORES)]
    _compare(measured, dataset, rankings)
    _pick_worst(measured, dataset, rankings, tops)
    if judged:
        measured.agent = asdict(agent_figures(judged))
        by_grade = [
            (float(one.best_grade), one.cites_gold) for one in judged if one.expect in ("answered", "abstained")
        ]
        measured.agent["by_grade"] = [asdict(point) for point in thresholds(by_grade, range(1, 11))]
        measured.agent["wrong"] = [
            {"query": one.query, "outcome": one.outcome, "wrong": "refusal" if one.wrong_refusal else "answer"}
            for one in judged
            if one.wrong_refusal or one.wrong_answer
        ]
    return measured


def _scope(dataset: Dataset) -> Scope:
    return Scope(frozenset({dataset.name}))


def _documents(passages: Sequence[Passage], query: Query) -> list[str]:
    """The documents in the order of their best passages."""
    return [name for name in dict.fromkeys(p.source for p in passages) if name not in query.exclude]


def _compare(measured: Measured, dataset: Dataset, rankings: Mapping[str, Mapping[str, list[str]]]) -> None:
    judged = [query for query in dataset.queries if query.relevant]
    if not judged:
        return
    each = {leg: _per_query(judged, found) for leg, found in rankings.items()}
    single = [leg for leg in ("bm25", "dense") if leg in each]
    best = max(single, key=lambda leg: sum(each[leg]["nDCG@10"]), default=None)
    for leg, figures in each.items():
        kept: dict[str, Any] = {"metrics": {name: asdict(bootstrap(values)) for name, values in figures.items()}}
        if best and leg not in single:
            kept["against"] = best
            kept["difference"] = asdict(paired(figures["nDCG@10"], each[best]["nDCG@10"]))
        measured.legs[leg] = kept


def _per_query(queries: Sequence[Query], rankings: Mapping[str, list[str]]) -> dict[str, list[float]]:
    """Metrics of ranx and ours for each query, in order. A query that found nothing counts as 0."""
    try:
        from ranx import Qrels, Run, evaluate
    except ImportError:
        raise ConfigurationError(
            "Measuring needs ranx.", remedy="Install it with: pip install 'footnote[measure]'."
        ) from None
    qrels = Qrels({query.id: dict(query.relevant) for query in queries})
    order = {q.id: {name: 1.0 / n for n, name in enumerate(rankings.get(q.id) or ["nothing"], 1)} for q in queries}
    run = Run(order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba, about a cast inside ranx
        evaluate(qrels, run, list(METRICS.values()), make_comparable=True)
    figures = {name: [float(run.scores[key][query.id]) for query in queries] for name, key in METRICS.items()}
    figures[ALL_EVIDENCE] = [all_evidence(rankings.get(query.id, []), query.relevant) for query in queries]
    return figures


def _pick_worst(
    measured: Measured,
    dataset: Dataset,
    rankings: Mapping[str, Mapping[str, list[str]]],
    tops: Mapping[str, list[Passage]],
) -> None:
    """The questions whose first relevant document stands furthest down, with what stood above it."""
    hybrid = rankings.get("hybrid", {})

    def place(query: Query) -> int:
        ranking = hybrid.get(query.id, [])
        return next((n for n, name in enumerate(ranking, 1) if name in query.relevant), POOL + 1)

    texts = {document.id: f"{document.title}\n{document.text}" for document in dataset.documents}
    for query in sorted((q for q in dataset.queries if q.relevant and hybrid), key=lambda q: -place(q))[:WORST]:
        found = place(query)
        if found == 1:
            continue
        measured.worst.append(
            {
                "query": query.text,
                "place": found if found <= POOL else None,
                "wanted": [{"id": name, "text": texts.get(name, "")[:_SNIPPET]} for name in list(query.relevant)[:2]],
                "found": [{"id": p.source, "text": p.searchable[:_SNIPPET]} for p in tops.get(query.id, [])[:2]],
            }
        )


async def _asked(footnote: Footnote, dataset: Dataset, query: Query) -> tuple[Judged, list[str]]:
    """One question, after the ones its thread had before it, and what the agent gathered, best first."""
    key = ThreadKey("eval", dataset.name, "", query.id)
    turns: list[Turn] = []
    for earlier in query.thread:
        answer, inquiry = await _pursued(footnote, dataset, earlier, Thread(key, tuple(turns)))
        turns.append(
            Turn(
                earlier,
                answer.text if answer else "",
                answer.outcome if answer else Outcome.FAILED,
                Person("eval"),
                footnote.clock.now(),
                inquiry.id,
                rewritten=inquiry.standalone if inquiry.searches else "",
                citations=answer.citations if answer else (),
                knowledge_bases=frozenset({dataset.name}),
            )
        )
    started = time.perf_counter()
    answer, inquiry = await _pursued(footnote, dataset, query.text, Thread(key, tuple(turns)))
    took = time.perf_counter() - started
    gathered = _documents([item.passage for item in rank_evidence(inquiry)], query)
    return _judged(query, answer, inquiry, gathered, took), gathered


async def _pursued(footnote: Footnote, dataset: Dataset, text: str, thread: Thread) -> tuple[Answer | None, Inquiry]:
    inquiry = Inquiry(
        id=f"eval-{time.monotonic_ns()}",
        question=text,
        thread=thread.key,
        asker=Person("eval"),
        audience=Audience(unrestricted=True),
        started_at=footnote.clock.now(),
        conduct=footnote.conduct,
        bases=(KnowledgeBase(dataset.name),),
    )
    run = footnote.agent.run(inquiry, thread)
    answer: Answer | None = None
    async with aclosing(footnote.agent.pursue(run)) as events:
        async for event in events:
            if isinstance(event, AgentCompleted | CheckpointReached):
                answer = event.answer
            elif isinstance(event, AgentFailed):
                answer = None
    return answer, run.inquiry


def _judged(query: Query, answer: Answer | None, inquiry: Inquiry, gathered: Sequence[str], took: float) -> Judged:
    citations = answer.citations if answer else ()
    passages = {item.passage.id: item.passage for item in inquiry.library}

    def right(citation: Any) -> bool:
        source = passages.get(citation.passage)
        return citation.document in query.relevant or bool(source and contains(source.text, query.answers))

    grades = [item.grade.score for item in inquiry.library if item.grade is not None]
    gold = set(query.relevant)
    return Judged(
        query=query.text,
        expect=query.expect,
        outcome=str(answer.outcome) if answer else "failed",
        contains_gold=contains(answer.text, query.answers) if answer else None,
        cites_gold=any(citation.document in query.relevant for citation in citations),
        evidence_recall=len(gold & set(gathered)) / len(gold) if gold else None,
        citations=len(citations),
        right_citations=sum(right(citation) for citation in citations),
        best_grade=max(grades, default=0),
        searches=answer.spent.searches if answer else 0,
        calls=answer.spent.calls if answer else 0,
        tokens=answer.spent.tokens if answer else 0,
        seconds=took,
    )
