"""Records of standing answers: followed answers, channels that enable them, daily counts, and muted people.

Each record belongs to a person and a thread, and is deleted with either. Records without an owner hold only numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from core.model.conversation import Person, ThreadKey, Turn
from core.model.records import PERSON, THREAD, UNSTORED, Record
from core.ports.message_state import MessageStateStore
from core.service.one_time_use import OneTimeUse
from core.service.standing_answers.comparison import AnswerChange

WEEK = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class FollowedAnswer:
    """An answer that somebody got. ``versions`` are the cited documents' versions at which it was last correct.

    ``change`` waits for its notice since ``found_at``; ``kept_at`` is when the record was last written (seconds).
    """

    thread: ThreadKey
    turn: Turn
    versions: Mapping[str, str]
    change: AnswerChange | None = None
    found_at: float = 0.0
    kept_at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class FollowedRecord(Record, place="{channel}/standing", subject="answers", entry="{trace}"):
    """The record of a followed answer, below its channel."""

    channel: str
    trace: str
    answer: FollowedAnswer | None = None
    thread: ThreadKey | None = field(default=None, metadata=THREAD | UNSTORED)
    person: str = field(default="", metadata=PERSON | UNSTORED)

    @classmethod
    def of(cls, answer: FollowedAnswer) -> "FollowedRecord":
        """Return the record of an answer, with its owners."""
        channel = replace(answer.thread, thread="")
        thread, person = answer.thread, answer.turn.asker.id
        return cls(channel=str(channel), trace=answer.turn.trace_id, answer=answer, thread=thread, person=person)


@dataclass(frozen=True, kw_only=True)
class FollowingChannel(Record, place="standing", subject="channels", entry="{channel}", installation=True):
    """A channel whose answers are followed, and since when (seconds)."""

    channel: str
    since: float = 0.0


@dataclass(frozen=True, kw_only=True)
class CheckedDay(Record, place="standing", subject="checked", installation=True):
    """The number of answers asked again on a day, counted from 1970."""

    day: int = 0
    asked: int = 0


@dataclass(frozen=True, kw_only=True)
class NoticeDay(Record, place="{person}/standing", subject="day:{day}"):
    """The one notice, by its key, that a person gets on a day."""

    day: int
    person: str = field(default="", metadata=PERSON)
    notice: str = ""


@dataclass(frozen=True, kw_only=True)
class SentNotice(OneTimeUse, place="{person}/standing", subject="notice:{notice}"):
    """A notice that was sent or is being sent."""

    notice: str
    person: str = field(default="", metadata=PERSON)


@dataclass(frozen=True, kw_only=True)
class MutedNotices(Record, place="standing", subject="muted", entry="{name}"):
    """A person who wants no notices, and when the record was last written (seconds)."""

    name: str
    at: float = 0.0
    person: str = field(default="", metadata=PERSON | UNSTORED)


async def toggle_notices(message_states: MessageStateStore, person: Person) -> bool:
    """Mute or unmute notices to this person; return whether they are now muted. Raises StoreUnavailable."""
    blank = MutedNotices(name=person.id, person=person.id)
    if await message_states.read(blank) is not None:
        await message_states.remove(blank)
        return False
    await message_states.save(replace(blank, at=datetime.now(UTC).timestamp()))
    return True


async def muted_people(message_states: MessageStateStore, now: float) -> frozenset[str]:
    """Return the ids of people who want no notices, and renew their records, which expire after 30 days."""
    found = await message_states.read_entries(MutedNotices(name=""))
    for one in found:
        if now - one.at > WEEK:
            await message_states.exchange(one, replace(one, at=now, person=one.name))
    return frozenset(one.name for one in found)
