"""Proposals of new knowledge. Each waits for one decision of an admin; an approved one becomes a job."""

import logging
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.model.clock import Clock
from core.model.document_content import Conversation, TranscriptMessage, as_markdown, first_line
from core.model.errors import DocumentRejected, FootnoteError, NotFound
from core.model.jobs import ItemKind, Job, JobItem, JobKind
from core.model.knowledge import KnowledgeBase, narrowest_base
from core.model.person_answers import is_answer
from core.ports.job_store import Decision, Proposal, ProposalStore
from core.ports.usage import QuestionLog
from core.service.disputes.decisions import decide
from core.service.kb.command_audit import CommandAudit
from core.service.kb.commands import Caller, KbCommand, KbVerb
from core.service.kb.item_sources import file_name
from core.service.kb.job_commands import summarize_accepted
from core.service.kb.job_queue import JobQueue
from core.service.kb.program_documents import check_readers
from core.service.kb.queries import KnowledgeQueries, require_privacy
from core.service.kb.results import (
    KbOutcome,
    KbResult,
    ProposalDecided,
    ProposalRejected,
    ProposalSent,
    RefusalReason,
    Refused,
    is_success,
)
from core.service.kb.summaries import BEGINNING
from core.service.kb.wording import decision_line

DRAFT = "draft"  # prefix of the source of proposals that came from a gap
PLACEHOLDER = "(to be written)"
NAME_A_BASE = "Add --kb and the name of a knowledge base whose readers can read both."
UNKNOWN = "There is no such proposal, or it has already been decided."
_NOTES = re.compile(r"^(?:## (?:Asked|Said about it)|Nearest so far: .*)$", re.MULTILINE)  # below a draft's own text
MOST_TITLE = 200  # characters
MOST_QUESTION = 160  # characters of a question that become the title of its correction

log = logging.getLogger(__name__)


def finished_text(draft: str) -> str:
    """Return a draft's own text without its notes.

    Raises DocumentRejected while the placeholder is there, or if there is no text below the headings.
    """
    notes = _NOTES.search(draft)
    text = (draft[: notes.start()] if notes else draft).strip()
    if PLACEHOLDER in text:
        raise DocumentRejected(f"The draft still says “{PLACEHOLDER}”.", remedy="Replace it with the section.")
    if not without_headings(text):
        raise DocumentRejected("The draft has no text yet.", remedy="Write what the documents should say.")
    return text


def without_headings(text: str) -> str:
    """Return the words of a Markdown text without its headings."""
    return " ".join(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


@dataclass(frozen=True, slots=True)
class Proposals:
    """Accepts proposals, and decides them for admins. ``questions`` records which answers were corrected."""

    proposal_store: ProposalStore
    job_queue: JobQueue
    queries: KnowledgeQueries
    audit: CommandAudit
    clock: Clock
    questions: QuestionLog | None = None

    async def propose(
        self, conversation: Conversation, caller: Caller, base: str = "", *, waits: bool = False
    ) -> KbResult:
        """*Add to knowledge base*: ingest an admin's conversation unless it ``waits``; others' wait for an admin."""
        proposal = Proposal(
            id=uuid.uuid4().hex[:8],
            base=base,
            source=conversation.source,
            title=" ".join(conversation.title.split())[:MOST_TITLE] or "A conversation",
            text=as_markdown(conversation).decode(),
            by=caller.person,
            at=self.clock.now(),
            permalink=conversation.permalink,
            beginning=first_line(conversation, BEGINNING),
        )
        return await self.submit(proposal, caller, waits=waits)

    async def submit(self, proposal: Proposal, caller: Caller, *, waits: bool = False) -> KbResult:
        """Ingest an admin's proposal unless it ``waits``; store anybody else's until an admin decides."""
        try:
            if caller.permissions.is_admin and not waits:
                return await self._ingest(proposal, caller)
            if proposal.base:
                await self.queries.own_base(proposal.base, caller)
            await self.proposal_store.keep_proposal(proposal)
        except FootnoteError as error:
            return Refused.of(error)
        return ProposalSent(proposal.id)

    async def _ingest(self, proposal: Proposal, caller: Caller) -> KbResult:
        """Ingest an admin's addition, which needs no approval."""
        base = await self.queries.own_base(proposal.base, caller, create=True)
        check_readers(base, proposal.audience, "")
        job = await self.job_queue.accept(self._job(proposal, base.name, caller))
        await self.audit.record(caller, "add", f"{base.name}/{proposal.title}", detail=f"job {job.id}")
        return summarize_accepted(job, base)

    async def correct(
        self,
        question: str,
        answer: str,
        permalink: str | None,
        caller: Caller,
        *,
        trace_id: str = "",
        bases: Sequence[str] = (),
    ) -> KbResult:
        """Propose the right answer to a question that was answered wrongly.

        It goes to the base of the wrong answer, or of several to the one with the fewest readers. Text of a restricted
        base thus never reaches more people. If no base has the fewest, or one no longer exists, an admin decides.
        """
        said = (TranscriptMessage(caller.person.name or "A reader", self.clock.now(), answer),)
        title = " ".join(question.split())[:MOST_QUESTION]
        if not title or not answer.strip():
            return Refused(RefusalReason.NOT_DONE, "A correction needs the right answer.")
        marks = uuid.uuid5(uuid.NAMESPACE_URL, f"{caller.thread}\x1f{title}").hex[:12]
        try:
            there = [await self._base_of(name, caller) for name in bases]
        except FootnoteError as error:
            return Refused.of(error)
        base = None if None in there else narrowest_base([one for one in there if one is not None])
        correction = Conversation(f"correction {marks}", title, said, permalink)
        waits = base is None and bool(there)
        result = await self.propose(correction, caller, base.name if base else "", waits=waits)
        if is_success(result) and trace_id and self.questions is not None:
            try:
                await self.questions.mark_corrected(trace_id)
            except FootnoteError as error:  # the correction itself is kept
                log.warning("correction_not_marked", extra={"trace_id": trace_id, "reason": str(error)})
        return result

    async def _base_of(self, name: str, caller: Caller) -> KnowledgeBase | None:
        """Return the base of this name; None if it no longer exists."""
        try:
            return await self.queries.base(name, caller)
        except NotFound:
            return None

    async def decide(self, command: KbCommand, caller: Caller) -> KbResult:
        """APPROVE or REJECT a proposal once. If pressed in the list, the rest of it is shown below the outcome."""
        require_privacy(caller)
        if not command.listed:
            return await self._decide(command, caller)
        try:
            outcome = await self._decide(command, caller)
        except NotFound as error:
            outcome = Refused.of(error)
        return ProposalDecided(outcome, await self.queries.proposals(command, caller))

    async def _decide(self, command: KbCommand, caller: Caller) -> KbOutcome:
        """Decide a proposal. An approved one is enqueued by this process or by the next scheduler tick."""
        approving, (name, _, ruling) = command.verb is KbVerb.APPROVE, command.target.strip().partition(" ")
        proposal = await self.proposal_store.proposal(name)
        if proposal is not None and not await self.queries.may_see(proposal, caller):
            raise NotFound(UNKNOWN)
        if proposal is None:
            return await self._repeat_outcome(await self.proposal_store.decision(name), approving, caller)
        if approving and proposal.source.startswith(f"{DRAFT} "):
            proposal = replace(proposal, text=finished_text(proposal.text))
        if approving and proposal.sides:
            proposal = decide(proposal, ruling, caller.person, self.clock.now())
            if not command.base and not proposal.base:
                raise DocumentRejected("The two sources are in different knowledge bases.", remedy=NAME_A_BASE)
        name = command.base or proposal.base
        base = await self.queries.own_base(name, caller, create=True) if approving else None
        if base is not None:
            check_readers(base, proposal.audience, "")
        job = self._job(proposal, base.name, caller) if base is not None else None
        ours = Decision(
            id=uuid.uuid4().hex[:12],
            proposal=proposal.id,
            approved=approving,
            by=caller.person,
            at=self.clock.now(),
            base=base.name if base is not None else "",
            job=job,
        )
        held = await self.proposal_store.decide(ours)
        if held is None or held.id != ours.id:
            return await self._repeat_outcome(held, approving, caller)
        await self.enqueue(held)
        return (
            summarize_accepted(job, base) if base is not None and job is not None else ProposalRejected(proposal.title)
        )

    async def _repeat_outcome(self, held: Decision | None, approving: bool, caller: Caller) -> KbOutcome:
        """Return the outcome of an earlier decision; enqueue again what this admin approved.

        Raises NotFound, which says who decided.
        """
        if held is None:
            raise NotFound(UNKNOWN)
        if approving and held.job is not None and held.by.id == caller.person.id:
            await self.enqueue(held)
            return summarize_accepted(held.job, await self.queries.base(held.base, caller))
        raise NotFound(decision_line(held, caller.person, self.clock.now()))

    async def enqueue_approved(self) -> None:
        """Enqueue approved proposals that are not enqueued yet. Raises StoreUnavailable."""
        for decision in await self.proposal_store.open_decisions():
            await self.enqueue(decision)

    async def enqueue(self, decision: Decision) -> None:
        """Enqueue the job of an approval. Idempotent.

        Errors are logged, not raised: the approval is stored with its job and is enqueued later.
        """
        if decision.job is None:
            return
        try:
            await self.job_queue.ensure_enqueued(decision.job)
            await self.proposal_store.settle(decision.proposal)
        except FootnoteError as error:
            log.info("approval_not_in_line", extra={"job": decision.job.id, "reason": str(error)})

    def _job(self, proposal: Proposal, base: str, caller: Caller) -> Job:
        item = JobItem(
            ItemKind.TEXT,
            proposal.source,
            proposal.text,
            name=file_name(proposal.title),
            url=proposal.permalink,
            title=proposal.title,
            audience=proposal.audience,
        )
        if is_answer(proposal.source):  # read from its conversation when the job runs
            item = replace(item, kind=ItemKind.CONVERSATION, reference=proposal.source, origin=proposal.by.id)
        return self.job_queue.create_job(JobKind.INGEST, base, caller, proposal.title, [item])
