"""Messages other than answers: notices, offers and announcements."""

from datetime import datetime

import discord
import structlog

from adapters.discord.api.errors import api_call
from adapters.discord.api.ids import user_id
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import AnsweredTrace, DiscordQuestionState
from adapters.discord.outbound.application import DiscordApplication
from adapters.discord.outbound.buttons import notice_buttons, offer_button
from adapters.discord.outbound.messages import Spot, nonce, spot_of
from adapters.discord.outbound.sanitizer import SanitizedView, Text
from adapters.discord.outbound.text import LAYOUT_TEXT_LIMIT, clip, escape, source_lines
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Denied, FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import ReplyMode, ReplyTarget
from core.model.person_answers import Offer
from core.ports.platform import Notice, ReadersToday

log = structlog.get_logger(__name__)


class Notices:
    """Sends notices once we are connected."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def tell(self, thread: ThreadKey, subject: str, target: ReplyTarget, text: str) -> None:
        """Tell a person about a subject (an id) in this conversation. Repeating the same notice has no effect.

        Raises only PlatformUnavailable.
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
        """Tell the person in a direct message if we may not write there, with what an admin can do."""
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
    """Offers, posted without a notification where the answer was, or directly. Only the addressee can use them."""

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
            raise Denied("Private threads are not stored.")


async def answer_link(app: DiscordApplication, shown: AnsweredTrace) -> str:
    """Return a link to an answer that others can see, or an empty string."""
    if shown.private or not shown.thread.space:
        return ""
    posted = await app.message_states.read(DiscordQuestionState(thread=shown.thread, message=shown.subject))
    if posted is None or not (posted.channel and posted.first):
        return ""
    return f"https://discord.com/channels/{shown.thread.space}/{posted.channel}/{posted.first}"


class DiscordPersonalNotices:
    """``core.ports.platform.PersonalNotices``, once the gateway is connected."""

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def settings(self, channel: ThreadKey) -> ChannelSettings:
        """Return the effective settings of a channel. Raises PlatformUnavailable."""
        await self._app.connected()
        return await self._app.channel_access.settings(channel)

    async def readers(self, person: Person, channel: ThreadKey) -> ReadersToday | None:
        """Return what this person and the channel may read now, or None if they may no longer view the channel."""
        await self._app.connected()
        reader = await self._app.channel_access.reader_of_channel(person, channel)
        place = await self._app.channel_access.audience_of_channel(channel)
        return ReadersToday(reader, place) if reader is not None else None

    async def link(self, thread: ThreadKey, trace: str) -> str:
        """Return a link to an answer, or to its channel if the answer's record expired."""
        shown = await self._app.answer_index.find(trace)
        link = await answer_link(self._app, shown) if shown is not None else ""
        return link or f"https://discord.com/channels/{thread.space}/{thread.channel}"

    async def has_sent(self, person: Person, notice: Notice, *, since: datetime) -> bool:
        """Return whether our recent direct messages to this person include the notice. Raises PlatformUnavailable."""
        await self._app.connected()
        words = layouts.layout_text(_notice_layout(notice)).split()
        try:
            spot = Spot(await self._app.messages.direct_channel(user_id(person)))
            return any(text.split() == words for text in await self._app.messages.own_texts(spot, since))
        except (Denied, NotFound):
            return False

    async def send(self, person: Person, notice: Notice) -> None:
        """Send it by direct message. Raises Denied, NotFound, PlatformUnavailable."""
        await self._app.connected()
        spot = Spot(await self._app.messages.direct_channel(user_id(person)))
        await self._app.messages.post(spot, _notice_layout(notice), nonce(person.id, notice.key, "notice"))


def _notice_layout(notice: Notice) -> SanitizedView:
    first, *rest = map(escape, notice.lines)
    text = "\n".join((f"**{first}**", *rest, source_lines([notice.citation])))
    links = layouts.links_of([notice.citation])
    return layouts.layout(Text(text, links=links), layouts.row(*notice_buttons(notice.link)))


class DiscordAnnouncements:
    """Announcements in channels, once the gateway is connected."""

    proposals_command = "/kb proposals list"

    def __init__(self, app: DiscordApplication) -> None:
        self._app = app

    async def readers(self, channel: ThreadKey) -> Audience:
        """Return the audience of a channel. Raises NotFound if there is no such channel, and PlatformUnavailable."""
        await self._app.connected()
        audience = await self._app.channel_access.audience_of_channel(channel)
        if not audience.principals:
            raise NotFound("I cannot find that channel.", remedy="Write it as discord:channel:SERVER/CHANNEL.")
        return audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Return whether one of our recent messages there starts with this text. Raises PlatformUnavailable."""
        await self._app.connected()
        try:
            texts = await self._app.messages.own_texts(Spot(int(channel.channel), int(channel.space)), since)
        except (Denied, NotFound):
            return False
        return any(text.startswith(beginning) for text in texts)

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Post the text. Raises Denied, NotFound, PlatformUnavailable."""
        await self._app.connected()
        spot = Spot(int(channel.channel), int(channel.space))
        await self._app.messages.post(spot, layouts.text_layout(text), nonce(str(channel), "announcement", text))
