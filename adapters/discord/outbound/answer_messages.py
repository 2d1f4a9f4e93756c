"""The messages of one answer: where they stand, and how each surely comes to stand there.

Whatever is posted is kept before it is relied on. A message that cannot be edited is posted anew; where nothing can be
posted (archived, removed, locked, no permission), the answer goes on to the next place: from its thread into a reply in
the channel, and from there to the asker directly.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

from adapters.discord.api.api_errors import Refused, TokenRefused
from adapters.discord.api.messages import Messages, Spot, given_at, nonce, spot_of
from adapters.discord.api.reply_target import ReplyMode, ReplyTarget
from adapters.discord.outbound import layouts
from adapters.discord.outbound.sanitizer import SanitizedView
from core.model.errors import Denied, FootnoteError, NotFound, PlatformUnavailable
from core.ports.platform import MessageState

FIRST = "message"  # the name under which the first message's id is kept; the others have numbers
PART = "part-"
NOWHERE = (NotFound, Denied, Refused)  # what says that it is the place, or the message, that will not do

log = structlog.get_logger(__name__)

Render = Callable[[], Awaitable[Sequence[SanitizedView]]]


@dataclass(frozen=True, slots=True)
class Pauses:
    """Seconds between tries while Discord does not answer."""

    opening: tuple[float, ...] = (1.0,)
    editing: tuple[float, ...] = (1.0, 3.0, 8.0)  # then it is posted anew
    posting: tuple[float, ...] = (2.0, 5.0, 15.0, 30.0)


class AnswerMessages:
    """Of one question. ``question`` names a thread that is started on it; ``moved`` is told why a place will not do."""

    def __init__(
        self,
        *,
        posting: MessageState,
        address: ReplyTarget,
        question: str,
        messages: Messages,
        moved: Callable[[str], None],
        pauses: Pauses,
    ) -> None:
        self._posting = posting
        self._address = address
        self._question = question
        self._messages = messages
        self._moved = moved
        self._pauses = pauses

    @property
    def manner(self) -> ReplyMode:
        """How the answer stands where it stands now."""
        return ReplyMode(self._posting.get("manner") or self._address.manner)

    @property
    def first(self) -> str:
        """The id of the first message; empty while there is none."""
        return self._posting.get(FIRST)

    # --- showing

    async def open(self, render: Render) -> None:
        """Show a first sign. Where none can be shown, or Discord does not answer, the work goes on without.

        Raises TokenRefused.
        """
        while True:
            try:
                await self._settle_place()
                await self._patiently(lambda: self._show(FIRST, render), self._pauses.opening)
            except TokenRefused:
                raise
            except PlatformUnavailable as error:
                log.warning("no_first_sign", channel=self._address.channel, reason=str(error))
            except NOWHERE as error:
                if await self._move_on(error):
                    continue
                log.warning("no_first_sign", channel=self._address.channel, reason=str(error))
            return

    async def change(self, render: Render) -> None:
        """Show the work as it is now, with one try. Raises what ``Messages`` raises."""
        if self._posting.get("channel"):
            await self._show(FIRST, render)

    async def conclude(self, render: Render) -> None:
        """Show the end, whatever it takes, and remove what an earlier, longer text left.

        Raises NotFound, Denied or Refused when there is nowhere to show it, PlatformUnavailable when Discord does not
        answer for long: then it can be tried again later, and goes on where this has stopped.
        """
        while True:
            try:
                await self._settle_place()
                parts = await render()
                for number, part in enumerate(parts):
                    await self._surely(_name(number), part)
                await self._remove_beyond(len(parts))
            except NOWHERE as error:
                if await self._move_on(error):
                    continue
                raise
            return

    async def _show(self, name: str, render: Render) -> None:
        """Edit the message of this name, or post it where there is none (any more)."""
        (part,) = await render()
        known = self._posting.get(name)
        if known:
            with suppress(NotFound):
                await self._messages.edit(self._spot(), int(known), part)
                return
            log.info("posting_again", part=name)
        await self._post(name, part, instead_of=known)

    async def _surely(self, name: str, part: SanitizedView) -> None:
        known = self._posting.get(name)
        if known and await self._try_edit(int(known), part):
            return
        try:
            await self._patiently(lambda: self._post(name, part, instead_of=known), self._pauses.posting)
        except Refused:
            plain = layouts.plainly(part)
            await self._patiently(lambda: self._post(name, plain, instead_of=known, plain=True), self._pauses.posting)
        if known and known != self._posting.get(name):  # a deferred answer is filled by what is posted after it
            with suppress(FootnoteError):
                await self._messages.remove(self._spot(), int(known))

    async def _try_edit(self, message: int, part: SanitizedView) -> bool:
        """Whether the message shows this now; otherwise it is to be posted anew."""
        try:
            await self._patiently(lambda: self._messages.edit(self._spot(), message, part), self._pauses.editing)
        except TokenRefused:
            raise
        except (*NOWHERE, PlatformUnavailable) as error:
            log.info("posting_again", reason=str(error))
            return False
        return True

    async def _patiently(self, call: Callable[[], Awaitable[None]], pauses: Sequence[float]) -> None:
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

    async def _post(self, name: str, part: SanitizedView, *, instead_of: str = "", plain: bool = False) -> None:
        """A new message; its id is kept. What it stands in for is part of its nonce, so that it is another message."""
        spot = self._spot()
        named = f"{spot.channel}/{name}" + (f"/{instead_of}" if instead_of else "") + ("/plain" if plain else "")
        if plain:
            spot = spot.without_reply()
        key = nonce(self._posting.thread, self._posting.subject, named)
        posted = await self._messages.post(spot, part, key)
        await self._posting.keep(**{name: str(posted)})

    async def _remove_beyond(self, count: int) -> None:
        """What an earlier, longer text left behind."""
        number = max(1, count)
        while self._posting.get(_name(number)):
            with suppress(FootnoteError):
                await self._messages.remove(self._spot(), int(self._posting.get(_name(number))))
            await self._posting.keep(**{_name(number): ""})
            number += 1

    async def refer(self, part: SanitizedView) -> None:
        """Say something beside the question, where the answer itself was to stand elsewhere. Raises as ``conclude``."""
        address = self._address
        spot = Spot(int(address.channel), int(address.guild), int(address.message))
        key = nonce(self._posting.thread, self._posting.subject, "refer")

        async def post() -> None:
            await self._messages.post(spot, part, key)

        await self._patiently(post, self._pauses.posting)

    async def withdraw(self) -> None:
        """Remove everything; a thread that was started for it and holds nothing else is put away.

        What Discord will not remove is logged. Raises PlatformUnavailable when it has to be tried again.
        """
        for name in self._names():
            try:
                await self._messages.remove(self._spot(), int(self._posting.get(name)))
            except NOWHERE as error:
                log.warning("not_removed", part=name, reason=str(error))
            await self._posting.keep(**{name: ""})
        if self.manner is ReplyMode.START and self._posting.get("channel"):
            try:
                await self._messages.archive_empty(int(self._posting.get("channel")))
            except NOWHERE as error:
                log.warning("not_archived", reason=str(error))

    def _names(self) -> list[str]:
        kept = [name for name in self._posting.values if name == FIRST or name.startswith(PART)]
        return [name for name in kept if self._posting.get(name)]

    # --- where

    def _spot(self) -> Spot:
        """Where it goes, as settled; under the newest token that a press has given us."""
        channel = int(self._posting.get("channel") or self._address.channel)
        spot = spot_of(self._address, channel)
        if self._posting.get("manner") == ReplyMode.DIRECT:
            return Spot(channel=channel)
        if self._posting.get("manner") == ReplyMode.REPLY:
            return Spot(channel=channel, guild=spot.guild, reply_to=int(self._address.message))
        if spot.private and self._posting.get("token"):
            fresh = given_at(self._posting.get("token_of"))
            return Spot(spot.channel, spot.guild, None, self._posting.get("token"), fresh, private=True)
        return spot

    async def _settle_place(self) -> None:
        """Find or make the place, once: later attempts and reopenings use the same."""
        if self._posting.get("channel"):
            return
        address = self._address
        if address.manner is ReplyMode.START:
            thread = await self._messages.start_thread(address, self._question)
            if thread is None:
                await self._posting.keep(channel=address.channel, manner=ReplyMode.REPLY)
                return
            await self._posting.keep(channel=str(thread))
        elif address.manner is ReplyMode.DIRECT:
            await self._posting.keep(channel=str(await self._messages.direct_channel(int(address.asker))))
        else:
            response = {FIRST: address.response} if address.response else {}
            await self._posting.keep(channel=address.channel, **response)

    async def _move_on(self, because: FootnoteError) -> bool:
        """Go on to the next place; False when there is none. What stood in the last one is taken away, if it can be."""
        manner = self.manner
        if manner is ReplyMode.DIRECT or not self._address.guild or not self._address.asker:
            return False
        log.warning("answer_moves", channel=self._posting.get("channel"), manner=manner, reason=str(because))
        if manner is ReplyMode.START:
            place = {"channel": self._address.channel, "manner": str(ReplyMode.REPLY)}
        else:
            try:
                direct = await self._messages.direct_channel(int(self._address.asker))
            except NOWHERE as error:
                log.warning("not_told", reason=str(error))
                return False
            place = {"channel": str(direct), "manner": str(ReplyMode.DIRECT)}
        if self._posting.get("channel"):
            with suppress(PlatformUnavailable):
                await self.withdraw()
        left = dict.fromkeys(self._names(), "")
        await self._posting.keep(**left, **place)
        if place["manner"] == ReplyMode.DIRECT:
            self._moved(str(because))
        return True


def _name(number: int) -> str:
    return f"{PART}{number}" if number else FIRST
