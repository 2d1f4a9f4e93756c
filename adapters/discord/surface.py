"""One answer in the making on Discord: a message that changes as the work goes, then the answer in as many as it takes.

Edits come at least ``pace`` seconds apart and what happens between them is shown together. Every id is kept before it
is relied on, and every edit first makes sure that no other worker has taken the question over.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import structlog
from discord import ui

from adapters.discord import layouts
from adapters.discord.layouts import Extras
from adapters.discord.messages import Messages, Spot, given_at, nonce, spot_of
from adapters.discord.places import Address, Manner
from adapters.discord.shown import ShownAnswers
from adapters.discord.text import clipped, pieces, plain
from adapters.discord.wordings import Superseded, Wordings
from adapters.incoming import IncomingMessage
from adapters.platform import Posting
from adapters.relay import Step
from core.answer import Answer
from core.errors import Denied, FootnoteError, LeaseLost, NotFound, PlatformUnavailable, StoreUnavailable
from core.inquiry import Checkpoint

PACE_SECONDS = 1.2
MOST_PIECES = 50
DELIVERY_TRIES = (2.0, 5.0, 15.0, 30.0)  # seconds between tries to show an end while Discord does not answer
FIRST = "message"  # the name under which the first message's id is kept; the others have numbers

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Pace:
    """When a message was last edited, and the edit that waits for its time; shared by all who edit that message."""

    last: float = 0.0
    waiting: "asyncio.Task[None] | None" = None
    editing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def stop(self) -> None:
        """Nothing that still waits is to be shown."""
        if self.waiting is not None:
            self.waiting.cancel()


class DiscordSurface:
    """Shows one question's answer."""

    def __init__(
        self,
        *,
        message: IncomingMessage,
        posting: Posting,
        trace_id: str,
        messages: Messages,
        shown: ShownAnswers,
        wordings: Wordings,
        pace: Pace,
        connected: Callable[[], Awaitable[None]],
        extras: Callable[[], Awaitable[Extras]],
        seconds: float = PACE_SECONDS,
    ) -> None:
        self._message = message
        self._address = Address.of(message.address)
        self._posting = posting
        self._trace_id = trace_id
        self._messages = messages
        self._shown = shown
        self._wordings = wordings
        self._pace = pace
        self._connected = connected
        self._extras = extras
        self._seconds = seconds
        self._steps: dict[str, Step] = {}
        self._written = ""
        self._notices: list[str] = []
        self._over = False
        self._superseded = False

    # --- while it goes

    async def open(self) -> None:
        """Show that the question was heard, in its place; or take up what an earlier worker showed.

        Raises Superseded when the question reads otherwise meanwhile; nothing more is then shown here.
        """
        self._pace.stop()
        await self._connected()
        if not self._posting.get("outcome"):  # what is parked goes on, whatever became of its wording
            try:
                await self._wordings.check(self._message)
            except Superseded:
                self._superseded = True
                raise
        await self._shown.keep(self._trace_id, self._message)
        await self._settle_place()
        if chosen := self._posting.get("chosen"):
            self._notices.append(plain(chosen))
        await self._posting.keep(stage="working")
        first = await self._put(FIRST, self._working())
        self._pace.last = time.monotonic()
        manner = self._posting.get("manner") or self._address.manner
        if manner in (Manner.REPLY, Manner.DIRECT, Manner.RESPONSE):
            await self._shown.keep_message(first, self._message.thread)

    async def step(self, step: Step) -> None:
        """Show or replace a line of the timeline."""
        self._steps.pop(step.id, None)
        self._steps[step.id] = step
        self._touch()

    async def write(self, text: str) -> None:
        """Show more of the answer."""
        self._written += text
        self._touch()

    async def rewrite(self, reason: str) -> None:
        """Forget the text shown so far."""
        self._written = ""
        await self.notice(reason)

    async def notice(self, text: str) -> None:
        """Say something beside the answer."""
        if text.strip() and text not in self._notices:
            self._notices.append(text)
        self._touch()

    def _working(self) -> ui.LayoutView:
        return layouts.working(
            self._steps, self._written, self._notices, self._trace_id, question=self._question_line()
        )

    def _question_line(self) -> str:
        """The question, where the answer does not stand below it, and who can see this, where that is only one."""
        apart = (Manner.RESPONSE, Manner.PRIVATE, Manner.DIRECT)
        if self._address.manner not in apart:
            return ""
        alone = "\n-# visible to you only" if self._message.private else ""
        return f"> {plain(clipped(self._message.text, 300))}{alone}"

    def _touch(self) -> None:
        """See to it that what has changed is shown, at its time. There is at most one edit waiting."""
        if self._pace.waiting is None or self._pace.waiting.done():
            self._pace.waiting = asyncio.create_task(self._show_later())

    async def _show_later(self) -> None:
        """One edit when its time has come. It ends by itself, and says nothing once the question is another's."""
        await asyncio.sleep(max(0.0, self._pace.last + self._seconds - time.monotonic()))
        async with self._pace.editing:
            if self._over or not self._posting.get(FIRST):
                return
            self._pace.last = time.monotonic()
            with suppress(FootnoteError):  # the next edit shows it all, and the end is made sure of
                await self._posting.keep(stage="working")
                await self._messages.edit(self._spot(), int(self._posting.get(FIRST)), self._working())

    # --- the end

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """The text in as many messages as it takes; the last has the sources and the buttons."""
        question = self._question_line()
        parts = pieces(answer.text, answer.citations)
        if len(parts) > MOST_PIECES:
            parts = (*parts[: MOST_PIECES - 1], "… The rest would not end: ask for a part of it.")
        extras = replace(await self._extras(), question="" if len(parts) > 1 else question)
        last = layouts.answered(parts[-1], answer, trace_id, extras, notices=self._notices)
        earlier = [layouts.piece(part, "" if number else question) for number, part in enumerate(parts[:-1])]
        await self._end([*earlier, last], answer.outcome)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """A checkpoint's card."""
        card = layouts.asking(checkpoint, answer, trace_id, self._notices, question=self._question_line())
        await self._end([card], answer.outcome)

    async def fail(self, message: str, trace_id: str) -> None:
        """Say that it did not work; where even that cannot be said, the log has it.

        Nothing is said of a wording that is not the question's any more: the place belongs to the later one.
        """
        if self._superseded:
            return
        try:
            await self._end([layouts.failed(message, trace_id)])
        except (LeaseLost, StoreUnavailable):
            raise
        except FootnoteError as error:
            log.warning("failure_not_shown", trace_id=trace_id, reason=str(error))

    async def _end(self, shown: list[ui.LayoutView], outcome: str = "") -> None:
        self._over = True
        self._pace.stop()
        async with self._pace.editing:  # an edit that is under way comes before the last one, never after it
            await self._posting.keep(stage="ending")
            for number, part in enumerate(shown):
                await self._surely(FIRST if number == 0 else f"part-{number}", part)
            await self._remove_beyond(len(shown))
            await self._posting.settle(outcome)
            self._pace.last = time.monotonic()

    async def _surely(self, name: str, part: ui.LayoutView) -> None:
        """Show a part of the end, trying again while Discord is away. Raises PlatformUnavailable at last."""
        for pause in DELIVERY_TRIES:
            try:
                await self._put(name, part)
            except PlatformUnavailable as error:
                log.warning("answer_waits", trace_id=self._trace_id, reason=str(error), seconds=pause)
                await asyncio.sleep(pause)
            else:
                return
        await self._put(name, part)

    async def _remove_beyond(self, count: int) -> None:
        """What an earlier, longer text left behind."""
        number = max(1, count)
        while self._posting.get(f"part-{number}"):
            with suppress(FootnoteError):
                await self._messages.remove(self._spot(), int(self._posting.get(f"part-{number}")))
            await self._posting.keep(**{f"part-{number}": ""})
            number += 1

    # --- where

    async def _put(self, name: str, shown: ui.LayoutView) -> int:
        """Edit the message of this name, or post it where there is none (any more); its id, which is kept."""
        known = self._posting.get(name)
        if known:
            try:
                await self._messages.edit(self._spot(), int(known), shown)
            except NotFound:
                if self._address.manner is Manner.PRIVATE:
                    await self._go_direct()
                log.info("posting_again", trace_id=self._trace_id, part=name)
            else:
                return int(known)
        again = f"{name}-again" if known else name
        key = nonce(self._posting.thread, self._posting.subject, again)
        posted = await self._messages.post(self._spot(), shown, key)
        await self._posting.keep(**{name: str(posted)})
        return posted

    def _spot(self) -> Spot:
        """Where it goes, as settled; under the newest token that a press has given us."""
        channel = self._posting.get("channel") or self._address.channel
        spot = spot_of(self._address, int(channel))
        if self._posting.get("manner") == Manner.DIRECT:
            return Spot(channel=int(channel))
        if self._posting.get("manner") == Manner.REPLY:
            return Spot(channel=int(channel), guild=spot.guild, reply_to=int(self._address.message))
        if spot.private and self._posting.get("token"):
            fresh = given_at(self._posting.get("token_of"))
            return Spot(spot.channel, spot.guild, None, self._posting.get("token"), fresh, private=True)
        return spot

    async def _settle_place(self) -> None:
        """Find or make the place, once: later attempts and reopenings use the same."""
        if self._posting.get("channel"):
            return
        address = self._address
        if address.manner is Manner.START:
            thread = await self._messages.start_thread(address, self._message.text)
            if thread is None:
                await self._posting.keep(channel=address.channel, manner=Manner.REPLY)
                return
            await self._posting.keep(channel=str(thread))
        elif address.manner is Manner.DIRECT:
            await self._posting.keep(channel=str(await self._messages.direct_channel(int(address.asker))))
        else:
            response = {FIRST: address.response} if address.response else {}
            await self._posting.keep(channel=address.channel, **response)

    async def _go_direct(self) -> None:
        """An ephemeral answer whose time is over goes to the person directly: nobody else may read it."""
        if not self._address.asker:
            raise Denied("I can no longer answer privately here.", remedy="Ask me again in a direct message.")
        channel = await self._messages.direct_channel(int(self._address.asker))
        await self._posting.keep(channel=str(channel), manner=Manner.DIRECT)
