"""What is said in a Slack channel that nobody asked for there: plain text, without a ping or a link."""

from adapters.slack.api.web_client import Refusal
from adapters.slack.api.workspace import SlackWorkspace, team_principal
from core.model.conversation import Audience, ThreadKey
from core.model.errors import Denied

LONGEST = 2_900  # characters of a section, with room for what escaping adds


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

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Say it there. Raises Denied with Slack's reason, PlatformUnavailable."""
        try:
            await self._workspace.say(channel, text[:LONGEST])
        except Refusal as error:
            raise Denied(f"Slack refuses it: {error.error}.", remedy="Invite me to that channel.") from None
