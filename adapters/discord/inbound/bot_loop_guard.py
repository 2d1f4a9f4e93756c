"""How often bots may speak to us with nobody else in between, so that two of them never go on for ever.

Which bots are heard at all is configured; nobody's own messages ever are. This counts, for each channel, what such
bots have asked since a person last said something there.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cachetools import LRUCache

MOST_TURNS = 3
QUIET_SECONDS = 3_600.0  # after which a bot may begin anew, where no person ever writes
CHANNELS_REMEMBERED = 1_000


@dataclass(slots=True)
class _Turns:
    messages: list[int] = field(default_factory=list)
    last: float = 0.0


class BotLoopGuard:
    """Counts in this process alone: one process hears everything. ``now`` gives seconds that only ever grow."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._channels: LRUCache[int, _Turns] = LRUCache(CHANNELS_REMEMBERED)

    def person_spoke(self, channel_id: int) -> None:
        """From here on, bots have their turns anew."""
        self._channels.pop(channel_id, None)

    def may_ask(self, channel_id: int, message_id: int) -> bool:
        """Whether a bot's message may be answered; one that was let through before may be heard again, as edited."""
        turns = self._channels.setdefault(channel_id, _Turns())
        if self._now() - turns.last > QUIET_SECONDS:
            turns.messages.clear()
        if message_id in turns.messages:
            return True
        if len(turns.messages) >= MOST_TURNS:
            return False
        turns.messages.append(message_id)
        turns.last = self._now()
        return True
