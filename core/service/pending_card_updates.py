"""Whose card has still to say that its job is over: kept until it does, so that no shutdown swallows the last word.

A job is done when its work is; that the platform takes its time with the card (a rate limit, an outage) holds no other
job up. What a process leaves behind is finished by whichever runs next, or runs on.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from core.model.errors import FootnoteError
from core.ports.message_state import MessageStateStore
from core.service.leases import pause

LOOK_SECONDS = 60.0  # between two looks at what other processes have left
_UNTOLD = "endings"

log = logging.getLogger(__name__)


class PendingCardUpdates:
    """Of one platform: a job's id, and the person whose card it is."""

    def __init__(self, message_states: MessageStateStore, platform: str) -> None:
        self._message_states = message_states
        self._place = f"{platform}/kb"

    async def expect(self, job_id: str, person: str) -> None:
        """The job is over; its card is still to say so."""
        await self._message_states.keep(self._place, _UNTOLD, {job_id: person})

    async def mark_shown(self, job_id: str) -> None:
        """Its card says so, or never will."""
        await self._message_states.take(self._place, _UNTOLD, job_id)

    async def outstanding(self) -> Mapping[str, str]:
        """The person whose card it is, by the job."""
        return await self._message_states.read(self._place, _UNTOLD)


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
