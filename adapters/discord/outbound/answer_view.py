"""One answer on Discord: the delivery engine over Discord's messages, and what is kept and looked up beside it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_index import AnswerIndex
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.answer_renderer import DiscordRenderer
from adapters.discord.outbound.answer_surface import DiscordSurface, translated
from adapters.discord.outbound.edit_versions import EditVersions
from adapters.discord.outbound.layouts import Extras
from adapters.discord.outbound.messages import Messages
from adapters.discord.outbound.sanitizer import SanitizedView
from adapters.discord.outbound.text import escape
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.model.records import ChatQuestionState
from core.ports.chat import AnswerPlace, Concluded, DeliveryHooks, End, Manners, Work
from core.ports.platform import MessageState
from core.service.delivery.delivery import AnswerDelivery
from core.service.delivery.pacing import LIMITS, PacingLimits

MANNERS = Manners(edit_seconds=1.2, opening=(1.0,), editing=(1.0, 3.0, 8.0), posting=(2.0, 5.0, 15.0, 30.0))
NOT_DIRECTLY = (
    "I answer directly here, and cannot write to you. Allow direct messages from members of this server, and ask again."
)


@dataclass(frozen=True, slots=True)
class DiscordAnswers:
    """Makes the delivery of each answer. ``connected`` waits until something can be shown."""

    messages: Messages
    answer_index: AnswerIndex
    edit_versions: EditVersions
    connected: Callable[[], Awaitable[None]]
    extras: Callable[[IncomingMessage], Awaitable[Extras]]
    manners: Manners = MANNERS
    limits: PacingLimits = LIMITS

    def delivery(
        self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState], trace_id: str = ""
    ) -> AnswerDelivery[SanitizedView]:
        """Return the delivery of the answer to this question."""
        renderer = DiscordRenderer(message, trace_id)
        return AnswerDelivery(
            surface=self.surface(message, message_state),
            renderer=renderer,
            hooks=_DiscordHooks(self, message, message_state, trace_id, renderer),
            manners=self.manners,
            message_state=message_state,
            trace_id=trace_id,
            mode=message.reply_target.mode,
            limits=self.limits,
        )

    def surface(self, message: IncomingMessage, message_state: MessageState[DiscordQuestionState]) -> DiscordSurface:
        """Return where messages of the answer to this question go."""
        return DiscordSurface(self.messages, message_state, message.reply_target, message.text)


@dataclass(frozen=True, slots=True)
class _DiscordHooks(DeliveryHooks[SanitizedView]):
    answers: DiscordAnswers
    message: IncomingMessage
    message_state: MessageState[DiscordQuestionState]
    trace_id: str
    renderer: DiscordRenderer

    async def prepare(self) -> Sequence[str]:
        """Raise Superseded when the question was edited again: what is parked goes on, whatever its wording is now."""
        await self.answers.connected()
        kept = self.message_state.kept
        if not kept.outcome:
            await self.answers.edit_versions.check(self.message)
        await self.answers.answer_index.keep(self.trace_id, self.message)
        return [escape(kept.chosen)] if kept.chosen else []

    def opening(self, state: ChatQuestionState) -> ChatQuestionState:
        assert isinstance(state, DiscordQuestionState)
        return replace(state, question=self.message, trace=self.trace_id)

    async def remember(self, place: AnswerPlace, messages: Sequence[str]) -> None:
        """A reply to any part of it goes on with this conversation, where it is in no thread of its own."""
        if place.mode in (ReplyMode.REPLY, ReplyMode.DIRECT, ReplyMode.RESPONSE):
            for posted in messages:
                await self.answers.answer_index.keep_message(posted, self.message)

    async def ending(self, end: End, work: Work) -> None:
        if isinstance(end, Concluded):
            self.renderer.extras = await self.answers.extras(self.message)

    async def left(self, place: AnswerPlace) -> None:
        """Archive a thread that was started for the answer, if it holds nothing else."""
        if place.mode is ReplyMode.START:
            with translated():
                await self.answers.messages.archive_empty(int(place.channel))

    def last_words(self, trace_id: str) -> tuple[AnswerPlace, SanitizedView] | None:
        """Tell whoever asked where answers are direct, and cannot be written to, why there is none."""
        target = self.message.reply_target
        if target.mode is not ReplyMode.DIRECT or not target.guild:
            return None
        return AnswerPlace(ReplyMode.REPLY, target.channel), layouts.failure_layout(NOT_DIRECTLY, trace_id)
