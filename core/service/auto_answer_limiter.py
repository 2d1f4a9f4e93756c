"""How often it is tried to answer what nobody has asked us: so often that it is of use, and no more.

A try costs what a question costs, whether or not anybody sees an answer. So each channel has so many in an hour, all
channels together so many in a day, and a daily budget is left at least half to those who do ask.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from core.model.conversation import ThreadKey
from core.model.records import Record
from core.ports.daily_budget import DailyBudget
from core.ports.message_state import MessageStateStore

MOST_AN_HOUR = 20  # of one channel
MOST_A_DAY = 400  # of all channels
SHARE_OF_BUDGET = 0.5  # of the day's budget; the rest is for questions that were put to us
EVERYWHERE = "everywhere"
EXCHANGES = 8  # tries to count where others count at the same moment
HOUR, DAY = 3_600, 86_400  # seconds


@dataclass(frozen=True, kw_only=True)
class AutoAnswerCount(Record, place="{platform}/unasked", subject="{channel}", installation=True):
    """How many tries there were in the last window: an hour or a day, numbered since the epoch."""

    platform: str
    channel: str
    window: int = 0
    tries: int = 0


@dataclass(frozen=True, slots=True)
class AutoAnswerLimiter:
    """Counts them across processes. ``now`` is in seconds since the epoch."""

    message_states: MessageStateStore
    daily_budget: DailyBudget | None = None
    now: Callable[[], float] = time.time

    async def admit(self, thread: ThreadKey) -> bool:
        """Whether one more may be tried in this channel, counting it. Raises StoreUnavailable."""
        if self.daily_budget is not None and await self.daily_budget.spent_share() >= SHARE_OF_BUDGET:
            return False
        here = AutoAnswerCount(platform=thread.platform, channel=thread.place)
        if not await self._count(here, HOUR, MOST_AN_HOUR):
            return False
        return await self._count(AutoAnswerCount(platform=thread.platform, channel=EVERYWHERE), DAY, MOST_A_DAY)

    async def _count(self, blank: AutoAnswerCount, seconds: int, most: int) -> bool:
        window = int(self.now() // seconds)
        for _ in range(EXCHANGES):
            was = await self.message_states.read(blank) or blank
            tries = was.tries if was.window == window else 0
            if tries >= most:
                return False
            if await self.message_states.exchange(was, replace(was, window=window, tries=tries + 1)):
                return True
        return False
