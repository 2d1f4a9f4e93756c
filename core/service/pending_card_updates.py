"""Whose card has still to say that its job is over: kept until it does, so that no shutdown swallows the last word.

A job is done when its work is; that the platform takes its time with the card (a rate limit, an outage) holds no other
job up. What a process leaves behind is finished by whichever runs next, or runs on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from core.model.errors import FootnoteError
from core.model.records import PERSON, Record
from core.ports.message_state import MessageStateStore
from core.service.leases import pause

LOOK_SECONDS = 60.0  # between two looks at what other processes have left

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class PendingCardUpdate(Record, place="{platform}/kb", subject="endings", entry="{job}"):
    """One job that is over and whose card does not say so yet."""

    platform: str
    job: str
    person: str = field(default="", metadata=PERSON)  # whose card it is


class PendingCardUpdates:
    """The cards of one platform whose last change was not shown yet."""

    def __init__(self, message_states: MessageStateStore, platform: str) -> None:
        self._message_states = message_states
        self._platform = platform

    async def expect(self, job_id: str, person: str) -> None:
        """The job is over; this person's card is still to say so. Raises StoreUnavailable."""
        await self._message_states.save(self._update(job_id, person))

    async def mark_shown(self, job_id: str) -> None:
        """Its card says so, or never will. Raises StoreUnavailable."""
        await self._message_states.remove(self._update(job_id))

    async def pending(self) -> Sequence[PendingCardUpdate]:
        """All that are still to be shown. Raises StoreUnavailable."""
        return await self._message_states.read_entries(self._update(""))

    def _update(self, job_id: str, person: str = "") -> PendingCardUpdate:
        return PendingCardUpdate(platform=self._platform, job=job_id, person=person)


async def look_after(finish: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    """Finish what was left, at once and then now and again, until ``stop`` is set."""
    while not stop.is_set():
        try:
            await finish()
        except FootnoteError as error:
            log.info("cards_not_finished", extra={"reason": str(error)})
        except Exception:
            log.exception("cards_not_finished")
        await pause(stop, LOOK_SECONDS)
