"""From a command to a job in the queue: durable before anybody is told, so that what was accepted is done."""

import asyncio
import hashlib
import logging
import uuid
from collections.abc import AsyncIterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from core.ingestion.ingestor import document_id_of
from core.ingestion.orphans import OrphanedPassages
from core.ingestion.trash import Trash
from core.model.clock import Clock
from core.model.errors import Busy, DocumentRejected, FootnoteError, NotFound
from core.model.jobs import ItemKind, Job, JobItem, JobKind, JobState, content_digest, waiting_duplicate
from core.model.json_codec import to_json
from core.model.knowledge import Document
from core.ports.blob_store import BlobStore
from core.ports.file_stores import FileStores
from core.ports.inbox import Inbox
from core.ports.job_store import JobStore
from core.ports.proposal_store import Decision, Proposal, ProposalStore
from core.ports.schedule_store import Every, Schedule, ScheduleStore
from core.service.kb.commands import MOST_FILES, Caller, KbCommand
from core.service.kb.item_sources import file_name, spool_name
from core.service.kb.job_runner import job_delivery
from core.service.kb.place_watch import PlaceWatch
from core.service.kb.web_links import is_link, redact_link

ADD_AGAIN = "Add the new file or conversation under the same name: it takes the old one's place."
MOST_PAGES = 500
DEFAULT_PAGES = 100  # of a sitemap or a channel, where nothing else was said
MOST_STORED = 900  # files of one place; a job has at most 1,000 items
ORPHANED = timedelta(seconds=60)  # after which a queued job is put into the inbox once more
MOST_JOBS = 1_000  # looked through for documents that are about to be written
_SWEEP = timedelta(hours=1)

log = logging.getLogger(__name__)


@dataclass(slots=True)
class JobQueue:
    """Makes jobs, keeps them, and puts them into the inbox, from which one worker at a time takes those of a base.

    What is accepted here is durable before the caller is told. ``orphans``, ``stores`` and ``watch`` are None where
    there is nothing to sweep, where no place but the web may be read, and where none is watched.
    """

    jobs: JobStore
    inbox: Inbox
    blobs: BlobStore
    trash: Trash
    schedule_store: ScheduleStore
    proposal_store: ProposalStore
    clock: Clock
    orphans: OrphanedPassages | None = None
    stores: FileStores | None = None
    watch: PlaceWatch | None = None
    _swept: float = float("-inf")

    async def accept(self, job: Job) -> Job:
        """Keep a job and put it in line; a job of an id that is known is left as it is.

        Raises Busy when this person has too many in line (the job is then kept as failed), StoreUnavailable.
        """
        if not await self.jobs.keep(job):
            return job
        try:
            await self.inbox.put(job_delivery(job))
        except Busy:
            await self.jobs.record(job.at_end(self.clock.now(), JobState.FAILED, "Too many jobs were waiting."))
            raise Busy("Too many jobs are waiting already.", remedy="Please wait until some are done.") from None
        return job

    def create_job(self, kind: JobKind, base: str, caller: Caller, subject: str, items: Sequence[JobItem] = ()) -> Job:
        """A new job of this caller, with a random id; neither kept nor in line yet."""
        return Job(
            id=uuid.uuid4().hex[:12],
            kind=kind,
            base=base,
            by=caller.person,
            created_at=self.clock.now(),
            platform=caller.thread.platform,
            thread=str(caller.thread),
            reply_target=caller.reply_target,
            subject=subject,
            items=tuple(items),
        )

    async def ingest(self, command: KbCommand, base: str, caller: Caller) -> Job:
        """Take in what a command names: files and a link together, or a site, a thread or a channel.

        A link is a site where it is to be followed to more than one page, or is a sitemap by its path. Raises NotFound
        when nothing was named, or what cannot be one job; DocumentRejected for more than MOST_FILES files; Busy.
        """
        link = command.target.strip()
        walked = bool(command.channel) or bool(link and (command.limit > 1 or _is_sitemap(link)))
        if walked and command.files:
            raise NotFound("Files and a whole channel or site are two jobs.", remedy="Add the files by themselves.")
        if command.channel:
            made = self.create_job(JobKind.HISTORY, base, caller, link or "this channel")
            job = replace(made, reference=command.channel, limit=_page_limit(command.limit), listed=False)
            return await self.accept(job)
        self._check(link)
        if link and (command.limit > 1 or _is_sitemap(link) or not is_link(link)):
            return await self.ingest_site(link, command.limit, base, caller)
        items = [*_files(command), *_links(link), *_conversations(command)]
        if not items:
            raise NotFound("There is nothing to add.", remedy="Attach files, or name a link.")
        subject = items[0].name or items[0].source if len(items) == 1 else f"{len(items)} documents"
        return await self.accept(self.create_job(JobKind.INGEST, base, caller, subject, items))

    def _check(self, link: str) -> None:
        """Raises NotFound for what is neither a link nor a place that may be read here."""
        if not link or is_link(link):
            return
        if "://" not in link or self.stores is None:
            raise NotFound("That is no link.", remedy="It begins with https:// or http://.")
        if reason := self.stores.why_refused(link):
            raise NotFound(reason, remedy="A link begins with https:// or http://.")

    async def ingest_site(self, link: str, limit: int, base: str, caller: Caller) -> Job:
        """Take in the pages below a link, of a sitemap, or the files of a place; once more, to keep up. Raises Busy.

        ``limit`` is in pages or files: 0 means DEFAULT_PAGES or MOST_STORED, and no more than MOST_PAGES or MOST_STORED
        are taken.
        """
        made = self.create_job(JobKind.SITE, base, caller, link)
        return await self.accept(replace(made, reference=link, limit=_site_limit(link, limit), listed=False))

    async def ingest_bytes(self, files: AsyncIterable[tuple[str, str, bytes]], base: str, caller: Caller) -> Job:
        """Take in bytes that are at hand: (source, name, bytes) each, set aside until their turn comes.

        Where the same files of the same caller are in line already (a command that was killed, and given again), it is
        that job, and no second one.
        """
        job = self.create_job(JobKind.INGEST, base, caller, "")
        items = []
        async for source, name, data in files:
            spooled = spool_name(job.id, source)
            await self.blobs.keep(spooled, data)
            items.append(JobItem(ItemKind.SPOOLED, source, spooled, name=name, digest=content_digest(data)))
        if not items:
            raise NotFound("There is nothing to add.", remedy="Name files that can be read.")
        subject = items[0].source if len(items) == 1 else f"{len(items)} files"
        job = replace(job, subject=subject, items=tuple(items))
        waiting = waiting_duplicate(job, await self.jobs.recent())
        if waiting is None:
            return await self.accept(job)
        for item in items:
            await self.blobs.forget(item.reference)
        return waiting

    async def refresh(self, documents: Sequence[Document], base: str, caller: Caller) -> Job:
        """Fetch links again. Raises NotFound when none of these documents came from a link."""
        links = [document for document in documents if is_link(document.source)]
        if not links:
            what = f"“{documents[0].title}”" if len(documents) == 1 else "What is in there"
            raise NotFound(f"{what} did not come from a link, so it cannot be fetched again.", remedy=ADD_AGAIN)
        items = [JobItem(ItemKind.LINK, one.source, one.source) for one in links]
        subject = links[0].title if len(links) == 1 else f"{len(links)} links"
        return await self.accept(self.create_job(JobKind.REFRESH, base, caller, subject, items))

    async def queue_documents(self, kind: JobKind, documents: Sequence[Document], base: str, caller: Caller) -> Job:
        """Put away (REMOVE), or put back (RESTORE), the documents of a whole base. Raises Busy.

        To be put away a document is invisible already, so that its item carries it whole.
        """
        items = [
            JobItem(ItemKind.DOCUMENT, one.source, to_json(one) if kind is JobKind.REMOVE else one.id)
            for one in documents
        ]
        return await self.accept(self.create_job(kind, base, caller, f"{len(items)} documents", items))

    async def ingest_proposal(self, proposal: Proposal, base: str, caller: Caller) -> Job:
        """Take in what an admin would add, which needs nobody's approval. Raises Busy."""
        return await self.accept(self._proposal_job(proposal, base, caller))

    async def decide(self, proposal: Proposal, caller: Caller, base: str = "") -> tuple[bool, Decision | None]:
        """Approve a proposal for a base, or without one reject it: whether it was this that decided, and what holds.

        What is approved is taken up: the decision is durable with its job, so if this process dies over it, or there
        is no room in the line just now, ``tick`` goes on with it.
        """
        job = self._proposal_job(proposal, base, caller) if base else None
        now = self.clock.now()
        decision = Decision(uuid.uuid4().hex[:12], proposal.id, job is not None, caller.person, now, base, job)
        held = await self.proposal_store.decide(decision)
        if held is None or held.id != decision.id:
            return False, held
        await self.take_up(held)
        return True, held

    async def take_up(self, decision: Decision) -> None:
        """Put the job of an approval in line. Said again, by whomever, it is still that one job.

        What is in the way is not raised: the approval holds, and is gone on with in a while.
        """
        if decision.job is None:
            return
        try:
            await self.jobs.keep(decision.job)
            await self.inbox.put(job_delivery(decision.job))
            await self.proposal_store.settle(decision.proposal)
        except FootnoteError as error:
            log.info("approval_not_in_line", extra={"job": decision.job.id, "reason": str(error)})

    def _proposal_job(self, proposal: Proposal, base: str, caller: Caller) -> Job:
        item = JobItem(
            ItemKind.TEXT,
            proposal.source,
            proposal.text,
            name=file_name(proposal.title),
            url=proposal.permalink,
            title=proposal.title,
        )
        return self.create_job(JobKind.INGEST, base, caller, proposal.title, [item])

    async def schedule(self, link: str, every: Every, limit: int, base: str, caller: Caller) -> Schedule:
        """Fetch a link again and again, for the first time an interval from now. Raises NotFound where it is none.

        ``limit`` is in pages: up to 1 it is the link alone, and no more than MOST_PAGES. Only places that keep files
        are watched (ON_CHANGE).
        """
        if not is_link(link) and (self.stores is None or self.stores.why_refused(link)):
            raise NotFound(
                "Only links can be fetched again.", remedy=f"Name one that begins with https://. {ADD_AGAIN}"
            )
        if is_link(link) and every is Every.ON_CHANGE:
            raise NotFound(
                "Pages of the web are not watched, only places that keep files.", remedy="Choose daily or weekly."
            )
        limit = min(limit, MOST_PAGES) if is_link(link) else _site_limit(link, limit)
        due = self.clock.now() + (every.interval or timedelta())
        schedule = Schedule(base, link, every, caller.person, due, limit if limit > 1 or not is_link(link) else 0)
        await self.schedule_store.save_schedule(schedule)
        return schedule

    async def tick(self) -> None:
        """What is due by the clock, to be called about once a minute in every process. Raises StoreUnavailable.

        Scheduled refreshes; approvals and jobs that were kept and did not get into the line; once an hour, copies of
        what cannot be restored any more; passages of versions that never became visible.
        """
        now = self.clock.now()
        due = [schedule for schedule in await self.schedule_store.schedules() if schedule.next_at <= now]
        watched = [schedule for schedule in due if schedule.every is Every.ON_CHANGE]
        for schedule in due:
            if schedule.every is not Every.ON_CHANGE:
                await self._due(schedule)
        for decision in await self.proposal_store.unsettled():
            await self.take_up(decision)
        for job in await self.jobs.recent():
            if job.state is JobState.QUEUED and now - job.created_at > ORPHANED:
                with suppress(Busy):
                    await self.inbox.put(job_delivery(job))
        if self.clock.monotonic() - self._swept > _SWEEP.total_seconds():
            self._swept = self.clock.monotonic()
            await self.trash.sweep()
        if self.orphans is not None and self.orphans.due:
            await self.orphans.look(await self._unwritten_documents())
        await asyncio.gather(*(self._look(schedule) for schedule in watched))  # last: a place may take its time

    async def _look(self, schedule: Schedule) -> None:
        """Look at a place that is watched, and put its sync in line where something is new."""
        interval = schedule.every.interval or timedelta(minutes=1)
        await self.schedule_store.save_schedule(replace(schedule, next_at=self.clock.now() + interval))
        if self.watch is None or await self._is_under_way(schedule):
            return
        job_id = await self.watch.due(schedule, self.clock.now())
        if job_id is not None:
            with suppress(FootnoteError):
                await self.accept(self._scheduled_job(job_id, schedule))

    async def _is_under_way(self, schedule: Schedule) -> bool:
        """Whether a sync of this place has not ended yet: what came since it began is seen a look later."""
        return any(
            (job.base, job.reference) == (schedule.base, schedule.link) and not job.over
            for job in await self.jobs.recent()
        )

    async def _unwritten_documents(self) -> frozenset[str]:
        """The ids of the documents that jobs are about to write: their passages are no orphans."""
        jobs = [job for job in await self.jobs.recent(MOST_JOBS) if not job.over]
        return frozenset(document_id_of(job.base, item.source) for job in jobs for item in job.items)

    async def _due(self, schedule: Schedule) -> None:
        """Put a refresh in line, once, however many processes look at the clock."""
        marks = f"{schedule.base}\x1f{schedule.link}\x1f{schedule.next_at.isoformat()}"
        with suppress(FootnoteError):
            await self.accept(self._scheduled_job(hashlib.sha256(marks.encode()).hexdigest()[:12], schedule))
        interval = schedule.every.interval or timedelta(days=1)
        await self.schedule_store.save_schedule(replace(schedule, next_at=self.clock.now() + interval))

    def _scheduled_job(self, job_id: str, schedule: Schedule) -> Job:
        return Job(
            id=job_id,
            kind=JobKind.SITE if schedule.limit else JobKind.REFRESH,
            base=schedule.base,
            by=schedule.by,
            created_at=self.clock.now(),
            subject=schedule.link,
            reference=schedule.link if schedule.limit else "",
            limit=schedule.limit,
            listed=not schedule.limit,
            items=() if schedule.limit else (JobItem(ItemKind.LINK, schedule.link, schedule.link),),
        )


def _page_limit(limit: int) -> int:
    return min(limit, MOST_PAGES) if limit > 0 else DEFAULT_PAGES


def _site_limit(link: str, limit: int) -> int:
    if is_link(link):
        return _page_limit(limit)
    return min(limit, MOST_STORED) if limit > 0 else MOST_STORED


def _is_sitemap(link: str) -> bool:
    path = link.partition("?")[0].lower()
    return path.endswith((".xml", ".xml.gz")) and "sitemap" in path


def _files(command: KbCommand) -> list[JobItem]:
    if len(command.files) > MOST_FILES:
        raise DocumentRejected(f"These are {len(command.files)} files.", remedy=f"Add at most {MOST_FILES} at once.")
    names = [file.name for file in command.files]
    return [
        JobItem(
            ItemKind.FILE, file.name if names.count(file.name) == 1 else f"{file.name} ({file.id})", file.id, file.name
        )
        for file in command.files
    ]


def _links(link: str) -> list[JobItem]:
    return [JobItem(ItemKind.LINK, link, link)] if link else []


def _conversations(command: KbCommand) -> list[JobItem]:
    if not command.conversation:
        return []
    return [JobItem(ItemKind.CONVERSATION, command.conversation, command.conversation, name="this conversation")]


def audit_text(command: KbCommand) -> str:
    """What a command is about, for the audit: without secrets of links."""
    what = [redact_link(command.target), command.text[:80], command.every, *command.principals]
    what += [file.name for file in command.files]
    what += ["a conversation"] if command.conversation else []
    what += ["a channel's history"] if command.channel else []
    return ", ".join(part for part in what if part)
