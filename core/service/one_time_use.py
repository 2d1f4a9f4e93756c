"""Buttons and forms that act once, on every platform: of many presses, in whatever processes, one counts.

What a button or a form means is kept here and never in it; it carries the id of what is kept. It is done only once
its work is: what was taken by a process that died over it may be taken again after a while.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.model.errors import AlreadyDone, FootnoteError
from core.model.records import PERSON, Record
from core.ports.message_state import MessageStateStore

LOST_SECONDS = 60.0  # after which a use that was taken, and never done, may be taken again


class PressOutcome(StrEnum):
    """What became of a press."""

    NOW = "now"  # it is the one
    EARLIER = "earlier"  # another press was the one
    GONE = "gone"  # too old, or not for this person


@dataclass(frozen=True, kw_only=True)
class OneTimeUse(Record):
    """What a button or a form means. A platform says below this where it is kept, and what else it carries."""

    person: str = field(default="", metadata=PERSON)  # the person that it was made for
    open: bool = False  # it can be taken
    taken: float = 0.0  # when it was, in seconds since the epoch
    done: bool = False


@dataclass(frozen=True, slots=True)
class OneTimeUses:
    """Offers uses and takes them. ``now`` is in seconds since the epoch."""

    message_states: MessageStateStore
    now: Callable[[], float] = time.time

    async def open(self, use: OneTimeUse) -> None:
        """Let it be taken, or taken once more. Raises StoreUnavailable."""
        await self.message_states.save(replace(use, open=True))

    async def take(self, kept: OneTimeUse | None) -> PressOutcome:
        """Return whether this press is the one that counts, of a use as it was just read. Raises StoreUnavailable.

        It also counts when an earlier one was lost together with its worker.
        """
        if kept is None or not (kept.open or kept.taken):
            return PressOutcome.GONE
        now = self.now()
        if not kept.open and (kept.done or now - kept.taken < LOST_SECONDS):
            return PressOutcome.EARLIER
        took = await self.message_states.exchange(kept, replace(kept, open=False, taken=now))
        return PressOutcome.NOW if took else PressOutcome.EARLIER

    @asynccontextmanager
    async def once(self, use: OneTimeUse, refusal: str) -> AsyncIterator[None]:
        """Do something once for a use that nobody has to open. What fails may be tried again.

        Raises AlreadyDone with this text for who comes later, and StoreUnavailable.
        """
        kept, now = await self.message_states.read(use), self.now()
        lost = kept is not None and kept.taken and not kept.done and now - kept.taken >= LOST_SECONDS
        mine = replace(use, taken=now)
        if (kept is not None and not lost) or not await self.message_states.exchange(kept or use, mine):
            raise AlreadyDone(refusal)
        try:
            await self.message_states.save(mine)  # the exchange kept what it changed alone
            yield
        except BaseException:
            with suppress(FootnoteError):
                await self.message_states.remove(mine)
            raise
        await self.mark_done(mine)

    async def mark_done(self, use: OneTimeUse) -> None:
        """Mark it as done: it is never taken again. Raises StoreUnavailable."""
        await self.message_states.save(replace(use, done=True))
