"""Discord as the delivery engine uses it: the messages of one answer, in a thread, a reply, a response or directly."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from discord import ui

from adapters.discord.api.errors import RequestRefused, TokenRefused
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.messages import Messages, Spot, interaction_time, nonce, spot_of
from adapters.discord.outbound.sanitizer import SanitizedView
from core.model.errors import Denied, NotFound, PlatformUnavailable
from core.model.incoming_events import ReplyMode, ReplyTarget
from core.ports.chat import AnswerPlace, CallRefused, NoAnswer, PartKey, Refusal
from core.ports.platform import MessageState


@contextmanager
def translated() -> Iterator[None]:
    """Raise what Discord's calls raise in the engine's terms; a refused token makes the whole delivery wait."""
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
    """``core.ports.chat.Surface`` for one question. ``question`` names the thread that is started on it."""

    messages: Messages
    message_state: MessageState[DiscordQuestionState]
    target: ReplyTarget
    question: str

    @property
    def home(self) -> None:
        """The place may have to be made first."""

    async def settle(self, first: str) -> tuple[AnswerPlace, str]:
        """Find the place, or start a thread on the question; where none can be started, a reply."""
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
        """A reply in the channel, or the direct messages with the asker; None for what was asked directly."""
        target = self.target
        if not target.guild or not target.asker:
            return None
        if mode is ReplyMode.REPLY:
            return AnswerPlace(mode, target.channel)
        with translated():
            return AnswerPlace(mode, str(await self.messages.direct_channel(int(target.asker))))

    async def is_deleted(self, place: AnswerPlace) -> bool:
        """Whether a thread was deleted."""
        return await self.messages.is_gone(int(place.channel))

    async def post(self, place: AnswerPlace, payload: SanitizedView, key: PartKey) -> str:
        """Post a message under a nonce, in which what it replaces is named: that makes it another message."""
        spot = self._spot(place)
        name = f"{place.channel}/{f'part-{key.number}' if key.number else 'message'}"
        name += (f"/{key.instead_of}" if key.instead_of else "") + ("/plain" if key.plain else "")
        kept = self.message_state.kept
        with translated():
            posted = await self.messages.post(
                spot.without_reply() if key.plain else spot, payload, nonce(str(kept.thread), kept.message, name)
            )
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
        """Nothing has to be looked for: posted again under its nonce, a message is the same one."""
        return ""

    async def add_row(self, place: AnswerPlace, message: str, row: ui.ActionRow[Any]) -> None:
        """Add a row of buttons to what a message shows."""
        with translated():
            await self.messages.add_row(self._spot(place), int(message), row)

    def _spot(self, place: AnswerPlace) -> Spot:
        """Where messages of this place go; under the newest token that a press has given us."""
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
