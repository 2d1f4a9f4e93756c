"""Messages beside the answers: a notice to one person, and an announcement in a channel."""

from datetime import datetime

import discord
import structlog

from adapters.discord.api.errors import api_call
from adapters.discord.api.ids import user_id
from adapters.discord.outbound import layouts
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import offer_button
from adapters.discord.outbound.messages import Spot, nonce, spot_of
from adapters.discord.outbound.sanitizer import Text
from adapters.discord.outbound.text import LAYOUT_TEXT_LIMIT, clip, escape
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Denied, FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import ReplyMode, ReplyTarget
from core.model.person_answers import Offer

log = structlog.get_logger(__name__)


class Notices:
    """Says it once something can be shown."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def tell(self, thread: ThreadKey, subject: str, target: ReplyTarget, text: str) -> None:
        """Say this of a subject, by its id, in this conversation; the same of the same is said once.

        Raises PlatformUnavailable, and nothing else.
        """
        key = nonce(str(thread), f"{subject}/{target.message}", text)
        spot = spot_of(target)
        if target.mode in (ReplyMode.START, ReplyMode.POST) and target.guild and target.message:
            spot = Spot(spot.channel, spot.guild, int(target.message))
        try:
            await self._app.connected()
            if target.mode is ReplyMode.DIRECT or (spot.private and not spot.token_is_good):
                spot = Spot(await self._app.messages.direct_channel(int(target.asker)))
            if target.response and spot.token_is_good:
                await self._app.messages.edit(spot, int(target.response), layouts.text_layout(text))
            else:
                await self._app.messages.post(spot, layouts.text_layout(text), key)
        except PlatformUnavailable:
            raise
        except FootnoteError as error:
            in_thread = target.channel != thread.channel
            if isinstance(error, NotFound) and in_thread and await self._app.messages.is_gone(int(target.channel)):
                log.info("thread_deleted", thread=target.channel)
                return
            await self._tell_directly(target, text, key, error)

    async def _tell_directly(self, target: ReplyTarget, text: str, key: str, because: FootnoteError) -> None:
        """Tell the person directly where we may not write, with what an admin can do about that."""
        log.warning("cannot_write", channel=target.channel, reason=str(because))
        if not target.asker:
            return
        try:
            spot = Spot(await self._app.messages.direct_channel(int(target.asker)))
            about = f"\n-# I could not say this in <#{target.channel}>: {because}" if target.guild else ""
            await self._app.messages.post(spot, layouts.text_layout(text + about, mentions=True), key)
        except PlatformUnavailable:
            raise
        except FootnoteError as error:
            log.warning("not_told", reason=str(error))


class DiscordOffers:
    """Asks where the answer was written, without a ping, or directly; only the one it is for can press."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def ask(self, offer: Offer) -> None:
        """Ask one person. Raises Denied, NotFound, PlatformUnavailable."""
        await self._app.connected()
        person = user_id(Person(offer.person))
        if offer.channel:
            await self._check_readers(int(offer.channel))
            spot = Spot(int(offer.channel), int(offer.thread.space), silent=True)
        else:
            spot = Spot(await self._app.messages.direct_channel(person))
        lines = [f"> {escape(line)}" for line in clip(offer.quoted, LAYOUT_TEXT_LIMIT // 2).splitlines()]
        text = Text("\n".join([f"<@{person}> {escape(offer.text)}", *lines]), mentions=True)
        buttons = layouts.row(*(offer_button(one, offer.id) for one in offer.actions))
        await self._app.messages.post(spot, layouts.layout(text, buttons), nonce(str(offer.thread), offer.id, "offer"))

    async def _check_readers(self, place: int) -> None:
        """Raise Denied in a private thread: its readers are fewer than its channel's, and no base is for them alone."""
        async with api_call("look at that thread"):
            found = await self._app.client().fetch_channel(place)
        if isinstance(found, discord.Thread) and found.is_private():
            raise Denied("What is said in a private thread is not kept.")


class DiscordAnnouncements:
    """Speaks in channels, once the gateway is connected."""

    proposals_command = "/kb proposals list"

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def readers(self, channel: ThreadKey) -> Audience:
        """Return the audience of a channel. Raises NotFound where there is no such channel, PlatformUnavailable."""
        await self._app.connected()
        audience = await self._app.channel_access.audience_of_channel(channel)
        if not audience.principals:
            raise NotFound("I know no such channel.", remedy="Write it as discord:channel:SERVER/CHANNEL.")
        return audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Return whether one of our newest messages there begins so. Raises PlatformUnavailable."""
        await self._app.connected()
        try:
            texts = await self._app.messages.own_texts(Spot(int(channel.channel), int(channel.space)), since)
        except (Denied, NotFound):
            return False
        return any(text.startswith(beginning) for text in texts)

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Say it there. Raises Denied, NotFound, PlatformUnavailable."""
        await self._app.connected()
        spot = Spot(int(channel.channel), int(channel.space))
        await self._app.messages.post(spot, layouts.text_layout(text), nonce(str(channel), "announcement", text))
