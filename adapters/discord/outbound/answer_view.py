"""One answer on Discord: the delivery engine over Discord's messages, and its hooks into stored records.

An answer's messages are in a thread, a reply, an interaction's response or a direct message.
"""

from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from discord import ui

from adapters.discord.api.errors import RequestRefused, TokenRefused
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import DiscordQuestionState, MessageKind
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.layouts import DiscordRenderer, Extras
from adapters.discord.outbound.messages import Messages, Spot, interaction_time, nonce, spot_of
from adapters.discord.outbound.sanitizer import SanitizedView
from adapters.discord.outbound.text import escape
from core.model.errors import Denied, NotFound, PlatformUnavailable
from core.model.incoming_events import IncomingMessage, ReplyMode, ReplyTarget
from core.model.records import ChatQuestionState
from core.ports.chat import (
    AnswerPlace,
    CallRefused,
    Concluded,
    DeliveryHooks,
    End,
    Manners,
    NoAnswer,
    PartKey,
    Refusal,
    Work,
)
from core.ports.platform import MessageState
from core.service.delivery.delivery import AnswerDelivery
from core.service.delivery.pacing import LIMITS, PacingLimits


@contextmanager
def translated() -> Iterator[None]:
    """Translate errors of Discord calls into the engine's errors. A refused token pauses the whole delivery."""
    try:
        yield
    except TokenRefused:
        raise
    except PlatformUnavailable as error:
        raise NoAnswer(str(error)) from error
    except NotFound as error:
        raise CallRefused(Refusal.GONE, str(error)) from error
    except Denied as error:
        raise CallRefused(Refusal.DENIED, str(error)) from error
    except RequestRefused as error:
        raise CallRefused(Refusal.REJECTED, str(error)) from error


@dataclass(frozen=True, slots=True)
class DiscordSurface:
    """``core.ports.chat.Surface`` for one question. ``question`` gives the name of the thread started on it."""

    messages: Messages
    message_state: MessageState[DiscordQuestionState]
    target: ReplyTarget
    question: str

    @property
    def home(self) -> None:
        """Return None, because the place may have to be created first."""

    async def settle(self, first: str) -> tuple[AnswerPlace, str]:
        """Return the place. Start a thread on the question if needed, or use a reply if that fails."""
        mode, target = self.target.mode, self.target
        with translated():
            if mode is ReplyMode.START:
                thread = await self.messages.start_thread(target, self.question)
                return (
                    AnswerPlace(ReplyMode.REPLY, target.channel) if thread is None else AnswerPlace(mode, str(thread))
                ), first
            if mode is ReplyMode.DIRECT:
                return AnswerPlace(mode, str(await self.messages.direct_channel(int(target.asker)))), first
        return AnswerPlace(mode, target.channel), target.response or first

    async def next_place(self, mode: ReplyMode) -> AnswerPlace | None:
        """Return a reply in the channel or the direct message with the asker; None for a question asked directly."""
        target = self.target
        if not target.guild or not target.asker:
            return None
        if mode is ReplyMode.REPLY:
            return AnswerPlace(mode, target.channel)
        with translated():
            return AnswerPlace(mode, str(await self.messages.direct_channel(int(target.asker))))

    async def is_deleted(self, place: AnswerPlace) -> bool:
        """Return whether a thread was deleted."""
        return await self.messages.is_gone(int(place.channel))

    async def post(self, place: AnswerPlace, payload: SanitizedView, key: PartKey) -> str:
        """Post a message with a nonce. The nonce includes the message it replaces, so that the two stay distinct."""
        spot, kept = self._spot(place), self.message_state.kept
        name = f"{place.channel}/{f'part-{key.number}' if key.number else 'message'}"
        name += (f"/{key.instead_of}" if key.instead_of else "") + ("/plain" if key.plain else "")
        spot = replace(spot, reply_to=None) if key.plain else spot
        with translated():
            posted = await self.messages.post(spot, payload, nonce(str(kept.thread), kept.message, name))
        return str(posted)

    async def edit(
        self, place: AnswerPlace, message: str, payload: SanitizedView, *, number: int = 0, once: bool = False
    ) -> None:
        """Replace what a message shows."""
        with translated():
            await self.messages.edit(self._spot(place), int(message), payload)

    async def delete(self, place: AnswerPlace, message: str) -> None:
        """Delete a message."""
        with translated():
            await self.messages.remove(self._spot(place), int(message))

    async def find(self, place: AnswerPlace, key: PartKey, known: Collection[str]) -> str:
        """Return an empty string: a message posted again with its nonce is the same message."""
        return ""

    async def add_row(self, place: AnswerPlace, message: str, row: ui.ActionRow[Any]) -> None:
        """Add a row of buttons to a message."""
        with translated():
            await self.messages.add_row(self._spot(place), int(message), row)

    def _spot(self, place: AnswerPlace) -> Spot:
        """Return where messages of this place go, with the newest token from a press."""
        target, kept, channel = self.target, self.message_state.kept, int(place.channel)
        if place.mode is ReplyMode.DIRECT:
            return Spot(channel)
        if place.mode is ReplyMode.REPLY:
            guild, message = int(target.guild) if target.guild else None, target.message
            return Spot(channel, guild, int(message) if message else None)
        spot = spot_of(target, channel)
        if spot.private and kept.token:
            return replace(spot, reply_to=None, token=kept.token, token_from=interaction_time(kept.token_of))
        return spot


MANNERS = Manners(edit_seconds=1.2, opening=(1.0,), editing=(1.0, 3.0, 8.0), posting=(2.0, 5.0, 15.0, 30.0))
NOT_DIRECTLY = (
    "Answers in this channel go to you directly, but I cannot send you a direct message. Allow direct messages from"
    " members of this server, and ask again."
)


@dataclass(frozen=True, slots=True)
class DiscordAnswers:
    """Creates the delivery of each answer. ``extras`` returns the buttons that depend on the place."""

    app: DiscordApplication
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
        """Return the surface for the answer to this question."""
        return DiscordSurface(self.app.messages, message_state, message.reply_target, message.text)


@dataclass(frozen=True, slots=True)
class _DiscordHooks(DeliveryHooks[SanitizedView]):
    answers: DiscordAnswers
    message: IncomingMessage
    message_state: MessageState[DiscordQuestionState]
    trace_id: str
    renderer: DiscordRenderer

    async def prepare(self) -> Sequence[str]:
        """Raise Superseded if the question was edited again. A parked question continues in any case."""
        await self.answers.app.connected()
        kept = self.message_state.kept
        if not kept.outcome:
            await self.answers.app.edit_versions.check(self.message)
        await self.answers.app.answer_index.keep(self.trace_id, self.message)
        return [escape(kept.chosen)] if kept.chosen else []

    def opening(self, state: ChatQuestionState) -> ChatQuestionState:
        assert isinstance(state, DiscordQuestionState)
        return replace(state, question=self.message, trace=self.trace_id)

    async def remember(self, place: AnswerPlace, messages: Sequence[str]) -> None:
        """Store the messages of an answer outside a thread, so that any reply to them continues the conversation."""
        if place.mode in (ReplyMode.REPLY, ReplyMode.DIRECT, ReplyMode.RESPONSE):
            for posted in messages:
                await self.answers.app.answer_index.keep_message(posted, MessageKind.ANSWER, self.message)

    async def ending(self, end: End, work: Work) -> None:
        if isinstance(end, Concluded):
            self.renderer.extras = await self.answers.extras(self.message)

    async def left(self, place: AnswerPlace) -> None:
        """Archive a thread that was started for the answer, if it contains nothing else."""
        if place.mode is ReplyMode.START:
            with translated():
                await self.answers.app.messages.archive_empty(int(place.channel))

    def last_words(self, trace_id: str) -> tuple[AnswerPlace, SanitizedView] | None:
        """Tell an asker who accepts no direct messages why there is no direct answer."""
        target = self.message.reply_target
        if target.mode is not ReplyMode.DIRECT or not target.guild:
            return None
        return AnswerPlace(ReplyMode.REPLY, target.channel), layouts.failure_layout(NOT_DIRECTLY, trace_id)
