"""The latest change of every document and base, what was forgotten and revoked, kept beside the originals.

Redis is the catalog. A Redis that lost the end of its append-only file does not know that it lost anything: this
ledger does, because each change has a number, and the ledger knows the last one. It also has what is needed to make
each lost change again. One small file a document, a base, a forgotten person or thread, and a revoked token.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.model.errors import DocumentRejected, StoreUnavailable
from core.model.json_codec import from_json, to_json
from core.model.knowledge import Document, KnowledgeBase
from core.ports.catalog import BlobStore, Catalog

_NUMBER = "number"
_RECOVERING = "recovering"
_TOGETHER = 16  # files written at a time


class Subject(StrEnum):
    """What an entry is about."""

    DOCUMENT = "document"
    BASE = "base"
    PERSON = "person"  # forgotten
    THREAD = "thread"  # forgotten
    TOKEN = "token"  # noqa: S105 - a kind of entry: a revoked token of the API


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The latest change of one subject, with its number. ``key``: an id, a base's name, a thread.

    ``document`` and ``base`` are as they were saved last; ``removed`` says that they were taken out. ``emptied`` is the
    number at which a base of this name was last removed: documents of it with a smaller number went with it.
    """

    number: int
    subject: Subject
    key: str
    document: Document | None = None
    base: KnowledgeBase | None = None
    removed: bool = False
    emptied: int = 0


Entries = Mapping[tuple[Subject, str], LedgerEntry]


class ChangeLedger:
    """Keeps entries in a blob store of their own. Raises StoreUnavailable."""

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._known: int | None = None

    @property
    def known(self) -> int:
        """The number of the last change that this process has recorded or read; 0 before the first ``number``."""
        return self._known or 0

    async def number(self) -> int:
        """Return the number of the last recorded change; 0 without any. The entries replace a damaged number."""
        data = await self._blobs.read(_number_name())
        try:
            number = int(data or b"")
        except ValueError:
            number = max((entry.number for entry in (await self.entries()).values()), default=0)
        self._known = max(self.known, number)
        return self._known

    async def record(self, entries: Sequence[LedgerEntry], number: int) -> None:
        """Keep these entries, then the number: a crash in between leaves a ledger that is behind, and is caught up."""
        for start in range(0, len(entries), _TOGETHER):
            some = entries[start : start + _TOGETHER]
            await asyncio.gather(*(self._keep(_name(one.subject, one.key), to_json(one)) for one in some))
        self._known = max(self.known, number)
        await self._keep(_number_name(), str(self._known))

    async def entry(self, subject: Subject, key: str) -> LedgerEntry | None:
        """Return the latest entry of a subject; None where there is none, or it cannot be read."""
        return _parsed(await self._blobs.read(_name(subject, key)))

    async def entries(self) -> Entries:
        """Return everything that can be read."""
        found = [_parsed(data) async for _, data in self._blobs.entries()]
        return {(one.subject, one.key): one for one in found if one is not None}

    async def begin_recovery(self, behind: int) -> None:
        """Remember that changes after this number are being made again: a killed recovery is begun again from there."""
        await self._keep(_name(_RECOVERING, ""), str(behind))

    async def recovering_from(self) -> int | None:
        """Return the number after which a recovery that has not ended makes changes again; None where there is none."""
        data = await self._blobs.read(_name(_RECOVERING, ""))
        return None if data is None else int(data) if data.isdigit() else 0

    async def end_recovery(self) -> None:
        """Forget ``begin_recovery``: all is done."""
        await self._blobs.forget(_name(_RECOVERING, ""))

    async def catch_up(self, catalog: Catalog) -> int:
        """Record what the catalog has and the ledger does not; how many entries that were.

        A process died between the two, the ledger is new, or some of it was damaged.
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
            await self._blobs.keep(name, text.encode())
        except DocumentRejected as error:
            raise StoreUnavailable(f"The change cannot be recorded: {error}") from error


def base_entry(number: int, base: KnowledgeBase, before: LedgerEntry | None) -> LedgerEntry:
    """Return the entry of a saved base; ``before`` is its entry until now."""
    return LedgerEntry(number, Subject.BASE, base.name, base=base, emptied=before.emptied if before else 0)


def document_entry(number: int, document: Document, *, removed: bool = False) -> LedgerEntry:
    """Return the entry of a document that was published, or removed: then its address alone is kept."""
    kept = replace(document, title="", added_by="", notes=(), dated="", etag="", origin="") if removed else document
    return LedgerEntry(number, Subject.DOCUMENT, document.id, document=kept, removed=removed)


def is_removed(entry: LedgerEntry, entries: Entries) -> bool:
    """Return whether a document was taken out, by itself or with its base."""
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
    except ValueError:  # cut short; or the number
        return None
    return entry


def _name(kind: str, key: str) -> str:
    return f"ledger-{kind}-{key}"


def _number_name() -> str:
    return _name(_NUMBER, "")


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
        """Return all bases, by name; of a catalog that has lost nothing."""
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
        """Return how often bases and documents were changed, ever."""
        return await self._kept.changes()

    async def count_change(self, at_least: int = 0) -> int:
        """Count a change that was made elsewhere in the same store; the new number."""
        return await self._kept.count_change(at_least)

    async def documents(self, bases: frozenset[str]) -> Sequence[Document]:
        """Return the documents of these bases, by base and title."""
        return await self._kept.documents(bases)

    async def document(self, document_id: str) -> Document | None:
        """Return one document at its visible version."""
        return await self._kept.document(document_id)

    async def visible_versions(self, document_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the visible version of each of these documents; invisible ones are absent."""
        return await self._kept.visible_versions(document_ids)

    async def index_identity(self) -> str:
        """Return which index the passages of these documents are in."""
        return await self._kept.index_identity()

    async def remember_index(self, identity: str) -> None:
        """From now on they are in this one."""
        await self._kept.remember_index(identity)

    async def _require_whole(self) -> None:
        """Before a change: one that is written to a catalog that is behind would hide what that has lost."""
        await self.compare()
        if await self._kept.changes() < self._ledger.known:
            await self._recover()
