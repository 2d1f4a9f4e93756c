"""What platforms put into the inbox: messages, choices, deletions, and messages missed while disconnected.

Nothing here is trusted. The worker looks rights and audience up through the platform when it processes a delivery.
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
    """Return the inbox envelope for an incoming message, choice, expiry or deletion."""
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
    """Store that this message was deleted. Raises StoreUnavailable when that fails.

    A message that did not address us and has no shown answer is ignored.
    """
    thread = str(question.thread)
    await message_states.request_cancel(thread, question.id, CancelReason.DELETED)
    asked = question.mentions_us or question.direct
    if not (asked or await message_states.read(QuestionState(thread=question.thread, message=question.id))):
        return
    try:
        await inbox.put(delivery(f"{thread}:{question.id}:deleted", Deletion(question)))
    except Busy as busy:  # its writer has too many questions waiting; the cancel request lasts an hour
        log.warning("deletion_not_kept", extra={"reason": str(busy)})


MOST_PLACES = 100  # checked for missed messages, the most recently active first
MOST_NOTED = 10 * MOST_PLACES
LONGEST_SECONDS = 23 * 3600.0  # looked back at most; deliveries are deduplicated by id for a day
DEAF_SECONDS = 60.0  # a dead connection may go unnoticed this long
NOTE_SECONDS = 600.0  # between two notes about the same place


@dataclass(frozen=True, slots=True)
class MissedPeriod:
    """The period that we may have missed. ``since`` is in seconds since the epoch; the places are as recorded."""

    since: float
    places: tuple[str, ...]
    seconds: float = 0.0  # how long it was


@dataclass(frozen=True, kw_only=True)
class ActivePlace(Record, place="{platform}/heard", subject="places", entry="{name}"):
    """A place where people addressed us, by its platform's name, and when (seconds since the epoch).

    It is deleted with its conversation and, if that was with one person alone, with that person.
    """

    platform: str
    name: str
    at: float = 0.0
    thread: ThreadKey | None = field(default=None, metadata=THREAD | UNSTORED)
    person: str = field(default="", metadata=PERSON | UNSTORED)


@dataclass(frozen=True, kw_only=True)
class BackfillCursor(Record, place="{platform}/heard", subject="until", installation=True):
    """The time until which a platform sent us everything, in seconds since the epoch."""

    platform: str
    at: float = 0.0


class BackfillPlaces:
    """The active places of one platform, each named as the platform finds it: a channel, or a thread in it."""

    def __init__(
        self, message_states: MessageStateStore, platform: str, *, now: Callable[[], float] = time.time
    ) -> None:
        self._message_states = message_states
        self._platform = platform
        self._now = now
        self._noted: TTLCache[str, None] = TTLCache(MOST_NOTED, NOTE_SECONDS, timer=now)

    async def record_question(self, question: IncomingMessage, *places: str) -> None:
        """Record that somebody asked us in these places. Raises StoreUnavailable."""
        now = self._now()
        news = [place for place in places if place not in self._noted]
        if not news:
            return
        person = question.asker.id if question.direct else ""
        heard = ActivePlace(platform=self._platform, name="", at=now, thread=question.thread, person=person)
        await self._message_states.save(*(replace(heard, name=place) for place in news))
        self._noted.update(dict.fromkeys(news))

    async def advance_cursor(self, at: float | None = None) -> None:
        """Record that we received everything until ``at``, or until now. Raises StoreUnavailable."""
        await self._message_states.save(BackfillCursor(platform=self._platform, at=at or self._now()))

    async def missed_period(self, most: int = MOST_PLACES) -> MissedPeriod | None:
        """Return the period and places to check for missed messages; None at first start. Raises StoreUnavailable."""
        until = await self._message_states.read(BackfillCursor(platform=self._platform))
        if until is None or not until.at:
            return None
        known = await self._message_states.read_entries(ActivePlace(platform=self._platform, name=""))
        latest = sorted(known, key=lambda place: place.at, reverse=True)
        for place in latest[MOST_NOTED:]:
            await self._message_states.remove(place)
        since = max(until.at - DEAF_SECONDS, self._now() - LONGEST_SECONDS)
        return MissedPeriod(since, tuple(place.name for place in latest[:most]), self._now() - since)
