"""How often we say who we are: a loop of crashes or invalid sessions slows down long before Discord minds.

Discord resets the token of an application that identifies 1,000 times in a day. The times are kept across restarts,
so that a supervisor that starts a broken process over and over cannot get there either.
"""

import asyncio
import random
import time
from collections.abc import Sequence

import structlog

from core.model.errors import FootnoteError
from core.ports.channel_settings import ChannelSettingsStore

DAY = 24 * 3600.0
# With so many in the last 24 hours, so many seconds since the last one. At most 60 + 86,400 / 900 = 156 a day.
PACES = ((3, 0.0), (6, 5.0), (20, 30.0), (60, 300.0))
SLOWEST = 900.0
PLACE = "discord:identifies"

log = structlog.get_logger(__name__)


class IdentifyLimiter:
    """Waits before each identification, as long as it takes."""

    def __init__(
        self, kept: ChannelSettingsStore, *, paces: Sequence[tuple[int, float]] = PACES, slowest: float = SLOWEST
    ) -> None:
        """Keep the times of the last day in ``kept``."""
        self._kept = kept
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
            kept = (await self._kept.read(PLACE)).get("times", "")
        except FootnoteError:  # with the store away, what this process knows has to do
            kept = ""
        known = {float(one) for one in kept.split() if _is_number(one)} | set(self._times)
        self._times = sorted(one for one in known if 0 <= time.time() - one < DAY)

    async def _keep(self) -> None:
        try:
            await self._kept.write(PLACE, {"times": " ".join(f"{one:.3f}" for one in self._times[-200:])})
        except FootnoteError as error:
            log.warning("identify_not_noted", reason=str(error))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
