"""How often we say who we are: a loop of crashes or invalid sessions slows down long before Discord minds.

Discord resets the token of an application that identifies 1,000 times in a day. The times are kept across restarts,
so that a supervisor that starts a broken process over and over cannot get there either.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from core.model.errors import FootnoteError
from core.model.records import Record
from core.ports.message_state import MessageStateStore

DAY = 24 * 3600.0
# With so many in the last 24 hours, so many seconds since the last one. At most 60 + 86,400 / 900 = 156 a day.
PACES = ((3, 0.0), (6, 5.0), (20, 30.0), (60, 300.0))
SLOWEST = 900.0
MOST_TIMES = 200

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class IdentifyTimes(Record, place="discord", subject="identifies", installation=True):
    """When we identified in the last day: seconds since the epoch."""

    times: tuple[float, ...] = ()


class IdentifyLimiter:
    """Waits before each identification, as long as it takes."""

    def __init__(
        self, message_states: MessageStateStore, *, paces: Sequence[tuple[int, float]] = PACES, slowest: float = SLOWEST
    ) -> None:
        """Keep the times of the last day with everything about messages."""
        self._message_states = message_states
        self._paces = paces
        self._slowest = slowest
        self._times: list[float] = []

    async def wait(self, *, initial: bool) -> float:
        """Wait for our turn and note it; how many seconds that took. After an invalid session, a random 1 to 5 more."""
        await self._recall()
        now = time.time()
        seconds = max(0.0, self._gap() - (now - max(self._times, default=0.0)))
        if not initial and self._slowest >= 1:
            seconds += random.uniform(1.0, 5.0)  # noqa: S311 - as Discord asks, so that not all come back at once
        if seconds > 5:
            log.warning("identifying_later", seconds=round(seconds), in_the_last_day=len(self._times))
        await asyncio.sleep(seconds)
        self._times.append(round(time.time(), 3))
        await self._keep()
        return seconds

    def _gap(self) -> float:
        return next((gap for count, gap in self._paces if len(self._times) < count), self._slowest)

    async def _recall(self) -> None:
        try:
            kept = await self._message_states.read(IdentifyTimes())
        except FootnoteError:  # with the store away, what this process knows has to do
            kept = None
        known = {*(kept.times if kept is not None else ()), *self._times}
        self._times = sorted(one for one in known if 0 <= time.time() - one < DAY)

    async def _keep(self) -> None:
        try:
            await self._message_states.save(IdentifyTimes(times=tuple(self._times[-MOST_TIMES:])))
        except FootnoteError as error:
            log.warning("identify_not_noted", reason=str(error))
