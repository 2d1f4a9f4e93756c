"""Documents of a source: add them to a base, move them between bases, remove them. Each step is idempotent."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from core.ingestion.ingestor import Change, Ingestor, IngestResult, Progress, document_id_of
from core.ingestion.originals import Material, Originals
from core.model.connections import Connection, SyncedItem
from core.model.json_codec import from_json
from core.model.knowledge import Document
from core.ports.catalog import Catalog
from core.ports.connector import Content, SourceItem

Guard = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SyncedDocuments:
    """Writes the documents of connections. Raises StoreUnavailable, and what guard and progress raise."""

    catalog: Catalog
    ingestor: Ingestor
    originals: Originals

    async def bring_in(
        self, connection: Connection, item: SyncedItem, content: Content, base: str, guard: Guard, progress: Progress
    ) -> IngestResult:
        """Ingest fetched content into its base, and remove it from the previous one."""
        listed = listed_item(item)
        material = Material(
            source=source_of(connection, item.id),
            name=content.name,
            data=content.data,
            url=listed.url,
            added_by=connection.name,
            title=listed.title,
            etag=listed.version,
            dated=listed.dated,
            origin=connection.kind,
        )
        return await self._ingest(connection, item, material, base, guard, progress)

    async def move(
        self, connection: Connection, item: SyncedItem, base: str, guard: Guard, progress: Progress
    ) -> IngestResult | None:
        """Move an unchanged document to another base, title or address without fetching it.

        Its vectors are reused. Returns None if its original is no longer stored, so it has to be fetched.
        """
        kept = await self.originals.read(_document(connection, item)) if item.indexed else None
        if kept is None:
            return None
        listed = listed_item(item)
        material = replace(kept, url=listed.url, title=listed.title, dated=listed.dated)
        return await self._ingest(connection, item, material, base, guard, progress)

    async def _ingest(
        self,
        connection: Connection,
        item: SyncedItem,
        material: Material,
        base: str,
        guard: Guard,
        progress: Progress,
    ) -> IngestResult:
        moves = bool(item.base) and item.base != base
        if moves:  # readers of the old base may no longer be allowed to read it
            await self.hide(connection, item)
        before = _document(connection, item) if item.indexed and (moves or item.hidden) else None
        result = await self.ingestor.ingest(material, base, progress, still_ours=guard, moved_from=before)
        if result.change is Change.UNCHANGED:  # a worker that died just after publishing left the old version
            await self.ingestor.tidy(base, material.source)
        if moves and result.change is not Change.FAILED:
            await guard()
            await self.remove(connection, item)
        return result

    async def indexed_version(self, connection: Connection, item: SyncedItem, base: str) -> str:
        """Return the version of a document that is visible in a base; empty if there is none."""
        found = await self.catalog.document(document_id_of(base, source_of(connection, item.id)))
        return found.version if found is not None else ""

    async def hide(self, connection: Connection, item: SyncedItem) -> None:
        """Hide a document at once; its passages stay until it is moved or removed."""
        if item.base:
            await self.catalog.withdraw(document_id_of(item.base, source_of(connection, item.id)))

    async def remove(self, connection: Connection, item: SyncedItem) -> None:
        """Remove a document with its passages and its original."""
        if item.base:
            await self.ingestor.remove(document_id_of(item.base, source_of(connection, item.id)))


def _document(connection: Connection, item: SyncedItem) -> Document:
    """Return the document that was indexed, which may be hidden by now."""
    source = source_of(connection, item.id)
    return Document(document_id_of(item.base, source), item.base, source, "", item.indexed, "", 0)


def source_of(connection: Connection, item_id: str) -> str:
    """Return a document's source id within its base; it survives renames and moves."""
    return f"{connection.kind}://{connection.name}/{item_id}"


def listed_item(item: SyncedItem) -> SourceItem:
    """Return the item as the source last listed it."""
    found: SourceItem = from_json(SourceItem, item.listed)
    return found


def may_retry(item: SyncedItem, now: datetime) -> bool:
    """Return whether a failed document is due again: at the next three rounds, then once a day."""
    if item.failed_since is None or item.tries < MOST_TRIES:
        return True
    return (now - item.failed_since).days > item.tries - MOST_TRIES


MOST_TRIES = 3
