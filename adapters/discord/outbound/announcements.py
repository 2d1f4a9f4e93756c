"""What is said in a Discord channel that nobody asked for there: plain text, without a ping or a link."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from adapters.discord.api.channel_access import ChannelAccess
from adapters.discord.outbound import layouts
from adapters.discord.outbound.messages import Messages, Spot, nonce
from core.model.conversation import Audience, ThreadKey
from core.model.errors import Denied, NotFound


class DiscordAnnouncements:
    """Speaks in channels, once the gateway is connected."""

    proposals_command = "/kb proposals list"

    def __init__(
        self, channel_access: ChannelAccess, messages: Messages, connected: Callable[[], Awaitable[None]]
    ) -> None:
        self._channel_access = channel_access
        self._messages = messages
        self._connected = connected

    async def readers(self, channel: ThreadKey) -> Audience:
        """Who reads there. Raises NotFound where there is no such channel, PlatformUnavailable."""
        await self._connected()
        audience = await self._channel_access.audience_of_channel(channel)
        if not audience.principals:
            raise NotFound("I know no such channel.", remedy="Write it as discord:channel:SERVER/CHANNEL.")
        return audience

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Whether one of our newest messages there begins so. Raises PlatformUnavailable."""
        await self._connected()
        try:
            texts = await self._messages.own_texts(Spot(int(channel.channel), int(channel.space)), since)
        except (Denied, NotFound):
            return False
        return any(text.startswith(beginning) for text in texts)

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Say it there. Raises Denied, NotFound, PlatformUnavailable."""
        await self._connected()
        spot = Spot(int(channel.channel), int(channel.space))
        await self._messages.post(spot, layouts.text_layout(text), nonce(str(channel), "announcement", text))
