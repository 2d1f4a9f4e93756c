"""Queries for a caller: the bases, documents, jobs and proposals they may see, and what a name refers to.

A base that the reply's readers may not see does not exist here. Nothing here changes anything, except that the default
base is created on first use.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from core.model.clock import Clock
from core.model.errors import Denied, FootnoteError, NotFound
from core.model.jobs import Job, JobState
from core.model.knowledge import Document, KnowledgeBase, Passage, find_base, matching_sources, redact_link
from core.ports.catalog import Catalog
from core.ports.inbox import Inbox
from core.ports.index import Index, Scope
from core.ports.job_store import JobStore, Proposal, ProposalStore, ScheduleStore
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.results import (
    BaseDetails,
    BaseList,
    DocumentDetails,
    DocumentList,
    JobDetails,
    JobList,
    ProposalList,
    QueueStatus,
)
from core.service.kb.summaries import (
    OfferedCommand,
    Page,
    ProposalsWaiting,
    SourceNote,
    last_look,
    preview_passage,
    readers_of,
    summarize_base,
    summarize_document,
    summarize_job,
    summarize_proposal,
    summarize_schedule,
)
from core.service.visibility import VisibleBases

PAGE = 10
PROPOSALS = 5  # on a page: with text and buttons, as many as fit into a Discord message
COMPLETED = 25  # what Discord's autocomplete shows at most
DEFAULT_BASE = "default"
MOST_JOBS = 200  # searched for one caller
TROUBLED = 5  # jobs with failures listed by status
JOBS_OF_BASE, FAILURES_OF_BASE = 3, 5  # listed in the details of a base

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class KnowledgeQueries:
    """Read-only queries and name resolution. Stateless."""

    catalog: Catalog
    index: Index
    jobs: JobStore
    inbox: Inbox
    schedule_store: ScheduleStore
    proposal_store: ProposalStore
    clock: Clock

    # --- completing -------------------------------------------------------------------------------------------------

    async def complete(self, typed: str, caller: Caller) -> tuple[str, ...]:
        """Return names of visible bases with this beginning, for autocomplete: at most 25."""
        wanted = typed.strip().casefold()
        try:
            names = [base.name for base in await self.visible(caller)]
        except FootnoteError:
            return ()
        return tuple(name for name in names if name.casefold().startswith(wanted))[:COMPLETED]

    async def complete_document(self, typed: str, caller: Caller, base: str = "") -> tuple[tuple[str, str], ...]:
        """Return (title, id) of matching documents of visible bases, at most 25."""
        try:
            bases = [one for one in await self.visible(caller) if not base or one.name.casefold() == base.casefold()]
            documents = await self.documents(*bases)
        except FootnoteError:
            return ()
        found = matching_sources(documents, typed) if typed.strip() else tuple(documents)
        return tuple((document.title, document.id) for document in found)[:COMPLETED]

    # --- looking ----------------------------------------------------------------------------------------------------

    async def list_contents(self, command: KbCommand, caller: Caller) -> BaseList | DocumentList:
        """Return the bases, or the documents of one base."""
        if command.base:
            base = await self.base(command.base, caller)
            documents, page = page_of(await self.documents(base), command)
            rows = tuple(map(summarize_document, documents))
            now = self.clock.now()
            return DocumentList(base.name, rows, now, page, await self.proposals_waiting(caller))
        bases, page = page_of(await self.visible(caller), command)
        admin = caller.permissions.is_admin
        summaries = tuple([summarize_base(base, await self.documents(base), admin=admin) for base in bases])
        return BaseList(summaries, page, await self.proposals_waiting(caller))

    async def show(self, command: KbCommand, caller: Caller) -> BaseDetails | DocumentDetails:
        """Return one base, or one document with the places of its passages."""
        if not command.target:
            return await self._base_details(await self.base(command.base, caller), caller)
        document, admin = await self.document(command, caller), caller.permissions.is_admin
        found = await self.passages(document)
        jobs = await self.jobs.recent(MOST_JOBS) if admin else ()
        passages, page = page_of(found, command)
        return DocumentDetails(
            document=summarize_document(document),
            media_type=document.media_type,
            dated=document.dated,
            added_by=document.added_by if admin else "",
            last_look=last_look(document, jobs),
            notes=document.notes,
            passages=tuple(map(preview_passage, passages)),
            as_of=self.clock.now(),
            page=page,
        )

    async def _base_details(self, base: KnowledgeBase, caller: Caller) -> BaseDetails:
        admin = caller.permissions.is_admin
        summary = summarize_base(base, await self.documents(base), admin=admin)
        if not admin:
            return BaseDetails(summary)
        schedules = [one for one in await self.schedule_store.schedules() if one.base == base.name]
        recent = [job for job in await self.jobs.recent() if job.base == base.name]
        failed = {redact_link(item.source): item.reason for job in recent for item in job.failed_items}
        return BaseDetails(
            base=summary,
            schedules=tuple(map(summarize_schedule, schedules)),
            jobs=tuple(map(summarize_job, recent[:JOBS_OF_BASE])),
            failures=tuple(SourceNote(*one) for one in list(failed.items())[:FAILURES_OF_BASE]),
        )

    async def status(self, command: KbCommand, caller: Caller) -> QueueStatus:
        """Return the queue, running jobs, failures and schedules."""
        jobs = [summarize_job(job) for job in await self.jobs_of(caller)]
        visible = {base.name for base in await self.visible(caller)}
        schedules = [one for one in await self.schedule_store.schedules() if one.base in visible]
        troubled = [job for job in jobs if job.over and (job.failures or job.reason)]
        return QueueStatus(
            in_line=await self.inbox.count_waiting(),
            running=tuple(job for job in jobs if job.state is JobState.RUNNING),
            queued=tuple(job for job in jobs if job.state is JobState.QUEUED),
            troubled=tuple(troubled[:TROUBLED]),
            schedules=tuple(map(summarize_schedule, schedules)),
            waiting=await self.proposals_waiting(caller),
        )

    async def job_list(self, command: KbCommand, caller: Caller) -> JobList | JobDetails:
        """Return the newest jobs, or one with all its failures."""
        jobs = await self.jobs_of(caller)
        if command.target:
            return JobDetails(summarize_job(one_job(jobs, command.target)))
        rows, page = page_of(jobs, command)
        return JobList(tuple(map(summarize_job, rows)), page)

    async def proposals(self, command: KbCommand, caller: Caller) -> ProposalList:
        """Return the proposals that wait for an admin, each with its possible actions."""
        require_privacy(caller)
        turning = KbCommand(KbVerb.PROPOSALS, page=command.page)
        shown, page = page_of(await self._waiting(caller), turning, PROPOSALS)
        bases = await self.visible(caller)
        base = find_base(bases, _wanted_name("", bases)) or KnowledgeBase(DEFAULT_BASE)
        summaries = tuple(summarize_proposal(one, page.number) for one in shown)
        return ProposalList(summaries, base.name, readers_of(base), page)

    async def proposals_waiting(self, caller: Caller) -> ProposalsWaiting | None:
        """Return how many proposals wait for this admin, with a button to them; None if none does."""
        if not caller.permissions.is_admin:
            return None
        waiting = len(await self._waiting(caller))
        look = OfferedCommand("Review proposals", KbCommand(KbVerb.PROPOSALS)) if caller.private else None
        return ProposalsWaiting(waiting, look) if waiting else None

    async def may_see(self, proposal: Proposal, caller: Caller) -> bool:
        """Return whether this admin may read everything a proposal quotes. The admin role alone is not enough."""
        return proposal.readable_by(await VisibleBases(self.catalog).names(caller.audience))

    async def _waiting(self, caller: Caller) -> list[Proposal]:
        return [one for one in await self.proposal_store.proposals() if await self.may_see(one, caller)]

    # --- name resolution --------------------------------------------------------------------------------------------

    async def visible(self, caller: Caller) -> Sequence[KnowledgeBase]:
        """Return the bases that the readers of the reply may see."""
        return await VisibleBases(self.catalog).for_audience(caller.readers)

    async def own_base(self, name: str, caller: Caller, *, create: bool = False) -> KnowledgeBase:
        """Return the base of this name, to change its documents or readers.

        Raises NotFound, and Denied if a connected source controls them.
        """
        base = await self.base(name, caller, create=create)
        if base.connection:
            raise Denied(
                f"“{base.name}” has the documents and the readers of a connected source.",
                remedy="Change or remove them at the source. The next sync follows. To map readers, use /kb connect.",
            )
        return base

    async def base(self, name: str, caller: Caller, *, create: bool = False) -> KnowledgeBase:
        """Return the base of this name; without one, our only own base or the default one. Raises NotFound."""
        bases = await self.visible(caller)
        wanted = _wanted_name(name, [one for one in bases if not one.connection])
        if (base := find_base(bases, wanted)) is not None:
            return base
        if create and wanted == DEFAULT_BASE and find_base(await self.catalog.bases(), wanted) is None:
            base = KnowledgeBase(DEFAULT_BASE)
            await self.catalog.save_base(base)
            return base
        there = ", ".join(base.name for base in bases[:PAGE]) or "none yet"
        if not name.strip():
            raise NotFound("Which knowledge base?", remedy=f"Available: {there}.")
        raise NotFound(f"There is no knowledge base called “{name.strip()[:60]}” here. Available: {there}.")

    async def documents(self, *bases: KnowledgeBase) -> Sequence[Document]:
        """Return the documents of these bases."""
        return await self.catalog.documents(frozenset(base.name for base in bases))

    async def document(self, command: KbCommand, caller: Caller) -> Document:
        """Return the one document in visible bases that the command names. Raises NotFound."""
        bases = [await self.base(command.base, caller)] if command.base else await self.visible(caller)
        found = matching_sources(await self.documents(*bases), command.target)
        if len(found) != 1:
            raise not_one(command.target, found, "here")
        return found[0]

    async def document_of_id(self, document_id: str, caller: Caller) -> Document | None:
        """Return the document of this id; None if it does not exist or its base is hidden from the readers."""
        document = await self.catalog.document(document_id)
        visible = {base.name for base in await self.visible(caller)}
        return document if document is not None and document.knowledge_base in visible else None

    async def passages(self, document: Document) -> Sequence[Passage]:
        """Return all passages of a document's visible version, in reading order."""
        scope = Scope(frozenset({document.knowledge_base}))
        return await self.index.passages(document.id, document.version, scope)

    async def jobs_of(self, caller: Caller) -> list[Job]:
        """Return the newest jobs of visible bases; jobs of removed bases only for an admin in private."""
        visible = {base.name for base in await self.visible(caller)}
        jobs = await self.jobs.recent(MOST_JOBS)
        return [job for job in jobs if caller.sees_all or job.base in visible]


def _wanted_name(name: str, bases: Sequence[KnowledgeBase]) -> str:
    """Return the requested name, casefolded; without one, that of the only base or of the default one."""
    return name.strip().casefold() or (bases[0].name.casefold() if len(bases) == 1 else DEFAULT_BASE)


def page_of(rows: Sequence[Row], command: KbCommand, size: int = PAGE) -> tuple[Sequence[Row], Page]:
    """Return the rows of the requested or nearest page, and the commands for its neighbours."""
    pages = max(1, (len(rows) + size - 1) // size)
    at = min(max(1, command.page), pages)
    page = Page(
        number=at,
        pages=pages,
        previous=replace(command, page=at - 1) if at > 1 else None,
        next=replace(command, page=at + 1) if at < pages else None,
    )
    return rows[(at - 1) * size : at * size], page


def require_privacy(caller: Caller) -> None:
    """Raise NotFound unless only the caller reads the reply, because proposals quote other places."""
    if not caller.private:
        raise NotFound("I show proposals only in private.", remedy="Use the command where only you can see the reply.")


def one_job(jobs: Sequence[Job], job_id: str) -> Job:
    """Return the job of this id. Raises NotFound."""
    job = next((job for job in jobs if job.id == job_id.strip()), None)
    if job is None:
        raise NotFound("There is no such job.", remedy="The list of jobs shows them.")
    return job


def not_one(name: str, found: Sequence[Document], where: str) -> NotFound:
    """Return the error for a name that matches no document or several."""
    if not found:
        return NotFound(f"There is no document called “{name.strip()[:80]}” {where}.")
    which = ", ".join(redact_link(document.source) for document in found[:5])
    return NotFound(
        (f"“{name.strip()[:80]}” could be any of {len(found)}: {which}."), remedy="Name the document by its path."
    )
