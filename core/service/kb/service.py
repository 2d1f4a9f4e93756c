"""``/kb``, handled: who may, what happens, and what to say. Slack, Discord, the page and the terminal all come here.

Rights are the caller's as looked up now; every admin action and every refusal is recorded. What a caller may see, and
what a name means for them, is ``queries``'s.
"""

import logging
import uuid
from collections.abc import AsyncIterable, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.ingestion.trash import MOST_DESCRIPTION, base_name, grant, revoke
from core.model.errors import Denied, FootnoteError, NotFound
from core.model.jobs import Job, JobKind
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.model.principals import EVERYONE, PRINCIPAL_FORMS, PrincipalForm
from core.model.sites import Site
from core.model.source_names import matching_sources
from core.model.transcripts import Conversation, TranscriptMessage, as_markdown, beginning_of
from core.ports.audit import Audit
from core.ports.catalog import Catalog
from core.ports.index import Index, Scope
from core.ports.proposal_store import Decision, Proposal
from core.ports.question_log import QuestionLog
from core.ports.schedule_store import Every
from core.ports.site_store import SiteStore
from core.ports.trash_store import RemovedDocument
from core.retrieval.hybrid import Retriever
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.index_repair import IndexRepair
from core.service.kb.job_queue import JobQueue, audit_text
from core.service.kb.knowledge_commands import KnowledgeUploads
from core.service.kb.queries import KnowledgeQueries, not_one, one_job, page_of, require_privacy
from core.service.kb.results import (
    BaseCreated,
    BaseDescribed,
    BaseRemoved,
    CancelRequested,
    DocumentRemoved,
    DocumentRestored,
    GrantsChanged,
    JobAccepted,
    KbAction,
    KbOutcome,
    KbResult,
    ProposalDecided,
    ProposalRejected,
    ProposalSent,
    RefreshAccepted,
    RefusalReason,
    Refused,
    RemovalPreview,
    RepairAccepted,
    RestorableList,
    ScheduleRemoved,
    ScheduleSaved,
    SearchCheck,
    accepted_jobs,
    succeeded,
)
from core.service.kb.summaries import (
    BEGINNING,
    readers_of,
    summarize_document,
    summarize_job,
    summarize_removal,
    summarize_schedule,
)
from core.service.kb.text_spans import join_names
from core.service.kb.web_links import is_link, redact_link
from core.service.kb.wording import decision_line, outcome_lines

FOR_ALL = frozenset({KbVerb.LIST, KbVerb.SHOW})
ONLY_LOOKING = FOR_ALL | {KbVerb.STATUS, KbVerb.JOBS, KbVerb.PROPOSALS}
CHECKED = 10  # passages that a search brings back to prove a removal
OTHERS = 3  # titles that it names
DETAIL = 160  # characters of a result in the audit
WENT_WRONG = "Something went wrong on my side. Please try again."

log = logging.getLogger(__name__)

VerbHandler = Callable[[KbCommand, Caller], Awaitable[KbResult]]


@dataclass(frozen=True, slots=True)
class KnowledgeService(KnowledgeUploads):
    """Handles what people ask of the knowledge. Holds no state of its own.

    ``forms`` is how those are written whom a base may be granted to.
    """

    catalog: Catalog
    index: Index
    retriever: Retriever
    job_queue: JobQueue
    site_store: SiteStore
    audit: Audit
    forms: tuple[PrincipalForm, ...] = PRINCIPAL_FORMS
    repair: IndexRepair | None = None
    questions: QuestionLog | None = None  # notes there which answers were corrected

    async def handle(self, command: KbCommand, caller: Caller) -> KbResult:
        """Do it, or say in one line why not."""
        about = "/".join(part for part in (command.base, audit_text(command)) if part)
        try:
            _check(command, caller)
            result = await self._handler(command.verb)(command, caller)
        except Denied as error:
            await self._record(caller, command.verb, about, allowed=False)
            return Refused.of(error)
        except FootnoteError as error:
            if command.verb not in ONLY_LOOKING:
                await self._record(caller, command.verb, about, detail=f"not done: {error}")
            return Refused.of(error)
        except Exception:
            log.exception("kb_failed", extra={"verb": command.verb})
            return Refused(RefusalReason.FAILED, WENT_WRONG)
        if command.verb not in ONLY_LOOKING and not isinstance(result, RemovalPreview):
            await self._record(caller, command.verb, about, detail=_audit_detail(result))
        return result

    async def propose(self, conversation: Conversation, caller: Caller, base: str = "") -> KbResult:
        """*Add to knowledge base*: an admin's is ingested, anybody else's waits for an admin."""
        proposal = Proposal(
            id=uuid.uuid4().hex[:8],
            base=base,
            source=conversation.source,
            title=" ".join(conversation.title.split())[:200] or "A conversation",
            text=as_markdown(conversation).decode(),
            by=caller.person,
            at=self.job_queue.clock.now(),
            permalink=conversation.permalink,
            beginning=beginning_of(conversation, BEGINNING),
        )
        return await self._propose(proposal, caller)

    async def correct(
        self, question: str, answer: str, permalink: str | None, caller: Caller, *, trace_id: str = ""
    ) -> KbResult:
        """The right answer to a question that was answered wrongly: goes the way of a proposal."""
        now = self.job_queue.clock.now()
        said = (TranscriptMessage(caller.person.name or "A reader", now, answer),)
        title = " ".join(question.split())[:160]
        if not title or not answer.strip():
            return Refused(RefusalReason.NOT_DONE, "A correction needs the right answer.")
        marks = uuid.uuid5(uuid.NAMESPACE_URL, f"{caller.thread}\x1f{title}").hex[:12]
        result = await self.propose(Conversation(f"correction {marks}", title, said, permalink), caller)
        if succeeded(result) and trace_id and self.questions is not None:
            try:
                await self.questions.mark_corrected(trace_id)
            except FootnoteError as error:  # the correction itself is kept
                log.warning("correction_not_marked", extra={"trace_id": trace_id, "reason": str(error)})
        return result

    # --- for clients that show documents whole

    async def documents(self, caller: Caller, base: str = "") -> Sequence[Document]:
        """Every document of a base, or of all that the caller may know of. Raises NotFound, StoreUnavailable."""
        queries = self._queries
        bases = [await queries.base(base, caller)] if base else await queries.visible(caller)
        return await queries.documents(*bases)

    async def document(self, name: str, caller: Caller, base: str = "") -> tuple[Document, Sequence[Passage]]:
        """The one document that is meant, with all its passages. Raises NotFound, StoreUnavailable."""
        found = await self._queries.document(KbCommand(KbVerb.SHOW, base, name), caller)
        scope = Scope(frozenset({found.knowledge_base}))
        return found, await self.index.passages(found.id, found.version, scope)

    async def proposals_waiting(self, caller: Caller) -> int:
        """How many proposals an admin has to look at."""
        try:
            waiting = await self._queries.proposals_waiting(caller)
        except FootnoteError:
            return 0
        return waiting.count if waiting is not None else 0

    async def complete(self, typed: str, caller: Caller) -> tuple[str, ...]:
        """Names of bases that begin like this."""
        return await self._queries.complete(typed, caller)

    async def complete_document(self, typed: str, caller: Caller, base: str = "") -> tuple[tuple[str, str], ...]:
        """(title, id) of documents that match."""
        return await self._queries.complete_document(typed, caller, base)

    @property
    def _queries(self) -> KnowledgeQueries:
        return KnowledgeQueries(self.catalog, self.index, self.job_queue)

    def _handler(self, verb: KbVerb) -> VerbHandler:
        return {
            KbVerb.INGEST: self._ingest,
            KbVerb.LIST: self._queries.list_contents,
            KbVerb.SHOW: self._queries.show,
            KbVerb.REMOVE: self._remove,
            KbVerb.RESTORE: self._restore,
            KbVerb.REFRESH: self._refresh,
            KbVerb.SCHEDULE: self._schedule,
            KbVerb.REPAIR: self._repair,
            KbVerb.CREATE: self._create,
            KbVerb.DESCRIBE: self._describe,
            KbVerb.GRANT: self._grant,
            KbVerb.REVOKE: self._revoke,
            KbVerb.STATUS: self._queries.status,
            KbVerb.JOBS: self._queries.job_list,
            KbVerb.CANCEL: self._cancel,
            KbVerb.PROPOSALS: self._queries.proposals,
            KbVerb.APPROVE: self._decide,
            KbVerb.REJECT: self._decide,
        }[verb]

    # --- bringing in ------------------------------------------------------------------------------------------------

    async def _ingest(self, command: KbCommand, caller: Caller) -> KbResult:
        base = await self._queries.base(command.base, caller, create=True)
        return _job_accepted(await self.job_queue.ingest(command, base.name, caller), base)

    async def ingest_bytes(self, files: AsyncIterable[tuple[str, str, bytes]], base: str, caller: Caller) -> KbResult:
        """For who has the bytes at hand: (source, name, bytes) each. An admin's alone, as INGEST."""
        if not caller.permissions.is_admin:
            return await self.handle(KbCommand(KbVerb.INGEST, base), caller)
        try:
            kept = await self._queries.base(base, caller, create=True)
            job = await self.job_queue.ingest_bytes(files, kept.name, caller)
        except FootnoteError as error:
            return Refused.of(error)
        await self._record(caller, KbVerb.INGEST, f"{kept.name}/{job.subject}", detail=f"job {job.id}")
        return _job_accepted(job, kept)

    async def require_base(self, name: str, caller: Caller) -> KnowledgeBase | Refused:
        """The base of this name, whatever the case of its letters; created, on record, when it is new."""
        there = await self.job_queue.trash.base(name)
        if there is not None:
            return there
        made = await self.handle(KbCommand(KbVerb.CREATE, name), caller)
        there = await self.job_queue.trash.base(name)  # another may have been quicker
        if there is not None:
            return there
        return made if isinstance(made, Refused) else Refused(RefusalReason.NOT_DONE, f"“{name}” is gone again.")

    async def _refresh(self, command: KbCommand, caller: Caller) -> KbResult:
        if command.target:
            if (site := await self._site(command, caller)) is not None:
                job = await self.job_queue.ingest_site(site.link, site.limit, site.base, caller)
                return JobAccepted(summarize_job(job))
            chosen = await self._queries.document(command, caller)
            job = await self.job_queue.refresh([chosen], chosen.knowledge_base, caller)
            return JobAccepted(summarize_job(job))
        base = await self._queries.base(command.base, caller)
        sites = await self.site_store.sites(base.name)
        below = {source for site in sites for source in site.pages}
        others = [one for one in await self._queries.documents(base) if one.source not in below]
        jobs = [await self.job_queue.ingest_site(site.link, site.limit, base.name, caller) for site in sites]
        if any(is_link(one.source) for one in others) or not sites:
            jobs.append(await self.job_queue.refresh(others, base.name, caller))
        left = sum(not is_link(one.source) for one in others)
        return RefreshAccepted(tuple(map(summarize_job, jobs)), base.name, left)

    async def _site(self, command: KbCommand, caller: Caller) -> Site | None:
        """The site that is meant: one that was read through before, by the link where that began."""
        bases = (
            [await self._queries.base(command.base, caller)] if command.base else await self._queries.visible(caller)
        )
        for base in bases:
            for site in await self.site_store.sites(base.name):
                if site.link == command.target.strip():
                    return site
        return None

    async def _schedule(self, command: KbCommand, caller: Caller) -> KbResult:
        if command.every not in tuple(Every):
            raise NotFound("How often should it be fetched?", remedy="Choose daily, weekly, on-change or never.")
        base = await self._queries.base(command.base, caller, create=True)
        every, link = Every(command.every), command.target.strip()
        known = matching_sources(await self._queries.documents(base), link) if link else ()
        link = known[0].source if len(known) == 1 and "://" not in link else link
        schedule = await self.job_queue.schedule(link, every, command.limit, base.name, caller)
        if every is Every.NEVER:
            return ScheduleRemoved(base.name, redact_link(link))
        if any(one.source == link for one in known):
            return ScheduleSaved(summarize_schedule(schedule))
        first = KbCommand(KbVerb.INGEST, base.name, link, limit=command.limit)
        job = await self.job_queue.ingest(first, base.name, caller)
        return ScheduleSaved(summarize_schedule(schedule), summarize_job(job))

    async def _repair(self, command: KbCommand, caller: Caller) -> KbResult:
        """Fill what the index has lost; without a base, of all of them."""
        if self.repair is None:
            raise NotFound("What documents were made of is not kept here.", remedy="Add them again.")
        name = command.base or command.target
        bases = [await self._queries.base(name, caller)] if name else await self._queries.visible(caller)
        begun = await self.repair.begin(bases, caller)
        return RepairAccepted(
            jobs=tuple(map(summarize_job, begun.jobs)),
            lost=tuple(map(summarize_document, begun.lost)),
            left=begun.left,
            complete=begun.whole,
        )

    async def _propose(self, proposal: Proposal, caller: Caller) -> KbResult:
        try:
            if caller.permissions.is_admin:
                base = await self._queries.base(proposal.base, caller, create=True)
                job = await self.job_queue.ingest_proposal(proposal, base.name, caller)
                await self._record(caller, "add", f"{base.name}/{proposal.title}", detail=f"job {job.id}")
                return _job_accepted(job, base)
            if proposal.base:
                await self._queries.base(proposal.base, caller)
            await self.job_queue.proposal_store.keep_proposal(proposal)
        except FootnoteError as error:
            return Refused.of(error)
        return ProposalSent(proposal.id)

    async def _decide(self, command: KbCommand, caller: Caller) -> KbResult:
        """Approve or reject a proposal, once; pressed in the list, the rest of that is shown below the outcome."""
        require_privacy(caller)
        if not command.listed:
            return await self._decision(command, caller)
        try:
            outcome = await self._decision(command, caller)
        except NotFound as error:
            outcome = Refused.of(error)
        return ProposalDecided(outcome, await self._queries.proposals(command, caller))

    async def _decision(self, command: KbCommand, caller: Caller) -> KbOutcome:
        approving, name = command.verb is KbVerb.APPROVE, command.target.strip()
        proposal = await self.job_queue.proposal_store.proposal(name)
        if proposal is None:
            return await self._earlier_decision(await self.job_queue.proposal_store.decision(name), approving, caller)
        base = await self._queries.base(command.base or proposal.base, caller, create=True) if approving else None
        ours, held = await self.job_queue.decide(proposal, caller, base.name if base else "")
        if not ours:
            return await self._earlier_decision(held, approving, caller)
        if base is None or held is None or held.job is None:
            return ProposalRejected(proposal.title)
        return _job_accepted(held.job, base)

    async def _earlier_decision(self, held: Decision | None, approving: bool, caller: Caller) -> KbOutcome:
        """Say who has decided. What this very admin approved, and may have died on its way, is taken up (again)."""
        if held is None:
            raise NotFound("There is no such proposal, or it is decided already.")
        if approving and held.job is not None and held.by.id == caller.person.id:
            await self.job_queue.take_up(held)
            return _job_accepted(held.job, await self._queries.base(held.base, caller))
        raise NotFound(decision_line(held, caller.person, self.job_queue.clock.now()))

    async def _cancel(self, command: KbCommand, caller: Caller) -> KbResult:
        job = one_job(await self._queries.jobs(caller), command.target)
        if job.over:
            raise NotFound("That job is over.")
        if not await self.job_queue.jobs.cancel(job.id, caller.person.id):
            raise NotFound("That job is being cancelled already.")
        return CancelRequested(job.id, summarize_job(replace(job, cancelled_by=caller.person.id)))

    # --- taking out and putting back --------------------------------------------------------------------------------

    async def _remove(self, command: KbCommand, caller: Caller) -> KbResult:
        if command.target:
            return await self._remove_document(command, await self._queries.document(command, caller), caller)
        if not command.base:
            raise NotFound("What should be removed?", remedy="Name a document, or a whole knowledge base.")
        base = await self._queries.base(command.base, caller)
        documents = await self._queries.documents(base)
        if not command.confirmed:
            asked = replace(command, base=base.name, confirmed=True)
            confirm = KbAction(f"Remove {base.name}", asked, once=True)
            return RemovalPreview(base.name, confirm, documents=len(documents))
        gone = await self.job_queue.trash.remove_base(base, caller.person.id)
        await self._unschedule(base.name)
        job = await self.job_queue.queue_documents(JobKind.REMOVE, gone, base.name, caller)
        check = await self._search_check(gone[0]) if gone else None
        return BaseRemoved(base.name, summarize_job(job), check)

    async def _remove_document(self, command: KbCommand, document: Document, caller: Caller) -> KbResult:
        if not command.confirmed:
            asked = replace(command, base=document.knowledge_base, target=document.id, confirmed=True)
            return RemovalPreview(document.knowledge_base, KbAction("Remove it", asked, once=True), document.title)
        passages = await self.job_queue.trash.remove(document, caller.person.id)
        await self._unschedule(document.knowledge_base, document.source)
        return DocumentRemoved(
            title=document.title,
            base=document.knowledge_base,
            passages=passages,
            passages_left=await self._count_left(document),
            check=await self._search_check(document),
        )

    async def _count_left(self, document: Document) -> int:
        return await self.index.count(Scope(frozenset({document.knowledge_base}), frozenset({document.id})))

    async def _search_check(self, document: Document) -> SearchCheck:
        """What a search for a document's title finds now; what has been done stays done where none can be made."""
        scope = Scope(frozenset({document.knowledge_base}))
        try:
            hits = (await self.retriever.search(document.title, scope, CHECKED)).hits
        except FootnoteError:
            return SearchCheck(document.title, found=None)
        others = dict.fromkeys(_distinct_title(hit.passage, document) for hit in hits)
        found = any(hit.passage.document == document.id for hit in hits)
        return SearchCheck(document.title, found, tuple(others)[:OTHERS])

    async def _restore(self, command: KbCommand, caller: Caller) -> KbResult:
        now = {base.name: base for base in await self.catalog.bases()}  # whom it is for may have changed since
        removed = await self.job_queue.trash.restorable()
        kept = [one for one in removed if now.get(one.base.name, one.base).visible_to(caller.readers)]
        if command.base:
            kept = [one for one in kept if one.base.name.casefold() == command.base.strip().casefold()]
        if command.target:
            return await self._restore_document(kept, command.target)
        whole = [one for one in kept if one.whole_base]
        if not command.base or not whole:
            rows, page = page_of(kept, command)
            return RestorableList(tuple(map(summarize_removal, rows)), page)
        base = whole[0].base
        if await self.job_queue.trash.base(base.name) is None:
            await self.catalog.save_base(base)
        documents = [one.document for one in whole]
        job = await self.job_queue.queue_documents(JobKind.RESTORE, documents, base.name, caller)
        return JobAccepted(summarize_job(job))

    async def _restore_document(self, kept: Sequence[RemovedDocument], name: str) -> KbResult:
        found = matching_sources([one.document for one in kept], name)
        if len(found) != 1:
            raise not_one(name, found, "among what was removed in the last 7 days")
        removed = next(one for one in kept if one.document.id == found[0].id)
        document = await self.job_queue.trash.restore(removed)
        return DocumentRestored(document.title, document.knowledge_base, await self._search_check(document))

    async def _unschedule(self, base: str, link: str = "") -> None:
        for schedule in await self.job_queue.schedule_store.schedules():
            if schedule.base == base and link in ("", schedule.link):
                await self.job_queue.schedule_store.save_schedule(replace(schedule, every=Every.NEVER))
        if not link:
            for site in await self.site_store.sites(base):
                await self.site_store.save_site(replace(site, pages={}))

    # --- governing --------------------------------------------------------------------------------------------------

    async def _create(self, command: KbCommand, caller: Caller) -> KbResult:
        name = base_name(command.base or command.target)
        if await self.job_queue.trash.base(name) is not None:
            raise NotFound(f"“{name}” cannot be created: the name is taken.", remedy="Choose another.")
        principals = self._principals(command)
        grants = frozenset() if EVERYONE in principals else principals
        base = KnowledgeBase(name, _description(command), grants)
        await self.catalog.save_base(base)
        return BaseCreated(base.name, readers_of(base))

    async def _describe(self, command: KbCommand, caller: Caller) -> KbResult:
        base = replace(await self._queries.base(command.base, caller), description=_description(command))
        await self.catalog.save_base(base)
        return BaseDescribed(base.name, base.description)

    async def _grant(self, command: KbCommand, caller: Caller) -> KbResult:
        base = await self._queries.base(command.base, caller)
        if not command.principals:
            raise NotFound("Whom should it be for?", remedy="Name a channel, a role or a group, or everyone.")
        principals = self._principals(command)
        base = replace(base, grants=frozenset()) if EVERYONE in principals else grant(base, principals)
        await self.catalog.save_base(base)
        return GrantsChanged(base.name, readers_of(base))

    def _principals(self, command: KbCommand) -> frozenset[str]:
        """Whom it is granted to. Raises NotFound for what no audience can hold: a slip would close the base to all."""
        for one in command.principals:
            if one != EVERYONE and not any(form.accepts(one) for form in self.forms):
                remedy = f"Write {EVERYONE}, or with their ids {join_names(map(str, self.forms))}."
                raise NotFound(f"“{one[:80]}” is nobody whom a base can be for.", remedy=remedy)
        return frozenset(command.principals)

    async def _revoke(self, command: KbCommand, caller: Caller) -> KbResult:
        base = revoke(await self._queries.base(command.base, caller), command.principals)
        await self.catalog.save_base(base)
        return GrantsChanged(base.name, readers_of(base))

    async def _record(self, caller: Caller, verb: str, about: str, *, allowed: bool = True, detail: str = "") -> None:
        """Into the audit. When that cannot be reached the log has it: nothing goes unrecorded."""
        try:
            await self.audit.record(caller.person.id, f"kb {verb}", about, allowed=allowed, detail=detail)
        except FootnoteError:
            log.warning(
                "audit_away",
                extra={"actor": caller.person.id, "action": f"kb {verb}", "target": about, "allowed": allowed},
            )


def _distinct_title(passage: Passage, document: Document) -> str:
    """A passage's title, with its source where another document is called the same."""
    same = passage.title == document.title
    return f"{passage.title} ({redact_link(passage.source)})" if same else passage.title


def _audit_detail(result: KbResult) -> str:
    """A result in the audit: its job, or its first line."""
    if jobs := accepted_jobs(result):
        return f"job {jobs[0].id}"
    outcome = result.outcome if isinstance(result, ProposalDecided) else result
    lines = outcome_lines(outcome) if isinstance(outcome, KbOutcome) else []
    return lines[0][:DETAIL] if lines else ""


def _check(command: KbCommand, caller: Caller) -> None:
    """Raise Denied unless this person may do that."""
    if command.verb not in FOR_ALL and not caller.permissions.is_admin:
        raise Denied("Only admins can do that.", remedy="Ask one of them.")


def _job_accepted(job: Job, base: KnowledgeBase) -> JobAccepted:
    """A new job, and whom what it adds will be visible to: conversations and files carry words of few to many."""
    return JobAccepted(summarize_job(job), readers_of(base))


def _description(command: KbCommand) -> str:
    return " ".join(command.text.split())[:MOST_DESCRIPTION]
