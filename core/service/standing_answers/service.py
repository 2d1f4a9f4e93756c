"""Keeps answers standing: follows those of channels that have it on, checks them when a document changes, and tells.

An answer is followed for 90 days. What is found waits in the record of its answer until it is sent, so that a process
which dies loses nothing and sends nothing twice: a person's day is taken for one notice before that is sent, and who
takes it up again looks first at whether it is there.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from core.model.answer import Outcome
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Person, ThreadKey
from core.model.errors import AlreadyDone, BudgetExhausted, FootnoteError, Unavailable
from core.model.knowledge import KnowledgeBase
from core.ports.inbox import NamedLeases
from core.ports.memory import Memory
from core.ports.message_state import MessageStateStore
from core.ports.platform import ChannelSettingsStore, Notice, PersonalNotices
from core.ports.question_log import QuestionLog
from core.ports.usage import DailyBudget
from core.service.leases import repeat
from core.service.one_time_use import OneTimeUses
from core.service.standing_answers.checks import AnswerCheck, cited_documents
from core.service.standing_answers.comparison import AnswerChange
from core.service.standing_answers.notices import notice_of
from core.service.standing_answers.records import (
    WEEK,
    CheckedDay,
    FollowedAnswer,
    FollowedRecord,
    FollowingChannel,
    NoticeDay,
    SentNotice,
    muted_people,
)

FOLLOWED = timedelta(days=90)
REMEMBERED = timedelta(days=30)  # how far back threads are kept
LATE = timedelta(hours=1)  # that an answer may take to be in the log after its question
SKEW = timedelta(minutes=10)  # between our clock and a platform's
LOOK_SECONDS = 60.0
LEASE = timedelta(minutes=3)
DAY = 86_400.0
MOST_CHECKED = 200  # answers asked again a day
MOST_FOLLOWED = 500  # answers of one channel, the newest
MOST_SPENT = 0.5  # share of a day's budget: people's questions come first

Channels = dict[str, tuple[FollowingChannel, ChannelSettings]]  # that have it on, by key

log = logging.getLogger(__name__)


@dataclass(slots=True)
class StandingAnswers:
    """Looks now and again; of many processes one at a time does."""

    check: AnswerCheck
    questions: QuestionLog
    memory: Memory
    settings: ChannelSettingsStore
    message_states: MessageStateStore
    leases: NamedLeases
    holder: str
    notices: Callable[[str], PersonalNotices | None]  # of the platform of this name, once it is connected here
    budget: DailyBudget | None = None
    _listed: datetime | None = field(default=None, init=False)  # up to when the log was read
    _seen: frozenset[str] = field(default=frozenset(), init=False)  # traces that were in the log at the last look
    _checked: int = field(default=-1, init=False)  # the catalog's changes at the last complete check
    _waiting: bool = field(default=True, init=False)  # something may wait to be told
    _unreachable: bool = field(default=False, init=False)  # a platform could not be asked at this look
    _renewed: int = field(default=-1, init=False)  # the day on which what is kept was last kept from expiring

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop`` is set."""
        await repeat(self.look, LOOK_SECONDS, stop, "standing_answers_not_checked")

    async def look(self) -> int:
        """Follow new answers, check those whose documents changed, and tell; how many were told.

        Raises Unavailable.
        """
        self._unreachable = False
        if renews := self._today != self._renewed:  # also while no channel has it on
            await muted_people(self.message_states, self._now.timestamp())
            self._renewed = self._today
        known = await self.message_states.read_entries(FollowingChannel(channel=""))
        places = await self.settings.places()
        wanted = [place for place in places if (await self.settings.read(place)).standing_answers]
        if not (wanted or known) or not await self._leads():
            return 0
        on = await self._channels(known, wanted)
        if not wanted:
            return 0
        await self._follow(on)
        changes = await self.check.catalog.changes()
        if changes == self._checked and not self._waiting and not renews:
            return 0
        answers = [one for channel in on for one in await self._followed(channel)]
        if changes != self._checked:
            whole, answers = await self._check(on, answers)
            self._checked = changes if whole and not self._unreachable else -1
        return await self._tell(on, [one for one in answers if one.change])

    async def _leads(self) -> bool:
        return await self.leases.acquire("standing answers", self.holder, LEASE)

    @property
    def _now(self) -> datetime:
        return self.check.clock.now()

    @property
    def _today(self) -> int:
        return int(self._now.timestamp() // DAY)

    # --- which channels, and which answers

    async def _channels(self, known: Sequence[FollowingChannel], wanted: Sequence[str]) -> Channels:
        """Return the channels that have it on, by key. Where it was switched off, all that was kept goes."""
        found: Channels = {}
        named = {one.channel: one for one in known}
        for channel in dict.fromkeys((*named, *filter(None, map(_channel_of, wanted)))):
            settings = await self._settings(channel)
            if settings is None:
                continue
            if settings.standing_answers:
                found[channel] = (await self._following(channel, named.get(channel)), settings)
            elif channel in named:
                for one in await self.message_states.read_entries(FollowedRecord(channel=channel, trace="")):
                    await self.message_states.remove(one)
                await self.message_states.remove(named[channel])
        return found

    async def _settings(self, channel: str) -> ChannelSettings | None:
        """Return what applies in a channel; None while its platform cannot be asked."""
        key = ThreadKey.parse(channel)
        notices = self.notices(key.platform)
        try:
            return await notices.settings(key) if notices is not None else None
        except Unavailable as error:
            self._unreachable = True
            log.info("channel_not_followed", extra={"channel": channel, "reason": str(error)})
            return None

    async def _following(self, channel: str, known: FollowingChannel | None) -> FollowingChannel:
        following = known or FollowingChannel(channel=channel, since=self._now.timestamp())
        await self.message_states.save(following)
        return following

    async def _follow(self, on: Channels) -> None:
        """Keep the answers that were given since the last look; at the first, those that are remembered."""
        now = self._now
        since = self._listed - LATE if self._listed else now - REMEMBERED
        seen: set[str] = set()
        kept: dict[str, set[str]] = {}
        async for asked in self.questions.since(since):
            seen.add(asked.trace_id)
            if asked.trace_id in self._seen or asked.outcome is not Outcome.ANSWERED or not asked.cited:
                continue
            thread = ThreadKey.parse(asked.thread)
            channel = str(replace(thread, thread=""))
            if channel not in kept:
                kept[channel] = {one.turn.trace_id for one in await self._followed(channel)}
                if channel not in on and (settings := await self._settings(channel)) and settings.standing_answers:
                    on[channel] = (await self._following(channel, None), settings)  # of a category that has it on
            if channel in on and asked.trace_id not in kept[channel]:
                await self._keep(thread, asked.trace_id, on[channel][0])
        if not self._unreachable:
            self._listed, self._seen = now, frozenset(seen)

    async def _keep(self, thread: ThreadKey, trace: str, following: FollowingChannel) -> None:
        """Follow one answer. What changed before its channel had this on is never told."""
        record = await self.memory.recall(thread)
        turn = next((one for one in record.turns if one.trace_id == trace), None)
        if turn is None or not turn.citations:
            return
        visible = await self.check.catalog.visible_versions(cited_documents(turn))
        versions = dict(visible)
        if turn.at.timestamp() >= following.since:
            items = (record.library.get(citation.evidence) for citation in turn.citations)
            held = {item.passage.document: item.passage.version for item in items if item is not None}
            versions = {document: held.get(document, "") for document in visible}
        answer = FollowedAnswer(thread, turn, versions, kept_at=self._now.timestamp())
        await self.message_states.save(FollowedRecord.of(answer))
        self._checked = -1

    async def _followed(self, channel: str) -> list[FollowedAnswer]:
        """Return the answers of a channel that are followed; the oldest beyond the bounds go."""
        kept = await self.message_states.read_entries(FollowedRecord(channel=channel, trace=""))
        newest = sorted((one.answer for one in kept if one.answer), key=lambda one: one.turn.at, reverse=True)
        now, followed = self._now, []
        for number, answer in enumerate(newest):
            if number >= MOST_FOLLOWED or now - answer.turn.at > FOLLOWED:
                await self.message_states.remove(FollowedRecord.of(answer))
                continue
            rewritten = None
            if now.timestamp() - answer.kept_at > WEEK:
                rewritten = await self._replace(answer, replace(answer, kept_at=now.timestamp()))
            followed.append(rewritten or answer)
        return followed

    async def _replace(self, was: FollowedAnswer, now: FollowedAnswer) -> FollowedAnswer | None:
        """Keep what is known now of an answer, unless it was forgotten meanwhile."""
        kept = await self.message_states.exchange(FollowedRecord.of(was), FollowedRecord.of(now))
        return now if kept else None

    # --- which of them have changed

    async def _check(self, on: Channels, answers: Sequence[FollowedAnswer]) -> tuple[bool, list[FollowedAnswer]]:
        """Check what cites a document that changed; whether all of it could be, and the answers as they are now."""
        documents = sorted({document for answer in answers for document in cited_documents(answer.turn)})
        visible = await self.check.catalog.visible_versions(documents)
        whole, exhausted, found = True, False, list[FollowedAnswer]()
        for answer in answers:
            cited = cited_documents(answer.turn)
            if any(document not in visible for document in cited):  # what was taken out is not quoted any more
                await self.message_states.remove(FollowedRecord.of(answer))
                continue
            versions = {document: visible[document] for document in cited}
            if versions == answer.versions:
                found.append(answer)
                continue
            if exhausted:
                continue
            try:
                checked = await self._check_one(answer, versions, on[str(replace(answer.thread, thread=""))][1])
            except BudgetExhausted:  # the others wait, rather than ask their platforms in vain every minute
                exhausted, checked = True, None
            except Unavailable as error:
                log.info("answer_not_checked", extra={"trace_id": answer.turn.trace_id, "reason": str(error)})
                checked = None
            whole = whole and checked is not None
            found += [checked] if checked is not None else []
        return whole, found

    async def _check_one(
        self, answer: FollowedAnswer, versions: Mapping[str, str], settings: ChannelSettings
    ) -> FollowedAnswer | None:
        """Return an answer as it is after its check; None where it could not be checked now.

        Raises BudgetExhausted, Unavailable.
        """
        turn, change = answer.turn, None
        missing = await self.check.missing(turn, versions)
        bases = await self._bases(answer, settings) if missing else ()
        if bases:
            if not await self._leads():
                return None
            if not await self._may_ask():
                raise BudgetExhausted("No more answers are checked today.")
            change = await self.check.change(answer.thread, turn, missing, bases, settings)
        moment = self._now.timestamp() if change else 0.0
        checked = replace(answer, versions=versions, change=change, found_at=moment)
        return checked if await self._replace(answer, checked) else None

    async def _bases(self, answer: FollowedAnswer, settings: ChannelSettings) -> tuple[KnowledgeBase, ...]:
        """Return what may be read for this answer today; nothing where its asker may not read the answer itself."""
        notices = self.notices(answer.thread.platform)
        readers = await notices.readers(answer.turn.asker, answer.thread) if notices is not None else None
        if readers is None:
            return ()
        bases = await self.check.readable_bases(readers, settings)
        readable = answer.turn.readable_by(frozenset(base.name for base in bases))
        return bases if readable else ()

    async def _may_ask(self) -> bool:
        """Take one of the day's checks."""
        if self.budget is not None and await self.budget.spent_share() >= MOST_SPENT:
            return False
        today = self._today
        kept = await self.message_states.read(CheckedDay()) or CheckedDay()
        asked = kept.asked if kept.day == today else 0
        if asked >= MOST_CHECKED:
            return False
        return await self.message_states.exchange(kept, CheckedDay(day=today, asked=asked + 1))

    # --- notices

    async def _tell(self, on: Channels, waiting: Sequence[FollowedAnswer]) -> int:
        self._waiting = bool(waiting)
        muted = await muted_people(self.message_states, self._now.timestamp()) if waiting else frozenset()
        told: set[tuple[str, str]] = set()
        for answer in sorted(waiting, key=lambda one: one.found_at):
            person, change = answer.turn.asker.id, answer.change
            if change is None:
                continue
            if not await self._leads():
                break
            if person in muted or (person, change.after) in told:
                await self._settle(answer, change)
                continue
            try:
                if await self._tell_one(answer, change, on[str(replace(answer.thread, thread=""))][1]):
                    told.add((person, change.after))
            except FootnoteError as error:
                log.info("notice_not_sent", extra={"trace_id": answer.turn.trace_id, "reason": str(error)})
        return len(told)

    async def _settle(self, answer: FollowedAnswer, change: AnswerChange) -> None:
        """Take what holds now for what the person was told: the same change is not found again.

        Without versions it is compared once more, as documents may have changed meanwhile.
        """
        bases = answer.turn.knowledge_bases | {change.citation.knowledge_base}
        turn = replace(answer.turn, answer=change.after, citations=(change.citation,), knowledge_bases=bases)
        await self._replace(answer, replace(answer, turn=turn, versions={}, change=None, found_at=0.0))

    async def _tell_one(self, answer: FollowedAnswer, change: AnswerChange, settings: ChannelSettings) -> bool:
        """Tell one person, if this is their notice of the day; whether they have it now."""
        notices, person = self.notices(answer.thread.platform), answer.turn.asker
        if notices is None:
            return False
        bases = await self._bases(answer, settings)
        readable = change.citation.knowledge_base in {base.name for base in bases}
        if not readable or not await self._holds(answer, change):
            await self._replace(answer, replace(answer, versions={}, change=None, found_at=0.0))
            self._checked = -1  # it is checked again
            return False
        notice = notice_of(answer, change, await notices.link(answer.thread, answer.turn.trace_id))
        if not await self._is_todays(person, notice):
            return False
        action, since = (
            SentNotice(person=person.id, notice=notice.key),
            datetime.fromtimestamp(answer.found_at, UTC) - SKEW,
        )
        actions, sent = OneTimeUses(self.message_states, self._now.timestamp), False
        try:
            async with actions.once(action, ""):
                sent = await _send(notices, person, notice, since)
        except AlreadyDone:
            kept = await self.message_states.read(action)
            if kept is None or not kept.done:  # another process is at it, or died over it a moment ago
                return False
        await self._settle(answer, change)
        return sent

    async def _holds(self, answer: FollowedAnswer, change: AnswerChange) -> bool:
        """Return whether documents are as they were at the check, also the one that says what is new."""
        now = replace(answer.turn, citations=(change.citation,))
        (document,) = cited_documents(now)
        visible = await self.check.catalog.visible_versions([*answer.versions, document])
        same = all(visible.get(one) == version for one, version in answer.versions.items())
        return same and document in visible and not await self.check.missing(now, visible)

    async def _is_todays(self, person: Person, notice: Notice) -> bool:
        """Return whether this is the one notice that the person gets today."""
        blank = NoticeDay(person=person.id, day=self._today)
        kept = await self.message_states.read(blank)
        if kept is not None:
            return kept.notice == notice.key
        return await self.message_states.exchange(blank, replace(blank, notice=notice.key))


async def _send(notices: PersonalNotices, person: Person, notice: Notice, since: datetime) -> bool:
    """Return whether the person has the notice, sent now or since. Who takes no direct message is not tried again."""
    try:
        if not await notices.has_sent(person, notice, since=since):
            await notices.send(person, notice)
    except Unavailable:
        raise
    except FootnoteError as error:
        log.info("notice_not_sent", extra={"key": notice.key, "reason": str(error)})
        return False
    return True


def _channel_of(place: str) -> str:
    """Return the key of the channel that settings are kept for; empty for what is no channel."""
    platform, _, rest = place.partition(":channel:")
    space, slash, channel = rest.partition("/")
    return str(ThreadKey(platform, space, channel, "")) if slash and channel else ""
