"""A word to one person: where they wrote or pressed, else directly; where nothing reaches them, the log has it."""

from collections.abc import Awaitable, Callable

import structlog

from adapters.discord.outbound import layouts
from adapters.discord.outbound.messages import Messages, Spot, nonce, spot_of
from core.model.conversation import ThreadKey
from core.model.errors import FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import ReplyMode, ReplyTarget

log = structlog.get_logger(__name__)


class Notices:
    """Says it once something can be shown: ``connected`` waits until then."""

    def __init__(self, messages: Messages, connected: Callable[[], Awaitable[None]]) -> None:
        self._messages = messages
        self._connected = connected

    async def tell(self, thread: ThreadKey, subject: str, target: ReplyTarget, text: str) -> None:
        """Say this of a subject, by its id, in this conversation; the same of the same is said once.

        Raises PlatformUnavailable, and nothing else.
        """
        key = nonce(str(thread), f"{subject}/{target.message}", text)
        spot = spot_of(target)
        if target.mode in (ReplyMode.START, ReplyMode.POST) and target.guild and target.message:
            spot = Spot(spot.channel, spot.guild, int(target.message))
        try:
            await self._connected()
            if target.mode is ReplyMode.DIRECT or (spot.private and not spot.token_is_good):
                spot = Spot(await self._messages.direct_channel(int(target.asker)))
            if target.response and spot.token_is_good:
                await self._messages.edit(spot, int(target.response), layouts.text_layout(text))
            else:
                await self._messages.post(spot, layouts.text_layout(text), key)
        except PlatformUnavailable:
            raise
        except FootnoteError as error:
            in_thread = target.channel != thread.channel
            if isinstance(error, NotFound) and in_thread and await self._messages.is_gone(int(target.channel)):
                log.info("thread_deleted", thread=target.channel)
                return
            await self._tell_directly(target, text, key, error)

    async def _tell_directly(self, target: ReplyTarget, text: str, key: str, because: FootnoteError) -> None:
        """Where we may not write, the person still hears of it, with what an admin can do about that."""
        log.warning("cannot_write", channel=target.channel, reason=str(because))
        if not target.asker:
            return
        try:
            spot = Spot(await self._messages.direct_channel(int(target.asker)))
            about = f"\n-# I could not say this in <#{target.channel}>: {because}" if target.guild else ""
            await self._messages.post(spot, layouts.text_layout(text + about, mentions=True), key)
        except PlatformUnavailable:
            raise
        except FootnoteError as error:
            log.warning("not_told", reason=str(error))
