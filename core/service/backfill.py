"""Where people spoke to us of late, and until when we heard everything: what to look back on after a silence.

While nothing was connected (a restart, a session that could not be resumed) a platform may have told us nothing.
Whoever connects again reads what was said meanwhile in these places, within this bound, and takes it in as if it were
told now: a delivery that was taken in before is known by its id.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from cachetools import TTLCache

from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage
from core.model.records import PERSON, THREAD, UNSTORED, Record
from core.ports.message_state import MessageStateStore

MOST_PLACES = 100  # looked back on; those where we were spoken to last come first
MOST_NOTED = 10 * MOST_PLACES
LONGEST_SECONDS = 23 * 3600.0  # looked back; for a day a delivery is known again by its id
DEAF_SECONDS = 60.0  # for which a connection may have told us nothing before that was noticed
NOTE_SECONDS = 600.0  # between two notes about the same place


@dataclass(frozen=True, slots=True)
class MissedPeriod:
    """What we may have missed: ``since`` is in seconds since the epoch; the places are as they were noted."""

    since: float
    places: tuple[str, ...]
    seconds: float = 0.0  # how long it was


@dataclass(frozen=True, kw_only=True)
class ActivePlace(Record, place="{platform}/heard", subject="places", entry="{name}"):
    """A place where we were spoken to, as its platform finds it again, and when: seconds since the epoch.

    It goes with the conversation that was held there, and with whom it was held where that was one person alone.
    """

    platform: str
    name: str
    at: float = 0.0
    thread: ThreadKey | None = field(default=None, metadata=THREAD | UNSTORED)
    person: str = field(default="", metadata=PERSON | UNSTORED)


@dataclass(frozen=True, kw_only=True)
class BackfillCursor(Record, place="{platform}/heard", subject="until", installation=True):
    """Until when a platform told us everything: seconds since the epoch."""

    platform: str
    at: float = 0.0


class BackfillPlaces:
    """The places of one platform. A place is named as the platform finds it again: a channel, or a thread in it."""

    def __init__(
        self, message_states: MessageStateStore, platform: str, *, now: Callable[[], float] = time.time
    ) -> None:
        self._message_states = message_states
        self._platform = platform
        self._now = now
        self._noted: TTLCache[str, None] = TTLCache(MOST_NOTED, NOTE_SECONDS, timer=now)

    async def record_question(self, question: IncomingMessage, *places: str) -> None:
        """We were asked this there. Raises StoreUnavailable."""
        now = self._now()
        news = [place for place in places if place not in self._noted]
        if not news:
            return
        person = question.asker.id if question.direct else ""
        heard = ActivePlace(platform=self._platform, name="", at=now, thread=question.thread, person=person)
        await self._message_states.save(*(replace(heard, name=place) for place in news))
        self._noted.update(dict.fromkeys(news))

    async def advance_cursor(self, at: float | None = None) -> None:
        """Until now, or until then, we heard everything. Raises StoreUnavailable."""
        await self._message_states.save(BackfillCursor(platform=self._platform, at=at or self._now()))

    async def missed_period(self, most: int = MOST_PLACES) -> MissedPeriod | None:
        """What to look back on, at most so many places; None when we never listened before. Raises StoreUnavailable."""
        until = await self._message_states.read(BackfillCursor(platform=self._platform))
        if until is None or not until.at:
            return None
        known = await self._message_states.read_entries(ActivePlace(platform=self._platform, name=""))
        latest = sorted(known, key=lambda place: place.at, reverse=True)
        for place in latest[MOST_NOTED:]:
            await self._message_states.remove(place)
        since = max(until.at - DEAF_SECONDS, self._now() - LONGEST_SECONDS)
        return MissedPeriod(since, tuple(place.name for place in latest[:most]), self._now() - since)
