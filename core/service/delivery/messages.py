"""The messages of one answer: each is shown once, in the first place that accepts it.

An id is stored before it is relied on. A message that cannot be edited is posted again. One that may have been posted
is searched for before it is posted again. A rejected layout is posted as plain text. If a place accepts nothing at all,
the answer moves on (``NEXT_MODE``). A temporary failure of the platform is raised as PlatformUnavailable.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from core.model.errors import FootnoteError, PlatformUnavailable
from core.model.incoming_events import ReplyMode
from core.model.records import AnswerStage, ChatQuestionState
from core.ports.chat import (
    AnswerPlace,
    CallRefused,
    DeliveryHooks,
    Manners,
    NoAnswer,
    PartKey,
    Payload,
    Refusal,
    Renderer,
    Surface,
)
from core.ports.platform import MessageState

# Where an answer goes when its place accepts nothing: out of the thread that could not be used, then to its asker.
# A deleted thread has no next place: nobody wants an answer to it.
NEXT_MODE = {
    ReplyMode.START: ReplyMode.REPLY,
    ReplyMode.REPLY: ReplyMode.DIRECT,
    ReplyMode.POST: ReplyMode.DIRECT,
    ReplyMode.RESPONSE: ReplyMode.DIRECT,
    ReplyMode.PRIVATE: ReplyMode.DIRECT,
}
MAYBE_CONTENT = {Refusal.REJECTED, Refusal.OTHER}  # plain text may be accepted

Result = TypeVar("Result")

log = logging.getLogger(__name__)


@dataclass(slots=True)
class AnswerMessages(Generic[Payload]):
    """The messages of one question's answer. ``mode`` is the requested reply mode.

    ``on_unanswered`` is called when a progress edit got no response, because it may still be applied.
    """

    surface: Surface[Payload]
    renderer: Renderer[Payload]
    hooks: DeliveryHooks[Payload]
    manners: Manners
    message_state: MessageState[Any]
    mode: ReplyMode
    on_unanswered: Callable[[], None] = lambda: None

    @property
    def kept(self) -> ChatQuestionState:
        """The stored state of the answer."""
        kept: ChatQuestionState = self.message_state.kept
        return kept

    @property
    def place(self) -> AnswerPlace:
        """Where the answer is, or will be."""
        kept, home = self.kept, self.surface.home
        if home is not None and not kept.mode:
            return home
        return AnswerPlace(ReplyMode(kept.mode or self.mode), kept.channel, kept.because)

    # --- showing

    async def show_sign(self, render: Callable[[], Payload]) -> bool:
        """Show a first sign; return False if no place accepts one. Raises PlatformUnavailable."""
        while True:
            try:
                await self._settle_place()
                await self.change(render(), self.manners.opening)
            except NoAnswer as error:
                if not self.manners.optional_sign:
                    raise
                log.warning("no_first_sign", extra={"channel": self.place.channel, "reason": str(error)})
            except CallRefused as refused:
                if self.manners.optional_sign and await self._move(refused):
                    continue
                log.warning("no_first_sign", extra={"channel": self.place.channel, "reason": str(refused)})
            else:
                return True
            return False

    async def change(self, payload: Payload, pauses: Sequence[float] = ()) -> None:
        """Show the current progress. If the sign is optional and was deleted, post it again.

        Nothing is shown while there is no place for it.
        """
        if not self.place.channel:
            return
        known = self.kept.first
        if known:
            try:
                await self._retry(lambda: self.surface.edit(self.place, known, payload, once=True), pauses)
            except NoAnswer:
                self.on_unanswered()
                raise
            except CallRefused as refused:
                if refused.refusal is not Refusal.GONE or not self.manners.optional_sign:
                    raise
                log.info("posting_again", extra={"part": 0})
            else:
                return
        await self._replace(0, {known}, await self.post_or_plain(payload, PartKey(0, known), pauses))

    async def conclude(self, render: Callable[[AnswerPlace], Sequence[Payload]], *, resumed: bool) -> None:
        """Show the end, and remove messages left over from an earlier, longer text.

        ``resumed``: an earlier worker may have posted some of it. Raises CallRefused if no place accepts it, and
        PlatformUnavailable; a retry continues where this attempt stopped.
        """
        while True:
            try:
                await self._settle_place()
                parts = render(self.place)
                for number, payload in enumerate(parts):
                    await self._show_part(number, payload, resumed=resumed)
                await self._remove_beyond(len(parts))
            except CallRefused as refused:
                if not await self._move(refused):
                    raise
            else:
                return

    async def close_card(self, payload: Payload) -> None:
        """Show a card without its choices, in its place; never post a new one. Raises PlatformUnavailable."""
        if self.kept.first:
            await self._edit(self.kept.first, payload)

    async def say(self, place: AnswerPlace, payload: Payload) -> None:
        """Post a message in this place; log it if the place refuses. Raises PlatformUnavailable."""
        try:
            await self._post(place, payload, PartKey(0), self.manners.posting)
        except CallRefused as refused:
            log.warning("not_said", extra={"channel": place.channel, "reason": str(refused)})

    async def _show_part(self, number: int, payload: Payload, *, resumed: bool) -> None:
        known = self._id(number)
        try:
            if known and await self._edit(known, payload, number):
                return
        except NoAnswer as error:
            log.info("posting_again", extra={"part": number, "reason": str(error)})
        key = PartKey(number, known)
        found = await self.surface.find(self.place, key, self._known) if resumed else ""
        if found and await self._edit(found, payload, number):
            await self._replace(number, {known}, found)
        else:
            await self._replace(number, {known, found}, await self.post_or_plain(payload, key, self.manners.posting))

    async def _edit(self, message: str, payload: Payload, number: int = 0) -> bool:
        """Edit a message; return False if it has to be posted again. Raises PlatformUnavailable."""
        try:
            await self._retry(
                lambda: self.surface.edit(self.place, message, payload, number=number), self.manners.editing
            )
        except CallRefused as refused:
            log.info("edit_refused", extra={"reason": str(refused)})
            plain = self.renderer.plain(payload, edited=True) if refused.refusal is Refusal.REJECTED else None
            if plain is None:
                return False
            try:
                await self.surface.edit(self.place, message, plain, number=number)
            except CallRefused as again:
                log.info("edit_refused", extra={"reason": str(again)})
                return False
        return True

    async def post_or_plain(self, payload: Payload, key: PartKey, pauses: Sequence[float] = ()) -> str:
        """Post a message, as plain text if its layout is rejected. Raises CallRefused and PlatformUnavailable."""
        try:
            return await self._post(self.place, payload, key, pauses)
        except CallRefused as refused:
            plain = self.renderer.plain(payload, edited=False) if refused.refusal in MAYBE_CONTENT else None
            if plain is None:
                raise
            log.info("message_refused", extra={"reason": str(refused)})
            return await self._post(self.place, plain, replace(key, plain=True), pauses)

    async def _post(self, place: AnswerPlace, payload: Payload, key: PartKey, pauses: Sequence[float]) -> str:
        """Post a message once: after a missing response, search for it before the next try."""
        for left, pause in enumerate((*pauses, 0.0)):
            try:
                return await self.surface.post(place, payload, key)
            except NoAnswer as error:
                if found := await self.surface.find(place, key, self._known):
                    return found
                if left == len(pauses):
                    raise
                log.warning("answer_waits", extra={"reason": str(error), "seconds": pause})
            await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def _retry(self, call: Callable[[], Awaitable[None]], pauses: Sequence[float]) -> None:
        """Retry the call while there is no response. Raises NoAnswer after the last try."""
        for pause in pauses:
            try:
                return await call()
            except NoAnswer as error:
                log.warning("answer_waits", extra={"reason": str(error), "seconds": pause})
                await asyncio.sleep(pause)
        return await call()

    # --- stored messages

    @property
    def _known(self) -> frozenset[str]:
        return frozenset((*self.kept.cards, *self.kept.messages))

    def _id(self, number: int) -> str:
        """Return the id of the first message (number 0) or a later one; empty if there is none yet."""
        kept = self.kept
        return (kept.first, *kept.parts)[number] if number <= len(kept.parts) else ""

    async def _replace(self, number: int, earlier: set[str], posted: str) -> None:
        """Remove the replaced messages, which may still exist, and then store the new one."""
        for message in earlier - {"", posted}:
            with suppress(FootnoteError):
                await self.surface.delete(self.place, message)
        if posted:
            await self.keep_id(number, posted)

    async def keep_id(self, number: int, posted: str) -> None:
        """Store the id of a message. An empty id means that it and those after it no longer exist."""
        kept, at = self.kept, number - 1
        if number == 0:
            await self.message_state.keep(replace(kept, first=posted), *self.hooks.beside(posted))
        elif posted:
            await self.message_state.keep(replace(kept, parts=(*kept.parts[:at], posted, *kept.parts[number:])))
        else:
            await self.message_state.keep(replace(kept, parts=kept.parts[:at]))

    async def _remove_beyond(self, count: int) -> None:
        for number in range(len(self.kept.parts), max(1, count) - 1, -1):
            with suppress(FootnoteError):
                await self.surface.delete(self.place, self._id(number))
            await self.keep_id(number, "")

    async def withdraw(self) -> None:
        """Remove all messages; log what the platform refuses to remove. Raises PlatformUnavailable."""
        kept, home = self.kept, self.surface.home or self.place
        maybe_posted = kept.stage is AnswerStage.WORKING and not kept.first  # just before a crash
        if maybe_posted and (lost := await self.surface.find(self.place, PartKey(0), self._known)):
            await self._delete(self.place, lost)
        for card in kept.cards:
            await self._delete(home, card)
        await self._remove_all()

    async def _remove_all(self) -> None:
        place = self.place
        for message in self.kept.messages:
            await self._delete(place, message)
        await self.message_state.keep(replace(self.kept, first="", parts=()))
        if place.channel:
            with suppress(CallRefused):
                await self.hooks.left(place)

    async def _delete(self, place: AnswerPlace, message: str) -> None:
        try:
            await self.surface.delete(place, message)
        except CallRefused as refused:
            log.warning("not_removed", extra={"reason": str(refused)})

    # --- place

    async def _settle_place(self) -> None:
        """Find or create the place once; later attempts and reopenings use the same."""
        if self.surface.home is not None or self.kept.channel:
            return
        place, first = await self.surface.settle(self.kept.first)
        mode = "" if place.mode is self.mode else place.mode
        await self.message_state.keep(replace(self.kept, channel=place.channel, mode=mode, first=first))

    async def _move(self, because: CallRefused) -> bool:
        """Move to the next place, and remove what is in the old one if possible; return False if there is none."""
        place = self.place
        if because.refusal is Refusal.GONE and await self._thread_is_deleted():
            log.info("thread_deleted", extra={"channel": place.channel})
            return False
        mode = NEXT_MODE.get(place.mode)
        try:
            to = await self.surface.next_place(mode) if mode is not None else None
        except CallRefused as refused:
            log.warning("not_told", extra={"reason": str(refused)})
            to = None
        if to is None:
            return False
        log.warning("answer_moves", extra={"channel": place.channel, "mode": place.mode, "reason": str(because)})
        with suppress(PlatformUnavailable):
            await self._remove_all()
        reason = str(because) if to.mode is ReplyMode.DIRECT else ""
        await self.message_state.keep(
            replace(self.kept, channel=to.channel, mode=to.mode, because=reason, first="", parts=())
        )
        return True

    async def _thread_is_deleted(self) -> bool:
        """Return whether the answer's thread was deleted, as opposed to one that could never be started."""
        kept, place = self.kept, self.place
        in_thread = place.mode is not ReplyMode.DIRECT and kept.channel not in ("", kept.thread.channel)
        was_there = place.mode is not ReplyMode.START or bool(kept.first)
        return in_thread and was_there and await self.surface.is_deleted(place)
