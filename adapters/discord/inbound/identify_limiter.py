"""Rate limiter for new gateway sessions. A crash loop slows down long before it reaches Discord's limit.

Discord resets the token of an application that starts 1,000 sessions in a day. The times are stored across restarts, so
a supervisor that keeps restarting a broken process cannot reach that limit. A wait is logged once. ``footnote doctor``
and ``/readyz`` report its length.
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
# (sessions in the last 24 hours, seconds between sessions). At most 100 + 86,400 / 900 = 196 a day.
PACES = ((10, 0.0), (30, 5.0), (60, 30.0), (100, 300.0))
SLOWEST = 900.0
MOST_TIMES = 200
WORTH_SAYING = 5.0  # seconds

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class IdentifyTimes(Record, place="discord", subject="identifies", installation=True):
    """The times of our identifications in the last day, in seconds since the epoch."""

    times: tuple[float, ...] = ()


async def pending_wait(message_states: MessageStateStore) -> str:
    """Return why and how long a start would wait now, or an empty string. Raises StoreUnavailable."""
    kept = await message_states.read(IdentifyTimes())
    times = _of_the_last_day(kept.times if kept is not None else ())
    seconds = _gap(times, PACES, SLOWEST) - (time.time() - max(times, default=0.0))
    return _explain(seconds, len(times)) if seconds > WORTH_SAYING else ""


class IdentifyLimiter:
    """Delays each identification for as long as needed."""

    def __init__(
        self, message_states: MessageStateStore, *, paces: Sequence[tuple[int, float]] = PACES, slowest: float = SLOWEST
    ) -> None:
        """Store the last day's times in the message states."""
        self._message_states = message_states
        self._paces = paces
        self._slowest = slowest
        self._times: list[float] = []
        self._waits_until = 0.0  # wall-clock time; 0 without a wait
        self._said_of = 0.0  # the identification after which a wait was last logged

    def problem(self) -> str:
        """Return why there is no connection yet and for how long, or an empty string."""
        seconds = self._waits_until - time.time()
        return _explain(seconds, len(self._times)) if seconds > 0 else ""

    async def wait(self, *, initial: bool) -> float:
        """Wait for our turn, record it and return the seconds waited. After an invalid session, add a random 1 to 5."""
        await self._recall()
        last = max(self._times, default=0.0)
        seconds = max(0.0, _gap(self._times, self._paces, self._slowest) - (time.time() - last))
        if not initial and self._slowest >= 1:
            seconds += random.uniform(1.0, 5.0)  # noqa: S311 - required by Discord, to spread reconnections
        if seconds > WORTH_SAYING:
            self._waits_until = time.time() + seconds
            if self._said_of != last:
                log.warning("discord_session_delayed", reason=_explain(seconds, len(self._times)))
                self._said_of = last
        try:
            await asyncio.sleep(seconds)
        finally:
            self._waits_until = 0.0
        self._times.append(round(time.time(), 3))
        await self._keep()
        return seconds

    async def _recall(self) -> None:
        try:
            kept = await self._message_states.read(IdentifyTimes())
        except FootnoteError:  # without the store, use what this process knows
            kept = None
        self._times = _of_the_last_day((*(kept.times if kept is not None else ()), *self._times))

    async def _keep(self) -> None:
        try:
            await self._message_states.save(IdentifyTimes(times=tuple(self._times[-MOST_TIMES:])))
        except FootnoteError as error:
            log.warning("identify_not_noted", reason=str(error))


def _of_the_last_day(times: Sequence[float]) -> list[float]:
    return sorted(one for one in set(times) if 0 <= time.time() - one < DAY)


def _gap(times: Sequence[float], paces: Sequence[tuple[int, float]], slowest: float) -> float:
    """Return the required seconds between the last session and the next."""
    return next((gap for count, gap in paces if len(times) < count), slowest)


def _explain(seconds: float, sessions: int) -> str:
    wait = f"{round(seconds)} s" if seconds < 90 else f"{round(seconds / 60)} minutes"
    return (
        f"the next session with Discord starts in {wait}, because {sessions} were started in the last 24 hours. "
        "Restart me less often: Discord resets the token at 1,000 a day"
    )
