"""Governing the knowledge: bases, whom they are for, and what was taken off the shelf and can be put back.

Who may do this is decided before: here is how. What is removed is invisible first and deleted after, and what is
needed to put it back is set aside for a week.
"""

import asyncio
import base64
import gzip
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.conversation import Person
from core.errors import DocumentRejected, NotFound
from core.ingestion.archive import Archive
from core.ingestion.jobs import Job
from core.ingestion.originals import Originals
from core.ingestion.sites import Site
from core.knowledge import Document, KnowledgeBase, Passage
from core.ports import Catalogue, Clock, Encoder, Index, Scope, Vectors
from core.serial import from_json, to_json

RESTORABLE = timedelta(days=7)
BATCH = 64  # passages written back at a time
NOBODY = "footnote:nobody"  # a grant that no audience holds: keeps a base closed when its last grant is revoked
MOST_DESCRIPTION = 500
_NAME = re.compile(r"^[\w][\w .-]{0,59}$")


@dataclass(frozen=True, slots=True)
class Removed:
    """A document that was taken out, as it was, and the base it stood in. ``kept`` names the copy set aside."""

    document: Document
    base: KnowledgeBase
    at: datetime
    by: str
    kept: str
    whole_base: bool = False


class Every(StrEnum):
    """How often a link is fetched again."""

    DAILY = "daily"
    WEEKLY = "weekly"
    NEVER = "never"

    @property
    def interval(self) -> timedelta | None:
        """The time from one fetch to the next."""
        return {Every.DAILY: timedelta(days=1), Every.WEEKLY: timedelta(days=7)}.get(self)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A link that is fetched again and again; ``limit`` above 0: with so many pages below it."""

    base: str
    link: str
    every: Every
    by: Person
    next_at: datetime
    limit: int = 0


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something a person would have in the knowledge, until an admin has looked at it. ``text`` is Markdown."""

    id: str
    base: str  # empty: whoever approves it says where
    source: str
    title: str
    text: str
    by: Person
    at: datetime
    permalink: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What an admin said to a proposal. ``job`` brings in what was approved; it is kept here until it is in line."""

    id: str  # tells two decisions of one person on one proposal apart
    proposal: str
    approved: bool
    by: Person
    at: datetime
    base: str = ""
    job: Job | None = None


class ShelfRecords(Protocol):
    """Keeps what was removed, what is fetched again, what sites hold, and what was proposed. Old entries go."""

    async def keep_removed(self, removed: Removed) -> None:
        """Keep it, replacing an earlier removal of the same document."""

    async def removed(self) -> Sequence[Removed]:
        """Everything that is kept, the latest first."""

    async def removal(self, document_id: str) -> Removed | None:
        """The latest removal of this document."""

    async def forget_removed(self, document_id: str) -> None:
        """It was put back, or its time is over."""

    async def schedule(self, schedule: Schedule) -> None:
        """Keep it, replacing the earlier one of the same link in the same base; NEVER takes it away."""

    async def schedules(self) -> Sequence[Schedule]:
        """All of them, the next one first."""

    async def keep_site(self, site: Site) -> None:
        """Keep it, replacing what was known of the same link in the same base; without pages it goes."""

    async def sites(self, base: str) -> Sequence[Site]:
        """The sites of a base, by link."""

    async def propose(self, proposal: Proposal) -> None:
        """Keep it. Raises Busy when too many wait, of this person or altogether."""

    async def proposals(self) -> Sequence[Proposal]:
        """Those that wait, oldest first."""

    async def proposal(self, proposal_id: str) -> Proposal | None:
        """One that waits."""

    async def decide(self, decision: Decision) -> Decision | None:
        """Decide on what waits, once; the decision that holds, which may be an earlier one. None when there is neither.

        In the same step it ceases to wait, and what was approved is among the ``undone`` until it is settled.
        """

    async def decision(self, proposal_id: str) -> Decision | None:
        """What was decided on it, as long as that is known: for weeks."""

    async def undone(self) -> Sequence[Decision]:
        """Approvals whose job may not be in line yet, oldest first."""

    async def settle(self, proposal_id: str) -> None:
        """The job of its approval is in line: who decided stays known, what was proposed is forgotten here."""


def base_name(text: str) -> str:
    """The name as it will be used. Raises NotFound when nothing can be called that."""
    name = " ".join(text.split())
    if not _NAME.match(name):
        raise NotFound(
            "A knowledge base cannot be called that.",
            remedy="Use up to 60 letters, digits, spaces, dots and dashes, beginning with a letter or digit.",
        )
    return name


def granted(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """The base, for these too; an open base is now for these alone."""
    return replace(base, grants=(base.grants | frozenset(principals)) - {NOBODY})


def revoked(base: KnowledgeBase, principals: Collection[str]) -> KnowledgeBase:
    """The base, not for these any more. Without any grant left it is for nobody, never suddenly for everybody.

    Raises NotFound when none of these was granted.
    """
    if not base.grants & frozenset(principals):
        raise NotFound(f"That was not granted on “{base.name}”.", remedy="The list shows whom it is for.")
    return replace(base, grants=(base.grants - frozenset(principals)) or frozenset({NOBODY}))


class Shelves:
    """Takes documents off the shelf and puts them back."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        index: Index,
        encoder: Encoder,
        records: ShelfRecords,
        archive: Archive,
        clock: Clock,
        originals: Originals | None = None,
    ) -> None:
        """Work with these."""
        self._originals = originals
        self.catalogue = catalogue
        self._index = index
        self._encoder = encoder
        self._records = records
        self._archive = archive
        self._clock = clock

    async def base(self, name: str) -> KnowledgeBase | None:
        """The base of this name, whatever the case of its letters."""
        wanted = name.strip().casefold()
        return next((base for base in await self.catalogue.bases() if base.name.casefold() == wanted), None)

    async def remove(self, document: Document, by: str) -> int:
        """Take one document out: copied, then invisible, deleted on return; how many passages went."""
        base = await self.base(document.knowledge_base) or KnowledgeBase(document.knowledge_base)
        await self._set_aside(document)  # first: whoever dies after it has lost nothing
        await self._records.keep_removed(self._removal(document, base, by))
        await self.catalogue.withdraw(document.id)
        return await self._index.remove(document.id)

    async def remove_base(self, base: KnowledgeBase, by: str) -> tuple[Document, ...]:
        """Make a whole base invisible at once; the documents that are now to be ``put_away``."""
        documents = tuple(await self.catalogue.documents(frozenset({base.name})))
        for document in documents:
            await self._records.keep_removed(replace(self._removal(document, base, by), whole_base=True))
        await self.catalogue.remove_base(base.name)
        return documents

    async def put_away(self, document: Document) -> int:
        """Set a copy of an invisible document aside, then delete its passages; how many there were.

        A second call, after a crash in between, keeps the copy that is there.
        """
        await self._set_aside(document)
        return await self._index.remove(document.id)

    async def _set_aside(self, document: Document) -> None:
        scope = Scope(frozenset({document.knowledge_base}))
        passages = await self._index.passages(document.id, document.version, scope)
        if len(passages) >= document.passages:
            vectors = await self._index.known_vectors([passage.id for passage in passages])
            copy = await asyncio.to_thread(_packed, self._encoder.name, passages, vectors)
            await self._archive.keep(kept_name(document), copy)

    async def restore(self, removed: Removed) -> Document:
        """Put a document back as it was. Raises NotFound when its copy is gone, DocumentRejected when it is in use.

        Until it is visible again its removal is known and its copy kept: who dies over it can begin anew.
        """
        there = await self.catalogue.document(removed.document.id)
        if there is not None and there.version == removed.document.version:
            return await self._restored(removed)
        if there is not None:
            raise DocumentRejected("It is there already, in a version of its own.", remedy="Remove that one first.")
        copy = await self._archive.read(removed.kept)
        if copy is None or self._clock.now() - removed.at > RESTORABLE:
            raise NotFound(f"The copy of “{removed.document.title}” is gone.", remedy="Add the document again.")
        encoder, passages, vectors = await asyncio.to_thread(_unpacked, copy)
        for start in range(0, len(passages), BATCH):
            batch = passages[start : start + BATCH]
            kept = vectors[start : start + BATCH]
            if encoder != self._encoder.name:
                kept = await self._encoder.encode_passages([passage.searchable for passage in batch])
            await self._index.add(batch, kept)
        if await self.base(removed.base.name) is None:
            await self.catalogue.save_base(removed.base)
        await self.catalogue.publish(removed.document)
        return await self._restored(removed)

    async def _restored(self, removed: Removed) -> Document:
        await self._records.forget_removed(removed.document.id)
        await self._archive.forget(removed.kept)
        return removed.document

    async def restorable(self, base: str = "") -> tuple[Removed, ...]:
        """What can be put back, the latest first; of this base where one is named."""
        return tuple(
            removed
            for removed in await self._records.removed()
            if self._clock.now() - removed.at <= RESTORABLE and (not base or removed.base.name == base)
        )

    async def sweep(self) -> int:
        """Forget what can not be put back any more; how many copies went."""
        for removed in await self._records.removed():
            if self._clock.now() - removed.at > RESTORABLE:
                await self._records.forget_removed(removed.document.id)
        if self._originals is not None:
            bases = frozenset(base.name for base in await self.catalogue.bases())
            restorable = [removed.document for removed in await self._records.removed()]
            await self._originals.sweep([*await self.catalogue.documents(bases), *restorable])
        return await self._archive.sweep(RESTORABLE)

    def _removal(self, document: Document, base: KnowledgeBase, by: str) -> Removed:
        return Removed(document, base, self._clock.now(), by, kept_name(document))


def kept_name(document: Document) -> str:
    """The name under which a document's copy is set aside."""
    return f"removed-{document.id}-{document.version}"


@dataclass(frozen=True, slots=True)
class _Copy:
    encoder: str
    passages: tuple[Passage, ...]
    dimension: int
    vectors: str  # base64 of little-endian float32, row by row


def _packed(encoder: str, passages: Sequence[Passage], vectors: Mapping[str, Vectors]) -> bytes:
    import numpy as np

    rows = (
        np.stack([vectors[passage.id] for passage in passages]).astype("<f4") if passages else np.zeros((0, 0), "<f4")
    )
    copy = _Copy(encoder, tuple(passages), rows.shape[1], base64.b64encode(rows.tobytes()).decode())
    return gzip.compress(to_json(copy).encode(), 5)


def _unpacked(data: bytes) -> tuple[str, tuple[Passage, ...], Vectors]:
    import numpy as np

    copy: _Copy = from_json(_Copy, gzip.decompress(data))
    rows: Vectors = np.frombuffer(base64.b64decode(copy.vectors), "<f4").reshape(-1, max(1, copy.dimension))
    return copy.encoder, copy.passages, rows.astype(np.float32)
