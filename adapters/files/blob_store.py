"""Blob store in a local folder: copies of removed documents, and documents waiting to be read.

A file is written under a temporary name and then renamed, so existing files are complete. The folder is local: workers
on several machines must share it, or go without its files.
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
    """Blob store in ``folder``, which is created at the first use, readable only by its owner."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keep(self, name: str, data: bytes) -> None:
        """Store the bytes durably. Raises DocumentRejected if the disk is full."""
        await self.keep_entry(self._path(name).name, data)

    async def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield (file name, bytes) of every blob; skip files that are deleted in between."""
        for path in await asyncio.to_thread(self._files):
            with suppress(FileNotFoundError):
                yield path.name, await asyncio.to_thread(path.read_bytes)

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Store an item from ``entries``. Raises DocumentRejected if the disk is full or the name is invalid."""
        if not _ENTRY.fullmatch(entry):
            raise DocumentRejected(f"{entry[:80]!r} is not the name of a stored file.")
        try:
            await asyncio.to_thread(self._write, self._folder / entry, data)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                reason, remedy = "the disk is full", "Free some disk space and add it again."
            else:
                reason, remedy = error.strerror or type(error).__name__, "footnote doctor says what is wrong with it."
            raise DocumentRejected(f"The file cannot be stored: {reason}.", remedy=remedy) from error

    async def read(self, name: str) -> bytes | None:
        """Return the bytes, or None if they do not exist."""
        try:
            return await asyncio.to_thread(self._path(name).read_bytes)
        except OSError:
            return None

    async def sizes(self, names: Collection[str]) -> Mapping[str, int]:
        """Return the size in bytes of each of these names that exists."""
        return await asyncio.to_thread(self._sizes, names)

    async def forget(self, name: str) -> None:
        """Delete the bytes, if they exist."""
        await asyncio.to_thread(self._path(name).unlink, missing_ok=True)

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Delete every older blob except those named in ``sparing``; return their number."""
        return await asyncio.to_thread(self._sweep, time.time() - older_than.total_seconds(), sparing)

    def _path(self, name: str) -> Path:
        """Return the path of a blob: a digest, because names are untrusted."""
        return self._folder / hashlib.sha256(name.encode()).hexdigest()[:40]

    def _write(self, path: Path, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_suffix(f".{secrets.token_hex(8)}")  # no pid: it is 1 in every container
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
        """Return the stored files, without unfinished drafts."""
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
    """Fsync the folder, so that a new name survives a power failure like its content."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
