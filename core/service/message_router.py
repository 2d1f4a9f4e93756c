"""Gathers what the routing of a message needs to know: its thread, its card, its place, and who has written since."""

from dataclasses import dataclass, replace
from zlib import crc32

from core.model.answer import Outcome
from core.model.incoming_events import IncomingMessage, MessageRoute
from core.model.message_facts import MessageFacts
from core.model.message_records import LinesSinceAnswer
from core.ports.message_state import MessageStateStore
from core.ports.platform import Platform
from core.service.message_routing import RoutingDecision, route_message
from core.service.question_service import OpenThread
from core.service.typed_choice import match_typed_choice


@dataclass(frozen=True, slots=True)
class MessageRouter:
    """Decides what to do with messages, and keeps that people have written to each other."""

    message_states: MessageStateStore

    async def route(self, platform: Platform, message: IncomingMessage, opened: OpenThread) -> RoutingDecision:
        """Decide what to do with a message.

        Settings and rights are looked up only for what begins without naming us. Raises NotFound where a typed choice
        is none of its card's, and StoreUnavailable.
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
        """Keep that people write in a thread of ours, and whether to each other: the next line may be so, too."""
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
