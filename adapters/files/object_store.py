"""Blob store that every worker can reach: S3, compatible services, or any other fsspec store.

Writes are atomic. Names are digests, as in ``FolderBlobStore``, so a backup of one store can be restored to the other.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from core.model.errors import ConfigurationError, DocumentRejected, StoreUnavailable
from core.ports.catalog import BlobStore

T = TypeVar("T")

_ENTRY = re.compile(r"[0-9a-f]{40}")
_SECONDS = 60.0  # per object
_LISTING_SECONDS = 600.0
_FEW = 20  # objects that are queried one by one


class ObjectBlobStore(BlobStore):
    """Blob store below an address such as ``s3://bucket/footnote``, which fsspec opens at the first use.

    Credentials come from the protocol's own client, for example AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._opened: tuple[Any, str] | None = None
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="footnote-blobs")  # never blocks other threads

    async def keep(self, name: str, data: bytes) -> None:
        """Store the bytes durably. Raises StoreUnavailable."""
        await self.keep_entry(_entry(name), data)

    async def keep_entry(self, entry: str, data: bytes) -> None:
        """Store an item from ``entries``. Raises DocumentRejected if the name is not one of ours, StoreUnavailable."""
        if not _ENTRY.fullmatch(entry):
            raise DocumentRejected(f"{entry[:80]!r} is not the name of a stored file.")
        await self._call(lambda fs, root: fs.pipe_file(f"{root}/{entry}", data))

    async def read(self, name: str) -> bytes | None:
        """Return the bytes, or None if they do not exist. Raises StoreUnavailable."""
        return await self._read(_entry(name))

    async def sizes(self, names: Collection[str]) -> Mapping[str, int]:
        """Return the size in bytes of each of these names that exists; use one listing for many names."""
        entries = {_entry(name): name for name in names}
        found = await self._call(lambda fs, root: _list_sizes(fs, root, entries), _LISTING_SECONDS)
        return {entries[entry]: size for entry, size in found.items() if entry in entries}

    async def forget(self, name: str) -> None:
        """Delete the bytes, if they exist. Raises StoreUnavailable."""
        await self._forget(_entry(name))

    async def sweep(self, older_than: timedelta, *, sparing: Collection[str] = ()) -> int:
        """Delete every older blob except those named in ``sparing``; return their number."""
        before, spared = datetime.now(UTC) - older_than, {_entry(name) for name in sparing}

        def old(fs: Any, root: str) -> list[str]:
            entries = [entry for entry in _list_entries(fs, root) if entry not in spared]
            return [entry for entry in entries if _aware(fs.modified(f"{root}/{entry}")) < before]

        found = await self._call(old, _LISTING_SECONDS)
        for entry in found:
            await self._forget(entry)
        return len(found)

    async def entries(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield (object name, bytes) of every blob; skip objects that are deleted in between."""
        for entry in await self._call(_list_entries, _LISTING_SECONDS):
            if (data := await self._read(entry)) is not None:
                yield entry, data

    async def _read(self, entry: str) -> bytes | None:
        def read(fs: Any, root: str) -> bytes | None:
            try:
                return bytes(fs.cat_file(f"{root}/{entry}"))
            except FileNotFoundError:
                return None

        return await self._call(read)

    async def _forget(self, entry: str) -> None:
        def forget(fs: Any, root: str) -> None:
            try:
                fs.rm_file(f"{root}/{entry}")
            except FileNotFoundError:
                return

        await self._call(forget)

    async def _call(self, do: Callable[[Any, str], T], seconds: float = _SECONDS) -> T:
        """Run ``do`` in a thread. Raises StoreUnavailable, or ConfigurationError if the protocol is not installed."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: do(*self._open()))
        except (ImportError, ValueError) as error:
            raise ConfigurationError(
                f"BLOB_STORE_URL cannot be used: {error}.", remedy="To use s3://, install footnote[s3]."
            ) from error
        except OSError as error:  # includes TimeoutError; s3fs translates service errors to OSError
            said = " ".join(str(error).split())[:160] or type(error).__name__
            raise StoreUnavailable(
                f"The file store failed: {said}.", remedy="Check BLOB_STORE_URL and its credentials."
            ) from error

    def _open(self) -> tuple[Any, str]:
        if self._opened is None:
            from fsspec.core import url_to_fs

            self._opened = url_to_fs(self._url, skip_instance_cache=True)
            self._opened[0].use_listings_cache = False
        return self._opened


def _entry(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:40]


def _list_entries(fs: Any, root: str) -> list[str]:
    fs.invalidate_cache()
    try:
        paths = fs.ls(root, detail=False)
    except FileNotFoundError:
        return []
    return sorted(name for path in paths if _ENTRY.fullmatch(name := str(path).rsplit("/", 1)[-1]))


def _list_sizes(fs: Any, root: str, entries: Collection[str]) -> dict[str, int]:
    fs.invalidate_cache()
    try:
        if len(entries) > _FEW:
            return {str(one["name"]).rsplit("/", 1)[-1]: int(one["size"] or 0) for one in fs.ls(root, detail=True)}
        return {entry: int(fs.size(f"{root}/{entry}")) for entry in entries if fs.exists(f"{root}/{entry}")}
    except FileNotFoundError:
        return {}


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)
