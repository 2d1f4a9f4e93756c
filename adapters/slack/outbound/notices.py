"""Messages other than answers: notices of changed answers, offers and announcements."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import structlog

from adapters.slack.api.errors import RequestRefused, reason_in_words
from adapters.slack.api.ids import PLATFORM, team_principal, thread_url, user_id
from adapters.slack.api.sanitizer import permit
from adapters.slack.outbound import blocks
from adapters.slack.outbound.messages import ephemeral_place
from adapters.slack.outbound.text import escape
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import Denied
from core.model.person_answers import Offer
from core.ports.platform import Notice, ReadersToday
from core.service.standing_answers.notices import MUTE_LABEL, OPEN_LABEL

MOST_SEARCHED = 200  # messages of a conversation in which we look for one of ours
LONGEST = 2_900  # characters of a section, leaving room for escaping
MOST_MEMBERS = 20_000  # of a channel that are searched for a person

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SlackNotices:
    """``core.ports.platform.PersonalNotices`` for one workspace."""

    workspace: SlackWorkspace

    async def settings(self, channel: ThreadKey) -> ChannelSettings:
        """Return the effective settings of a channel."""
        return await self.workspace.settings(channel)

    async def readers(self, person: Person, channel: ThreadKey) -> ReadersToday | None:
        """Return what this person and the channel may read now, or None if they are no longer a member."""
        user = user_id(person)
        listed = self.workspace.web.items("conversations.members", "members", MOST_MEMBERS, channel=channel.channel)
        try:
            if not any([str(member) == user async for member in listed]):
                return None
        except RequestRefused as refusal:
            log.info("members_unknown", channel=channel.channel, reason=refusal.error)
            return None
        return ReadersToday(
            await self.workspace.access.reader(channel, user), await self.workspace.access.audience(channel, user)
        )

    async def link(self, thread: ThreadKey, trace: str) -> str:
        """Return the link to the thread's first message."""
        return thread_url((await self.workspace.directory.identity()).url, thread)

    async def has_sent(self, person: Person, notice: Notice, *, since: datetime) -> bool:
        """Return whether our recent direct messages to this person include the notice."""
        try:
            where = {"channel": await self.workspace.messages.direct_channel(user_id(person)), "limit": MOST_SEARCHED}
            found = await self.workspace.web.call(
                "conversations.history", **where, oldest=f"{since.timestamp():.6f}", include_all_metadata=True
            )
        except RequestRefused as refusal:
            log.info("direct_message_unreadable", reason=refusal.error)
            return False
        payloads = ((one.get("metadata") or {}).get("event_payload") or {} for one in found.get("messages") or [])
        return any(one.get("part") == _part(notice) for one in payloads)

    async def send(self, person: Person, notice: Notice) -> None:
        """Send it by direct message. Raises Denied with Slack's reason, PlatformUnavailable."""
        try:
            channel = ThreadKey(PLATFORM, "", await self.workspace.messages.direct_channel(user_id(person)), "")
            await self.workspace.messages.post(channel, notice.lines[0], _layout(notice), part=_part(notice))
        except RequestRefused as refusal:
            raise Denied(f"Slack refused this: {reason_in_words(refusal.error)}.") from None


def _part(notice: Notice) -> str:
    return f"notice {notice.key}"


def _layout(notice: Notice) -> list[blocks.Block]:
    first, *rest = notice.lines
    source = permit(blocks.context(blocks.source_line(notice.citation)), links=[notice.citation.url])
    buttons = [blocks.button(MUTE_LABEL, blocks.MUTE_NOTICES, "notices")]
    if notice.link:
        buttons.append(blocks.button(OPEN_LABEL, blocks.OPEN_THREAD, "thread") | {"url": notice.link})
    words = [blocks.section(f"*{escape(first)}*"), *(blocks.section(escape(line)) for line in rest)]
    return [*words, source, {"type": "actions", "block_id": "footnote_notice", "elements": buttons}]


@dataclass(frozen=True, slots=True)
class SlackOffers:
    """Offers to one person, as an ephemeral or direct message."""

    workspace: SlackWorkspace

    async def ask(self, offer: Offer) -> None:
        """Ask one person. Raises Denied and PlatformUnavailable."""
        messages, user, layout = self.workspace.messages, user_id(Person(offer.person)), blocks.offer(offer)
        try:
            if offer.channel:
                place = await ephemeral_place(messages.web, offer.thread, user)
                text = blocks.fallback(offer.text)
                await messages.web.call("chat.postEphemeral", **place, text=text, blocks=layout)
            else:
                direct = ThreadKey(PLATFORM, "", await messages.direct_channel(user), "")
                await messages.post(direct, offer.text, layout)
        except RequestRefused as refusal:
            raise Denied(f"Slack refuses it: {refusal.error}.") from None


@dataclass(frozen=True, slots=True)
class SlackAnnouncements:
    """Announcements in channels that belong to this workspace only."""

    workspace: SlackWorkspace
    proposals_command: ClassVar[str] = "/kb proposals"

    async def readers(self, channel: ThreadKey) -> Audience:
        """Return the audience of the channel. Raises Denied if other workspaces may read it or that is unknown."""
        audience = await self.workspace.access.audience(channel, "")
        if team_principal(channel.space) not in audience.principals:
            raise Denied(
                ("That channel is shared with another organization, or I am not in it."),
                remedy="Choose another channel.",
            )
        return audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Return whether one of our recent messages there starts with this text. Raises PlatformUnavailable."""
        us, words = (await self.workspace.directory.identity()).user, blocks.fallback(beginning)
        where = {"channel": channel.channel, "oldest": f"{since.timestamp():.6f}", "limit": MOST_SEARCHED}
        try:
            found = (await self.workspace.web.call("conversations.history", **where)).get("messages") or []
        except RequestRefused as refusal:
            log.info("channel_unreadable", channel=channel.channel, reason=refusal.error)
            return False
        return any(one.get("user") == us and str(one.get("text") or "").startswith(words) for one in found)

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Post the text. Raises Denied with Slack's reason, and PlatformUnavailable."""
        try:
            await self.workspace.messages.post(channel, text[:LONGEST])
        except RequestRefused as error:
            raise Denied(f"Slack refuses it: {error.error}.", remedy="Invite me to that channel.") from None
