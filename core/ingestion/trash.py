"""Trash for removed and replaced documents, which can be restored.

Callers check permissions. A removed document becomes invisible first and is deleted afterwards. A copy for restoring
is kept for a week. A version that an ingest replaces is kept in the same way.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta

from core.ingestion.originals import Originals
from core.ingestion.passage_vectors import copy_passages, pack, put_back, unpack
from core.model.clock import Clock
from core.model.errors import DocumentRejected, NotFound
from core.model.knowledge import NOBODY, Document, KnowledgeBase, find_base
from core.ports.catalog import BlobStore, Catalog, RemovedDocument, TrashStore
from core.ports.index import Encoder, Index

RESTORABLE = timedelta(days=7)
MOST_REPLACED = 10  # versions of one document; a watched folder may change every minute


@dataclass(slots=True, kw_only=True)
class Trash:
    """Removal and restoring of documents."""

    catalog: Catalog
    index: Index
    encoder: Encoder
    store: TrashStore
    blobs: BlobStore
    clock: Clock
    originals: Originals

    async def base(self, name: str) -> KnowledgeBase | None:
        """Return the base of this name, ignoring case."""
        return find_base(await self.catalog.bases(), name)

    async def remove(self, document: Document, by: str) -> int:
        """Copy a document, make it invisible, then delete it. Return the number of its passages."""
        base = await self.base(document.knowledge_base)
        if base is None:  # removed in the meantime, with all its documents
            base = KnowledgeBase(document.knowledge_base, grants=frozenset({NOBODY}))
        await self._set_aside(document)  # first, so that nothing is lost if the process dies later
        await self._keep_removal(self._removal(document, base, by))
        await self.catalog.withdraw(document.id)
        return await self.index.remove(document.id)

    async def purge(self, document: Document) -> None:
        """Delete a document permanently, with every copy of it and of its earlier versions."""
        await self.catalog.withdraw(document.id)
        await self.index.remove(document.id)
        for removed in await self.store.removals():
            if removed.document.id == document.id:
                await self._forget_removed(removed)
                await self.originals.forget(removed.document)
        await self.originals.forget(document)

    async def remove_base(self, base: KnowledgeBase, by: str) -> tuple[Document, ...]:
        """Make a whole base invisible at once. Return its documents, which the caller must ``put_away``."""
        documents = tuple(await self.catalog.documents(frozenset({base.name})))
        for removed in await self.store.removals():
            if removed.base.name == base.name and removed.base != base:  # restore it with the base's latest grants
                await self.store.keep_removal(replace(removed, base=base))
        for document in documents:
            await self._keep_removal(replace(self._removal(document, base, by), whole_base=True))
        await self.catalog.remove_base(base.name)
        return documents

    async def _keep_removal(self, removed: RemovedDocument) -> None:
        """Record a removal, and drop an earlier replacement of the same version, which shares its copy."""
        await self.store.keep_removal(removed)
        await self.store.forget_removal(replace(removed, replaced=True).key)

    async def put_away(self, document: Document) -> int:
        """Copy an invisible document to the trash, then delete its passages. Return their number.

        A repeated call after a crash keeps the existing copy.
        """
        await self._set_aside(document)
        return await self.index.remove(document.id)

    async def retire(self, document: Document, by: str) -> bool:
        """Copy a version to the trash before it is replaced. Return False if its base or passages are missing.

        Raises DocumentRejected without room.
        """
        base = await self.base(document.knowledge_base)
        if base is None or not await self._set_aside(document):
            return False
        await self.store.keep_removal(replace(self._removal(document, base, by), replaced=True))
        return True

    async def _set_aside(self, document: Document) -> bool:
        copy = await copy_passages(document, self.index, self.encoder)
        if copy is not None:
            await self.blobs.keep(kept_name(document), await asyncio.to_thread(pack, copy))
        return copy is not None

    async def restore(self, removed: RemovedDocument, by: str) -> Document:
        """Restore a document. Raises NotFound without its copy, DocumentRejected if another version is visible.

        If it was replaced, the version that replaced it goes to the trash. The removal and the copy are kept until the
        document is visible again, so that a killed restore can be repeated.
        """
        there = await self.catalog.document(removed.document.id)
        if there is not None and there.version == removed.document.version:
            return await self._forget_removed(removed)
        if there is not None and not removed.replaced:
            raise DocumentRejected("It already exists in another version.", remedy="Remove that version first.")
        copy = await self.blobs.read(removed.kept)
        if copy is None or self.clock.now() - removed.at > RESTORABLE:
            raise NotFound(f"The copy of “{removed.document.title}” has expired.", remedy="Add the document again.")
        await put_back(await asyncio.to_thread(unpack, copy), self.index, self.encoder)
        if await self.base(removed.base.name) is None:
            await self.catalog.save_base(removed.base)
        document = removed.document if there is None else replace(removed.document, origin=there.origin)
        if there is not None:
            await self.retire(there, by)
        await self.catalog.publish(document)
        if there is not None:
            await self.index.remove(document.id, keep_version=document.version)
        return await self._forget_removed(removed)

    async def _forget_removed(self, removed: RemovedDocument) -> Document:
        await self.store.forget_removal(removed.key)
        await self.blobs.forget(removed.kept)
        return removed.document

    async def removal(self, document_id: str) -> RemovedDocument | None:
        """Return the removal of this document, if it is still recorded. A replacement is not a removal."""
        return await self.store.removal(document_id)

    async def restorable(self, base: str = "") -> tuple[RemovedDocument, ...]:
        """Return the restorable documents, latest first, of one base if given."""
        return tuple(
            removed
            for removed in await self.store.removals()
            if self.clock.now() - removed.at <= RESTORABLE and (not base or removed.base.name == base)
        )

    async def sweep(self) -> int:
        """Delete what can no longer be restored. Return the number of copies."""
        replaced: Counter[str] = Counter()
        for removed in await self.store.removals():
            replaced[removed.document.id] += removed.replaced
            if self.clock.now() - removed.at > RESTORABLE:
                await self.store.forget_removal(removed.key)
            elif removed.replaced and replaced[removed.document.id] > MOST_REPLACED:
                await self._forget_removed(removed)
        bases = frozenset(base.name for base in await self.catalog.bases())
        restorable = [removed.document for removed in await self.store.removals()]
        await self.originals.sweep([*await self.catalog.documents(bases), *restorable])
        return await self.blobs.sweep(RESTORABLE)

    def _removal(self, document: Document, base: KnowledgeBase, by: str) -> RemovedDocument:
        return RemovedDocument(document, base, self.clock.now(), by, kept_name(document))


def kept_name(document: Document) -> str:
    """Return the blob name of a document's copy in the trash."""
    return f"removed-{document.id}-{document.version}"
