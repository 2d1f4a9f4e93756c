"""``/kb``, handled: who may, what happens, and what to say. Slack, Discord and the terminal all come here.

Rights are the caller's as looked up now; every admin action and every refusal is recorded. A base that the reply's
readers may not see does not exist here, by whatever path it is asked for.
"""

import uuid
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from adapters.accepting import Acceptance, described, is_link
from adapters.knowledge_desk import EVERYONE, Caller, KbCommand, KbReply, KbVerb, KnowledgeCommands
from adapters.knowledge_text import (
    base_line,
    count,
    document_line,
    for_whom,
    job_line,
    job_text,
    listed,
    proposal_line,
    removed_line,
    schedule_line,
)
from adapters.showing import shown_document
from core.agent.gather import matching_sources
from core.errors import Denied, FootnoteError, NotFound
from core.ingestion.jobs import Job, JobKind, JobState
from core.ingestion.shelves import (
    MOST_DESCRIPTION,
    RESTORABLE,
    Every,
    Proposal,
    Removed,
    base_name,
    granted,
    revoked,
)
from core.ingestion.transcripts import Conversation, Said, as_markdown
from core.knowledge import Document, KnowledgeBase
from core.ports import Audit, Catalogue, Index, Scope
from core.retrieval.hybrid import Retriever

PAGE = 10
COMPLETED = 25  # what Discord's autocomplete shows at most
DEFAULT_BASE = "default"
FOR_ALL = frozenset({KbVerb.LIST, KbVerb.SHOW})
ONLY_LOOKING = FOR_ALL | {KbVerb.STATUS, KbVerb.JOBS, KbVerb.PROPOSALS}
WENT_WRONG = "Something went wrong on my side. Please try again."

log = structlog.get_logger(__name__)

Answering = Callable[[KbCommand, Caller], Awaitable[KbReply]]


@dataclass(frozen=True, slots=True)
class KnowledgeDesk(KnowledgeCommands):
    """Handles what people ask of the knowledge. Holds no state of its own."""

    catalogue: Catalogue
    index: Index
    retriever: Retriever
    acceptance: Acceptance
    audit: Audit

    async def handle(self, command: KbCommand, caller: Caller) -> KbReply:
        """Do it, or say in one line why not."""
        about = "/".join(part for part in (command.base, described(command)) if part)
        try:
            _check(command, caller)
            reply = await self._answering(command.verb)(command, caller)
        except Denied as error:
            await self._record(caller, command.verb, about, allowed=False)
            return KbReply(str(error), ok=False, denied=True)
        except FootnoteError as error:
            if command.verb not in ONLY_LOOKING:
                await self._record(caller, command.verb, about, detail=f"not done: {error}")
            return KbReply(str(error), ok=False)
        except Exception:
            log.exception("kb_failed", verb=command.verb)
            return KbReply(WENT_WRONG, ok=False)
        if command.verb not in ONLY_LOOKING and reply.confirm is None:
            await self._record(caller, command.verb, about, detail=_said(reply))
        return reply

    async def propose(self, conversation: Conversation, caller: Caller, base: str = "") -> KbReply:
        """*Add to knowledge base*: an admin's is ingested, anybody else's waits for an admin."""
        proposal = Proposal(
            id=uuid.uuid4().hex[:8],
            base=base,
            source=conversation.source,
            title=" ".join(conversation.title.split())[:200] or "A conversation",
            text=as_markdown(conversation).decode(),
            by=caller.person,
            at=self.acceptance.clock.now(),
            permalink=conversation.permalink,
        )
        return await self._proposed(proposal, caller)

    async def correct(self, question: str, answer: str, permalink: str | None, caller: Caller) -> KbReply:
        """The right answer to a question that was answered wrongly: goes the way of a proposal."""
        now = self.acceptance.clock.now()
        said = (Said(caller.person.name or "A reader", now, answer),)
        title = " ".join(question.split())[:160]
        if not title or not answer.strip():
            return KbReply("A correction needs the right answer.", ok=False)
        marks = uuid.uuid5(uuid.NAMESPACE_URL, f"{caller.thread}\x1f{title}").hex[:12]
        return await self.propose(Conversation(f"correction {marks}", title, said, permalink), caller)

    async def complete(self, typed: str, caller: Caller) -> tuple[str, ...]:
        """Names of bases that begin like this."""
        wanted = typed.strip().casefold()
        try:
            names = [base.name for base in await self._visible(caller)]
        except FootnoteError:
            return ()
        return tuple(name for name in names if name.casefold().startswith(wanted))[:COMPLETED]

    async def complete_document(self, typed: str, caller: Caller, base: str = "") -> tuple[tuple[str, str], ...]:
        """(title, id) of documents that match."""
        try:
            bases = [one for one in await self._visible(caller) if not base or one.name.casefold() == base.casefold()]
            documents = await self._documents(*bases)
        except FootnoteError:
            return ()
        found = matching_sources(documents, typed) if typed.strip() else tuple(documents)
        return tuple((document.title, document.id) for document in found)[:COMPLETED]

    def _answering(self, verb: KbVerb) -> Answering:
        return {
            KbVerb.INGEST: self._ingest,
            KbVerb.LIST: self._list,
            KbVerb.SHOW: self._show,
            KbVerb.REMOVE: self._remove,
            KbVerb.RESTORE: self._restore,
            KbVerb.REFRESH: self._refresh,
            KbVerb.SCHEDULE: self._schedule,
            KbVerb.CREATE: self._create,
            KbVerb.DESCRIBE: self._describe,
            KbVerb.GRANT: self._grant,
            KbVerb.REVOKE: self._revoke,
            KbVerb.STATUS: self._status,
            KbVerb.JOBS: self._jobs,
            KbVerb.CANCEL: self._cancel,
            KbVerb.PROPOSALS: self._proposals,
            KbVerb.APPROVE: self._approve,
            KbVerb.REJECT: self._reject,
        }[verb]

    # --- looking ----------------------------------------------------------------------------------------------------

    async def _list(self, command: KbCommand, caller: Caller) -> KbReply:
        if command.base:
            base = await self._base(command.base, caller)
            now = self.acceptance.clock.now()
            lines = [document_line(document, now) for document in await self._documents(base)]
            return paged(lines, command.page, f"**{base.name}**", "Nothing is in there yet.")
        grants = caller.permissions.is_admin
        lines = []
        for base in await self._visible(caller):
            lines.append(base_line(base, await self._documents(base), grants=grants))
        return paged(lines, command.page, "**Knowledge bases**", "There is no knowledge base yet.")

    async def _show(self, command: KbCommand, caller: Caller) -> KbReply:
        if not command.target:
            base = await self._base(command.base, caller)
            return await self._show_base(base, caller)
        document = await self._document(command, caller)
        passages = await self.index.passages(document.id, document.version, Scope(frozenset({document.knowledge_base})))
        jobs = await self.acceptance.jobs.recent(200) if caller.permissions.is_admin else ()
        head, lines = shown_document(
            document, passages, jobs, self.acceptance.clock.now(), admin=caller.permissions.is_admin
        )
        return paged(lines, command.page, head, "")

    async def _show_base(self, base: KnowledgeBase, caller: Caller) -> KbReply:
        documents = await self._documents(base)
        lines = [base_line(base, documents, grants=caller.permissions.is_admin)]
        if caller.permissions.is_admin:
            lines += [schedule_line(one) for one in await self.acceptance.records.schedules() if one.base == base.name]
            recent = [job for job in await self.acceptance.jobs.recent() if job.base == base.name]
            lines += [job_line(job) for job in recent[:3]]
            failed = {item.source: item.reason for job in recent for item in job.failed}
            lines += [f"• failed: {source}: {reason}" for source, reason in list(failed.items())[:5]]
        return KbReply("\n".join(lines))

    async def _status(self, command: KbCommand, caller: Caller) -> KbReply:
        jobs = await self._seen_jobs(caller)
        schedules = [one for one in await self.acceptance.records.schedules() if await self._sees(one.base, caller)]
        lines = [
            f"{await self.acceptance.inbox.waiting()} jobs are not done.",
            *(job_text(job) for job in jobs if job.state is JobState.RUNNING),
            *(job_line(job) for job in jobs if job.state is JobState.QUEUED),
            *(job_line(job) for job in [job for job in jobs if job.over and (job.failed or job.reason)][:5]),
            *(schedule_line(schedule) for schedule in schedules),
        ]
        waiting = len(await self.acceptance.records.proposals())
        lines += [f"{waiting} proposal{'' if waiting == 1 else 's'} to look at: /kb proposals"] if waiting else []
        return KbReply("\n".join(lines))

    async def _jobs(self, command: KbCommand, caller: Caller) -> KbReply:
        jobs = await self._seen_jobs(caller)
        if command.target:
            return KbReply(job_text(_one_job(jobs, command.target)))
        return paged([job_line(job) for job in jobs], command.page, "**Jobs**", "There was no job yet.")

    async def _proposals(self, command: KbCommand, caller: Caller) -> KbReply:
        if not caller.private:  # they carry words of other places
            raise NotFound("Proposals are shown to one person alone.", remedy="Ask where only you see the reply.")
        lines = [proposal_line(one) for one in await self.acceptance.records.proposals()]
        return paged(lines, command.page, "**Proposals**", "Nothing waits to be looked at.")

    # --- bringing in ------------------------------------------------------------------------------------------------

    async def _ingest(self, command: KbCommand, caller: Caller) -> KbReply:
        base = await self._base(command.base, caller, create=True)
        return _accepted(await self.acceptance.ingest(command, base.name, caller), base)

    async def ingest_bytes(self, files: AsyncIterable[tuple[str, str, bytes]], base: str, caller: Caller) -> KbReply:
        """For who has the bytes at hand: (source, name, bytes) each. An admin's alone, as INGEST."""
        if not caller.permissions.is_admin:
            return await self.handle(KbCommand(KbVerb.INGEST, base), caller)
        try:
            kept = await self._base(base, caller, create=True)
            job = await self.acceptance.ingest_bytes(files, kept.name, caller)
        except FootnoteError as error:
            return KbReply(str(error), ok=False)
        await self._record(caller, KbVerb.INGEST, f"{kept.name}/{job.subject}", detail=f"job {job.id}")
        return _accepted(job, kept)

    async def _refresh(self, command: KbCommand, caller: Caller) -> KbReply:
        if command.target:
            chosen = await self._document(command, caller)
            job = await self.acceptance.refresh([chosen], chosen.knowledge_base, caller)
        else:
            base = await self._base(command.base, caller)
            links = [one for one in await self._documents(base) if is_link(one.source)]
            job = await self.acceptance.refresh(links, base.name, caller)
        return KbReply(job_text(job), job=job)

    async def _schedule(self, command: KbCommand, caller: Caller) -> KbReply:
        if command.every not in tuple(Every):
            raise NotFound("How often should it be fetched?", remedy="Choose daily, weekly or never.")
        base = await self._base(command.base, caller, create=True)
        every, link = Every(command.every), command.target.strip()
        known = matching_sources(await self._documents(base), link) if link else ()
        link = known[0].source if len(known) == 1 and not is_link(link) else link
        schedule = await self.acceptance.schedule(link, every, command.limit, base.name, caller)
        if every is Every.NEVER:
            return KbReply("It is not fetched again by itself any more.")
        if any(one.source == link for one in known):
            return KbReply(schedule_line(schedule))
        first = KbCommand(KbVerb.INGEST, base.name, link, limit=command.limit)
        job = await self.acceptance.ingest(first, base.name, caller)
        return KbReply(f"{schedule_line(schedule)}\n{job_text(job)}", job=job)

    async def _proposed(self, proposal: Proposal, caller: Caller) -> KbReply:
        try:
            if caller.permissions.is_admin:
                base = await self._base(proposal.base, caller, create=True)
                job = await self.acceptance.approved(proposal, base.name, caller)
                await self._record(caller, "add", f"{base.name}/{proposal.title}", detail=f"job {job.id}")
                return _accepted(job, base)
            if proposal.base:
                await self._base(proposal.base, caller)
            await self.acceptance.records.propose(proposal)
        except FootnoteError as error:
            return KbReply(str(error), ok=False)
        return KbReply(f"Thank you. An admin will look at it (proposal {proposal.id}).")

    async def _approve(self, command: KbCommand, caller: Caller) -> KbReply:
        waiting = {one.id: one for one in await self.acceptance.records.proposals()}
        proposal = waiting.get(command.target.strip())
        if proposal is None:
            raise NotFound("There is no such proposal, or it is decided already.")
        base = await self._base(command.base or proposal.base, caller, create=True)
        if await self.acceptance.records.take_proposal(proposal.id) is None:
            raise NotFound("It was decided just now by somebody else.")
        return _accepted(await self.acceptance.approved(proposal, base.name, caller), base)

    async def _reject(self, command: KbCommand, caller: Caller) -> KbReply:
        proposal = await self.acceptance.records.take_proposal(command.target.strip())
        if proposal is None:
            raise NotFound("There is no such proposal, or it is decided already.")
        return KbReply(f"“{proposal.title}” is not added.")

    async def _cancel(self, command: KbCommand, caller: Caller) -> KbReply:
        job = _one_job(await self._seen_jobs(caller), command.target)
        if job.over:
            raise NotFound("That job is over.")
        if not await self.acceptance.jobs.cancel(job.id, caller.person.id):
            raise NotFound("That job is being cancelled already.")
        return KbReply(f"Cancelling job {job.id}. What it has done so far stays; the rest stays as it was.")

    # --- taking out and putting back --------------------------------------------------------------------------------

    async def _remove(self, command: KbCommand, caller: Caller) -> KbReply:
        if command.target:
            return await self._remove_document(command, await self._document(command, caller), caller)
        if not command.base:
            raise NotFound("What should be removed?", remedy="Name a document, or a whole knowledge base.")
        base = await self._base(command.base, caller)
        documents = await self._documents(base)
        if not command.confirmed:
            text = f"Remove the whole knowledge base “{base.name}” with its {count(documents, 'document')}?"
            asked = replace(command, base=base.name, confirmed=True)
            return KbReply(f"{text} {_KEPT_A_WEEK}", confirm=asked, confirm_label=f"Remove {base.name}")
        gone = await self.acceptance.shelves.remove_base(base, caller.person.id)
        await self._unschedule(base.name)
        job = await self.acceptance.documents(JobKind.REMOVE, gone, base.name, caller)
        return KbReply(f"“{base.name}” is gone: nothing of it is found from now on.\n{job_text(job)}", job=job)

    async def _remove_document(self, command: KbCommand, document: Document, caller: Caller) -> KbReply:
        if not command.confirmed:
            asked = replace(command, base=document.knowledge_base, target=document.id, confirmed=True)
            text = f"Remove “{document.title}” from {document.knowledge_base}? {_KEPT_A_WEEK}"
            return KbReply(text, confirm=asked, confirm_label="Remove it")
        passages = await self.acceptance.shelves.remove(document, caller.person.id)
        await self._unschedule(document.knowledge_base, document.source)
        return KbReply(
            f"Removed “{document.title}” from {document.knowledge_base}: {passages} passages then, "
            f"{await self._left(document)} now. {await self._searched(document)} {_KEPT_A_WEEK}"
        )

    async def _left(self, document: Document) -> int:
        return await self.index.count(Scope(frozenset({document.knowledge_base}), frozenset({document.id})))

    async def _searched(self, document: Document) -> str:
        """What a search for a document's title finds now."""
        found = await self.retriever.search(document.title, Scope(frozenset({document.knowledge_base})), PAGE)
        there = any(hit.passage.document == document.id for hit in found.hits)
        others = list(dict.fromkeys(hit.passage.title for hit in found.hits))[:3]
        finding = f"“{document.title}” itself" if there else listed(others) or "nothing"
        return f"A search for its title now finds {finding}."

    async def _restore(self, command: KbCommand, caller: Caller) -> KbReply:
        kept = [one for one in await self.acceptance.shelves.restorable() if self._shown_to(one.base, caller)]
        if command.base:
            kept = [one for one in kept if one.base.name.casefold() == command.base.strip().casefold()]
        if command.target:
            return await self._restore_document(kept, command.target)
        lines = [removed_line(one, one.at + RESTORABLE) for one in kept]
        whole = [one for one in kept if one.whole_base]
        if not command.base or not whole:
            return paged(lines, command.page, "**Can be restored**", "Nothing was removed in the last 7 days.")
        base = whole[0].base
        if await self.acceptance.shelves.base(base.name) is None:
            await self.catalogue.save_base(base)
        documents = [one.document for one in whole]
        job = await self.acceptance.documents(JobKind.RESTORE, documents, base.name, caller)
        return KbReply(job_text(job), job=job)

    async def _restore_document(self, kept: Sequence[Removed], name: str) -> KbReply:
        found = matching_sources([one.document for one in kept], name)
        if len(found) != 1:
            raise _not_one(name, found, "among what was removed in the last 7 days")
        removed = next(one for one in kept if one.document.id == found[0].id)
        document = await self.acceptance.shelves.restore(removed)
        return KbReply(f"“{document.title}” is back in {document.knowledge_base}. {await self._searched(document)}")

    async def _unschedule(self, base: str, link: str = "") -> None:
        for schedule in await self.acceptance.records.schedules():
            if schedule.base == base and link in ("", schedule.link):
                await self.acceptance.records.schedule(replace(schedule, every=Every.NEVER))

    # --- governing --------------------------------------------------------------------------------------------------

    async def _create(self, command: KbCommand, caller: Caller) -> KbReply:
        name = base_name(command.base or command.target)
        if await self.acceptance.shelves.base(name) is not None:
            raise NotFound(f"“{name}” cannot be created: the name is taken.", remedy="Choose another.")
        grants = frozenset(command.principals) if EVERYONE not in command.principals else frozenset()
        base = KnowledgeBase(name, _description(command), grants)
        await self.catalogue.save_base(base)
        return KbReply(f"Created “{base.name}”, {for_whom(base)}.")

    async def _describe(self, command: KbCommand, caller: Caller) -> KbReply:
        base = replace(await self._base(command.base, caller), description=_description(command))
        await self.catalogue.save_base(base)
        return KbReply(f"“{base.name}”: {base.description or 'no description'}.")

    async def _grant(self, command: KbCommand, caller: Caller) -> KbReply:
        base = await self._base(command.base, caller)
        if not command.principals:
            raise NotFound("Whom should it be for?", remedy="Name a channel, a role or a group, or everyone.")
        opened = EVERYONE in command.principals
        base = replace(base, grants=frozenset()) if opened else granted(base, command.principals)
        await self.catalogue.save_base(base)
        return KbReply(f"“{base.name}” is {for_whom(base)}.")

    async def _revoke(self, command: KbCommand, caller: Caller) -> KbReply:
        base = revoked(await self._base(command.base, caller), command.principals)
        await self.catalogue.save_base(base)
        return KbReply(f"“{base.name}” is {for_whom(base)}.")

    # --- finding what is meant --------------------------------------------------------------------------------------

    def _shown_to(self, base: KnowledgeBase, caller: Caller) -> bool:
        """Whether the readers of the reply may know of a base: an admin's eyes alone may see every one."""
        return base.visible_to(caller.audience) or (caller.permissions.is_admin and caller.private)

    async def _visible(self, caller: Caller) -> list[KnowledgeBase]:
        return [base for base in await self.catalogue.bases() if self._shown_to(base, caller)]

    async def _sees(self, name: str, caller: Caller) -> bool:
        return any(base.name == name for base in await self._visible(caller))

    async def _base(self, name: str, caller: Caller, *, create: bool = False) -> KnowledgeBase:
        """The base of this name; without one, the only base there is, or the default one. Raises NotFound."""
        bases = await self._visible(caller)
        wanted = name.strip().casefold()
        if not wanted:
            wanted = bases[0].name.casefold() if len(bases) == 1 else DEFAULT_BASE
        for base in bases:
            if base.name.casefold() == wanted:
                return base
        if create and wanted == DEFAULT_BASE and await self.acceptance.shelves.base(DEFAULT_BASE) is None:
            base = KnowledgeBase(DEFAULT_BASE)
            await self.catalogue.save_base(base)
            return base
        there = listed(base.name for base in bases[:PAGE]) or "none yet"
        if not name.strip():
            raise NotFound("Which knowledge base?", remedy=f"There is: {there}.")
        raise NotFound(f"There is no knowledge base called “{name.strip()[:60]}” here; there is: {there}.")

    async def _documents(self, *bases: KnowledgeBase) -> Sequence[Document]:
        return await self.catalogue.documents(frozenset(base.name for base in bases))

    async def _document(self, command: KbCommand, caller: Caller) -> Document:
        """The one document that is meant, among those of bases the caller may see. Raises NotFound."""
        bases = [await self._base(command.base, caller)] if command.base else await self._visible(caller)
        found = matching_sources(await self._documents(*bases), command.target)
        if len(found) != 1:
            raise _not_one(command.target, found, "here")
        return found[0]

    async def _seen_jobs(self, caller: Caller) -> list[Job]:
        """The newest jobs, of bases the caller may see; of bases that are gone, for an admin's eyes alone."""
        visible = {base.name for base in await self._visible(caller)}
        alone = caller.permissions.is_admin and caller.private
        return [job for job in await self.acceptance.jobs.recent(200) if alone or job.base in visible]

    async def _record(self, caller: Caller, verb: str, about: str, *, allowed: bool = True, detail: str = "") -> None:
        """Into the audit. When that cannot be reached the log has it: nothing goes unrecorded."""
        try:
            await self.audit.record(caller.person.id, f"kb {verb}", about, allowed=allowed, detail=detail)
        except FootnoteError:
            log.warning("audit_away", actor=caller.person.id, action=f"kb {verb}", target=about, allowed=allowed)


_KEPT_A_WEEK = "It can be restored for 7 days."


def paged(lines: Sequence[str], page: int, head: str, empty: str) -> KbReply:
    """One page of lines under a heading."""
    if not lines:
        return KbReply(f"{head}\n{empty}".strip())
    pages = (len(lines) + PAGE - 1) // PAGE
    at = min(max(1, page), pages)
    shown = lines[(at - 1) * PAGE : at * PAGE]
    note = [f"Page {at} of {pages}."] if pages > 1 else []
    return KbReply("\n".join([head, *shown, *note]), page=at, pages=pages)


def _said(reply: KbReply) -> str:
    """A reply in the audit: its job, or its first line."""
    return f"job {reply.job.id}" if reply.job else reply.text.partition("\n")[0][:160]


def _check(command: KbCommand, caller: Caller) -> None:
    """Raise Denied unless this person may do that."""
    if command.verb not in FOR_ALL and not caller.permissions.is_admin:
        raise Denied("Only admins can do that.", remedy="Ask one of them.")


def _accepted(job: Job, base: KnowledgeBase) -> KbReply:
    """The card of a new job, and whom it will be visible to: conversations and files carry words of few to many."""
    return KbReply(f"{job_text(job)}\nWhat it adds is {for_whom(base)}.", job=job)


def _description(command: KbCommand) -> str:
    return " ".join(command.text.split())[:MOST_DESCRIPTION]


def _one_job(jobs: Sequence[Job], job_id: str) -> Job:
    job = next((job for job in jobs if job.id == job_id.strip()), None)
    if job is None:
        raise NotFound("There is no such job.", remedy="/kb jobs shows them.")
    return job


def _not_one(name: str, found: Sequence[Document], where: str) -> NotFound:
    if not found:
        return NotFound(f"There is no document called “{name.strip()[:80]}” {where}.")
    which = listed(document.source for document in found[:5])
    return NotFound(f"“{name.strip()[:80]}” could be any of {len(found)}: {which}.", remedy="Name one by its path.")
