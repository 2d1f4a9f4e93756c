"""Where people spoke to us of late, and until when we heard everything: what to look back on after a silence.

While nothing was connected (a restart, a session that could not be resumed) a platform may have told us nothing.
Whoever connects again reads what was said meanwhile in these places, within this bound, and takes it in as if it were
told now: a delivery that was taken in before is known by its id.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.ports.message_state import MessageStateStore

MOST_PLACES = 100  # looked back on; those where we were spoken to last come first
LONGEST_SECONDS = 23 * 3600.0  # looked back; for a day a delivery is known again by its id
DEAF_SECONDS = 60.0  # for which a connection may have told us nothing before that was noticed
NOTE_SECONDS = 600.0  # between two notes about the same place
_PLACES, _UNTIL = "places", "until"


@dataclass(frozen=True, slots=True)
class Silence:
    """What we may have missed: ``since`` is in seconds since the epoch; the places are as they were noted."""

    since: float
    places: tuple[str, ...]


class HeardPlaces:
    """The places of one platform. A place is named as the platform finds it again: a channel, or a thread in it."""

    def __init__(
        self, message_states: MessageStateStore, platform: str, *, now: Callable[[], float] = time.time
    ) -> None:
        self._message_states = message_states
        self._key = f"{platform}/heard"
        self._now = now
        self._noted: OrderedDict[str, float] = OrderedDict()

    async def note(self, *places: str) -> None:
        """We were spoken to there. Raises StoreUnavailable."""
        now = self._now()
        news = [place for place in places if now - self._noted.get(place, 0.0) >= NOTE_SECONDS]
        if not news:
            return
        await self._message_states.keep(self._key, _PLACES, dict.fromkeys(news, f"{now:.0f}"))
        for place in news:
            self._noted[place] = now
            self._noted.move_to_end(place)
        while len(self._noted) > 10 * MOST_PLACES:
            self._noted.popitem(last=False)

    async def mark_listening(self) -> None:
        """Until now we heard everything. Raises StoreUnavailable."""
        await self._message_states.keep(self._key, _UNTIL, {"at": f"{self._now():.3f}"})

    async def silence(self) -> Silence | None:
        """What to look back on; None when we never listened before. Raises StoreUnavailable."""
        until = float((await self._message_states.read(self._key, _UNTIL)).get("at") or 0.0)
        if not until:
            return None
        noted = await self._message_states.read(self._key, _PLACES)
        latest = sorted(noted, key=lambda place: float(noted[place]), reverse=True)
        await self._forget(latest[10 * MOST_PLACES :])
        since = max(until - DEAF_SECONDS, self._now() - LONGEST_SECONDS)
        return Silence(since, tuple(latest[:MOST_PLACES]))

    async def _forget(self, places: Sequence[str]) -> None:
        for place in places:
            await self._message_states.take(self._key, _PLACES, place)
