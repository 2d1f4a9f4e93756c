"""Buttons and forms that act once, on every platform: of many presses, in whatever processes, one counts.

What a button or a form stands for is kept here and never in it; it carries the id of what is kept. It is done only once
its work is: what was taken by a process that died over it may be taken again after a while.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeVar

from core.model.records import PERSON, Record
from core.ports.message_state import MessageStateStore

LOST_SECONDS = 60.0  # after which an action that was taken, and never done, may be taken again


class Taken(StrEnum):
    """What became of a press."""

    NOW = "now"  # it is the one
    EARLIER = "earlier"  # another press was the one
    GONE = "gone"  # too old, or not for this person


@dataclass(frozen=True, kw_only=True)
class OneTimeAction(Record):
    """What a button or a form stands for. A platform says below this where it is kept, and what else it carries."""

    person: str = field(default="", metadata=PERSON)  # for whom it was made
    open: bool = False  # it can be taken
    taken: float = 0.0  # when it was, in seconds since the epoch
    done: bool = False


A = TypeVar("A", bound=OneTimeAction)


@dataclass(frozen=True, slots=True)
class OneTimeActions:
    """Offers actions and takes them. ``now`` is in seconds since the epoch."""

    postings: MessageStateStore
    now: Callable[[], float] = time.time

    async def open(self, action: OneTimeAction) -> None:
        """It can be taken (once more). Raises StoreUnavailable."""
        await self.postings.save(replace(action, open=True))

    async def take(self, action: A) -> tuple[Taken, A]:
        """Whether this press is the one that counts, and the action as it is kept. Raises StoreUnavailable.

        It is also when an earlier one was lost together with its worker. ``action`` need only say where it is kept.
        """
        kept = await self.postings.read(action)
        if kept is None:
            return Taken.GONE, action
        now = self.now()
        if kept.open:
            took = await self.postings.exchange(kept, replace(kept, open=False, taken=now))
            return Taken.NOW if took else Taken.EARLIER, kept
        if not kept.taken:
            return Taken.GONE, kept
        if kept.done or now - kept.taken < LOST_SECONDS:
            return Taken.EARLIER, kept
        took = await self.postings.exchange(kept, replace(kept, taken=now))
        return Taken.NOW if took else Taken.EARLIER, kept

    async def done(self, action: OneTimeAction) -> None:
        """It has been done: it is never taken again. Raises StoreUnavailable."""
        await self.postings.save(replace(action, done=True))
