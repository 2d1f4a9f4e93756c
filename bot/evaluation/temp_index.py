"""A Footnote of its own for one measurement, on embedded stores that are gone afterwards.

What is measured comes in by the product's own ingestion.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from bot.container import Footnote, open_footnote
from bot.evaluation.temp_home import temporary_home
from bot.settings import Settings
from core.ingestion.ingestor import Change, Ingestor
from core.ingestion.originals import Material

_AT_ONCE = 500  # parameters of one statement


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """SIGTERM is handled as Ctrl-C is: the task is cancelled, and everything on its way out is closed."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)
    except (NotImplementedError, RuntimeError, ValueError):  # no such signals here, or not the main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


@asynccontextmanager
async def open_temporary(settings: Settings) -> AsyncIterator[Footnote]:
    """A Footnote on embedded stores in a temporary home, which is gone afterwards, also when interrupted."""
    with _ended_as_interrupted():
        async with temporary_home() as home:
            apart = {"footnote_home": home, "redis_url": None, "milvus_uri": None, "milvus_token": None}
            async with open_footnote(settings.model_copy(update=apart)) as footnote:
                yield footnote


async def fill_with_files(footnote: Footnote, base: str, files: Sequence[tuple[Path, str]]) -> list[str]:
    """Read files into a base by the product's own ingestion. Return a line for each that could not be read."""
    ingestor = Ingestor(
        index=footnote.index,
        encoder=footnote.encoder,
        catalog=footnote.catalog,
        parser=footnote.parser,
        clock=footnote.clock,
    )
    await ingestor.ensure_base(base)
    failed = []
    for path, source in files:
        data = await asyncio.to_thread(path.read_bytes)
        done = await ingestor.ingest(Material(source, path.name, data), base)
        if done.change is Change.FAILED:
            failed.append(f"{source} is not read: {done.reason}")
    return failed
