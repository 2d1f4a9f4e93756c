"""One document of a source on its way into, between and out of knowledge bases. Each step may be repeated."""

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
        """Ingest what was fetched into its base, and take it out of the one that it was in."""
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
        """Bring an unchanged document into another base, or under another title or address, without fetching it.

        Its vectors are reused. None where what it was made of is no longer kept: it has to be fetched.
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
        if moves:  # where it was, people may read it who no longer should
            await self.hide(connection, item)
        before = _document(connection, item) if item.indexed and (moves or item.hidden) else None
        result = await self.ingestor.ingest(material, base, progress, still_ours=guard, moved_from=before)
        if result.change is Change.UNCHANGED:  # a worker that died just after it was visible left the old version
            await self.ingestor.tidy(base, material.source)
        if moves and result.change is not Change.FAILED:
            await guard()
            await self.remove(connection, item)
        return result

    async def indexed_version(self, connection: Connection, item: SyncedItem, base: str) -> str:
        """Return the version of its document that is visible in a base; empty where none is."""
        found = await self.catalog.document(document_id_of(base, source_of(connection, item.id)))
        return found.version if found is not None else ""

    async def hide(self, connection: Connection, item: SyncedItem) -> None:
        """Make a document invisible at once; its passages stay until it is moved or removed."""
        if item.base:
            await self.catalog.withdraw(document_id_of(item.base, source_of(connection, item.id)))

    async def remove(self, connection: Connection, item: SyncedItem) -> None:
        """Take a document out, with its passages and its original."""
        if item.base:
            await self.ingestor.remove(document_id_of(item.base, source_of(connection, item.id)))


def _document(connection: Connection, item: SyncedItem) -> Document:
    """Return what names the document that was indexed, which may be invisible by now."""
    source = source_of(connection, item.id)
    return Document(document_id_of(item.base, source), item.base, source, "", item.indexed, "", 0)


def source_of(connection: Connection, item_id: str) -> str:
    """Return what a document of a source is called within its base; renames and moves leave it as it is."""
    return f"{connection.kind}://{connection.name}/{item_id}"


def listed_item(item: SyncedItem) -> SourceItem:
    """Return the item as the source listed it last."""
    found: SourceItem = from_json(SourceItem, item.listed)
    return found


def may_retry(item: SyncedItem, now: datetime) -> bool:
    """Whether a document that failed is due again: at the next three rounds, then once a day."""
    if item.failed_since is None or item.tries < MOST_TRIES:
        return True
    return (now - item.failed_since).days > item.tries - MOST_TRIES


MOST_TRIES = 3
