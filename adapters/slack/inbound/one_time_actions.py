"""What a button or a form of ours stands for: kept here, never in the button, and taken by one press alone.

A button's value is the id of an offer. Whoever presses has to be the one it was made for; what they may do is looked
up anew by whoever acts on it. The mark that an offer is open is a value that is taken once, so of two presses, on
whatever workers, one finds it.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.ports.message_state import MessageStateStore

LOST_SECONDS = 60.0  # after which an offer that was taken, and never done with, may be taken again
_OPEN, _TAKEN, _DONE = "open", "taken", "done"


class Taken(StrEnum):
    """What became of a press."""

    NOW = "now"  # it is the one
    EARLIER = "earlier"  # another press was the one
    GONE = "gone"  # too old, or not for this person


@dataclass(frozen=True, slots=True)
class OneTimeActions:
    """Kept with what is posted, for as long as that is, under the person they were made for."""

    postings: MessageStateStore
    now: Callable[[], float] = time.time

    async def make(self, person: str, values: Mapping[str, str]) -> str:
        """Keep an offer for this person, by qualified id; the offer's id."""
        offer = uuid.uuid4().hex
        await self._keep(offer, person, {_OPEN: "yes", **values})
        return offer

    async def read(self, offer: str, person: str) -> Mapping[str, str]:
        """What was offered, without taking it; empty when it is gone, or was made for somebody else."""
        return await self.postings.read(kept_under(person), offer) if offer else {}

    async def take(self, offer: str, person: str) -> Taken:
        """Whether this press is the one that counts. Also when an earlier one was lost together with its worker."""
        where, now = kept_under(person), self.now()
        if not await self.read(offer, person):
            return Taken.GONE
        if await self.postings.take(where, offer, _OPEN, {_TAKEN: f"{now:.0f}"}):
            return Taken.NOW
        kept = await self.read(offer, person)  # as whoever took it left it
        if _TAKEN not in kept:
            return Taken.GONE
        if kept.get(_DONE) or now - float(kept[_TAKEN]) < LOST_SECONDS:
            return Taken.EARLIER
        lost = await self.postings.take(where, offer, _TAKEN, {_TAKEN: f"{now:.0f}"})
        return Taken.NOW if lost == kept[_TAKEN] else Taken.EARLIER

    async def done(self, offer: str, person: str) -> None:
        """What was offered has been done: it is never taken again."""
        await self._keep(offer, person, {_DONE: "yes"})

    async def again(self, offer: str, person: str) -> None:
        """Open it (once more): what it stands for was not done."""
        await self._keep(offer, person, {_OPEN: "yes"})

    async def _keep(self, offer: str, person: str, values: Mapping[str, str]) -> None:
        await self.postings.keep(kept_under(person), offer, values, person=person)


def kept_under(person: str) -> str:
    """Where what is shown to one person about the knowledge is kept; it is forgotten with them."""
    return f"slack/kb/{person}"
