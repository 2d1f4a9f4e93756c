"""Direct messages to one person about an answer that has changed."""

from dataclasses import dataclass
from datetime import datetime

import structlog

from adapters.slack.api.channel_access import ChannelAccess
from adapters.slack.api.directory import Directory
from adapters.slack.api.errors import RequestRefused, reason_in_words
from adapters.slack.api.ids import PLATFORM, thread_url, user_id
from adapters.slack.api.sanitizer import permit
from adapters.slack.outbound import blocks
from adapters.slack.outbound.messages import MOST_SEARCHED, Messages
from adapters.slack.outbound.text import escape
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Person, ThreadKey
from core.model.errors import Denied
from core.ports.platform import Notice, ReadersToday
from core.service.standing_answers.notices import MUTE_LABEL, OPEN_LABEL

MOST_MEMBERS = 20_000  # of a channel that are searched for a person

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SlackNotices:
    """``core.ports.platform.PersonalNotices`` for one workspace."""

    directory: Directory
    access: ChannelAccess
    messages: Messages

    async def settings(self, channel: ThreadKey) -> ChannelSettings:
        """Return the effective settings of a channel."""
        return await self.access.settings(channel.place) if self.access.settings is not None else ChannelSettings()

    async def readers(self, person: Person, channel: ThreadKey) -> ReadersToday | None:
        """Return what this person and the channel may read now, or None if they are no longer a member."""
        user = user_id(person)
        listed = self.messages.web.items("conversations.members", "members", MOST_MEMBERS, channel=channel.channel)
        try:
            if not any([str(member) == user async for member in listed]):
                return None
        except RequestRefused as refusal:
            log.info("members_unknown", channel=channel.channel, reason=refusal.error)
            return None
        return ReadersToday(await self.access.reader(channel, user), await self.access.audience(channel, user))

    async def link(self, thread: ThreadKey, trace: str) -> str:
        """Return the link to the thread's first message."""
        return thread_url((await self.directory.identity()).url, thread)

    async def has_sent(self, person: Person, notice: Notice, *, since: datetime) -> bool:
        """Return whether our recent direct messages to this person include the notice."""
        try:
            where = {"channel": await self.messages.direct_channel(user_id(person)), "limit": MOST_SEARCHED}
            found = await self.messages.web.call(
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
            channel = ThreadKey(PLATFORM, "", await self.messages.direct_channel(user_id(person)), "")
            await self.messages.post(channel, notice.lines[0], _layout(notice), part=_part(notice))
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
