"""Consistent backup of catalog, passages, memory and stored files while others keep writing.

Each document is stored as a pair: the catalog's entry and the passages of exactly that version. A document that changes
during the backup is stored in its old or new version, never in a mix.
"""

import asyncio
import fcntl
import logging
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from redis.asyncio import Redis

from adapters.backup.folder import MANIFEST, MEMORY, PASSAGES, BackupReader, BackupWriter, Manifest
from adapters.redis.client import bounded_call
from adapters.redis.export import KeptKey, exported_keys, import_key, is_empty
from adapters.redis.keys import CHANGES, tagged_key
from adapters.redis.schema import SCHEMA, check_schema, mark_schema
from core.ingestion.passage_vectors import PassageCopy, copy_passages, put_back
from core.model.clock import Clock
from core.model.errors import ConfigurationError
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document
from core.ports.catalog import BlobStore, Catalog
from core.ports.index import Encoder, Index

_TRIES = 5  # to read a document and its passages at one version while it is being replaced
_RESTORING = tagged_key("restoring")

Progress = Callable[[str, int, int], None]  # what, done, total


@dataclass(frozen=True, slots=True)
class BackedUpDocument:
    """A document and its passages; without a copy if the index lost some, which its original then restores."""

    document: Document
    copy: PassageCopy | None


@dataclass(frozen=True, slots=True)
class Backup:
    """Backup and restore of open stores. ``blob_stores`` are keyed by their names in the folder."""

    redis: Redis
    catalog: Catalog
    index: Index
    encoder: Encoder
    blob_stores: Mapping[str, BlobStore]
    clock: Clock
    installation: str = ""

    async def make(self, folder: Path, progress: Progress) -> Manifest:
        """Write a backup. Raises ConfigurationError if the folder is not writable, StoreUnavailable.

        A backup of an older version's data can be restored by that version. Afterwards the data is marked as this
        version's.
        """
        schema = await check_schema(self.redis)
        installation = self.installation if schema == SCHEMA else ""  # older versions do not know this field
        writer = await asyncio.to_thread(BackupWriter, folder)
        try:
            documents = passages = keys = 0
            async for one in self._documents(progress):
                await asyncio.to_thread(writer.add_line, PASSAGES, to_json(one))
                documents, passages = documents + 1, passages + one.document.passages
            async for key in exported_keys(self.redis):
                await asyncio.to_thread(writer.add_line, MEMORY, to_json(key))
                keys += 1
            for name, blobs in self.blob_stores.items():
                async for entry, data in blobs.entries():
                    await asyncio.to_thread(writer.add_file, f"{name}/{entry}", data)
            made = self.clock.now().isoformat(timespec="seconds")
            about = (self.encoder.name, self.encoder.dimension, schema)
            manifest = Manifest(made, version("footnote"), *about, documents, passages, keys, installation=installation)
            finished = await asyncio.to_thread(writer.finish, manifest)
        except OSError as error:
            raise ConfigurationError(f"{folder} cannot be written: {error.strerror or error}.") from error
        if schema < SCHEMA:
            await mark_schema(self.redis)
        return finished

    async def _documents(self, progress: Progress) -> AsyncIterator[BackedUpDocument]:
        bases = frozenset(base.name for base in await self.catalog.bases())
        documents = await self.catalog.documents(bases)
        for number, document in enumerate(documents):
            progress(document.source, number, len(documents))
            if (found := await self._pair(document.id)) is not None:
                yield found

    async def _pair(self, document_id: str) -> BackedUpDocument | None:
        """Return a document with its passages, or None if it was removed in the meantime."""
        found: BackedUpDocument | None = None
        for _ in range(_TRIES):
            document = await self.catalog.document(document_id)
            if document is None:
                return None
            found = BackedUpDocument(document, await copy_passages(document, self.index, self.encoder))
            if found.copy is not None:
                return found
        return found

    async def restore(self, folder: Path, progress: Progress) -> Manifest:
        """Restore a backup into empty stores. If interrupted, the same command continues.

        Raises NotFound if there is no backup, ConfigurationError if it is damaged or newer, or if there is data
        already.
        """
        reader = await asyncio.to_thread(BackupReader, folder)
        await asyncio.to_thread(reader.check)
        manifest = reader.manifest
        if manifest.schema > SCHEMA:
            raise ConfigurationError("The backup was made by a newer Footnote.", remedy="Upgrade Footnote first.")
        await self._claim(manifest)
        for name, blobs in self.blob_stores.items():
            for entry in reader.entries(name):
                await blobs.keep_entry(entry, await asyncio.to_thread(reader.read, name, entry))
        async for line in _lines(reader, MEMORY):
            kept: KeptKey = from_json(KeptKey, line)
            # The change counter must not decrease: a value below the ledger's, left by a killed restore, counts as data
            # loss.
            if kept.name != CHANGES:
                await import_key(self.redis, kept)
        await self._put_back(reader, progress)
        await self.catalog.count_change()  # updates an outdated ledger, also after changes of bases only
        await self.catalog.remember_index(self.index.identity)
        async with bounded_call():
            await self.redis.delete(_RESTORING)
        return manifest

    async def _put_back(self, reader: BackupReader, progress: Progress) -> None:
        done = 0
        async for line in _lines(reader, PASSAGES):
            one: BackedUpDocument = from_json(BackedUpDocument, line)
            progress(one.document.source, done, reader.manifest.documents)
            if await self.catalog.document(one.document.id) != one.document:
                if one.copy is not None:
                    await put_back(one.copy, self.index, self.encoder)
                await self.catalog.publish(one.document)
            done += 1

    async def _claim(self, manifest: Manifest) -> None:
        """Check that the stores are empty, or contain only an interrupted attempt of this restore."""
        async with bounded_call():
            begun = await self.redis.get(_RESTORING)
        if begun != manifest.made_at and not await is_empty(self.redis):
            raise ConfigurationError(
                "There is already data here.",
                remedy="Restore into an empty FOOTNOTE_HOME, or an empty REDIS_URL and MILVUS_URI.",
            )
        async with bounded_call():
            await self.redis.set(_RESTORING, manifest.made_at)


async def _lines(reader: BackupReader, name: str) -> AsyncIterator[str]:
    """Yield the lines of a file, each read in a thread."""
    lines = reader.lines(name)
    while (line := await asyncio.to_thread(next, lines, None)) is not None:
        yield line


_LOOK_AGAIN = 0.5  # seconds between checks while another process makes it

log = logging.getLogger(__name__)


async def back_up_older_data(backup: Backup, home: Path) -> Path | None:
    """Back up an older version's data and mark it as this version's; return the folder, or None without such data.

    Raises ConfigurationError if the backup cannot be written; the data then stays the old version's.
    """
    if await check_schema(backup.redis) == SCHEMA:
        return None
    folder = home / "backups" / f"before-{version('footnote')}"
    async with _alone(home / ".upgrade.lock"):
        if await check_schema(backup.redis) == SCHEMA:  # another process has just done so
            return None
        log.warning("upgrade_backup_begins", extra={"folder": str(folder)})
        if (folder / MANIFEST).exists():  # from an earlier upgrade, after which older data was restored
            folder = folder.with_name(f"{folder.name}-{backup.clock.now():%Y%m%d-%H%M%S}")
        try:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)  # left by an interrupted start
            await backup.make(folder, lambda *_: None)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"The data of the older Footnote could not be backed up before the upgrade: {error.args[0]}",
                remedy="Free some disk space, or run footnote backup with a folder on another disk. Then start again.",
            ) from error
    return folder


@asynccontextmanager
async def _alone(file: Path) -> AsyncIterator[None]:
    """Hold a lock among processes of this data directory; it is released when the process ends."""
    descriptor = os.open(file, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                await asyncio.sleep(_LOOK_AGAIN)
        yield
    finally:
        os.close(descriptor)
