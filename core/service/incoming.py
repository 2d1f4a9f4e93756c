"""What platforms put into the inbox: messages, choices and deletions, and what was missed while disconnected.

Nothing here is trusted state: rights and audience are looked up by the worker, through the platform, when it works.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from cachetools import TTLCache

from core.model.conversation import ThreadKey
from core.model.errors import Busy
from core.model.incoming_events import Deletion, Expiry, Incoming, IncomingChoice, IncomingMessage
from core.model.json_codec import from_json, to_json
from core.model.records import PERSON, THREAD, UNSTORED, QuestionState, Record
from core.ports.inbox import Delivery, Inbox
from core.ports.message_state import CancelReason, MessageStateStore

_KINDS: dict[str, type] = {
    "message": IncomingMessage,
    "choice": IncomingChoice,
    "expiry": Expiry,
    "deletion": Deletion,
}


_NAMES = {kind: name for name, kind in _KINDS.items()}


def delivery(delivery_id: str, incoming: Incoming | Deletion) -> Delivery:
    """Return the inbox's envelope for something incoming."""
    source = incoming.question if isinstance(incoming, Expiry | Deletion) else incoming
    person = source.person if isinstance(source, IncomingChoice) else source.asker
    return Delivery(
        id=delivery_id,
        platform=source.thread.platform,
        thread=str(source.thread),
        person=person.id,
        body=to_json(incoming),
        kind=_NAMES[type(incoming)],
    )


def decode_delivery(envelope: Delivery) -> Incoming | Deletion:
    """Return the inverse of ``delivery``. Raises ValueError on an envelope of another version."""
    kind = _KINDS.get(envelope.kind)
    if kind is None:
        raise ValueError(f"There is no delivery of kind {envelope.kind!r}.")
    incoming: Incoming | Deletion = from_json(kind, envelope.body)
    return incoming


log = logging.getLogger(__name__)


async def take_in_deletion(message_states: MessageStateStore, inbox: Inbox, question: IncomingMessage) -> None:
    """Take in that this message was deleted. Raises StoreUnavailable when it could not be kept.

    What nobody asked us, and nothing was shown for, is not kept.
    """
    thread = str(question.thread)
    await message_states.request_cancel(thread, question.id, CancelReason.DELETED)
    asked = question.mentions_us or question.direct
    if not (asked or await message_states.read(QuestionState(thread=question.thread, message=question.id))):
        return
    try:
        await inbox.put(delivery(f"{thread}:{question.id}:deleted", Deletion(question)))
    except Busy as busy:  # its writer has too many questions waiting; the call holds for an hour
        log.warning("deletion_not_kept", extra={"reason": str(busy)})


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

    It goes with the conversation that was held there, and with the person, if it was held with one alone.
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
        """Return what to look back on; None if we never listened before. Raises StoreUnavailable."""
        until = await self._message_states.read(BackfillCursor(platform=self._platform))
        if until is None or not until.at:
            return None
        known = await self._message_states.read_entries(ActivePlace(platform=self._platform, name=""))
        latest = sorted(known, key=lambda place: place.at, reverse=True)
        for place in latest[MOST_NOTED:]:
            await self._message_states.remove(place)
        since = max(until.at - DEAF_SECONDS, self._now() - LONGEST_SECONDS)
        return MissedPeriod(since, tuple(place.name for place in latest[:most]), self._now() - since)
