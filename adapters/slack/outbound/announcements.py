"""What is said in a Slack channel that nobody asked for there: plain text, without a ping or a link."""

from datetime import datetime

import structlog

from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace, team_principal
from adapters.slack.outbound.blocks import fallback
from core.model.conversation import Audience, ThreadKey
from core.model.errors import Denied

LONGEST = 2_900  # characters of a section, with room for what escaping adds

MOST_LOOKED_THROUGH = 200  # messages

log = structlog.get_logger(__name__)


class SlackAnnouncements:
    """Speaks in channels of the workspace that are its own."""

    def __init__(self, workspace: SlackWorkspace) -> None:
        self._workspace = workspace

    async def readers(self, channel: ThreadKey) -> Audience:
        """Who reads there. Raises Denied where people of other workspaces do, or where that cannot be told."""
        audience = await self._workspace.audience(channel, "")
        if team_principal(channel.space) not in audience.principals:
            raise Denied("That channel is shared with others, or I am not in it.", remedy="Choose another channel.")
        return audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Whether one of our newest messages there begins so. Raises PlatformUnavailable."""
        us, words = await self._workspace.bot_user_id(), fallback(beginning)
        where = {"channel": channel.channel, "oldest": f"{since.timestamp():.6f}", "limit": MOST_LOOKED_THROUGH}
        try:
            found = (await self._workspace.web.patiently("conversations.history", **where)).get("messages") or []
        except Refusal as refusal:
            log.info("channel_unreadable", channel=channel.channel, reason=refusal.error)
            return False
        return any(one.get("user") == us and str(one.get("text") or "").startswith(words) for one in found)

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Say it there. Raises Denied with Slack's reason, PlatformUnavailable."""
        try:
            await self._workspace.say(channel, text[:LONGEST])
        except Refusal as error:
            raise Denied(f"Slack refuses it: {error.error}.", remedy="Invite me to that channel.") from None
