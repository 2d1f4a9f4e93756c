"""Buttons and forms that act once, on every platform: of many presses, in whatever processes, one counts.

That an action is open is a value which is taken in one step. It is done only once its work is: what was taken by a
process that died over it may be taken again after a while.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from core.ports.message_state import MessageStateStore

LOST_SECONDS = 60.0  # after which an action that was taken, and never done, may be taken again
OPEN, TAKEN, DONE = "open", "taken", "done"


class PressOutcome(StrEnum):
    """What became of a press."""

    NOW = "now"  # it is the one
    EARLIER = "earlier"  # another press was the one
    GONE = "gone"  # too old, or not for this person


@dataclass(frozen=True, slots=True)
class OneTimeActions:
    """A subject of the message states each, kept as long as they are. ``now`` is in seconds since the epoch."""

    message_states: MessageStateStore
    now: Callable[[], float] = time.time

    async def open(self, thread: str, subject: str, person: str) -> None:
        """It can be taken (once more). It is forgotten with this person."""
        await self.message_states.keep(thread, subject, {OPEN: "yes"}, person=person)

    async def take(self, thread: str, subject: str) -> PressOutcome:
        """Whether this press is the one that counts. Also when an earlier one was lost together with its worker."""
        now = self.now()
        if await self.message_states.take(thread, subject, OPEN, {TAKEN: f"{now:.0f}"}):
            return PressOutcome.NOW
        kept = await self.message_states.read(thread, subject)  # as whoever took it left it
        if TAKEN not in kept:
            return PressOutcome.GONE
        if kept.get(DONE) or now - float(kept[TAKEN]) < LOST_SECONDS:
            return PressOutcome.EARLIER
        lost = await self.message_states.take(thread, subject, TAKEN, {TAKEN: f"{now:.0f}"})
        return PressOutcome.NOW if lost == kept[TAKEN] else PressOutcome.EARLIER

    async def mark_done(self, thread: str, subject: str, person: str) -> None:
        """It has been done: it is never taken again."""
        await self.message_states.keep(thread, subject, {DONE: "yes"}, person=person)
