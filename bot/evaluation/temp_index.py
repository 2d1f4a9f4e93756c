"""A temporary Footnote for one measurement, on embedded stores that are deleted afterwards.

Documents are ingested by the product's own code.
"""

import asyncio
import fcntl
import os
import shutil
import signal
import tempfile
from asyncio import to_thread
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from adapters.redis.embedded_server import EmbeddedValkey
from bot.container import Footnote, open_footnote
from bot.settings import Settings
from core.ingestion.ingestor import Change, Ingestor
from core.ingestion.originals import Material
from core.model.errors import FootnoteError

_AT_ONCE = 500  # parameters in one statement


@contextmanager
def _ended_as_interrupted() -> Iterator[None]:
    """Handle SIGTERM like Ctrl-C: cancel the task and close everything."""
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
    """Yield a Footnote on embedded stores in a temporary home, which is deleted afterwards, even when interrupted."""
    with _ended_as_interrupted():
        async with temporary_home() as home:
            apart = {"footnote_home": home, "redis_url": None, "milvus_uri": None, "milvus_token": None}
            async with open_footnote(settings.model_copy(update=apart)) as footnote:
                yield footnote


async def fill_with_files(footnote: Footnote, base: str, files: Sequence[tuple[Path, str]]) -> list[str]:
    """Ingest files into a base by the product's own code. Return a line for each that could not be read."""
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


PREFIX = "footnote-eval-"
_LOCK = "owner.lock"


@asynccontextmanager
async def temporary_home(within: Path | None = None) -> AsyncIterator[Path]:
    """Yield a new folder, by default in the system's temporary folder, and remove it afterwards."""
    around = within or Path(tempfile.gettempdir())
    await sweep(around)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=around) as made:
        home = Path(made)
        owner = os.open(home / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(owner, fcntl.LOCK_EX)
            yield home
        finally:
            os.close(owner)


async def sweep(around: Path) -> list[Path]:
    """Remove the homes in this folder whose owner process has ended. Return their paths."""
    swept = []
    for lock in await to_thread(lambda: sorted(around.glob(f"{PREFIX}*/{_LOCK}"))):
        try:
            owner = os.open(lock, os.O_RDWR)
        except OSError:  # another user's, or already removed
            continue
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its owner is alive, or another process sweeps it
        else:
            await _shut_down_and_remove(lock.parent)
            swept.append(lock.parent)
        finally:
            os.close(owner)
    return swept


async def _shut_down_and_remove(home: Path) -> None:
    if (home / "valkey").is_dir():
        with suppress(FootnoteError):
            async with EmbeddedValkey(home / "valkey"):
                pass  # adopted, then shut down by its last user
    with suppress(OSError):
        await to_thread(shutil.rmtree, home)
