"""Acting on answers: read one again, rate it, ask a person to look at it, share it, ask a suggested follow-up."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.model.answer import Citation, FollowUp, UsageCounts
from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.errors import NotFound
from core.model.person_answers import LastCall, PersonAnswer
from core.model.records import PERSON, THREAD
from core.ports.access import Audit
from core.ports.memory import Feedback, FeedbackStore, Memory
from core.ports.message_state import MessageStateStore
from core.ports.usage import TraceStore
from core.service.actions.questions import refuse
from core.service.actions.wording import (
    ASKED_ALREADY,
    CALLED_ALREADY,
    GONE,
    NOT_FOR_ALL,
    NOT_YOURS_TO_SHARE,
    SHARED_ALREADY,
)
from core.service.disputes.decisions import DisputeReports, disputed_sources
from core.service.explanations import Explanation, explain_answer
from core.service.follow_ups import follow_ups_in
from core.service.one_time_use import OneTimeUse, OneTimeUses
from core.service.visibility import VisibleBases


@dataclass(frozen=True, slots=True)
class Quotes:
    """The exact passages behind one answer that this reader may see; ``withheld`` counts those that they may not."""

    question: str
    citations: tuple[Citation, ...]
    withheld: int = 0


@dataclass(frozen=True, kw_only=True)
class OncePerAnswer(OneTimeUse):
    """An action that can be done once for each answer."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, kw_only=True)
class Handoff(OncePerAnswer, place="{thread}", subject="handoff:{trace}"):
    """The record that a person was asked to look at an answer."""


@dataclass(frozen=True, kw_only=True)
class Share(OncePerAnswer, place="{thread}", subject="shared:{trace}"):
    """The record that a private answer was shared with its channel."""


@dataclass(frozen=True, kw_only=True)
class FollowUpRequest(OncePerAnswer, place="{thread}", subject="follow-up:{trace}:{number}"):
    """The record that a suggestion below an answer was asked."""

    number: int


@dataclass(frozen=True, slots=True)
class AnswerActions:
    """What people can do with answers that are still in memory."""

    memory: Memory
    trace_store: TraceStore
    bases: VisibleBases
    feedback: FeedbackStore
    message_states: MessageStateStore
    audit: Audit
    disputes: DisputeReports

    async def find(self, thread: ThreadKey, trace_id: str) -> Turn:
        """Return a turn of this thread for an action that shows none of it. Raises NotFound."""
        for turn in (await self.memory.recall(thread)).turns:
            if turn.trace_id == trace_id:
                return turn
        raise NotFound(GONE)

    async def read(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Turn:
        """Return a turn of this thread. Raises NotFound if this audience may not read its words."""
        turn = await self.find(thread, trace_id)
        if not turn.readable_by(await self.bases.names(audience)):
            raise NotFound(GONE)
        return turn

    async def quotes(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Quotes:
        """Return the passages behind an answer from bases that this reader may see now. Raises NotFound."""
        turn, visible = await self.find(thread, trace_id), await self.bases.names(audience)
        shown = tuple(source for source in turn.citations if source.knowledge_base in visible)
        return Quotes(turn.question, shown, len(turn.citations) - len(shown))

    async def explain(
        self, thread: ThreadKey, audience: Audience, trace_id: str = "", *, asker: str = ""
    ) -> Explanation:
        """Return how an answer came about, as ``explain_answer`` shows it to this audience. Raises NotFound."""
        visible = await self.bases.names(audience)
        return await explain_answer(self.memory, self.trace_store, thread, visible, trace_id=trace_id, asker=asker)

    async def rate(
        self, thread: ThreadKey, trace_id: str, person: Person, *, helpful: bool, reason: str = ""
    ) -> Feedback:
        """Store a person's rating of an answer with everything needed to judge it later. Raises NotFound."""
        turn = await self.find(thread, trace_id)
        rating = Feedback(
            trace_id=trace_id,
            person=person,
            helpful=helpful,
            reason=reason.strip(),
            question=turn.question,
            answer=turn.answer,
            citations=turn.citations,
            asker=turn.asker.id,
            thread=str(thread),
        )
        earlier = await self.feedback.keep(rating)
        if earlier is None or earlier.helpful != helpful:  # count people, not presses
            taken_back = -1 if earlier is not None else 0
            await self.trace_store.count(
                UsageCounts(helpful=1, unhelpful=taken_back)
                if helpful
                else UsageCounts(helpful=taken_back, unhelpful=1)
            )
        return rating

    @asynccontextmanager
    async def hand_over(
        self, thread: ThreadKey, trace_id: str, person: Person, audience: Audience
    ) -> AsyncIterator[Turn]:
        """Yield an answer once, so that the caller can ask a person to look at it inside the context.

        Raises NotFound when the answer no longer exists or this audience may not read it, and AlreadyDone.
        """
        turn = await self.read(thread, trace_id, audience)
        handoff = Handoff(thread=thread, trace=trace_id, person=person.id)
        async with OneTimeUses(self.message_states).once(handoff, CALLED_ALREADY):
            await self.message_states.save(
                PersonAnswer(id=trace_id, thread=thread, asker=turn.asker.id, caller=person.id)
            )
            await self.message_states.save(LastCall(thread=thread, asker=turn.asker.id, trace=trace_id))
            yield turn

    async def tell_owner(self, thread: ThreadKey, trace_id: str, person: Person, reader: Audience) -> None:
        """Ask admins to decide which of the two sources that differ in an answer is right.

        Raises NotFound when the sources are no longer known or this reader may not read both, AlreadyDone, and Busy.
        """
        turn = await self.read(thread, trace_id, reader)
        sides = disputed_sources(await self.trace_store.trace(trace_id))
        if not sides:
            raise NotFound(GONE)
        await self.disputes.report(turn.rewritten or turn.question, sides, person)

    @asynccontextmanager
    async def share(
        self, thread: ThreadKey, trace_id: str, person: Person, audience: Callable[[], Awaitable[Audience]]
    ) -> AsyncIterator[Turn]:
        """Yield a private answer once, so that the caller can show it to this audience inside the context.

        The audience is looked up only if this person may share. Raises NotFound if not everybody in it may read the
        answer, and AlreadyDone. Raises Denied, and records it, if this person is not the asker.
        """
        turn = await self.find(thread, trace_id)
        if turn.asker.id != person.id:
            raise await refuse(self.audit, person, "share", trace_id, NOT_YOURS_TO_SHARE)
        if not turn.readable_by(await self.bases.names(await audience())):
            raise NotFound(NOT_FOR_ALL)
        share = Share(thread=thread, trace=trace_id, person=person.id)
        async with OneTimeUses(self.message_states).once(share, SHARED_ALREADY):
            yield turn

    @asynccontextmanager
    async def ask_follow_up(
        self, thread: ThreadKey, trace_id: str, number: int, person: Person, reader: Audience
    ) -> AsyncIterator[FollowUp]:
        """Yield a suggestion below an answer once, so that the caller can enqueue it inside the context.

        ``number`` counts from 1. Raises NotFound when the suggestion no longer exists or this reader may not read the
        answer, and AlreadyDone.
        """
        await self.read(thread, trace_id, reader)
        suggestions = follow_ups_in(await self.trace_store.trace(trace_id))
        if not 1 <= number <= len(suggestions):
            raise NotFound(GONE)
        request = FollowUpRequest(thread=thread, trace=trace_id, number=number, person=person.id)
        async with OneTimeUses(self.message_states).once(request, ASKED_ALREADY):
            yield suggestions[number - 1]
