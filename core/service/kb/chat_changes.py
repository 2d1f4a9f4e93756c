"""Re-reads documents made of conversations within a minute or two of an edit or deletion in the chat.

A listener notes the change before it acknowledges the event. The scheduler turns notes into REFRESH jobs, at most one
at a time for each document. A note stays until a job that covers it has read the conversation.
"""

import hashlib
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from core.ingestion.ingestor import document_id_of
from core.model.clock import Clock
from core.model.conversation import Person, ThreadKey
from core.model.errors import Busy
from core.model.jobs import ItemState, Job, JobKind, pending_sources, refresh_item
from core.model.knowledge import conversation_platform
from core.model.person_answers import answer_source
from core.model.records import Record
from core.ports.catalog import Catalog
from core.ports.job_store import JobStore
from core.ports.message_state import MessageStateStore
from core.service.kb.job_queue import RECENT, JobQueue

BY = Person("footnote", "Footnote")
MOST_TOGETHER = 500  # documents of one job
GIVE_UP_SECONDS = 24 * 3600.0  # after which an unreadable conversation keeps its document
RETRY_SECONDS = 60.0  # doubled with each failure

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ChangedConversation(Record, place="chats", subject="changed", entry="{source}", installation=True):
    """A conversation with an edit or deletion, by its document's source, and when (epoch).

    It holds only ids and a time. Forgetting the author must not lose a deletion that is still to be applied.
    """

    source: str
    at: float = 0.0


async def note_change(
    message_states: MessageStateStore, thread: ThreadKey, written: datetime, message: str = ""
) -> None:
    """Note that a message of this conversation was edited or deleted. Raises StoreUnavailable.

    ``written`` is when the message was posted: outside threads, it is part of the document of that day (UTC).
    ``message`` is its id, which finds a stored answer.
    """
    channel = f"{thread.platform}/{thread.space}/{thread.channel}"
    place = f"{channel}/{thread.thread}"
    sources = (place, f"{channel}/{written:%Y-%m-%d}", *([answer_source(place, message)] if message else []))
    at = time.time()
    await message_states.save(*(ChangedConversation(source=one, at=at) for one in sources))


@dataclass(frozen=True, slots=True)
class ChatChanges:
    """Turns noted changes into jobs. Stateless."""

    message_states: MessageStateStore
    catalog: Catalog
    jobs: JobStore
    job_queue: JobQueue
    clock: Clock

    async def enqueue(self) -> None:
        """Enqueue the documents to read again, and remove the notes that are done. Raises StoreUnavailable."""
        notes = await self.message_states.read_entries(ChangedConversation(source=""))
        if not notes:
            return
        jobs = await self.jobs.recent(RECENT)
        open_notes: set[str] = set()
        for base in await self.catalog.bases():
            open_notes |= await self._enqueue_in(base.name, {one.source: one.at for one in notes}, jobs)
        for note in notes:
            if note.source not in open_notes:
                await self.message_states.remove(note)

    async def _enqueue_in(self, base: str, notes: Mapping[str, float], jobs: Sequence[Job]) -> set[str]:
        """Enqueue one base's changed documents; return the notes that are not done yet."""
        ahead = pending_sources(base, jobs)
        open_notes = {source for source in notes if not ahead.isdisjoint(_names(source))}
        ids = {document_id_of(base, source): source for source in notes.keys() - open_notes}
        visible = await self.catalog.visible_versions(list(ids))
        due = []
        for source in sorted(ids[one] for one in visible):
            tried = _latest_try(base, source, notes[source], jobs)
            if tried is None or self._is_to_repeat(tried, source, notes[source]):
                due.append(source)
            if tried is None or not _is_read(tried, source):
                open_notes.add(source)
        for platform, group in groupby(due, conversation_platform):
            await self._accept(base, platform, {one: notes[one] for one in list(group)[:MOST_TOGETHER]})
        return {one for one in open_notes if not self._is_given_up(notes[one])}

    def _is_to_repeat(self, tried: Job, source: str, at: float) -> bool:
        """Return whether a failed try is due for a retry."""
        if _is_read(tried, source) or tried.ended_at is None or self._is_given_up(at):
            return False
        ended = tried.ended_at.timestamp()
        return self.clock.now().timestamp() - ended >= max(RETRY_SECONDS, ended - at)

    def _is_given_up(self, at: float) -> bool:
        return self.clock.now().timestamp() - at > GIVE_UP_SECONDS

    async def _accept(self, base: str, platform: str, notes: Mapping[str, float]) -> None:
        """Enqueue one job, whose id is the same in every process within one minute."""
        now = self.clock.now()
        marks = f"{base}\x1f{now:%Y-%m-%dT%H:%M}\x1f{sorted(notes.items())}"
        job = Job(
            id=hashlib.sha256(marks.encode()).hexdigest()[:12],
            kind=JobKind.REFRESH,
            base=base,
            by=BY,
            created_at=now,
            platform=platform,
            items=tuple(refresh_item(source, repr(at)) for source, at in notes.items()),
        )
        try:
            await self.job_queue.accept(job)
        except Busy:
            log.info("chat_change_waits", extra={"base": base})  # the notes stay and are retried


def _names(source: str) -> Iterable[str]:
    """Return the possible names of this conversation in a job's items: its source, or the platform's reference."""
    parts = source.split("/")
    return ("/".join(parts[start:]) for start in range(3))


def _latest_try(base: str, source: str, at: float, jobs: Iterable[Job]) -> Job | None:
    """Return the newest job that read this document for this change."""
    for job in jobs:
        place = job.position(source) if job.base == base and job.kind is JobKind.REFRESH else None
        if place is not None and job.items[place].etag == repr(at):
            return job
    return None


def _is_read(job: Job, source: str) -> bool:
    return any(one.source == source and one.over and one.state is not ItemState.FAILED for one in job.items)
