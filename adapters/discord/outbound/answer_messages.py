"""The messages of one answer: where they stand, and how each surely comes to stand there.

Whatever is posted is kept before it is relied on. A message that cannot be edited is posted anew; where nothing can be
posted (archived, removed, locked, no permission), the answer goes on to the next place: from its thread into a reply in
the channel, and from there to the asker directly.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import structlog
from discord import ui

from adapters.discord.api.errors import RequestRefused, TokenRefused
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import DiscordQuestionState
from adapters.discord.outbound.messages import Messages, Spot, interaction_time, nonce, spot_of
from adapters.discord.outbound.sanitizer import SanitizedView
from core.model.errors import Denied, FootnoteError, NotFound, PlatformUnavailable
from core.model.reply_target import ReplyMode, ReplyTarget
from core.ports.platform import MessageState

NOWHERE = (NotFound, Denied, RequestRefused)  # what says that it is the place, or the message, that will not do

log = structlog.get_logger(__name__)

Render = Callable[[], Awaitable[Sequence[SanitizedView]]]


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds between tries while Discord does not answer."""

    opening: tuple[float, ...] = (1.0,)
    editing: tuple[float, ...] = (1.0, 3.0, 8.0)  # then it is posted anew
    posting: tuple[float, ...] = (2.0, 5.0, 15.0, 30.0)


class AnswerMessages:
    """The messages of one question's answer.

    ``question`` names the thread that is started on it; ``on_moved`` is called with why a place will not do, and
    ``on_unanswered`` when an edit got no response, so that it may still be applied.
    """

    def __init__(
        self,
        *,
        message_state: MessageState[DiscordQuestionState],
        target: ReplyTarget,
        question: str,
        messages: Messages,
        on_moved: Callable[[str], None],
        on_unanswered: Callable[[], None] = lambda: None,
        pauses: Pauses,
    ) -> None:
        self._message_state = message_state
        self._target = target
        self._question = question
        self._messages = messages
        self._on_moved = on_moved
        self._on_unanswered = on_unanswered
        self._pauses = pauses

    @property
    def mode(self) -> ReplyMode:
        """How the answer stands where it stands now."""
        return ReplyMode(self._message_state.kept.mode or self._target.mode)

    @property
    def first(self) -> str:
        """The id of the first message; empty while there is none."""
        return self._message_state.kept.first

    @property
    def message_ids(self) -> tuple[str, ...]:
        """The ids of all its messages, in order."""
        kept = self._message_state.kept
        return tuple(filter(None, (kept.first, *kept.parts)))

    # --- showing

    async def open(self, render: Render) -> None:
        """Show a first sign. Where none can be shown, or Discord does not answer, the work goes on without.

        Raises TokenRefused.
        """
        while True:
            try:
                await self._settle_place()
                await self._with_retries(lambda: self._show(render), self._pauses.opening)
            except TokenRefused:
                raise
            except PlatformUnavailable as error:
                log.warning("no_first_sign", channel=self._target.channel, reason=str(error))
            except NOWHERE as error:
                if await self._move_elsewhere(error):
                    continue
                log.warning("no_first_sign", channel=self._target.channel, reason=str(error))
            return

    async def change(self, render: Render) -> None:
        """Show the work as it is now, with one try. Raises what ``Messages`` raises."""
        if self._message_state.kept.channel:
            await self._show(render)

    async def conclude(self, render: Render) -> None:
        """Show the end, whatever it takes, and remove what an earlier, longer text left.

        Raises NotFound, Denied or RequestRefused when there is nowhere to show it, PlatformUnavailable when Discord
        does not answer for long: then it can be tried again later, and goes on where this has stopped.
        """
        while True:
            try:
                await self._settle_place()
                parts = await render()
                for number, part in enumerate(parts):
                    await self._show_part(number, part)
                await self._remove_beyond(len(parts))
            except NOWHERE as error:
                if await self._move_elsewhere(error):
                    continue
                raise
            return

    async def _show(self, render: Render) -> None:
        """Edit the first message, or post it where there is none (any more)."""
        (part,) = await render()
        known = self._id(0)
        if known:
            try:
                await self._messages.edit(self._spot(), int(known), part)
            except PlatformUnavailable:
                self._on_unanswered()
                raise
            except NotFound:
                log.info("posting_again", part=0)
            else:
                return
        await self._post(0, part, instead_of=known)
        await self._remove_replaced(known, 0)

    async def _show_part(self, number: int, part: SanitizedView) -> None:
        known = self._id(number)
        if known and await self._try_edit(int(known), part):
            return
        try:
            await self._with_retries(lambda: self._post(number, part, instead_of=known), self._pauses.posting)
        except RequestRefused:
            plain = layouts.text_only(part)
            await self._with_retries(
                lambda: self._post(number, plain, instead_of=known, plain=True), self._pauses.posting
            )
        await self._remove_replaced(known, number)

    async def _remove_replaced(self, known: str, number: int) -> None:
        """What could not be edited may stand there all the same. A deferred answer is filled by what is posted next."""
        if known and known != self._id(number):
            with suppress(FootnoteError):
                await self._messages.remove(self._spot(), int(known))

    async def _try_edit(self, message: int, part: SanitizedView) -> bool:
        """Whether the message shows this now; otherwise it is to be posted anew."""
        try:
            await self._with_retries(lambda: self._messages.edit(self._spot(), message, part), self._pauses.editing)
        except TokenRefused:
            raise
        except (*NOWHERE, PlatformUnavailable) as error:
            log.info("posting_again", reason=str(error))
            return False
        return True

    async def _with_retries(self, call: Callable[[], Awaitable[None]], pauses: Sequence[float]) -> None:
        """Try again while Discord does not answer. Raises PlatformUnavailable at last."""
        for pause in pauses:
            try:
                return await call()
            except TokenRefused:
                raise
            except PlatformUnavailable as error:
                log.warning("answer_waits", reason=str(error), seconds=pause)
                await asyncio.sleep(pause)
        return await call()

    async def _post(self, number: int, part: SanitizedView, *, instead_of: str = "", plain: bool = False) -> None:
        """A new message; its id is kept. What it stands in for is part of its nonce, so that it is another message."""
        spot = self._spot()
        name = f"part-{number}" if number else "message"
        named = f"{spot.channel}/{name}" + (f"/{instead_of}" if instead_of else "") + ("/plain" if plain else "")
        if plain:
            spot = spot.without_reply()
        key = self._nonce(named)
        posted = await self._messages.post(spot, part, key)
        await self._keep_id(number, str(posted))

    async def _remove_beyond(self, count: int) -> None:
        """What an earlier, longer text left behind."""
        for number in range(len(self._message_state.kept.parts), max(1, count) - 1, -1):
            with suppress(FootnoteError):
                await self._messages.remove(self._spot(), int(self._id(number)))
            await self._keep_id(number, "")

    def _id(self, number: int) -> str:
        """The id of the first message, number 0, or of one that follows it; empty while there is none."""
        kept = self._message_state.kept
        return (kept.first, *kept.parts)[number] if number <= len(kept.parts) else ""

    async def _keep_id(self, number: int, posted: str) -> None:
        """Keep where a message is; without an id it and those that follow it are gone."""
        kept, at = self._message_state.kept, number - 1
        if number == 0:
            await self._message_state.keep(replace(kept, first=posted))
        elif posted:
            await self._message_state.keep(replace(kept, parts=(*kept.parts[:at], posted, *kept.parts[number:])))
        else:
            await self._message_state.keep(replace(kept, parts=kept.parts[:at]))

    def _nonce(self, name: str) -> str:
        kept = self._message_state.kept
        return nonce(str(kept.thread), kept.message, name)

    async def post_beside_question(self, part: SanitizedView) -> None:
        """Say something beside the question, where the answer itself stands elsewhere. Raises as ``conclude``."""
        target = self._target
        spot = Spot(int(target.channel), int(target.guild), int(target.message))
        key = self._nonce("refer")

        async def post() -> None:
            await self._messages.post(spot, part, key)

        await self._with_retries(post, self._pauses.posting)

    async def add_row(self, row: ui.ActionRow[Any]) -> None:
        """Add a row of buttons below the answer. Where that cannot be, the answer stays as it is.

        Raises PlatformUnavailable.
        """
        if not self.message_ids:
            return
        try:
            await self._messages.add_row(self._spot(), int(self.message_ids[-1]), row)
        except NOWHERE as error:
            log.info("row_not_added", reason=str(error))

    async def withdraw(self) -> None:
        """Remove everything; a thread that was started for it and holds nothing else is put away.

        What Discord will not remove is logged. Raises PlatformUnavailable when it has to be tried again.
        """
        for number in range(len(self._message_state.kept.parts), -1, -1):
            if not self._id(number):
                continue
            try:
                await self._messages.remove(self._spot(), int(self._id(number)))
            except NOWHERE as error:
                log.warning("not_removed", part=number, reason=str(error))
            await self._keep_id(number, "")
        if self.mode is ReplyMode.START and self._message_state.kept.channel:
            try:
                await self._messages.archive_empty(int(self._message_state.kept.channel))
            except NOWHERE as error:
                log.warning("not_archived", reason=str(error))

    # --- where

    def _spot(self) -> Spot:
        """Where it goes, as settled; under the newest token that a press has given us."""
        kept = self._message_state.kept
        channel = int(kept.channel or self._target.channel)
        spot = spot_of(self._target, channel)
        if kept.mode == ReplyMode.DIRECT:
            return Spot(channel=channel)
        if kept.mode == ReplyMode.REPLY:
            return Spot(channel=channel, guild=spot.guild, reply_to=int(self._target.message))
        if spot.private and kept.token:
            return Spot(spot.channel, spot.guild, None, kept.token, interaction_time(kept.token_of), private=True)
        return spot

    async def _settle_place(self) -> None:
        """Find or make the place, once: later attempts and reopenings use the same."""
        if self._message_state.kept.channel:
            return
        target, kept = self._target, self._message_state.kept
        if target.mode is ReplyMode.START:
            thread = await self._messages.start_thread(target, self._question)
            if thread is None:
                await self._message_state.keep(replace(kept, channel=target.channel, mode=ReplyMode.REPLY))
                return
            await self._message_state.keep(replace(kept, channel=str(thread)))
        elif target.mode is ReplyMode.DIRECT:
            direct = await self._messages.direct_channel(int(target.asker))
            await self._message_state.keep(replace(kept, channel=str(direct)))
        else:
            first = target.response or kept.first
            await self._message_state.keep(replace(kept, channel=target.channel, first=first))

    async def _move_elsewhere(self, because: FootnoteError) -> bool:
        """Go on to the next place; False when there is none. What stood in the last one is taken away, if it can be.

        Nobody wants an answer in a deleted thread: then there is no next place.
        """
        mode = self.mode
        if isinstance(because, NotFound) and await self._thread_is_gone():
            log.info("thread_deleted", thread=self._message_state.kept.channel)
            return False
        if mode is ReplyMode.DIRECT or not self._target.guild or not self._target.asker:
            return False
        log.warning("answer_moves", channel=self._message_state.kept.channel, mode=mode, reason=str(because))
        channel, next_mode = self._target.channel, ReplyMode.REPLY
        if mode is not ReplyMode.START:
            try:
                direct = await self._messages.direct_channel(int(self._target.asker))
            except NOWHERE as error:
                log.warning("not_told", reason=str(error))
                return False
            channel, next_mode = str(direct), ReplyMode.DIRECT
        if self._message_state.kept.channel:
            with suppress(PlatformUnavailable):
                await self.withdraw()
        await self._message_state.keep(
            replace(self._message_state.kept, channel=channel, mode=next_mode, first="", parts=())
        )
        if next_mode is ReplyMode.DIRECT:
            self._on_moved(str(because))
        return True

    async def _thread_is_gone(self) -> bool:
        """Whether the answer stands in a thread that was deleted, not in one that could never be started."""
        kept = self._message_state.kept
        in_thread = self.mode is not ReplyMode.DIRECT and kept.channel not in ("", kept.thread.channel)
        was_there = self.mode is not ReplyMode.START or bool(kept.first)
        return in_thread and was_there and await self._messages.is_gone(int(kept.channel))
