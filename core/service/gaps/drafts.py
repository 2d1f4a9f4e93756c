"""Drafts of the section that a gap needs, started from the questions and messages in its threads.

An admin writes the section and proposes it; it becomes knowledge only when it is approved. The notes beside it list
what people asked and said. They never become part of the document, and contain nothing from private places.
"""

import logging
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from core.model.clock import Clock
from core.model.conversation import Person, ThreadKey
from core.model.errors import Denied, DocumentRejected, FootnoteError, NotFound
from core.ports.access import Audit
from core.ports.job_store import Proposal, ProposalStore
from core.ports.memory import FeedbackStore
from core.ports.platform import PlatformCapabilities
from core.service.gaps.report import Gap
from core.service.kb.proposals import DRAFT, PLACEHOLDER, finished_text, without_headings

MOST_THREADS = 5  # read for one draft
MOST_CHARACTERS = 20_000
BEGINNING = 280  # characters by which an admin recognizes a proposal

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft section. ``text`` and ``notes`` are Markdown, and the notes stay out of the document.

    ``base`` is the base of its nearest document, empty if there is none.
    """

    gap: str
    title: str
    text: str
    base: str
    notes: str = ""


@dataclass(frozen=True, slots=True)
class GapDrafts:
    """Starts drafts, and proposes them to the admins."""

    feedback: FeedbackStore
    proposal_store: ProposalStore
    audit: Audit
    clock: Clock
    capabilities: Mapping[str, PlatformCapabilities] = field(default_factory=dict)  # of platforms connected here

    async def begin(self, gap: Gap, visible: frozenset[str]) -> Draft:
        """Return a draft from what readers of the ``visible`` bases may read in the questions' threads.

        Raises NotFound if nothing may be shown.
        """
        if not gap.can_be_drafted:
            raise NotFound("This was only asked in private, so its text cannot be shown.")
        base = gap.nearest[0].document.knowledge_base if gap.nearest else ""
        asked = dict.fromkeys(example.question for example in gap.examples)
        parts = ["## Asked", "", *(f"- {question}" for question in asked)]
        words = [line async for line in self._thread_texts(gap)] + [line async for line in self._rated_answers(gap)]
        if words:
            parts += ["", "## Said about it", "", *words]
        if gap.nearest:
            titles = ", ".join(near.document.title for near in gap.nearest if near.document.knowledge_base in visible)
            parts += ["", f"Nearest so far: {titles}."] if titles else []
        notes = "\n".join(parts)[:MOST_CHARACTERS] + "\n"
        return Draft(gap.id, gap.title, f"# {gap.title}\n\n{PLACEHOLDER}\n", base, notes)

    async def propose(self, draft: Draft, person: Person, *, is_admin: bool) -> Proposal:
        """Propose the draft to the admins, even if an admin sends it, and record that.

        Raises Denied if the person is no admin, DocumentRejected while the section is not written, and Busy when too
        many proposals wait.
        """
        await self.audit.record(person.id, "propose draft", draft.title[:200], allowed=is_admin, detail=draft.gap)
        if not is_admin:
            raise Denied("Only an admin can propose a draft.")
        text = finished_text(draft.text)
        if len(text) > MOST_CHARACTERS:
            raise DocumentRejected(f"The draft has {len(text):,} characters, more than {MOST_CHARACTERS:,}.")
        proposal = Proposal(
            id=uuid.uuid4().hex[:8],
            base=draft.base,
            source=f"{DRAFT} {draft.gap}",
            title=" ".join(draft.title.split())[:200] or "A missing section",
            text=text,
            by=person,
            at=self.clock.now(),
            beginning=without_headings(text)[:BEGINNING],
        )
        await self.proposal_store.keep_proposal(proposal)
        return proposal

    async def _thread_texts(self, gap: Gap) -> AsyncIterator[str]:
        """Yield the messages after the question in its thread, if its platform is connected and still has them."""
        asked = {example.question.casefold() for example in gap.examples}
        for thread in list(dict.fromkeys(example.thread for example in gap.examples))[:MOST_THREADS]:
            key = ThreadKey.parse(thread)
            transcript = self.capabilities.get(key.platform, PlatformCapabilities()).transcript
            if transcript is None:
                continue
            try:
                conversation = await transcript.conversation(transcript.reference_of(key))
            except FootnoteError as error:
                log.info("thread_not_read", extra={"where": thread, "reason": str(error)})
                continue
            for said in conversation.messages:
                text = " ".join(said.text.split())
                if text and text.casefold() not in asked:
                    yield f"- **{said.author}**, {said.at:%Y-%m-%d}: {text}"

    async def _rated_answers(self, gap: Gap) -> AsyncIterator[str]:
        """Yield the comments from ratings of the answers to these questions, with names."""
        traces = {example.trace_id for example in gap.examples}
        async for word in self.feedback.all():
            if word.trace_id in traces and word.reason:
                yield f"- **{word.person.name or 'A reader'}**: {' '.join(word.reason.split())}"
