"""Buttons and forms that act once, on every platform: of many presses in any process, one counts.

Their meaning is stored here; the button carries only the id. A use is done only once its work is. If a process dies in
between, the use can be taken again after a while.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.model.errors import AlreadyDone, FootnoteError
from core.model.records import PERSON, Record
from core.ports.message_state import MessageStateStore

LOST_SECONDS = 60.0  # after which a use that was taken but never done may be taken again


class PressOutcome(StrEnum):
    """The outcome of a press."""

    NOW = "now"  # this press counts
    EARLIER = "earlier"  # an earlier press counted
    GONE = "gone"  # too old, or not for this person


@dataclass(frozen=True, kw_only=True)
class OneTimeUse(Record):
    """The meaning of a button or a form. A subclass says where it is stored and what else it holds."""

    person: str = field(default="", metadata=PERSON)  # the person it was offered to
    open: bool = False  # it can be taken
    taken: float = 0.0  # when it was, in seconds since the epoch
    done: bool = False


@dataclass(frozen=True, slots=True)
class OneTimeUses:
    """Offers uses and takes them. ``now`` returns seconds since the epoch."""

    message_states: MessageStateStore
    now: Callable[[], float] = time.time

    async def open(self, use: OneTimeUse) -> None:
        """Allow a use to be taken, or taken again. Raises StoreUnavailable."""
        await self.message_states.save(replace(use, open=True))

    async def take(self, kept: OneTimeUse | None) -> PressOutcome:
        """Return whether this press of a use that was just read is the one that counts. Raises StoreUnavailable.

        It also counts if the earlier press was lost together with its worker.
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
        """Run the context once for a use that needs no opening. After a failure it may be tried again.

        Raises AlreadyDone with this text for later callers, and StoreUnavailable.
        """
        kept, now = await self.message_states.read(use), self.now()
        lost = kept is not None and kept.taken and not kept.done and now - kept.taken >= LOST_SECONDS
        mine = replace(use, taken=now)
        if (kept is not None and not lost) or not await self.message_states.exchange(kept or use, mine):
            raise AlreadyDone(refusal)
        try:
            await self.message_states.save(mine)  # the exchange stored only what it changed
            yield
        except BaseException:
            with suppress(FootnoteError):
                await self.message_states.remove(mine)
            raise
        await self.mark_done(mine)

    async def mark_done(self, use: OneTimeUse) -> None:
        """Mark a use as done, so that it is never taken again. Raises StoreUnavailable."""
        await self.message_states.save(replace(use, done=True))
