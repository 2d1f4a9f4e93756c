"""Standing answers: follows answers in channels that enable it, checks them when a document changes, and notifies.

An answer is followed for 90 days. A found change is stored with its answer until the notice is sent, so a crash loses
nothing and sends nothing twice. A person gets one notice a day, which is claimed before it is sent. A process that
resumes it first checks whether it was already sent.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from core.model.answer import Outcome
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Person, ThreadKey, Turn
from core.model.errors import AlreadyDone, BudgetExhausted, FootnoteError, Unavailable
from core.model.knowledge import KnowledgeBase
from core.ports.inbox import NamedLeases
from core.ports.memory import Memory, ThreadRecord
from core.ports.message_state import MessageStateStore
from core.ports.platform import ChannelSettingsStore, Notice, PersonalNotices
from core.ports.usage import DailyBudget, QuestionLog
from core.service.leases import repeat
from core.service.one_time_use import OneTimeUses
from core.service.standing_answers.checks import (
    WEEK,
    AnswerCheck,
    CheckedDay,
    FollowedAnswer,
    FollowedRecord,
    FollowingChannel,
    NoticeDay,
    SentNotice,
    cited_documents,
    muted_people,
)
from core.service.standing_answers.comparison import AnswerChange
from core.service.standing_answers.notices import notice_of

FOLLOWED = timedelta(days=90)
REMEMBERED = timedelta(days=30)  # how far back threads are kept
LATE = timedelta(hours=1)  # an answer may be logged this long after its question
SKEW = timedelta(minutes=10)  # between our clock and a platform's
LOOK_SECONDS = 60.0
LEASE = timedelta(minutes=3)
DAY = 86_400.0
MOST_CHECKED = 200  # answers asked again a day
MOST_FOLLOWED = 500  # answers of one channel, the newest
MOST_SPENT = 0.5  # share of a day's budget: people's questions come first

Channels = dict[str, tuple[FollowingChannel, ChannelSettings]]  # that enable standing answers, by key

log = logging.getLogger(__name__)


@dataclass(slots=True)
class StandingAnswers:
    """Checks periodically. Of many processes, one at a time does."""

    check: AnswerCheck
    questions: QuestionLog
    memory: Memory
    settings: ChannelSettingsStore
    message_states: MessageStateStore
    leases: NamedLeases
    holder: str
    notices: Callable[[str], PersonalNotices | None]  # of the platform of this name, once it is connected here
    budget: DailyBudget | None = None
    _listed: datetime | None = field(default=None, init=False)  # the time up to which the log was read
    _seen: frozenset[str] = field(default=frozenset(), init=False)  # traces in the log at the last check
    _checked: int = field(default=-1, init=False)  # the catalog's changes at the last complete check
    _waiting: bool = field(default=True, init=False)  # a notice may be waiting
    _unreachable: bool = field(default=False, init=False)  # a platform was unavailable during this check
    _renewed: int = field(default=-1, init=False)  # the day when records were last renewed before they expire

    async def run(self, stop: asyncio.Event) -> None:
        """Check until ``stop`` is set."""
        await repeat(self.look, LOOK_SECONDS, stop, "standing_answers_not_checked")

    async def look(self) -> int:
        """Follow new answers, check those whose documents changed, and send notices; return how many were sent.

        Raises Unavailable.
        """
        self._unreachable = False
        if renews := self._today != self._renewed:  # even while no channel enables this
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

    # --- channels and their answers

    async def _channels(self, known: Sequence[FollowingChannel], wanted: Sequence[str]) -> Channels:
        """Return the channels that enable this, by key. Deletes all records of channels that disabled it."""
        found: Channels = {}
        named = {one.channel: one for one in known}
        for channel in dict.fromkeys(
            (*named, *(str(key) for key in map(ThreadKey.of_place, wanted) if key is not None))
        ):
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
        """Return the settings of a channel; None while its platform is unavailable."""
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
        """Store the answers given since the last check; on the first one, all that are remembered."""
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
                    on[channel] = (await self._following(channel, None), settings)  # its category enables this
            if channel in on and asked.trace_id not in kept[channel]:
                await self._keep(thread, asked.trace_id, on[channel][0])
        if not self._unreachable:
            self._listed, self._seen = now, frozenset(seen)

    async def _keep(self, thread: ThreadKey, trace: str, following: FollowingChannel) -> None:
        """Follow one answer. Changes from before its channel enabled this are never reported."""
        record = await self.memory.recall(thread)
        turn = _turn_of(record, trace)
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
        if _turn_of(await self.memory.recall(thread), trace) is None:  # it was forgotten before we saved it
            await self.message_states.remove(FollowedRecord.of(answer))
        self._checked = -1

    async def _followed(self, channel: str) -> list[FollowedAnswer]:
        """Return the followed answers of a channel; delete the oldest ones beyond the limits."""
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
        """Store an answer's new state, unless it was deleted or changed since."""
        kept = await self.message_states.exchange(FollowedRecord.of(was), FollowedRecord.of(now))
        return now if kept else None

    # --- checks for changes

    async def _check(self, on: Channels, answers: Sequence[FollowedAnswer]) -> tuple[bool, list[FollowedAnswer]]:
        """Check answers whose documents changed; return whether all could be checked, and their current state."""
        documents = sorted({document for answer in answers for document in cited_documents(answer.turn)})
        visible = await self.check.catalog.visible_versions(documents)
        whole, exhausted, found = True, False, list[FollowedAnswer]()
        for answer in answers:
            cited = cited_documents(answer.turn)
            if any(document not in visible for document in cited):  # never quote a removed document
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
            except BudgetExhausted:  # the others wait, to spare their platforms a useless request every minute
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
        """Return an answer after its check; None if it could not be checked now.

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
        """Return the bases to check this answer in; empty if its asker may no longer read the answer."""
        notices = self.notices(answer.thread.platform)
        readers = await notices.readers(answer.turn.asker, answer.thread) if notices is not None else None
        if readers is None:
            return ()
        bases = await self.check.readable_bases(readers, settings)
        readable = answer.turn.readable_by(frozenset(base.name for base in bases))
        return bases if readable else ()

    async def _may_ask(self) -> bool:
        """Claim one of the day's checks; return False if none is left."""
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
        """Store the new value as what the person was told, so that the same change is not found again.

        Without versions it is compared once more, because documents may have changed in between.
        """
        bases = answer.turn.knowledge_bases | {change.citation.knowledge_base}
        turn = replace(answer.turn, answer=change.after, citations=(change.citation,), knowledge_bases=bases)
        await self._replace(answer, replace(answer, turn=turn, versions={}, change=None, found_at=0.0))

    async def _tell_one(self, answer: FollowedAnswer, change: AnswerChange, settings: ChannelSettings) -> bool:
        """Notify one person, if this is their notice of the day; return whether this call delivered it."""
        notices, person = self.notices(answer.thread.platform), answer.turn.asker
        if notices is None:
            return False
        bases = await self._bases(answer, settings)
        readable = change.citation.knowledge_base in {base.name for base in bases}
        if not readable or not await self._holds(answer, change):
            await self._replace(answer, replace(answer, versions={}, change=None, found_at=0.0))
            self._checked = -1  # check it again
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
            if kept is None or not kept.done:  # another process is sending it, or has just died while sending
                return False
        await self._settle(answer, change)
        return sent

    async def _holds(self, answer: FollowedAnswer, change: AnswerChange) -> bool:
        """Return whether the documents, including the one with the new value, are unchanged since the check."""
        now = replace(answer.turn, citations=(change.citation,))
        (document,) = cited_documents(now)
        visible = await self.check.catalog.visible_versions([*answer.versions, document])
        same = all(visible.get(one) == version for one, version in answer.versions.items())
        return same and document in visible and not await self.check.missing(now, visible)

    async def _is_todays(self, person: Person, notice: Notice) -> bool:
        """Return whether this is the person's one notice of the day. The first one claims the day."""
        blank = NoticeDay(person=person.id, day=self._today)
        kept = await self.message_states.read(blank)
        if kept is not None:
            return kept.notice == notice.key
        return await self.message_states.exchange(blank, replace(blank, notice=notice.key))


async def _send(notices: PersonalNotices, person: Person, notice: Notice, since: datetime) -> bool:
    """Return whether the person has the notice, sent now or after ``since``. Refused messages are not retried."""
    try:
        if not await notices.has_sent(person, notice, since=since):
            await notices.send(person, notice)
    except Unavailable:
        raise
    except FootnoteError as error:
        log.info("notice_not_sent", extra={"key": notice.key, "reason": str(error)})
        return False
    return True


def _turn_of(record: ThreadRecord, trace: str) -> Turn | None:
    return next((one for one in record.turns if one.trace_id == trace), None)
