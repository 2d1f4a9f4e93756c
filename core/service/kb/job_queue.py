"""Job queue: turns commands into jobs that are validated and durable before they are confirmed."""

import uuid
from collections.abc import AsyncIterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from core.model.clock import Clock
from core.model.document_content import UPLOAD, FileContent
from core.model.errors import Busy, DocumentRejected, NotFound
from core.model.jobs import (
    ItemKind,
    Job,
    JobItem,
    JobKind,
    JobState,
    content_digest,
    document_item,
    refresh_item,
    waiting_duplicate,
)
from core.model.knowledge import Document, conversation_platform, is_link
from core.ports.catalog import BlobStore
from core.ports.inbox import Delivery, Inbox
from core.ports.job_store import JobStore
from core.ports.sources import FileStores
from core.service.kb.commands import MOST_FILES, MOST_PAGES, Caller, KbCommand
from core.service.kb.item_sources import spool_name
from core.service.kb.wording import ADD_AGAIN

DEFAULT_PAGES = 100  # of a sitemap or a channel, by default
MOST_STORED = 900  # files of one place; a job has at most 1,000 items
MOST_ORPHANED = 1_000  # of the newest jobs: programs may add hundreds within two minutes
RECENT = 200  # jobs searched for a document
ORPHANED = timedelta(seconds=60)  # after which a queued job is put into the inbox once more


def job_thread(base: str) -> str:
    """Return the queue of a base's jobs, which run one after another."""
    return f"kb/{base}"


def job_delivery(job: Job) -> Delivery:
    """Return the inbox envelope for a job's next turn."""
    return Delivery(f"{job.id}.{job.turn}", job.platform, job_thread(job.base), job.by.id, job.id, "job")


@dataclass(frozen=True, slots=True)
class JobQueue:
    """Creates jobs for callers, stores them, and puts them into the inbox of ``JobWorker``. Stateless."""

    jobs: JobStore
    inbox: Inbox
    blobs: BlobStore
    clock: Clock
    stores: FileStores

    async def accept(self, job: Job) -> Job:
        """Store and enqueue a job. A job with a known id is left unchanged.

        Raises Busy when this person has too many jobs queued (the job is then stored as failed), and StoreUnavailable.
        """
        if not await self.jobs.keep(job):
            return job
        try:
            await self.inbox.put(job_delivery(job))
        except Busy:
            await self.jobs.record(job.at_end(self.clock.now(), JobState.FAILED, "Too many jobs were waiting."))
            raise Busy("Too many jobs are waiting.", remedy="Please wait until some jobs are done.") from None
        return job

    async def ensure_enqueued(self, job: Job) -> None:
        """Store and enqueue a job, unless that was already done. Raises Busy, StoreUnavailable."""
        await self.jobs.keep(job)
        await self.inbox.put(job_delivery(job))

    async def requeue_orphaned(self) -> None:
        """Enqueue stored jobs that did not begin within ``ORPHANED``: the accepting process may have died.

        Jobs already queued stay unchanged, and those for which the queue is full are tried again later. Raises
        StoreUnavailable.
        """
        now = self.clock.now()
        for job in await self.jobs.recent(MOST_ORPHANED):
            if job.state is JobState.QUEUED and now - job.created_at > ORPHANED:
                with suppress(Busy):
                    await self.inbox.put(job_delivery(job))

    def create_job(
        self, kind: JobKind, base: str, caller: Caller, subject: str = "", items: Sequence[JobItem] = ()
    ) -> Job:
        """Return a new job of this caller, with a random id. It is neither stored nor enqueued."""
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
        """Accept a job for what a command names: files and a link together, or a site, a thread or a channel.

        Raises NotFound when nothing was named, or when it cannot be one job. Raises DocumentRejected for more than
        MOST_FILES files, and Busy.
        """
        link = command.target.strip()
        if not command.channel:
            self._check(link)
        site = _is_site(link, command.limit)
        if command.files and (command.channel or site):
            raise NotFound(
                "Files cannot be added together with a channel or a site.", remedy="Add the files by themselves."
            )
        if command.channel:
            made = self.create_job(JobKind.HISTORY, base, caller, link)
            job = replace(made, reference=command.channel, limit=_page_limit(command.limit), listed=False)
            return await self.accept(job)
        if site:
            return await self.ingest_site(link, command.limit, base, caller)
        items = [*_files(command), *([JobItem(ItemKind.LINK, link, link)] if link else [])]
        if command.conversation:
            items.append(JobItem(ItemKind.CONVERSATION, command.conversation, command.conversation))
        if not items:
            raise NotFound("There is nothing to add.", remedy="Attach files, or name a link.")
        named = len(items) == 1 and not command.conversation
        subject = items[0].name or items[0].source if named else ""
        return await self.accept(self.create_job(JobKind.INGEST, base, caller, subject, items))

    def _check(self, link: str) -> None:
        """Raise NotFound unless this is a link, or a place that may be read here."""
        if not link or is_link(link):
            return
        if "://" not in link:
            raise NotFound("That is not a link.", remedy="Links begin with https:// or http://.")
        if reason := self.stores.refusal(link):
            raise NotFound(reason, remedy="Links begin with https:// or http://.")

    async def ingest_site(self, link: str, limit: int, base: str, caller: Caller) -> Job:
        """Accept a job for the pages of a link or sitemap, or the files of a store; again to update them. Raises Busy.

        ``limit`` is in pages or files: 0 means DEFAULT_PAGES or MOST_STORED, and at most MOST_PAGES or MOST_STORED are
        taken.
        """
        made = self.create_job(JobKind.SITE, base, caller, link)
        return await self.accept(replace(made, reference=link, limit=site_limit(link, limit), listed=False))

    async def ingest_bytes(self, files: AsyncIterable[FileContent], base: str, caller: Caller) -> Job:
        """Accept a job for files whose bytes the caller sends, spooled until their turn.

        If the same files of the same caller are already queued (a command that was killed and repeated), return that
        job.
        """
        job = self.create_job(JobKind.INGEST, base, caller, "")
        items: list[JobItem] = []
        try:
            async for file in files:
                items.append(_spooled_item(job, file))
                await self.blobs.keep(items[-1].reference, file.data)
        except BaseException:  # out of space, or cancelled: free the spooled files
            await self._forget_spooled(items)
            raise
        if not items:
            raise NotFound("There is nothing to add.", remedy="Name files that can be read.")
        subject = items[0].source if len(items) == 1 else ""
        return await self.accept_once(replace(job, subject=subject, items=tuple(items)))

    async def check_idle(self, document: Document) -> None:
        """Raise Busy while an unfinished job has this document among its items."""
        for job in await self.jobs.recent(RECENT):
            if job.base == document.knowledge_base and not job.over and job.position(document.source) is not None:
                raise Busy("This document is being replaced.", remedy=f"Wait until job {job.id} is done.")

    async def accept_once(self, job: Job) -> Job:
        """Accept a job whose bytes are spooled; if the same is already queued, return that one. Raises Busy."""
        waiting = waiting_duplicate(job, await self.jobs.recent())
        if waiting is None:
            try:
                return await self.accept(job)
            except Busy:  # a job that never runs needs no spooled files
                await self._forget_spooled(job.items)
                raise
        await self._forget_spooled(job.items)
        return waiting

    async def _forget_spooled(self, items: Sequence[JobItem]) -> None:
        for item in items:
            await self.blobs.forget(item.reference)

    async def refresh(self, documents: Sequence[Document], base: str, caller: Caller) -> Job:
        """Accept a job that reads links and conversations again. Raises NotFound if no document came from one."""
        links = [document for document in documents if can_be_read_again(document)]
        if not links:
            what = f"“{documents[0].title}”" if len(documents) == 1 else "What is in there"
            raise NotFound(f"{what} did not come from a link, so it cannot be fetched again.", remedy=ADD_AGAIN)
        items = [refresh_item(one.source) for one in links]
        subject = links[0].title if len(links) == 1 else ""
        return await self.accept(self.create_job(JobKind.REFRESH, base, caller, subject, items))

    async def queue_documents(self, kind: JobKind, documents: Sequence[Document], base: str, caller: Caller) -> Job:
        """Accept a job that removes (REMOVE) or restores (RESTORE) a whole base's documents. Raises Busy."""
        if kind is JobKind.REMOVE:
            items = [document_item(one) for one in documents]
        else:
            items = [JobItem(ItemKind.DOCUMENT, one.source, one.id) for one in documents]
        return await self.accept(self.create_job(kind, base, caller, items=items))


def can_be_read_again(document: Document) -> bool:
    """Return whether a document came from a link or a conversation."""
    return is_link(document.source) or bool(conversation_platform(document.source) and not document.origin)


def _spooled_item(job: Job, file: FileContent) -> JobItem:
    name, digest = spool_name(job.id, file.source), content_digest(file.data)
    return JobItem(ItemKind.SPOOLED, file.source, name, file.name, origin=file.origin, digest=digest)


def _page_limit(limit: int) -> int:
    return min(limit, MOST_PAGES) if limit > 0 else DEFAULT_PAGES


def site_limit(link: str, limit: int) -> int:
    """Return how many pages of a site, or files of a store, one job takes; 0 means the default."""
    if is_link(link):
        return _page_limit(limit)
    return min(limit, MOST_STORED) if limit > 0 else MOST_STORED


def _is_site(link: str, limit: int) -> bool:
    """Return whether the link has several pages to follow, is a sitemap by its path, or is a file store."""
    return bool(link) and (limit > 1 or _is_sitemap(link) or not is_link(link))


def _is_sitemap(link: str) -> bool:
    path = link.partition("?")[0].lower()
    return path.endswith((".xml", ".xml.gz")) and "sitemap" in path


def _files(command: KbCommand) -> list[JobItem]:
    if len(command.files) > MOST_FILES:
        raise DocumentRejected(f"These are {len(command.files)} files.", remedy=f"Add at most {MOST_FILES} at once.")
    names = [file.name for file in command.files]
    return [
        JobItem(
            ItemKind.FILE,
            file.name if names.count(file.name) == 1 else f"{file.name} ({file.id})",
            file.id,
            file.name,
            origin=UPLOAD,
        )
        for file in command.files
    ]
