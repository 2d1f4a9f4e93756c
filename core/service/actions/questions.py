"""Acting on questions: stop one, choose at its checkpoint, have an edited one answered again.

The person who asked may, and an admin where it says so. The audit records who was refused.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from core.model.conversation import Person, ThreadKey
from core.model.errors import Denied, NotFound, Unavailable
from core.model.incoming_events import IncomingChoice, IncomingMessage
from core.model.inquiry import Choice
from core.model.records import PERSON, THREAD, CheckpointState, QuestionState, Record
from core.ports.access import Audit
from core.ports.inbox import Inbox
from core.ports.memory import Checkpoints, ParkedInquiry
from core.ports.message_state import CancelReason, MessageStateStore
from core.service.actions.wording import (
    ASKED_ALREADY,
    CHOICE_GONE,
    FINISHED,
    GONE,
    NOT_YOURS_TO_CHOOSE,
    NOT_YOURS_TO_REPEAT,
    NOT_YOURS_TO_STOP,
)
from core.service.incoming import delivery
from core.service.one_time_use import OneTimeUse, OneTimeUses

LONGEST_LABEL = 300  # characters of what a card says was chosen
IsAdmin = Callable[[], Awaitable[bool]]  # whether who pressed is an admin, looked up by the platform when it matters


async def may_act(person: Person, asker: str, is_admin: IsAdmin) -> bool:
    """Whether this person may act on what ``asker``, an id, asked; who is an admin is looked up for others alone."""
    return person.id == asker or await is_admin()


async def refuse(audit: Audit, person: Person, action: str, target: str, refusal: str) -> Denied:
    """Return what to raise, in these words, when somebody tried what they may not; it is on record by then."""
    await audit.record(person.id, action, target, allowed=False)
    return Denied(refusal)


@dataclass(frozen=True, kw_only=True)
class RepeatedQuestion(OneTimeUse, place="{thread}", subject="again:{message}"):
    """A question that was edited after its answer has been put again."""

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, slots=True)
class QuestionActions:
    """What people can do with questions that are worked on, wait at a checkpoint, or were edited."""

    checkpoints: Checkpoints
    message_states: MessageStateStore
    inbox: Inbox
    audit: Audit

    async def stop(self, question: QuestionState, person: Person, is_admin: IsAdmin) -> None:
        """Ask for the end of this question; what was found is offered. Only its address has to be given.

        Raises NotFound when nobody is at it any more, and Denied, on record, for who may not.
        """
        state = await self.message_states.read(question)
        if state is None or not state.is_worked_on:
            raise NotFound(FINISHED)
        if not await may_act(person, state.asker, is_admin):
            raise await refuse(self.audit, person, "stop", f"{state.thread} {state.message}", NOT_YOURS_TO_STOP)
        await self.message_states.request_cancel(str(state.thread), state.message, CancelReason.STOPPED)

    async def find_choice(
        self, checkpoint_id: str, choice_id: str, person: Person, is_admin: IsAdmin, thread: ThreadKey | None = None
    ) -> tuple[ParkedInquiry, Choice]:
        """Return a choice that can still be made, by this person; in this thread, where the platform says which it is.

        Raises NotFound when it cannot be made any more, and Denied, on record, for who may not.
        """
        parked = await self.checkpoints.read(checkpoint_id) if checkpoint_id else None
        choice = parked.checkpoint.choice(choice_id) if parked is not None else None
        if parked is None or choice is None or thread not in (None, parked.checkpoint.thread):
            raise NotFound(CHOICE_GONE)
        if not await may_act(person, parked.checkpoint.asker.id, is_admin):
            raise await refuse(self.audit, person, "choose", checkpoint_id, NOT_YOURS_TO_CHOOSE)
        return parked, choice

    async def enqueue_choice(self, delivery_id: str, made: IncomingChoice, label: str, *beside: Record) -> bool:
        """Put a choice in line and note what its card says of it; False when this delivery was in line before.

        Of two different choices that come at once the first is made, and the other raises NotFound: card and answer
        name the same. ``beside`` is kept with it. Raises Busy when this person has too many waiting, and
        StoreUnavailable.
        """
        card = await keep_chosen(self.message_states, made.thread, made.checkpoint, label)
        await self.message_states.save(*beside)
        try:
            return await self.inbox.put(delivery(delivery_id, made))
        except Unavailable:  # it can be pressed again, and so can another
            await self.message_states.save(replace(card, chosen=""), was=card)
            raise

    @asynccontextmanager
    async def repeat(self, state: QuestionState, person: Person) -> AsyncIterator[IncomingMessage]:
        """Have a question answered as it reads now: the caller puts it in line within.

        ``state`` names the question. Raises NotFound when it is not kept, Denied for anybody but its writer, and
        AlreadyDone.
        """
        kept = await self.message_states.read(state)
        if kept is None or kept.late_edit is None:
            raise NotFound(GONE)
        if kept.late_edit.asker.id != person.id:
            raise Denied(NOT_YOURS_TO_REPEAT)
        repeated = RepeatedQuestion(thread=kept.thread, message=kept.message, person=person.id)
        async with OneTimeUses(self.message_states).once(repeated, ASKED_ALREADY):
            yield kept.late_edit


async def keep_chosen(
    message_states: MessageStateStore, thread: ThreadKey, checkpoint: str, label: str
) -> CheckpointState:
    """Keep what was chosen of a card, pressed or typed, and return the card's record.

    Raises NotFound when another choice was kept before, and StoreUnavailable.
    """
    blank = CheckpointState(thread=thread, checkpoint=checkpoint)
    card = await message_states.read(blank) or blank
    chosen = replace(card, chosen=label[:LONGEST_LABEL])
    if card != chosen and (card.chosen or not await message_states.exchange(card, chosen)):
        raise NotFound(CHOICE_GONE)
    return chosen
