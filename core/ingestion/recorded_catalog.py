"""The catalog that everybody uses: it records each change in the ledger, and notices that Redis has lost some.

This is the one place where bases and documents are changed, and where their loss is noticed: nothing is answered
before the bases were read, and they are not read from a catalog that is behind its ledger.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from core.ingestion.change_ledger import ChangeLedger, LedgerEntry, Subject, base_entry, document_entry
from core.model.knowledge import Document, KnowledgeBase
from core.ports.catalog import Catalog


class RecordedCatalog(Catalog):
    """A catalog with a ledger. Raises StoreUnavailable, as ``recover`` does where a loss cannot be made good."""

    def __init__(self, kept: Catalog, ledger: ChangeLedger, recover: Callable[[], Awaitable[None]]) -> None:
        """``recover`` compares catalog and ledger, and makes lost changes again; it is called first, and at a loss."""
        self._kept = kept
        self._ledger = ledger
        self._recover = recover
        self._compared = False
        self._writing = asyncio.Lock()  # numbers are recorded in the order in which they were given

    async def bases(self) -> Sequence[KnowledgeBase]:
        """All bases, by name; of a catalog that has lost nothing."""
        await self.compare()
        known = self._ledger.known  # before they are read: another task may record a change meanwhile
        bases, number = await asyncio.gather(self._kept.bases(), self._kept.changes())
        if number >= known:
            return bases
        await self._recover()
        return await self._kept.bases()

    async def compare(self) -> None:
        """Compare catalog and ledger, unless this process has done so."""
        if not self._compared:
            await self._recover()
            self._compared = True

    async def save_base(self, base: KnowledgeBase) -> None:
        """Create or replace a base's description and grants."""
        async with self._writing:
            await self._require_whole()
            await self._kept.save_base(base)
            before = await self._ledger.entry(Subject.BASE, base.name)
            number = await self._kept.changes()
            await self._ledger.record([base_entry(number, base, before)], number)

    async def remove_base(self, name: str) -> None:
        """Forget a base and the entries of its documents."""
        async with self._writing:
            await self._require_whole()
            await self._kept.remove_base(name)
            number = await self._kept.changes()
            await self._ledger.record([LedgerEntry(number, Subject.BASE, name, removed=True, emptied=number)], number)

    async def publish(self, document: Document) -> Document | None:
        """Make this version the visible one; what it replaced."""
        async with self._writing:
            await self._require_whole()
            earlier = await self._kept.publish(document)
            number = await self._kept.changes()
            await self._ledger.record([document_entry(number, document)], number)
        return earlier

    async def republish(self, document: Document) -> bool:
        """Replace what is known of a document at its visible version; False where another version is visible."""
        async with self._writing:
            await self._require_whole()
            done = await self._kept.republish(document)
            if done:
                number = await self._kept.changes()
                await self._ledger.record([document_entry(number, document)], number)
        return done

    async def withdraw(self, document_id: str) -> Document | None:
        """Make a document invisible at once; what it was."""
        async with self._writing:
            await self._require_whole()
            earlier = await self._kept.withdraw(document_id)
            if earlier is not None:
                number = await self._kept.changes()
                await self._ledger.record([document_entry(number, earlier, removed=True)], number)
        return earlier

    async def record_end(self, subject: Subject, key: str) -> None:
        """Record that a person or thread was forgotten, or a token revoked: it stays so when Redis loses that."""
        async with self._writing:
            await self._require_whole()
            number = await self._kept.count_change()
            await self._ledger.record([LedgerEntry(number, subject, key)], number)

    async def changes(self) -> int:
        """How often bases and documents were changed, ever."""
        return await self._kept.changes()

    async def count_change(self, at_least: int = 0) -> int:
        """Count a change that was made elsewhere in the same store; the new number."""
        return await self._kept.count_change(at_least)

    async def documents(self, bases: frozenset[str]) -> Sequence[Document]:
        """The documents of these bases, by base and title."""
        return await self._kept.documents(bases)

    async def document(self, document_id: str) -> Document | None:
        """One document at its visible version."""
        return await self._kept.document(document_id)

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """The visible version of each of these documents; invisible ones are absent."""
        return await self._kept.visible_versions(document_ids)

    async def index_identity(self) -> str:
        """Which index the passages of these documents are in."""
        return await self._kept.index_identity()

    async def remember_index(self, identity: str) -> None:
        """From now on they are in this one."""
        await self._kept.remember_index(identity)

    async def _require_whole(self) -> None:
        """Before a change: one that is written to a catalog that is behind would hide what that has lost."""
        await self.compare()
        if await self._kept.changes() < self._ledger.known:
            await self._recover()
