"""Ledger of the latest change of each document and base, and of forgotten people and threads and revoked tokens.

The catalog is in Redis. If Redis loses the end of its append-only file, it does not notice. The ledger does, because
each change has a number and the ledger knows the last one. It can also repeat each lost change. It is stored next to
the originals, with one small file for each document, base, forgotten person or thread, and revoked token.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.model.errors import DocumentRejected, StoreUnavailable
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document, KnowledgeBase
from core.ports.catalog import BlobStore, Catalog

_NUMBER, _RECOVERING = "ledger-number-", "ledger-recovering-"  # names of files beside the entries
_TOGETHER = 16  # files written at a time


class Subject(StrEnum):
    """Kind of subject of a ledger entry."""

    DOCUMENT = "document"
    BASE = "base"
    PERSON = "person"  # forgotten
    THREAD = "thread"  # forgotten
    TOKEN = "token"  # noqa: S105 - a kind of entry: a revoked token of the API


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The latest change of one subject. ``key`` is an id, a base's name or a thread.

    ``document`` and ``base`` are as last saved. ``removed`` is true if they were removed. ``emptied`` is the number of
    the last removal of a base with this name, which also removed its documents with smaller numbers.
    """

    number: int
    subject: Subject
    key: str
    document: Document | None = None
    base: KnowledgeBase | None = None
    removed: bool = False
    emptied: int = 0


Entries = Mapping[tuple[Subject, str], LedgerEntry]


@dataclass(slots=True)
class ChangeLedger:
    """Ledger in its own blob store. Its methods raise StoreUnavailable."""

    blobs: BlobStore
    _known: int | None = None

    @property
    def known(self) -> int:
        """Number of the last change that this process has recorded or read. 0 before the first ``number`` call."""
        return self._known or 0

    async def number(self) -> int:
        """Return the number of the last recorded change, or 0. If it is damaged, derive it from the entries."""
        data = await self.blobs.read(_NUMBER)
        try:
            number = int(data or b"")
        except ValueError:
            number = max((entry.number for entry in (await self.entries()).values()), default=0)
        self._known = max(self.known, number)
        return self._known

    async def record(self, entries: Sequence[LedgerEntry], number: int) -> None:
        """Store these entries, then the number. ``catch_up`` repairs a ledger after a crash in between."""
        for start in range(0, len(entries), _TOGETHER):
            some = entries[start : start + _TOGETHER]
            await asyncio.gather(*(self._keep(_name(one.subject, one.key), to_json(one)) for one in some))
        self._known = max(self.known, number)
        await self._keep(_NUMBER, str(self._known))

    async def entry(self, subject: Subject, key: str) -> LedgerEntry | None:
        """Return the latest entry of a subject, or None if it is missing or unreadable."""
        return _parsed(await self.blobs.read(_name(subject, key)))

    async def entries(self) -> Entries:
        """Return all readable entries."""
        found = [_parsed(data) async for _, data in self.blobs.entries()]
        return {(one.subject, one.key): one for one in found if one is not None}

    async def begin_recovery(self, behind: int) -> None:
        """Store the number after which a recovery repeats changes, so that a killed recovery can restart."""
        await self._keep(_RECOVERING, str(behind))

    async def recovering_from(self) -> int | None:
        """Return the number after which an unfinished recovery repeats changes, or None without one."""
        data = await self.blobs.read(_RECOVERING)
        return None if data is None else int(data) if data.isdigit() else 0

    async def end_recovery(self) -> None:
        """Clear the mark of ``begin_recovery``."""
        await self.blobs.forget(_RECOVERING)

    async def catch_up(self, catalog: Catalog) -> int:
        """Record what the catalog has and the ledger does not. Return the number of entries.

        Needed if a process died between both writes, or if the ledger is new or damaged.
        """
        entries = await self.entries()
        number = await catalog.changes() or await catalog.count_change()
        bases = await catalog.bases()
        documents = await catalog.documents(frozenset(base.name for base in bases))
        missing = _differences(entries, bases, documents, number)
        await self.record(missing, number)
        return len(missing)

    async def _keep(self, name: str, text: str) -> None:
        try:
            await self.blobs.keep(name, text.encode())
        except DocumentRejected as error:
            raise StoreUnavailable(f"The change cannot be recorded: {error}") from error


def base_entry(number: int, base: KnowledgeBase, before: LedgerEntry | None) -> LedgerEntry:
    """Return the entry of a saved base. ``before`` is its previous entry."""
    return LedgerEntry(number, Subject.BASE, base.name, base=base, emptied=before.emptied if before else 0)


def document_entry(number: int, document: Document, *, removed: bool = False) -> LedgerEntry:
    """Return the entry of a published or removed document. A removed document keeps only its address."""
    kept = replace(document, title="", added_by="", notes=(), dated="", etag="", origin="") if removed else document
    return LedgerEntry(number, Subject.DOCUMENT, document.id, document=kept, removed=removed)


def is_removed(entry: LedgerEntry, entries: Entries) -> bool:
    """Return whether a document was removed, alone or with its base."""
    base = entries.get((Subject.BASE, entry.document.knowledge_base)) if entry.document else None
    return entry.removed or (base is not None and entry.number < base.emptied)


def _differences(
    entries: Entries, bases: Sequence[KnowledgeBase], documents: Sequence[Document], number: int
) -> list[LedgerEntry]:
    there = {(Subject.BASE, base.name) for base in bases} | {(Subject.DOCUMENT, one.id) for one in documents}
    changed = [
        base_entry(number, base, before)
        for base in bases
        if (before := entries.get((Subject.BASE, base.name))) is None or before.removed or before.base != base
    ]
    changed += [
        document_entry(number, one)
        for one in documents
        if (known := entries.get((Subject.DOCUMENT, one.id))) is None
        or is_removed(known, entries)
        or known.document != one
    ]
    return [*changed, *_gone(entries, there, number)]


def _gone(entries: Entries, there: set[tuple[Subject, str]], number: int) -> Iterable[LedgerEntry]:
    for at, entry in entries.items():
        if at in there or entry.removed:
            continue
        if entry.subject is Subject.BASE:
            yield replace(entry, number=number, removed=True, emptied=number)
        elif entry.document is not None:
            yield document_entry(number, entry.document, removed=True)


def _parsed(data: bytes | None) -> LedgerEntry | None:
    try:
        entry: LedgerEntry | None = None if data is None else from_json(LedgerEntry, data)
    except ValueError:  # a truncated entry, or the number's own file
        return None
    return entry


def _name(kind: str, key: str) -> str:
    return f"ledger-{kind}-{key}"


class RecordedCatalog:
    """Catalog that records changes in a ledger. Raises StoreUnavailable, also if ``recover`` cannot undo a loss."""

    def __init__(self, kept: Catalog, ledger: ChangeLedger, recover: Callable[[], Awaitable[None]]) -> None:
        """``recover`` compares catalog and ledger and repeats lost changes. It runs first, and after a loss."""
        self._kept = kept
        self._ledger = ledger
        self._recover = recover
        self.changes, self.count_change = kept.changes, kept.count_change
        self.document, self.documents, self.visible_versions = kept.document, kept.documents, kept.visible_versions
        self.index_identity, self.remember_index = kept.index_identity, kept.remember_index
        self._compared = False
        self._writing = asyncio.Lock()  # record numbers in the order in which Redis assigned them

    async def bases(self) -> Sequence[KnowledgeBase]:
        """Return all bases, by name. Recover the catalog first if it has lost changes."""
        await self.compare()
        known = self._ledger.known  # read first: another task may record a change during the next await
        bases, number = await asyncio.gather(self._kept.bases(), self._kept.changes())
        if number >= known:
            return bases
        await self._recover()
        return await self._kept.bases()

    async def compare(self) -> None:
        """Compare catalog and ledger once per process."""
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
        """Make this version visible. Return the version that it replaced."""
        async with self._writing:
            await self._require_whole()
            earlier = await self._kept.publish(document)
            number = await self._kept.changes()
            await self._ledger.record([document_entry(number, document)], number)
        return earlier

    async def republish(self, document: Document) -> bool:
        """Replace the metadata of a document's visible version. Return False if another version is visible."""
        async with self._writing:
            await self._require_whole()
            done = await self._kept.republish(document)
            if done:
                number = await self._kept.changes()
                await self._ledger.record([document_entry(number, document)], number)
        return done

    async def withdraw(self, document_id: str) -> Document | None:
        """Make a document invisible at once. Return its last state."""
        async with self._writing:
            await self._require_whole()
            earlier = await self._kept.withdraw(document_id)
            if earlier is not None:
                number = await self._kept.changes()
                await self._ledger.record([document_entry(number, earlier, removed=True)], number)
        return earlier

    async def record_end(self, subject: Subject, key: str) -> None:
        """Record a forgotten person or thread, or a revoked token, so that it stays so if Redis loses the change."""
        async with self._writing:
            await self._require_whole()
            number = await self._kept.count_change()
            await self._ledger.record([LedgerEntry(number, subject, key)], number)

    async def _require_whole(self) -> None:
        """Recover the catalog before a change if it is behind. The change would otherwise hide the loss."""
        await self.compare()
        if await self._kept.changes() < self._ledger.known:
            await self._recover()
