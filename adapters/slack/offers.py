"""What a button or a form of ours stands for: kept here, never in the button, and taken by one press alone.

A button's value is the id of an offer. Whoever presses has to be the one it was made for; what they may do is looked
up anew by whoever acts on it. The mark that an offer is open is the one that ``Postings`` hands out once, so of two
presses, on whatever workers, one finds it.
"""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.ports import Postings

OPEN = "open"
LOST_SECONDS = 60.0  # after which an offer that was taken, and never done with, may be taken again
_MADE, _TAKEN, _DONE = "made", "taken", "done"


class Taken(StrEnum):
    """What became of a press."""

    NOW = "now"  # it is the one
    EARLIER = "earlier"  # another press was the one
    GONE = "gone"  # too old, or not for this person


@dataclass(frozen=True, slots=True)
class Offers:
    """Kept with what is posted, for as long as that is, under the person they were made for."""

    postings: Postings

    async def make(self, person: str, values: Mapping[str, str]) -> str:
        """Keep an offer for this person, by qualified id; the offer's id."""
        offer = uuid.uuid4().hex
        await self._keep(offer, person, values)
        await self.again(offer, person)
        return offer

    async def read(self, offer: str, person: str) -> Mapping[str, str]:
        """What was offered, without taking it; empty when it is gone, or was made for somebody else."""
        return await self.postings.read(kept_under(person), offer) if offer else {}

    async def take(self, offer: str, person: str) -> Taken:
        """Whether this press is the one that counts. Also when an earlier one was lost together with its worker."""
        kept = await self.read(offer, person)
        if not kept:
            return Taken.GONE
        if await self.postings.called_off(kept_under(person), offer) != OPEN:
            taken = float(kept.get(_TAKEN) or 0)
            if not taken:
                return Taken.GONE
            if kept.get(_DONE) or time.time() - taken < LOST_SECONDS:
                return Taken.EARLIER
        await self._keep(offer, person, {_TAKEN: f"{time.time():.0f}"})
        return Taken.NOW

    async def done(self, offer: str, person: str) -> None:
        """What was offered has been done: it is never taken again."""
        await self._keep(offer, person, {_DONE: "yes"})

    async def again(self, offer: str, person: str) -> None:
        """Open it (once more): what it stands for was not done."""
        await self.postings.call_off(kept_under(person), offer, OPEN)

    async def _keep(self, offer: str, person: str, values: Mapping[str, str]) -> None:
        await self.postings.keep(kept_under(person), offer, {_MADE: "yes", **values}, person=person)


def kept_under(person: str) -> str:
    """Where what is shown to one person about the knowledge is kept; it is forgotten with them."""
    return f"slack/kb/{person}"
