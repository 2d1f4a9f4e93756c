"""Actions on questions: stop one, choose at its checkpoint, or answer an edited one again.

The asker may act, and where stated an admin may too. Refusals are recorded in the audit log.
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

LONGEST_LABEL = 300  # characters of the chosen label on a card
IsAdmin = Callable[[], Awaitable[bool]]  # the platform looks up whether the person is an admin


async def may_act(person: Person, asker: str, is_admin: IsAdmin) -> bool:
    """Return whether this person may act on a question of ``asker`` (an id). Looks up admins only for other people."""
    return person.id == asker or await is_admin()


async def refuse(audit: Audit, person: Person, action: str, target: str, refusal: str) -> Denied:
    """Record that this person tried something they may not do; return the Denied error to raise."""
    await audit.record(person.id, action, target, allowed=False)
    return Denied(refusal)


@dataclass(frozen=True, kw_only=True)
class RepeatedQuestion(OneTimeUse, place="{thread}", subject="again:{message}"):
    """The record that a question was asked again after it was edited."""

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, slots=True)
class QuestionActions:
    """Actions on questions that are in progress, wait at a checkpoint, or were edited."""

    checkpoints: Checkpoints
    message_states: MessageStateStore
    inbox: Inbox
    audit: Audit

    async def stop(self, question: QuestionState, person: Person, is_admin: IsAdmin) -> None:
        """Request that this question stops, so that its findings are offered. Only its thread and message are needed.

        Raises NotFound when nobody works on it. Raises Denied, and records it, if this person may not stop it.
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
        """Return a choice that this person can still make, in this thread if the platform knows it.

        Raises NotFound when it can no longer be made. Raises Denied, and records it, if this person may not choose.
        """
        parked = await self.checkpoints.read(checkpoint_id) if checkpoint_id else None
        choice = parked.checkpoint.choice(choice_id) if parked is not None else None
        if parked is None or choice is None or thread not in (None, parked.checkpoint.thread):
            raise NotFound(CHOICE_GONE)
        if not await may_act(person, parked.checkpoint.asker.id, is_admin):
            raise await refuse(self.audit, person, "choose", checkpoint_id, NOT_YOURS_TO_CHOOSE)
        return parked, choice

    async def enqueue_choice(self, delivery_id: str, made: IncomingChoice, label: str, *beside: Record) -> bool:
        """Enqueue a choice and store its label for the card; return False if this delivery is already enqueued.

        If two different choices arrive at once, the first wins and the other raises NotFound, so card and answer agree.
        ``beside`` is stored with it. Raises Busy when this person has too many waiting, and StoreUnavailable.
        """
        card = await keep_chosen(self.message_states, made.thread, made.checkpoint, label)
        await self.message_states.save(*beside)
        try:
            return await self.inbox.put(delivery(delivery_id, made))
        except Unavailable:  # this choice, or another, can be pressed again
            await free_chosen(self.message_states, card)
            raise

    @asynccontextmanager
    async def repeat(self, state: QuestionState, person: Person) -> AsyncIterator[IncomingMessage]:
        """Yield an edited question, so that the caller can enqueue its new text inside the context.

        ``state`` identifies the question. Raises NotFound when it is not stored, Denied for anybody but its writer, and
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
    """Store the choice made on a card, pressed or typed, and return the card's record.

    Raises NotFound when another choice was stored before, and StoreUnavailable.
    """
    blank = CheckpointState(thread=thread, checkpoint=checkpoint)
    card = await message_states.read(blank) or blank
    chosen = replace(card, chosen=label[:LONGEST_LABEL])
    if card != chosen and (card.chosen or not await message_states.exchange(card, chosen)):
        raise NotFound(CHOICE_GONE)
    return chosen


async def free_chosen(message_states: MessageStateStore, card: CheckpointState) -> None:
    """Remove the choice from a card's record, after it could not be carried out. Raises StoreUnavailable."""
    await message_states.save(replace(card, chosen=""), was=card)
