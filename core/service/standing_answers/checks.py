"""Followed answers: their records, and the check of one after a cited document changed.

The check asks again with what asker and channel may read today. Each record belongs to a person and a thread, and is
deleted with either. Records without an owner hold only numbers.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from core.agent.agent import Agent
from core.ingestion.ingestor import document_id_of
from core.model.answer import Answer
from core.model.channel_settings import ChannelSettings
from core.model.clock import Clock
from core.model.conversation import Audience, Person, Thread, ThreadKey, Turn
from core.model.events import AgentCompleted
from core.model.inquiry import DailyLimits, Inquiry
from core.model.knowledge import KnowledgeBase
from core.model.passage_units import Unit
from core.model.records import PERSON, THREAD, UNSTORED, Record
from core.ports.catalog import Catalog
from core.ports.index import Index, Scope
from core.ports.message_state import MessageStateStore
from core.ports.platform import ReadersToday
from core.service.one_time_use import OneTimeUse
from core.service.standing_answers.comparison import AnswerChange, find_change, missing_units
from core.service.visibility import VisibleBases

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


log = logging.getLogger(__name__)


def cited_documents(turn: Turn) -> tuple[str, ...]:
    """Return the ids of the documents that an answer cites, each once."""
    return tuple(dict.fromkeys(document_id_of(one.knowledge_base, one.document) for one in turn.citations))


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """Compares an answer that somebody got with what the documents say now."""

    agent: Agent
    catalog: Catalog
    index: Index
    clock: Clock

    async def readable_bases(self, readers: ReadersToday, settings: ChannelSettings) -> tuple[KnowledgeBase, ...]:
        """Return the channel's bases that both the person and the place may read."""
        bases = VisibleBases(self.catalog)
        place = await bases.names(readers.place, settings.bases)
        return await bases.for_audience(readers.person, place)

    async def missing(self, turn: Turn, versions: Mapping[str, str]) -> tuple[Unit, ...]:
        """Return the units that an answer cites but these versions of its documents no longer contain."""
        found: list[Unit] = []
        for citation in turn.citations:
            document = document_id_of(citation.knowledge_base, citation.document)
            scope = Scope(frozenset({citation.knowledge_base}))
            passages = await self.index.passages(document, versions[document], scope)
            found += missing_units(citation, "\n".join(one.text for one in passages))
        return tuple(found)

    async def change(
        self,
        thread: ThreadKey,
        turn: Turn,
        missing: Sequence[Unit],
        bases: tuple[KnowledgeBase, ...],
        settings: ChannelSettings,
        *,
        by_quotes: bool = False,
    ) -> AnswerChange | None:
        """Ask again in these bases, and return how the answer differs. Raises Unavailable.

        ``by_quotes``: without a model, so that it costs nothing.
        """
        question = turn.rewritten or turn.question
        policy = replace(settings.policy, checkpoints=frozenset(), sources_first=False, follow_ups=False)
        policy = replace(policy, limits=DailyLimits())  # a channel's budget is for its people's questions
        inquiry = Inquiry(
            id=f"{turn.trace_id}-again",
            question=question,
            thread=thread,
            asker=turn.asker,
            audience=Audience(),
            started_at=self.clock.now(),
            policy=policy,
            bases=bases,
        )
        answer = await self._answer(self.agent.by_quotes() if by_quotes else self.agent, inquiry)
        return find_change(question, turn, missing, answer) if answer is not None else None

    async def _answer(self, agent: Agent, inquiry: Inquiry) -> Answer | None:
        last = None
        async with aclosing(agent.pursue(agent.run(inquiry, Thread(inquiry.thread)))) as events:
            async for event in events:
                last = event
        if isinstance(last, AgentCompleted):
            return last.answer
        log.info("answer_not_checked", extra={"trace_id": inquiry.id})
        return None
