"""What may be read now: knowledge bases by their grants, and memory without removed documents.

Both are looked up each time, because grants and documents change during threads, jobs and parked inquiries.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace

from core.ingestion.change_ledger import Subject
from core.ingestion.ingestor import document_id_of
from core.model.conversation import Audience, ThreadKey, Turn
from core.model.errors import NotFound
from core.model.evidence import EvidenceLibrary
from core.model.knowledge import KnowledgeBase
from core.ports.catalog import Catalog
from core.ports.memory import Memory, ThreadRecord

LONGEST_NAME = 60  # characters of a typed name that are repeated in errors


@dataclass(frozen=True, slots=True)
class VisibleBases:
    """The catalog's bases that an audience may see."""

    catalog: Catalog

    async def for_audience(self, audience: Audience, only: Collection[str] | None = None) -> tuple[KnowledgeBase, ...]:
        """Return the bases that everyone in this audience may read, by name; only those in ``only``, if given.

        Raises StoreUnavailable.
        """
        return tuple(
            base
            for base in await self.catalog.bases()
            if base.visible_to(audience) and (only is None or base.name in only)
        )

    async def has_more_in_private(self, audience: Audience) -> bool:
        """Return whether a connected source has documents that only some readers of a shared place may read.

        The result does not depend on the question.
        """
        if not audience.is_shared:
            return False
        connected = {base.name for base in await self.catalog.bases() if base.connection}
        return bool(connected) and not connected <= await self.names(audience)

    async def names(self, audience: Audience, only: Collection[str] | None = None) -> frozenset[str]:
        """Return the names of these bases, which limit searches and which words of earlier answers may be used."""
        return frozenset(base.name for base in await self.for_audience(audience, only))

    async def select(self, name: str, audience: Audience, only: Collection[str] | None = None) -> frozenset[str]:
        """Return the base of exactly this name as a search scope. Raises NotFound, which lists the readable ones."""
        names = await self.names(audience, only)
        if name not in names:
            there = ", ".join(sorted(names)) or "none"
            raise NotFound(f"There is no knowledge base called “{name[:LONGEST_NAME]}” here. Available: {there}.")
        return frozenset({name})


Forgotten = Callable[[Subject, str], Awaitable[None]]
TAKEN_OUT = "(This answer cited a document that has been taken out since.)"


class VisibleMemory:
    """A memory that omits, on recall, content of documents that are no longer visible.

    Evidence is dropped when its version is not the visible one. A turn that cites a removed document keeps its question
    and its place, but neither its answer nor its citations. The summary, which may contain that answer, is dropped too.
    """

    def __init__(self, kept: Memory, catalog: Catalog, forgotten: Forgotten | None = None) -> None:
        """Read threads from ``kept``, and visibility from the catalog. ``forgotten`` records deletions."""
        self._kept = kept
        self.questions_of, self.remember = kept.questions_of, kept.remember
        self.summarise, self.mute = kept.summarise, kept.mute
        self._catalog = catalog
        self._forgotten = forgotten

    async def recall(self, key: ThreadKey) -> ThreadRecord:
        """Return everything stored of this thread that is still visible."""
        record = await self._kept.recall(key)
        cited = {document_id_of(one.knowledge_base, one.document) for turn in record.turns for one in turn.citations}
        named = sorted(cited | {item.passage.document for item in record.library})
        if not named:
            return record
        visible = await self._catalog.visible_versions(named)
        turns = tuple(_without_removed(turn, frozenset(visible)) for turn in record.turns)
        removed = turns != record.turns or any(item.passage.document not in visible for item in record.library)
        return replace(
            record,
            turns=turns,
            library=_of_versions(record.library, visible),
            summary="" if removed else record.summary,
            summary_bases=frozenset() if removed else record.summary_bases,
        )

    async def forget_thread(self, key: ThreadKey) -> bool:
        """Delete the thread's memory, and record that, so it stays deleted if Redis loses the deletion."""
        something = await self._kept.forget_thread(key)
        if something and self._forgotten is not None:
            await self._forgotten(Subject.THREAD, str(key))
        return something

    async def forget_person(self, person_id: str) -> int:
        """Delete the person's memory, and record that, so it stays deleted if Redis loses the deletion."""
        turns = await self._kept.forget_person(person_id)
        if self._forgotten is not None:
            await self._forgotten(Subject.PERSON, person_id)
        return turns


async def still_visible(library: EvidenceLibrary, catalog: Catalog) -> EvidenceLibrary:
    """Return the library without passages of versions that are no longer visible."""
    passages = (*(item.passage for item in library), *(hit.passage for hit in library.further))
    visible = await catalog.visible_versions(sorted({passage.document for passage in passages}))
    return _of_versions(library, visible)


def _of_versions(library: EvidenceLibrary, visible: Mapping[str, str]) -> EvidenceLibrary:
    return EvidenceLibrary(
        tuple(item for item in library if visible.get(item.passage.document) == item.passage.version),
        tuple(hit for hit in library.further if visible.get(hit.passage.document) == hit.passage.version),
    )


def _without_removed(turn: Turn, visible: frozenset[str]) -> Turn:
    if all(document_id_of(one.knowledge_base, one.document) in visible for one in turn.citations):
        return turn
    return replace(turn, answer=TAKEN_OUT, rewritten="", citations=())
