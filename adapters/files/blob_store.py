"""Bytes set aside for a while as files of one folder: copies of what was removed, and what waits to be read.

Each is written beside its place and moved there, so that a file that is there is whole. Only this machine has them:
workers on several machines share the folder, or do without what it holds.
"""

import asyncio
import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from core.model.errors import DocumentRejected
from core.ports.catalog import BlobStore

_ENTRY = re.compile(r"[0-9a-f]{40}")


class FolderBlobStore(BlobStore):
    """Files below ``folder``, which is made when it is first needed, for its owner's eyes only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keep(self, name: str, data: bytes) -> None:
        """Keep them durably. Raises DocumentRejected when there is no room."""
        await self.keep_entry(self._path(name).name, data)

    async def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Everything that is kept: (a file's name, its bytes); what goes meanwhile is left out."""
        for path in await asyncio.to_thread(self._files):
            with suppress(FileNotFoundError):
                yield path.name, await asyncio.to_thread(path.read_bytes)

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Keep what ``entries`` gave. Raises DocumentRejected when there is no room, or that is no name of ours."""
        if not _ENTRY.fullmatch(entry):
            raise DocumentRejected(f"{entry[:80]!r} is not the name of a stored file.")
        try:
            await asyncio.to_thread(self._write, self._folder / entry, data)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                reason, remedy = "the disk is full", "Make room on the disk and add it again."
            else:
                reason, remedy = error.strerror or type(error).__name__, "footnote doctor says what is wrong with it."
            raise DocumentRejected(f"The file cannot be stored: {reason}.", remedy=remedy) from error

    async def read(self, name: str) -> bytes | None:
        """Return the bytes; None when they are not there (any more)."""
        try:
            return await asyncio.to_thread(self._path(name).read_bytes)
        except OSError:
            return None

    async def sizes(self, names: Collection[str]) -> Mapping[str, int]:
        """Of each of these names that is there, how many bytes."""
        return await asyncio.to_thread(self._sizes, names)

    async def forget(self, name: str) -> None:
        """Remove them, if they are there."""
        await asyncio.to_thread(self._path(name).unlink, missing_ok=True)

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Remove everything that was kept longer ago, but for what these names name; how many."""
        return await asyncio.to_thread(self._sweep, time.time() - older_than.total_seconds(), sparing)

    def _path(self, name: str) -> Path:
        """Where it lies: under a digest, because names come from outside."""
        return self._folder / hashlib.sha256(name.encode()).hexdigest()[:40]

    def _write(self, path: Path, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_suffix(f".{secrets.token_hex(8)}")  # no pid: containers that share the folder are all 1
        try:
            with draft.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            _sync_folder(self._folder)
        finally:
            draft.unlink(missing_ok=True)

    def _sizes(self, names: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for name in names:
            with suppress(OSError):
                found[name] = self._path(name).stat().st_size
        return found

    def _files(self) -> list[Path]:
        """Return what is there, without drafts of what is just being written."""
        if not self._folder.is_dir():
            return []
        return sorted(path for path in self._folder.iterdir() if _ENTRY.fullmatch(path.name) and path.is_file())

    def _sweep(self, before: float, sparing: Collection[str]) -> int:
        if not self._folder.is_dir():
            return 0
        spared = {self._path(name) for name in sparing}
        files = (path for path in self._folder.iterdir() if path not in spared and path.is_file())
        old = [path for path in files if path.stat().st_mtime < before]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)


def _sync_folder(folder: Path) -> None:
    """Make a new name in it outlast a power cut, as what it names does."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
