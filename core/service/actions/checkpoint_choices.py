"""Choosing at a checkpoint: which choice can still be made, by whom, and how it is put in line."""

from dataclasses import dataclass, replace

from core.model.conversation import Person, ThreadKey
from core.model.errors import NotFound, Unavailable
from core.model.incoming_events import IncomingChoice
from core.model.inquiry import Choice
from core.model.message_records import CheckpointState
from core.model.records import Record
from core.ports.audit import Audit
from core.ports.checkpoints import Checkpoints, ParkedInquiry
from core.ports.inbox import Inbox
from core.ports.message_state import MessageStateStore
from core.service.actions.rights import IsAdmin, may_act, refuse
from core.service.actions.wording import CHOICE_GONE, NOT_YOURS_TO_CHOOSE
from core.service.delivery_codec import delivery

LONGEST_LABEL = 300  # characters of what a card says was chosen


@dataclass(frozen=True, slots=True)
class CheckpointChoices:
    """The choices of open checkpoints."""

    checkpoints: Checkpoints
    message_states: MessageStateStore
    inbox: Inbox
    audit: Audit

    async def find(
        self, checkpoint_id: str, choice_id: str, person: Person, is_admin: IsAdmin, thread: ThreadKey | None = None
    ) -> tuple[ParkedInquiry, Choice]:
        """A choice that can still be made, by this person; in this thread, where the platform says which it is.

        Raises NotFound when it cannot be made any more, and Denied, on record, for who may not.
        """
        parked = await self.checkpoints.read(checkpoint_id) if checkpoint_id else None
        choice = parked.checkpoint.choice(choice_id) if parked is not None else None
        if parked is None or choice is None or thread not in (None, parked.checkpoint.thread):
            raise NotFound(CHOICE_GONE)
        if not await may_act(person, parked.checkpoint.asker.id, is_admin):
            raise await refuse(self.audit, person, "choose", checkpoint_id, NOT_YOURS_TO_CHOOSE)
        return parked, choice

    async def enqueue(self, delivery_id: str, made: IncomingChoice, label: str, *beside: Record) -> bool:
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
