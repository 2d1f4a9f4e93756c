"""How fast, each row beside its baseline in the same run.

``search`` has the product's search against the plain one, over a ``corpus`` of ``texts`` and ``vectors`` of any
size; ``startup`` starts a process on it; ``encoder_speed`` has the model alone. What comes in and what many people at
once feel is measured in ``ingestion`` and ``load``. ``yardstick`` is a fixed piece of work beside all of them.
"""

import tempfile
import time
from collections.abc import AsyncGenerator, Collection
from contextlib import ExitStack
from pathlib import Path

from bot.container import open_footnote
from bot.settings import Settings
from core.model.errors import ConfigurationError
from research.benchmark.corpus import Corpus, corpus_of, fill
from research.benchmark.encoder_speed import encoding_rows
from research.benchmark.rows import ReportRow
from research.benchmark.search import search_rows
from research.benchmark.startup import opening_rows
from research.benchmark.texts import Texts, texts_of
from research.benchmark.yardstick import Yardstick, take_yardstick

PARTS = ("search", "encoding", "ingest", "load")
INGESTED = 600  # passages


async def measure(
    settings: Settings,
    passages: int,
    *,
    parts: Collection[str] = PARTS,
    texts: Path | None = None,
    answers: int = 100,
    keep: Path | None = None,
) -> AsyncGenerator[ReportRow, None]:
    """Yield the rows of these parts, each as soon as it is known, on embedded stores in a temporary home.

    With ``keep`` the searched index is built in that folder and stays; one that is there already is searched again.

    Raises ConfigurationError when that one is of another size, or when there are no ``texts``.
    """
    found = texts_of(texts)
    yardstick = await take_yardstick()
    for row in yardstick.rows():
        yield row
    if "search" in parts:
        async for row in _search(settings, passages, found, keep, yardstick):
            yield row
    if "encoding" in parts:
        for row in await _encoding_rows(settings, found, yardstick):
            yield row
    if "ingest" in parts:
        from research.benchmark.ingestion import ingest_rows

        for row in await ingest_rows(settings, yardstick, passages=INGESTED):
            yield row
    if "load" in parts:
        from research.benchmark.load import load_rows

        for row in await load_rows(settings, yardstick, answers=answers):
            yield row


async def _search(
    settings: Settings, size: int, texts: Texts, keep: Path | None, yardstick: Yardstick
) -> AsyncGenerator[ReportRow, None]:
    with ExitStack() as stack:
        home = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="footnote-bench-")))
        async with open_footnote(_apart(settings, home)) as footnote:
            corpus = await corpus_of(texts, size, footnote.encoder)
            there = await footnote.index.count()
            if there != size:
                if there:
                    raise ConfigurationError(
                        f"{home} holds {there:,} passages, not {size:,}.", remedy="Name another folder, or remove it."
                    )
                started = time.perf_counter()
                await fill(footnote, corpus)
                took = time.perf_counter() - started
                yield ReportRow(f"index of {size:,} built", f"{took:.0f} s", f"{size / took:,.0f} a second", "", None)
            yield _corpus_row(corpus)
            for row in await search_rows(footnote, corpus, yardstick):
                yield row
        for row in await opening_rows(home, size, corpus.questions, yardstick):
            yield row


async def _encoding_rows(settings: Settings, texts: Texts, yardstick: Yardstick) -> list[ReportRow]:
    with tempfile.TemporaryDirectory(prefix="footnote-bench-") as home:
        async with open_footnote(_apart(settings, Path(home))) as footnote:
            return await encoding_rows(footnote.encoder, texts, settings.embedding_model or "", yardstick)


def _apart(settings: Settings, home: Path) -> Settings:
    apart = {"footnote_home": home, "redis_url": None, "milvus_uri": None, "milvus_token": None}
    return settings.model_copy(update=apart)


def _corpus_row(corpus: Corpus) -> ReportRow:
    return ReportRow("searched", f"{corpus.size:,} passages", corpus.texts.told, "", None)
