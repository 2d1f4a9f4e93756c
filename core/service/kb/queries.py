"""What a caller may see of the knowledge: bases, documents, jobs, proposals; and which of them a name means.

A base that the reply's readers may not see does not exist here, by whatever path it is asked for. Nothing here changes
anything, but for the default base, which is made when it is first needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.agent.gather import matching_sources
from core.model.errors import FootnoteError, NotFound
from core.model.jobs import Job, JobState
from core.model.knowledge import Document, KnowledgeBase
from core.ports.catalog import Catalog
from core.ports.index import Index, Scope
from core.service.kb.commands import Caller, KbChoice, KbCommand, KbOption, KbReply, KbVerb
from core.service.kb.document_text import shown_document
from core.service.kb.job_queue import JobQueue
from core.service.kb.job_text import (
    base_line,
    count,
    document_line,
    for_whom,
    job_line,
    job_text,
    join_names,
    proposal_line,
    schedule_line,
    shown_link,
)

PAGE = 10
PROPOSALS = 5  # on a page: with their beginnings and buttons, what a message of Discord's holds
COMPLETED = 25  # what Discord's autocomplete shows at most
DEFAULT_BASE = "default"
MOST_JOBS = 200  # looked through for one caller


@dataclass(frozen=True, slots=True)
class KnowledgeQueries:
    """Looks, and finds what is meant. Holds no state of its own."""

    catalog: Catalog
    index: Index
    job_queue: JobQueue

    # --- completing -------------------------------------------------------------------------------------------------

    async def complete(self, typed: str, caller: Caller) -> tuple[str, ...]:
        """Names of bases that begin like this."""
        wanted = typed.strip().casefold()
        try:
            names = [base.name for base in await self.visible(caller)]
        except FootnoteError:
            return ()
        return tuple(name for name in names if name.casefold().startswith(wanted))[:COMPLETED]

    async def complete_document(self, typed: str, caller: Caller, base: str = "") -> tuple[tuple[str, str], ...]:
        """(title, id) of documents that match."""
        try:
            bases = [one for one in await self.visible(caller) if not base or one.name.casefold() == base.casefold()]
            documents = await self.documents(*bases)
        except FootnoteError:
            return ()
        found = matching_sources(documents, typed) if typed.strip() else tuple(documents)
        return tuple((document.title, document.id) for document in found)[:COMPLETED]

    # --- looking ----------------------------------------------------------------------------------------------------

    async def listing(self, command: KbCommand, caller: Caller) -> KbReply:
        """The bases, or the documents of one."""
        if command.base:
            base = await self.base(command.base, caller)
            now = self.job_queue.clock.now()
            lines = [document_line(document, now) for document in await self.documents(base)]
            listing = paged(lines, command.page, f"**{base.name}**", "Nothing is in there yet.")
            return await self.with_waiting(listing, caller)
        grants = caller.permissions.is_admin
        lines = []
        for base in await self.visible(caller):
            lines.append(base_line(base, await self.documents(base), grants=grants))
        listing = paged(lines, command.page, "**Knowledge bases**", "There is no knowledge base yet.")
        return await self.with_waiting(listing, caller)

    async def show(self, command: KbCommand, caller: Caller) -> KbReply:
        """One base, or one document with its passages' places."""
        if not command.target:
            base = await self.base(command.base, caller)
            return await self._base_shown(base, caller)
        document = await self.document(command, caller)
        passages = await self.index.passages(document.id, document.version, Scope(frozenset({document.knowledge_base})))
        jobs = await self.job_queue.jobs.recent(MOST_JOBS) if caller.permissions.is_admin else ()
        head, lines = shown_document(
            document, passages, jobs, self.job_queue.clock.now(), admin=caller.permissions.is_admin
        )
        return paged(lines, command.page, head, "")

    async def _base_shown(self, base: KnowledgeBase, caller: Caller) -> KbReply:
        documents = await self.documents(base)
        lines = [base_line(base, documents, grants=caller.permissions.is_admin)]
        if caller.permissions.is_admin:
            lines += [schedule_line(one) for one in await self.job_queue.records.schedules() if one.base == base.name]
            recent = [job for job in await self.job_queue.jobs.recent() if job.base == base.name]
            lines += [job_line(job) for job in recent[:3]]
            failed = {item.source: item.reason for job in recent for item in job.failed_items}
            lines += [f"• failed: {shown_link(source)}: {reason}" for source, reason in list(failed.items())[:5]]
        return KbReply("\n".join(lines))

    async def status(self, command: KbCommand, caller: Caller) -> KbReply:
        """The queue, running jobs, failures, schedules."""
        jobs = await self.jobs(caller)
        visible = {base.name for base in await self.visible(caller)}
        schedules = [one for one in await self.job_queue.records.schedules() if one.base in visible]
        lines = [
            f"{count(range(await self.job_queue.inbox.count_waiting()), 'job')} in line or under way.",
            *(job_text(job) for job in jobs if job.state is JobState.RUNNING),
            *(job_line(job) for job in jobs if job.state is JobState.QUEUED),
            *(job_line(job) for job in [job for job in jobs if job.over and (job.failed_items or job.reason)][:5]),
            *(schedule_line(schedule) for schedule in schedules),
        ]
        return await self.with_waiting(KbReply("\n".join(lines)), caller)

    async def job_list(self, command: KbCommand, caller: Caller) -> KbReply:
        """The newest jobs, or one with all its failures."""
        jobs = await self.jobs(caller)
        if command.target:
            return KbReply(job_text(one_job(jobs, command.target)))
        return paged([job_line(job) for job in jobs], command.page, "**Jobs**", "There was no job yet.")

    async def proposals(self, command: KbCommand, caller: Caller) -> KbReply:
        """What waits for an admin, each with what can be done about it."""
        alone_with(caller)
        waiting = await self.job_queue.records.proposals()
        lines = [proposal_line(one) for one in waiting]
        head = f"**Proposals**\n{await self._goes_into(caller)}" if waiting else "**Proposals**"
        reply = paged(lines, command.page, head, "Nothing waits to be looked at.", PROPOSALS)
        shown = range((reply.page - 1) * PROPOSALS, min(reply.page * PROPOSALS, len(lines)))
        choices = tuple(KbChoice(lines[n], _decisions(waiting[n].id, reply.page)) for n in shown)
        return replace(reply, choices=choices, turning=KbCommand(KbVerb.PROPOSALS))

    async def _goes_into(self, caller: Caller) -> str:
        """Where what is approved goes, and who will read it there: words of few may become words to all."""
        bases = await self.visible(caller)
        base = next((one for one in bases if one.name.casefold() == _wanted("", bases)), KnowledgeBase(DEFAULT_BASE))
        return f"What is approved goes into “{base.name}”, {for_whom(base)}, unless another is named."

    async def waiting(self, caller: Caller) -> str:
        """How many proposals wait, for an admin; empty where none does."""
        if not caller.permissions.is_admin:
            return ""
        waiting = await self.job_queue.records.proposals()
        return f"{count(waiting, 'proposal')} to look at: /kb proposals" if waiting else ""

    async def with_waiting(self, reply: KbReply, caller: Caller) -> KbReply:
        """The reply, and for an admin how many proposals wait, with the way to them."""
        line = await self.waiting(caller)
        if not line:
            return reply
        way = (KbOption("Look at them", KbCommand(KbVerb.PROPOSALS)),) if caller.private else ()
        return replace(reply, text=f"{reply.text}\n{line}", choices=(*reply.choices, KbChoice(line, way)))

    # --- finding what is meant --------------------------------------------------------------------------------------

    def shown_to(self, base: KnowledgeBase, caller: Caller) -> bool:
        """Whether the readers of the reply may know of a base: an admin's eyes alone may see every one."""
        return base.visible_to(caller.audience) or (caller.permissions.is_admin and caller.private)

    async def visible(self, caller: Caller) -> list[KnowledgeBase]:
        """The bases that the readers of the reply may know of."""
        return [base for base in await self.catalog.bases() if self.shown_to(base, caller)]

    async def base(self, name: str, caller: Caller, *, create: bool = False) -> KnowledgeBase:
        """The base of this name; without one, the only base there is, or the default one. Raises NotFound."""
        bases = await self.visible(caller)
        wanted = _wanted(name, bases)
        for base in bases:
            if base.name.casefold() == wanted:
                return base
        if create and wanted == DEFAULT_BASE and await self.job_queue.trash.base(DEFAULT_BASE) is None:
            base = KnowledgeBase(DEFAULT_BASE)
            await self.catalog.save_base(base)
            return base
        there = join_names(base.name for base in bases[:PAGE]) or "none yet"
        if not name.strip():
            raise NotFound("Which knowledge base?", remedy=f"There is: {there}.")
        raise NotFound(f"There is no knowledge base called “{name.strip()[:60]}” here; there is: {there}.")

    async def documents(self, *bases: KnowledgeBase) -> Sequence[Document]:
        """What is in these bases."""
        return await self.catalog.documents(frozenset(base.name for base in bases))

    async def document(self, command: KbCommand, caller: Caller) -> Document:
        """The one document that is meant, among those of bases the caller may see. Raises NotFound."""
        bases = [await self.base(command.base, caller)] if command.base else await self.visible(caller)
        found = matching_sources(await self.documents(*bases), command.target)
        if len(found) != 1:
            raise not_one(command.target, found, "here")
        return found[0]

    async def jobs(self, caller: Caller) -> list[Job]:
        """The newest jobs, of bases the caller may see; of bases that are gone, for an admin's eyes alone."""
        visible = {base.name for base in await self.visible(caller)}
        alone = caller.permissions.is_admin and caller.private
        return [job for job in await self.job_queue.jobs.recent(MOST_JOBS) if alone or job.base in visible]


def _wanted(name: str, bases: Sequence[KnowledgeBase]) -> str:
    """The base that is meant, casefolded: without a name the only one there is, or the default one."""
    return name.strip().casefold() or (bases[0].name.casefold() if len(bases) == 1 else DEFAULT_BASE)


def paged(lines: Sequence[str], page: int, head: str, empty: str, size: int = PAGE) -> KbReply:
    """One page of lines under a heading."""
    if not lines:
        return KbReply(f"{head}\n{empty}".strip())
    pages = (len(lines) + size - 1) // size
    at = min(max(1, page), pages)
    shown = lines[(at - 1) * size : at * size]
    note = [f"Page {at} of {pages}."] if pages > 1 else []
    return KbReply("\n".join([head, *shown, *note]), page=at, pages=pages)


def _decisions(proposal: str, page: int) -> tuple[KbOption, ...]:
    """What an admin may say to a proposal on this page of the list."""
    verbs = {"Approve": KbVerb.APPROVE, "Reject": KbVerb.REJECT}
    return tuple(
        KbOption(label, KbCommand(verb, target=proposal, page=page, listed=True), once=True)
        for label, verb in verbs.items()
    )


def alone_with(caller: Caller) -> None:
    """Raise NotFound unless only the caller reads the reply: proposals carry words of other places."""
    if not caller.private:
        raise NotFound("Proposals are shown to one person alone.", remedy="Ask where only you see the reply.")


def one_job(jobs: Sequence[Job], job_id: str) -> Job:
    """The job of this id. Raises NotFound."""
    job = next((job for job in jobs if job.id == job_id.strip()), None)
    if job is None:
        raise NotFound("There is no such job.", remedy="/kb jobs shows them.")
    return job


def not_one(name: str, found: Sequence[Document], where: str) -> NotFound:
    """What to raise when a name means none or several documents."""
    if not found:
        return NotFound(f"There is no document called “{name.strip()[:80]}” {where}.")
    which = join_names(shown_link(document.source) for document in found[:5])
    return NotFound(f"“{name.strip()[:80]}” could be any of {len(found)}: {which}.", remedy="Name one by its path.")
