"""One answer in Slack: the delivery engine over Slack's messages, and its hooks into the workspace."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from adapters.slack.api.ids import question_ts, user_id
from adapters.slack.outbound import blocks
from adapters.slack.outbound.answer_records import (
    CurrentAnswer,
    LatestInChannel,
    LatestOfPerson,
    SlackQuestionState,
    VisibleAnswer,
)
from adapters.slack.outbound.answer_renderer import SlackMessage, SlackRenderer
from adapters.slack.outbound.answer_surface import SlackStream, SlackSurface
from adapters.slack.outbound.text import escape
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.answer import Outcome
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.model.records import CheckpointState, Record
from core.ports.chat import AnswerPlace, Concluded, DeliveryHooks, End, Failed, Manners, Offered, Work
from core.ports.platform import MessageState
from core.service.channel_settings import AnswerVisibility, answer_visibility
from core.service.delivery.delivery import AnswerDelivery
from core.service.delivery.pacing import LIMITS, PacingLimits

QUICK_SECONDS = 5.0  # an answer that arrives this soon after a new question need not repeat the question
POST_PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0)  # seconds before each retry of a message whose outcome is unknown
MANNERS = Manners(
    edit_seconds=1.5,
    opening=POST_PAUSES,
    editing=(),  # the Web API client retries by itself
    posting=POST_PAUSES,
    blind=frozenset({ReplyMode.PRIVATE}),
    optional_sign=False,
    keeps_card=True,
)


def slack_answer_view(
    workspace: SlackWorkspace,
    question: IncomingMessage,
    message_state: MessageState[SlackQuestionState],
    trace_id: str,
    limits: PacingLimits = LIMITS,
) -> AnswerDelivery[SlackMessage]:
    """Return the delivery of the answer to this question."""
    message = message_state.kept.message
    surface = SlackSurface(workspace, question, message, trace_id, message_state.store)
    renderer = SlackRenderer(question.text, message, _own_heading(question))
    return AnswerDelivery(
        surface=surface,
        renderer=renderer,
        hooks=_SlackHooks(workspace, question, surface, renderer, message_state),
        manners=MANNERS,
        message_state=message_state,
        trace_id=trace_id,
        streaming=SlackStream(surface, renderer),
        limits=limits,
    )


@dataclass(slots=True)
class _SlackHooks(DeliveryHooks[SlackMessage]):
    workspace: SlackWorkspace
    question: IncomingMessage
    surface: SlackSurface
    renderer: SlackRenderer
    message_state: MessageState[SlackQuestionState]
    opened_at: float = field(default_factory=time.monotonic)

    async def prepare(self) -> Sequence[str]:
        settings = await self.workspace.settings(self.question.thread)
        self.renderer.offers_handoff = bool(settings.handoff)
        visibility = answer_visibility(settings, direct=self.question.direct, private=self.question.private or None)
        self.surface.is_private = visibility is AnswerVisibility.ASKER
        return ()

    async def left_card(self) -> SlackMessage | None:
        blank = CheckpointState(thread=self.question.thread, checkpoint=self.message_state.kept.checkpoint)
        card = await self.message_state.store.read(blank) or blank
        if card.chosen:  # the pressed button already replaced the card
            return None
        words = "Continued below."
        return SlackMessage(words, [blocks.markdown(card.card or "…"), blocks.context(words)])

    def beside(self, message: str) -> Sequence[Record]:
        """Return the records that lead to the question: a stop names only the message or only the thread."""
        thread, subject, asker = self.question.thread, self.surface.message, self.question.asker.id
        return (
            VisibleAnswer(thread=thread, ts=message, subject=subject, asker=asker),
            CurrentAnswer(thread=thread, subject=subject, asker=asker),
        )

    async def remember(self, place: AnswerPlace, messages: Sequence[str]) -> None:
        """Record whose the later messages are, so that a search for another answer's first message skips them."""
        thread, subject, asker = self.question.thread, self.surface.message, self.question.asker.id
        later = [VisibleAnswer(thread=thread, ts=one, subject=subject, asker=asker) for one in messages[1:]]
        if later:
            await self.message_state.store.save(*later)

    async def ending(self, end: End, work: Work) -> None:
        self.renderer.heading = _own_heading(self.question)
        if isinstance(end, Failed):
            return
        if not self.surface.is_private:
            self.renderer.heading = await self._heading()
        if isinstance(end, Concluded) and not self.surface.is_private:
            self.renderer.partners = await self.workspace.partner_notice(self.question.thread)
        if isinstance(end, Offered):
            await self._keep_card(end)
        await self._remember_latest()

    async def _heading(self) -> list[blocks.Block]:
        """Return a heading with the question if no message contains it or others have written since."""
        question = self.question
        if question.suggested or question.direct:
            return _own_heading(question)
        is_quick = question.thread.thread == question_ts(question) and time.monotonic() - self.opened_at < QUICK_SECONDS
        if is_quick or not await self.surface.others_wrote():
            return []
        return [blocks.asked_line(await self.workspace.directory.name(user_id(question.asker)), question.text)]

    async def _keep_card(self, end: Offered) -> None:
        """Store the card's text, which stays when a choice is made."""
        card = CheckpointState(
            thread=self.question.thread,
            checkpoint=end.checkpoint.id,
            asker=self.question.asker.id,
            card=escape(end.checkpoint.message)[:1_500],
        )
        await self.message_state.store.save(card, fence=self.message_state.fence)

    async def _remember_latest(self) -> None:
        """Record where this person's latest answer in the channel is, because commands cannot name a thread."""
        thread, asker, trace = self.question.thread, self.question.asker.id, self.surface.trace_id
        channel = replace(thread, thread="")
        await self.message_state.store.save(
            LatestInChannel(channel=channel, thread=thread, trace=trace, asker=asker),
            LatestOfPerson(channel=channel, thread=thread, trace=trace, asker=asker),
        )

    async def shown(self, end: End | None) -> None:
        thread = self.question.thread
        if end is None:
            await self.workspace.sessions.show(thread, "processing", self.question.text)
            return
        if self.renderer.partners:
            await self.workspace.keep_partners_mentioned(thread)
        waits = isinstance(end, Offered) or (isinstance(end, Concluded) and end.answer.outcome is Outcome.PARKED)
        await self.workspace.sessions.show(thread, "suspended" if waits else "active")


def _own_heading(question: IncomingMessage) -> list[blocks.Block]:
    """Return the line above the answer that repeats a suggested question, which no message contains."""
    return [blocks.asked_line(question.asker.name, question.text)] if question.suggested else []
