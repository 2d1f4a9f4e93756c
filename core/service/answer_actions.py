"""What people can do with an answer or a place beside asking: the same on every platform, in terms of the ports.

Choosing, stopping, sharing, handing over, why, quotes, feedback, muting and forgetting; the settings of a place are
``channel_settings``'. Each right is checked here, and what was refused is on record. Who someone is and what they may
see is the platform's to say: it passes the audience, and who is an admin, looked up on its own server side, never taken
from a button.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.model.answer import Citation, FollowUp
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.errors import Denied, NotFound
from core.model.incoming_events import IncomingChoice
from core.model.inquiry import Choice
from core.model.knowledge import KnowledgeBase
from core.model.message_records import CheckpointState, QuestionState
from core.model.records import PERSON, THREAD
from core.model.usage import UsageCounts
from core.ports.audit import Audit
from core.ports.catalog import Catalog
from core.ports.channel_settings import ChannelSettingsStore
from core.ports.checkpoints import Checkpoints, ParkedInquiry
from core.ports.feedback import Feedback, FeedbackStore
from core.ports.inbox import Inbox
from core.ports.memory import AskedQuestion, Memory
from core.ports.message_state import CancelReason, MessageStateStore
from core.ports.trace_store import TraceStore
from core.service.channel_settings import SettingsService
from core.service.delivery_codec import delivery
from core.service.explanations import Explanation, explain_answer
from core.service.follow_ups import follow_ups_in
from core.service.one_time_actions import OneTimeAction, OneTimeActions
from core.service.question_service import CHOICE_GONE, NOT_YOURS_TO_CHOOSE
from core.service.visible_bases import VisibleBases

MOST_THREADS, MOST_RECENT = 20, 5  # that are looked through, and that are shown, of what somebody asked
LONGEST_LABEL = 300  # characters of what a card says was chosen

GONE = "I have nothing kept about that answer any more."
NOT_YOURS_TO_STOP = "Only the person who asked, or an admin, can stop this."
NOT_YOURS_TO_SHARE = "Only the person who asked can share this."
NOT_FOR_ALL = "Not everybody in this channel may read what that answer is from."
FINISHED = "That is finished already."
NOBODY_TO_CALL = "Nobody is set up to be asked here. An admin can do that: `/footnote settings`."
ASKED_ALREADY = "That has been asked already; the answer is in this conversation."
CALLED_ALREADY = "Somebody has been asked about this answer already; please give them time."
SHARED_ALREADY = "It is shared already."


IsAdmin = Callable[[], Awaitable[bool]]  # whether who pressed is an admin, looked up by the platform when it matters


@dataclass(frozen=True, kw_only=True)
class Handoff(OneTimeAction, place="{thread}", subject="handoff:{trace}"):
    """A person was asked to look at an answer."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, kw_only=True)
class Share(OneTimeAction, place="{thread}", subject="shared:{trace}"):
    """A private answer was shown to its channel."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, kw_only=True)
class AskedFollowUp(OneTimeAction, place="{thread}", subject="follow-up:{trace}:{number}"):
    """What was suggested below an answer has been asked."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str
    number: int
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, slots=True)
class Quotes:
    """The exact passages behind one answer that this reader may see; ``withheld`` counts those that they may not."""

    question: str
    citations: tuple[Citation, ...]
    withheld: int = 0


@dataclass(frozen=True, slots=True)
class KnowledgeBaseSummary:
    """A knowledge base as a reader sees it."""

    base: KnowledgeBase
    documents: int


@dataclass(frozen=True, slots=True)
class SystemStatus:
    """How the installation is doing, for admins."""

    waiting: int  # questions in line or under way
    usage: UsageCounts


@dataclass(frozen=True, slots=True)
class AnswerActions:
    """Everything beside asking, over the stores."""

    memory: Memory
    trace_store: TraceStore
    catalog: Catalog
    feedback: FeedbackStore
    preferences: ChannelSettingsStore
    audit: Audit
    inbox: Inbox
    message_states: MessageStateStore
    checkpoints: Checkpoints
    defaults: ChannelSettings

    # --- of a question

    async def find_choice(
        self, checkpoint_id: str, choice_id: str, person: Person, is_admin: IsAdmin, thread: ThreadKey | None = None
    ) -> tuple[ParkedInquiry, Choice]:
        """A choice that can still be made, by this person; in this thread, where the platform says which it is.

        Raises NotFound when it cannot be made any more, and Denied, on record, for who may not.
        """
        parked = await self.checkpoints.read(checkpoint_id) if checkpoint_id else None
        choice = parked.checkpoint.choice(choice_id) if parked is not None else None
        if parked is None or choice is None or thread not in (None, parked.checkpoint.thread):
            raise NotFound(CHOICE_GONE)
        if not await self._may(person, parked.checkpoint.asker.id, is_admin):
            await self.refuse(person, "choose", checkpoint_id)
            raise Denied(NOT_YOURS_TO_CHOOSE)
        return parked, choice

    async def keep_choice(self, delivery_id: str, made: IncomingChoice, label: str) -> bool:
        """Put a choice in line and note what its card says of it; False when this delivery was in line before.

        Raises Busy when this person has too many waiting, and StoreUnavailable.
        """
        card = CheckpointState(thread=made.thread, checkpoint=made.checkpoint, chosen=label[:LONGEST_LABEL])
        await self.message_states.save(card)
        return await self.inbox.put(delivery(delivery_id, made))

    async def stop(self, question: QuestionState, person: Person, is_admin: IsAdmin) -> None:
        """Ask whoever works on this question to end; what was found is offered. Only its address has to be given.

        Raises NotFound when nobody is at it any more, and Denied, on record, for who may not.
        """
        state = await self.message_states.read(question)
        if state is None or not state.is_worked_on:
            raise NotFound(FINISHED)
        if not await self._may(person, state.asker, is_admin):
            await self.refuse(person, "stop", f"{state.thread} {state.message}")
            raise Denied(NOT_YOURS_TO_STOP)
        await self.message_states.request_cancel(str(state.thread), state.message, CancelReason.STOPPED)

    async def _may(self, person: Person, asker: str, is_admin: IsAdmin) -> bool:
        """Whoever asked may, and an admin; who is one is looked up for others alone."""
        return person.id == asker or await is_admin()

    # --- of an answer

    async def turn(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Turn:
        """A turn of this thread. Raises NotFound when it is gone or carries words this audience may not read."""
        turn = await self._find_turn(thread, trace_id)
        if not turn.readable_by(await self._bases.names(audience)):
            raise NotFound(GONE)
        return turn

    async def _find_turn(self, thread: ThreadKey, trace_id: str) -> Turn:
        for turn in (await self.memory.recall(thread)).turns:
            if turn.trace_id == trace_id:
                return turn
        raise NotFound(GONE)

    @property
    def _bases(self) -> VisibleBases:
        return VisibleBases(self.catalog)

    @asynccontextmanager
    async def hand_over(
        self, thread: ThreadKey, trace_id: str, person: Person, audience: Audience
    ) -> AsyncIterator[Turn]:
        """Have a person asked to look at an answer, once: the caller asks them within.

        Raises NotFound when the answer is gone or this audience may not read it, and AlreadyDone.
        """
        turn = await self.turn(thread, trace_id, audience)
        handoff = Handoff(thread=thread, trace=trace_id, person=person.id)
        async with OneTimeActions(self.message_states).once(handoff, CALLED_ALREADY):
            yield turn

    @asynccontextmanager
    async def share(
        self, thread: ThreadKey, trace_id: str, person: Person, audience: Callable[[], Awaitable[Audience]]
    ) -> AsyncIterator[Turn]:
        """Have a private answer shown to this audience, once: the caller shows it within.

        The audience is looked up only for who may share.

        Raises NotFound when the answer is gone or not everybody may read it, Denied, on record, for who did not ask,
        and AlreadyDone.
        """
        turn = await self._find_turn(thread, trace_id)
        if turn.asker.id != person.id:
            await self.refuse(person, "share", trace_id)
            raise Denied(NOT_YOURS_TO_SHARE)
        if not turn.readable_by(await self._bases.names(await audience())):
            raise NotFound(NOT_FOR_ALL)
        share = Share(thread=thread, trace=trace_id, person=person.id)
        async with OneTimeActions(self.message_states).once(share, SHARED_ALREADY):
            yield turn

    @asynccontextmanager
    async def ask_follow_up(
        self, thread: ThreadKey, trace_id: str, number: int, person: Person, reader: Audience
    ) -> AsyncIterator[FollowUp]:
        """Have a suggestion below an answer asked, once: the caller puts its question in line within.

        ``number`` counts from 1. Raises NotFound when it is gone or this reader may not read the answer, and
        AlreadyDone.
        """
        await self.turn(thread, trace_id, reader)
        suggestions = follow_ups_in(await self.trace_store.trace(trace_id))
        if not 1 <= number <= len(suggestions):
            raise NotFound(GONE)
        asked = AskedFollowUp(thread=thread, trace=trace_id, number=number, person=person.id)
        async with OneTimeActions(self.message_states).once(asked, ASKED_ALREADY):
            yield suggestions[number - 1]

    async def why(self, thread: ThreadKey, audience: Audience, trace_id: str = "", *, asker: str = "") -> Explanation:
        """How an answer came about, as ``explain_answer`` tells it to this audience. Raises NotFound."""
        visible = await self._bases.names(audience)
        return await explain_answer(self.memory, self.trace_store, thread, visible, trace_id=trace_id, asker=asker)

    async def quotes(self, thread: ThreadKey, trace_id: str, audience: Audience) -> Quotes:
        """The passages behind an answer, as far as this reader may see their bases now. Raises NotFound."""
        turn, visible = await self._find_turn(thread, trace_id), await self._bases.names(audience)
        shown = tuple(source for source in turn.citations if source.knowledge_base in visible)
        return Quotes(turn.question, shown, len(turn.citations) - len(shown))

    async def rate(
        self, thread: ThreadKey, trace_id: str, person: Person, *, helpful: bool, reason: str = ""
    ) -> Feedback:
        """Keep what someone thought of an answer, with all that is needed to judge it later. Raises NotFound."""
        turn = await self._find_turn(thread, trace_id)
        word = Feedback(
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
        earlier = await self.feedback.keep(word)
        if earlier is None or earlier.helpful != helpful:  # people are counted, not presses
            taken_back = -1 if earlier is not None else 0
            await self.trace_store.count(
                UsageCounts(helpful=1, unhelpful=taken_back)
                if helpful
                else UsageCounts(helpful=taken_back, unhelpful=1)
            )
        return word

    # --- of a person

    async def recent_questions(self, person: Person, platform: str, space: str) -> tuple[AskedQuestion, ...]:
        """What this person asked last in one workspace or server, the newest first, one a thread: theirs alone."""
        asked = await self.memory.questions_of(person.id, MOST_THREADS)
        here = [one for one in asked if (one.thread.platform, one.thread.space) == (platform, space)]
        return tuple({one.thread: one for one in reversed(here)}.values())[::-1][:MOST_RECENT]

    # --- of a thread

    async def mute(self, thread: ThreadKey, *, muted: bool) -> str:
        """Keep quiet in a thread, or speak again; what to tell the person."""
        await self.memory.mute(thread, muted)
        return MUTED if muted else UNMUTED

    async def forget_thread(self, thread: ThreadKey, person: Person, *, is_admin: bool) -> str:
        """Remove a thread's memory. Raises Denied when others asked there too and this is no admin."""
        turns = (await self.memory.recall(thread)).turns
        allowed = is_admin or all(turn.asker.id == person.id for turn in turns)
        await self.audit.record(person.id, "forget thread", str(thread), allowed=allowed)
        if not allowed:
            raise Denied("Others have asked in that thread too, so only an admin can make me forget it.")
        there = await self.memory.forget_thread(thread)
        return "I have forgotten that thread." if there else "I kept nothing of that thread."

    async def forget_person(self, person: Person) -> str:
        """Remove everything this person asked; they may always."""
        count = await self.memory.forget_person(person.id)
        await self.audit.record(person.id, "forget person", person.id, allowed=True, detail=f"{count} turns")
        asked = f"{count} question{'' if count == 1 else 's'}"
        return f"I have forgotten everything you asked me: {asked}, and all that came of them. {STAYS}"

    @property
    def place_settings(self) -> SettingsService:
        """Reads and changes the settings of channels and threads, with their audit."""
        return SettingsService(self.preferences, self.catalog, self.audit, self.defaults)

    async def refuse(self, person: Person, action: str, target: str) -> None:
        """Put on record that someone tried what they may not."""
        await self.audit.record(person.id, action, target, allowed=False)

    # --- of the whole

    async def visible_bases(self, audience: Audience) -> tuple[KnowledgeBase, ...]:
        """The bases that everyone in this audience may read now."""
        return await self._bases.for_audience(audience)

    async def knowledge_bases(self, audience: Audience) -> tuple[KnowledgeBaseSummary, ...]:
        """The bases this audience may read, each with the number of its documents."""
        bases = await self.visible_bases(audience)
        documents = await self.catalog.documents(frozenset(base.name for base in bases)) if bases else ()
        return tuple(
            KnowledgeBaseSummary(base, sum(one.knowledge_base == base.name for one in documents)) for base in bases
        )

    async def system_status(self) -> SystemStatus:
        """How many questions wait, and what became of the others."""
        return SystemStatus(await self.inbox.count_waiting(), await self.trace_store.counts())


STAYS = (
    "What stays: the record of admin actions; what became a document, which an admin can remove; and, without your"
    " name, jobs and schedules that you began."
)
MUTED = "I keep quiet in this thread now. Say `unmute`, or mention me, when you want me back."
UNMUTED = "I am listening in this thread again."
