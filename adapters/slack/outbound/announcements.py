"""What is said in a Slack channel that nobody asked for there: plain text, without a ping or a link."""

from datetime import datetime

import structlog

from adapters.slack.api.channel_access import ChannelAccess
from adapters.slack.api.directory import Directory
from adapters.slack.api.errors import RequestRefused
from adapters.slack.api.ids import team_principal
from adapters.slack.api.web_client import WebClient
from adapters.slack.outbound.blocks import fallback
from adapters.slack.outbound.messages import Messages
from core.model.conversation import Audience, ThreadKey
from core.model.errors import Denied

LONGEST = 2_900  # characters of a section, with room for what escaping adds
MOST_SEARCHED = 200  # messages of a channel in which an announcement is looked for

log = structlog.get_logger(__name__)


class SlackAnnouncements:
    """Speaks in channels of the workspace that are its own."""

    proposals_command = "/kb proposals"

    def __init__(self, web: WebClient, directory: Directory, access: ChannelAccess, messages: Messages) -> None:
        """Post with ``messages`` where ``access`` says that people of this workspace alone read."""
        self._web = web
        self._directory = directory
        self._access = access
        self._messages = messages

    async def readers(self, channel: ThreadKey) -> Audience:
        """Who reads there. Raises Denied where people of other workspaces do, or where that cannot be told."""
        audience = await self._access.audience(channel, "")
        if team_principal(channel.space) not in audience.principals:
            raise Denied("That channel is shared with others, or I am not in it.", remedy="Choose another channel.")
        return audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Whether one of our newest messages there begins so. Raises PlatformUnavailable."""
        us, words = (await self._directory.identity()).user, fallback(beginning)
        where = {"channel": channel.channel, "oldest": f"{since.timestamp():.6f}", "limit": MOST_SEARCHED}
        try:
            found = (await self._web.call("conversations.history", **where)).get("messages") or []
        except RequestRefused as refusal:
            log.info("channel_unreadable", channel=channel.channel, reason=refusal.error)
            return False
        return any(one.get("user") == us and str(one.get("text") or "").startswith(words) for one in found)

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Say it there. Raises Denied with Slack's reason, PlatformUnavailable."""
        try:
            await self._messages.post(channel, text[:LONGEST])
        except RequestRefused as error:
            raise Denied(f"Slack refuses it: {error.error}.", remedy="Invite me to that channel.") from None
