"""Router of messages: gathers the facts for routing, and enforces limits by day, hour and channel."""

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from zlib import crc32

from core.model.answer import Outcome
from core.model.clock import Days
from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage, MessageRoute
from core.model.inquiry import DailyLimits
from core.model.records import LinesSinceAnswer, Record
from core.ports.message_state import MessageStateStore
from core.ports.platform import Platform
from core.ports.usage import AnswerCounts, DailyBudget
from core.service.answer_wish import MessageFacts
from core.service.kb.text_spans import count
from core.service.message_routing import RoutingDecision, route_message
from core.service.question_service import OpenThread
from core.service.typed_choice import match_typed_choice

MOST_AN_HOUR = 20  # of one channel
MOST_A_DAY = 400  # of all channels
SHARE_OF_BUDGET = 0.5  # of the day's budget; the rest is for questions addressed to us
EVERYWHERE = "everywhere"
EXCHANGES = 8  # retries when others count at the same moment
HOUR, DAY = 3_600, 86_400  # seconds


@dataclass(frozen=True, kw_only=True)
class AutoAnswerCount(Record, place="{platform}/unasked", subject="{channel}", installation=True):
    """The number of tries in the last window: an hour or a day, numbered since the epoch."""

    platform: str
    channel: str
    window: int = 0
    tries: int = 0


@dataclass(frozen=True, slots=True)
class AutoAnswerLimiter:
    """Limits tries at unasked answers across processes. ``now`` is in seconds since the epoch."""

    message_states: MessageStateStore
    daily_budget: DailyBudget | None = None
    now: Callable[[], float] = time.time

    async def admit(self, thread: ThreadKey) -> bool:
        """Return whether one more try is allowed in this channel, and count it. Raises StoreUnavailable."""
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


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """Counts the answers of a day by person and by channel, if there are limits."""

    counts: AnswerCounts
    days: Days

    async def refusal(self, message: IncomingMessage, limits: DailyLimits) -> str:
        """Count one more answer, or return the message for a limit that is reached. Raises StoreUnavailable.

        A question counts once, even if it is retried or edited before its answer. A person is counted under a hash with
        the day, so nobody can be identified once the day's count has expired.
        """
        person = hashlib.sha256(f"{self.days.today()} {message.asker.id}".encode()).hexdigest()[:20]
        names = ((person, limits.person_answers), (message.thread.place, limits.channel_answers))
        if not (most := [(name, number) for name, number in names if number]):
            return ""
        reached = await self.counts.take(most, _question_of(message))
        if not reached:
            return ""
        had, given = count(limits.person_answers, "answer"), count(limits.channel_answers, "answer")
        if reached == person:
            said = f"You have had {had} today, which is the limit per person here."
        else:
            said = f"I have given {given} here today, which is this channel's limit."
        raising = "An admin can raise it with `/footnote settings`."
        return f"{said} Please ask again after midnight ({self.days.end}). {raising}"

    async def give_back(self, message: IncomingMessage) -> None:
        """Undo the count of a question that got no answer. Raises StoreUnavailable."""
        await self.counts.give_back(_question_of(message))


def _question_of(message: IncomingMessage) -> str:
    return hashlib.sha256(f"{message.thread} {message.id}".encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class MessageRouter:
    """Decides what to do with messages, and records that people write to each other."""

    message_states: MessageStateStore

    async def route(self, platform: Platform, message: IncomingMessage, opened: OpenThread) -> RoutingDecision:
        """Decide what to do with a message.

        Settings and rights are looked up only for new conversations that do not address us. Raises NotFound for a typed
        choice that its card does not have, and StoreUnavailable.
        """
        lines = LinesSinceAnswer(thread=message.thread)
        if opened.record.total and not message.direct:
            lines = await self.message_states.read(lines) or lines
        facts = await self._with_place(platform, message, _facts(message, opened, lines))
        decided = route_message(facts)
        if facts.in_our_thread and not (message.direct or message.edited or decided.route is MessageRoute.ANSWER):
            await self._note_line(message, opened, lines, facts, decided)
        return decided

    async def _with_place(self, platform: Platform, message: IncomingMessage, facts: MessageFacts) -> MessageFacts:
        if not (message.in_channel or message.opens_post) or message.mentions_us or message.direct:
            return facts
        settings = await platform.settings(message.thread)
        rights = await platform.permissions(message.asker, message.thread) if settings.forum_posts else None
        return replace(
            facts,
            answers_unasked=settings.answers_unasked,
            answers_posts=settings.forum_posts,
            by_moderator=rights is not None and (rights.is_moderator or rights.is_admin),
        )

    async def _note_line(
        self,
        message: IncomingMessage,
        opened: OpenThread,
        lines: LinesSinceAnswer,
        facts: MessageFacts,
        decided: RoutingDecision,
    ) -> None:
        """Record that people write in a thread of ours, and whether to each other: it affects the next message."""
        company = facts.in_company or not facts.by_last_asker or facts.mentions_others or decided.to_colleague
        if facts.follows_answer or company != facts.in_company:
            first = _checksum(message.id) if facts.follows_answer else lines.first
            await self.message_states.save(replace(lines, turns=opened.record.total, first=first, in_company=company))


def _checksum(message_id: str) -> int:
    return crc32(message_id.encode())


def _facts(message: IncomingMessage, opened: OpenThread, lines: LinesSinceAnswer) -> MessageFacts:
    record, parked = opened.record, opened.parked
    last = record.turns[-1] if record.turns else None
    written = bool(record.total) and lines.turns == record.total
    mine = parked is not None and parked.checkpoint.asker.id == message.asker.id
    return MessageFacts(
        text=message.text,
        wording=message.wording,
        mentions_us=message.mentions_us,
        has_files=bool(message.files),
        direct=message.direct,
        mentions_others=message.mentions_others,
        in_our_thread=record.total > 0,
        by_last_asker=last is not None and last.asker.id == message.asker.id,
        follows_answer=not written or lines.first == _checksum(message.id),
        in_company=written and lines.in_company,
        answered=f"{last.question} {last.answer}" if last is not None else "",
        asked_back=last is not None and last.outcome is Outcome.CLARIFIED and parked is None,
        muted=record.muted,
        in_channel=message.in_channel,
        opens_post=message.opens_post,
        chooses=mine and parked is not None and match_typed_choice(message.text, parked.checkpoint) is not None,
    )
