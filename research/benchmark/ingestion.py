"""Bringing documents in: how fast beside bare encoding, what the pipeline adds, what searches feel, what quality costs.

Documents are Markdown put together anew from the samples' sentences, with a fixed seed, and come in by the product's
own road: the sandboxed parser, chunking, the encoder's threads, the embedded index. The baseline is
``SentenceTransformer.encode`` in float32 with its default settings, on the same passages, in turns with the ingest so
that both meet the same machine.
"""

import asyncio
import itertools
import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.encoders.model_files import find_model, load
from bot.container import Footnote
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Material
from core.model.text import content_words, sentences
from core.ports.index import Encoder, Scope
from research.benchmark.rows import ReportRow, percentile
from research.benchmark.texts import SAMPLES
from research.benchmark.yardstick import Yardstick
from research.evaluation.corpus import WrappedEncoder, fill
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.datasets import Query
from research.evaluation.retrieval import per_question

if TYPE_CHECKING:
    from core.ports.index import Vectors

PUBLIC = Path(__file__).parents[3] / "shared" / "data"  # beside a checkout; measured on as well where it is there
PUBLIC_SETS = ("anthropic_docs", "scifact_train")
BASE = "bench"
SECTIONS = 30  # of one document
TURN = 200  # passages brought in before the baseline has its turn
SEARCHES = 150
PAUSE = 0.02  # seconds between two searches: people do not ask without a breath
MOST_DOCUMENTS = 600  # of a public set
MOST_QUERIES = 200
_SEED = 7


async def ingest_rows(
    settings: Settings, yardstick: Yardstick, *, passages: int, sets: Sequence[Path] | None = None
) -> list[ReportRow]:
    """Return the rows of ingest, on embedded stores in a temporary home.

    At least ``passages`` are brought in, and encoded by the baseline; quality is measured on the sample set and on
    ``sets``, by default the public ones that are there.
    """
    if sets is None:
        sets = [PUBLIC / name for name in PUBLIC_SETS if (PUBLIC / name).is_dir()]
    bare = await asyncio.to_thread(_bare, settings)
    async with open_temporary(settings) as footnote:
        sample = await asyncio.to_thread(read, SAMPLES / "eval", None)
        await fill(footnote, sample)
        material = _documents()
        rows = await _throughput(footnote, bare, material, passages, yardstick)
        rows.append(await _search_during_ingest(footnote, material))
        rows.append(await _quality(footnote, bare, sample, await _sample_texts(footnote, sample)))
        for folder in sets:
            dataset = await asyncio.to_thread(_part_of, folder)
            texts = [(one.id, f"{one.title}\n{one.text}".strip()) for one in dataset.documents]
            rows.append(await _quality(footnote, bare, dataset, texts))
    return rows


def _bare(settings: Settings) -> Any:
    from sentence_transformers import SentenceTransformer

    return load(find_model(settings.embedding_model or ""), SentenceTransformer)


def _documents() -> Iterator[Material]:
    """Documents without end, each like no other."""
    draw = random.Random(_SEED)
    paths = sorted((SAMPLES / "documents").rglob("*.md"))
    pool = [sentence for path in paths for sentence in sentences(path.read_text(encoding="utf-8"))]
    for number in itertools.count(1):
        parts = [f"# Collection {number}"]
        for section in range(1, SECTIONS + 1):
            said = " ".join(draw.choices(pool, k=draw.randint(4, 12)))
            parts.append(f"## Part {section} of collection {number}\n\n{said}")
        yield Material(f"collection-{number}.md", f"collection-{number}.md", "\n\n".join(parts).encode())


class TimedEncoder(WrappedEncoder):
    """The encoder, with the time its passages take and which they were. Counting tokens belongs to the pipeline."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder)
        self.seconds = 0.0
        self.texts: list[str] = []

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """Encode, and count the seconds."""
        started = time.perf_counter()
        vectors = await self._encoder.encode_passages(texts)
        self.seconds += time.perf_counter() - started
        self.texts += texts
        return vectors


async def _throughput(
    footnote: Footnote, bare: Any, material: Iterator[Material], passages: int, yardstick: Yardstick
) -> list[ReportRow]:
    encoder = TimedEncoder(footnote.encoder)
    ingestor = _ingestor(footnote, encoder)
    await ingestor.ensure_base(BASE)
    await ingestor.ingest(next(material), BASE)  # models, parser and tables are there now
    await asyncio.to_thread(bare.encode, encoder.texts[:8])
    encoder.seconds, whole, plain, done = 0.0, 0.0, 0.0, 0
    while done < passages:
        encoder.texts.clear()
        started = time.perf_counter()
        ingested = 0
        while ingested < min(TURN, passages):
            ingested += (await ingestor.ingest(next(material), BASE)).passages
        whole += time.perf_counter() - started
        done += ingested
        started = time.perf_counter()
        await asyncio.to_thread(bare.encode, list(encoder.texts))
        plain += time.perf_counter() - started
    beside = (whole - encoder.seconds) / whole
    return [
        ReportRow(
            "ingested passages per second, end to end",
            f"{done / whole:.0f} ({plain / whole:.2f} times)",
            f"bare encode {done / plain:.0f}, of {done:,}",
            "1.8 times",
            plain / whole >= 1.8,
        ),
        ReportRow(
            "an ingested passage, end to end, in scans",
            f"{1000 * whole / done / yardstick.scan:.2f}",
            yardstick.scan_note,
            "",
            None,
        ),
        ReportRow(
            "ingest: what the pipeline takes beside the encoder",
            f"{beside:.1%}",
            f"of {whole:.1f} s",
            "under 10 %",
            beside < 0.1,
        ),
    ]


def _ingestor(footnote: Footnote, encoder: Encoder) -> Ingestor:
    return Ingestor(
        index=footnote.index,
        encoder=encoder,
        catalog=footnote.catalog,
        parser=footnote.parser,
        clock=footnote.clock,
    )


async def _search_during_ingest(footnote: Footnote, material: Iterator[Material]) -> ReportRow:
    """Return the same number of searches, each for new words: with nothing beside them, and during an ingest."""
    asked = _random_queries()
    await _time_searches(footnote, asked, 10)
    idle = await _time_searches(footnote, asked, SEARCHES)
    async with _ingest_meanwhile(_ingestor(footnote, footnote.encoder), material) as brought_in:
        during = await _time_searches(footnote, asked, SEARCHES)
        count = sum(brought_in)
    before, beside = percentile(idle, 0.95), percentile(during, 0.95)
    return ReportRow(
        "search p95 during an ingest, encoding included",
        f"{beside:.1f} ms ({beside / before:.2f} times)",
        f"idle {before:.1f} ms; {count:,} passages came in",
        "within 2 times",
        beside <= 2 * before if count else None,
    )


def _random_queries() -> Iterator[str]:
    draw = random.Random(_SEED + 1)
    paths = sorted((SAMPLES / "documents").rglob("*.md"))
    words = sorted({word for path in paths for word in content_words(path.read_text(encoding="utf-8"))})
    while True:
        yield " ".join(draw.sample(words, 5))


async def _time_searches(footnote: Footnote, asked: Iterator[str], count: int) -> list[float]:
    """Milliseconds of each search."""
    took: list[float] = []
    for query in itertools.islice(asked, count):
        started = time.perf_counter()
        await footnote.retriever.search(query, Scope(frozenset({BASE})))
        took.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(PAUSE)
    return took


@asynccontextmanager
async def _ingest_meanwhile(ingestor: Ingestor, material: Iterator[Material]) -> AsyncIterator[list[int]]:
    """Documents come in until the block ends; the passages of each are counted."""
    brought_in: list[int] = []
    over = asyncio.Event()

    async def bring_in() -> None:
        while not over.is_set():
            brought_in.append((await ingestor.ingest(next(material), BASE)).passages)

    async with asyncio.TaskGroup() as group:
        group.create_task(bring_in())
        while not brought_in:
            await asyncio.sleep(PAUSE)
        yield brought_in
        over.set()


async def _sample_texts(footnote: Footnote, sample: Dataset) -> list[tuple[str, str]]:
    """(document, passage) as they are encoded when they come in."""
    scope = frozenset({sample.name})
    return [
        (document.source, passage.searchable)
        for document in await footnote.catalog.documents(scope)
        for passage in await footnote.index.passages(document.id, document.version, Scope(scope))
    ]


def _part_of(folder: Path) -> Dataset:
    """Return some of a set's questions with all that answers them, filled up with other documents."""
    whole = read(folder, MOST_QUERIES)
    wanted = {name for query in whole.queries for name in query.relevant}
    ranked = sorted(whole.documents, key=lambda one: one.id not in wanted)
    return Dataset(whole.name, whole.queries, tuple(ranked[: max(MOST_DOCUMENTS, len(wanted))]))


async def _quality(footnote: Footnote, bare: Any, dataset: Dataset, texts: Sequence[tuple[str, str]]) -> ReportRow:
    """nDCG@10 of the dense leg with either's vectors of the same texts; a document counts by its best passage."""
    queries = [query for query in dataset.queries if query.relevant]
    asked, passages = [query.text for query in queries], [text for _, text in texts]
    ours = await footnote.encoder.encode_passages(passages), await footnote.encoder.encode_queries(asked)
    theirs = await asyncio.to_thread(lambda: (_unit(bare.encode(passages)), _unit(bare.encode(asked))))
    names = [name for name, _ in texts]
    mine, plain = await asyncio.to_thread(
        lambda: tuple(_ndcg(queries, names, documents @ vectors.T) for documents, vectors in (ours, theirs))
    )
    return ReportRow(
        f"nDCG@10 of the encoding, {dataset.name}",
        f"{mine:.4f} ({mine - plain:+.4f})",
        f"float32 {plain:.4f}, {len(queries)} questions",
        "within 0.005",
        abs(mine - plain) <= 0.005 or mine > plain,
    )


def _unit(vectors: "Vectors") -> "Vectors":
    import numpy as np

    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _ndcg(queries: Sequence[Query], names: Sequence[str], scores: "Vectors") -> float:
    """Return the mean over the queries; ``scores`` is (passages, queries)."""
    rankings = {
        query.id: [
            name
            for name in dict.fromkeys(names[place] for place in (-scores[:, column]).argsort())
            if name not in query.exclude
        ][:50]
        for column, query in enumerate(queries)
    }
    figures = per_question(queries, rankings)["nDCG@10"]
    return sum(figures) / len(figures)
