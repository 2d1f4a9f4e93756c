"""Temporary homes for measurements, gone afterwards; what a killed measurement left behind is swept by the next.

A home holds a lock for as long as its owner lives; the kernel drops it with the process. One whose lock is free is
nobody's: its Valkey, which outlives a killed program by design, is shut down, and the folder removed. Its Milvus ends
by itself.
"""

import fcntl
import os
import shutil
import tempfile
from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from adapters.redis.embedded_server import EmbeddedValkey
from core.model.errors import FootnoteError

PREFIX = "footnote-eval-"
_LOCK = "owner.lock"


@asynccontextmanager
async def temporary_home(within: Path | None = None) -> AsyncIterator[Path]:
    """A new folder, in the system's temporary one unless said otherwise, removed on leaving."""
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
    """Remove the homes in this folder whose owner is gone; which ones those were."""
    swept = []
    for lock in await to_thread(lambda: sorted(around.glob(f"{PREFIX}*/{_LOCK}"))):
        try:
            owner = os.open(lock, os.O_RDWR)
        except OSError:  # another user's, or gone meanwhile
            continue
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its owner lives, or somebody else sweeps it
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
                pass  # adopted, and shut down by its last user
    with suppress(OSError):
        await to_thread(shutil.rmtree, home)
