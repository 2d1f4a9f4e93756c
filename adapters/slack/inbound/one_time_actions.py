"""What a button or a form of ours stands for: kept here, never in the button, and taken by one press alone.

A button's value is the id of an offer. Whoever presses has to be the one it was made for; what they may do is looked
up anew by whoever acts on it. The mark that an offer is open is a value that is taken once, so of two presses, on
whatever workers, one finds it.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core.ports.message_state import MessageStateStore
from core.service.one_time_actions import DONE, LOST_SECONDS, OPEN, OneTimeActions, PressOutcome

__all__ = ["LOST_SECONDS", "PersonalActions", "PressOutcome", "kept_under"]


@dataclass(frozen=True, slots=True)
class PersonalActions:
    """Kept with what is posted, for as long as that is, under the person they were made for."""

    message_states: MessageStateStore
    now: Callable[[], float] = time.time

    async def make(self, person: str, values: Mapping[str, str]) -> str:
        """Keep an offer for this person, by qualified id; the offer's id."""
        offer = uuid.uuid4().hex
        await self._keep(offer, person, {OPEN: "yes", **values})
        return offer

    async def read(self, offer: str, person: str) -> Mapping[str, str]:
        """What was offered, without taking it; empty when it is gone, or was made for somebody else."""
        return await self.message_states.read(kept_under(person), offer) if offer else {}

    async def take(self, offer: str, person: str) -> PressOutcome:
        """Whether this press is the one that counts. Also when an earlier one was lost together with its worker."""
        if not await self.read(offer, person):
            return PressOutcome.GONE
        return await OneTimeActions(self.message_states, self.now).take(kept_under(person), offer)

    async def mark_done(self, offer: str, person: str) -> None:
        """What was offered has been done: it is never taken again."""
        await self._keep(offer, person, {DONE: "yes"})

    async def again(self, offer: str, person: str) -> None:
        """Open it (once more): what it stands for was not done."""
        await self._keep(offer, person, {OPEN: "yes"})

    async def _keep(self, offer: str, person: str, values: Mapping[str, str]) -> None:
        await self.message_states.keep(kept_under(person), offer, values, person=person)


def kept_under(person: str) -> str:
    """Where what is shown to one person about the knowledge is kept; it is forgotten with them."""
    return f"slack/kb/{person}"
