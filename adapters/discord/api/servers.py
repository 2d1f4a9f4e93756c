"""The servers we are in, with their roles and channels: as the gateway keeps them, else as the API tells them.

One process holds the gateway; a process without it fetches what it needs, and remembers that for half a minute,
as it does members.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import discord
from cachetools import TTLCache

from adapters.discord.api.errors import api_call, find

REMEMBERED_SECONDS = 30.0
MOST_REMEMBERED = 2_000
LOOK_SECONDS = 10.0


class Servers:
    """Servers, channels and our membership, each looked up when it is needed.

    ``client`` is logged in; ``holds_gateway`` says whether its gateway connection keeps what it knows of servers true.
    """

    def __init__(self, client: Callable[[], discord.Client], holds_gateway: Callable[[], bool]) -> None:
        self._client = client
        self._holds_gateway = holds_gateway
        self._servers: TTLCache[int, discord.Guild | None] = TTLCache(MOST_REMEMBERED, REMEMBERED_SECONDS)
        self._channels: TTLCache[int, discord.abc.GuildChannel | None] = TTLCache(MOST_REMEMBERED, REMEMBERED_SECONDS)
        self._us: TTLCache[int, discord.Member | None] = TTLCache(MOST_REMEMBERED, REMEMBERED_SECONDS)

    async def server(self, server_id: int) -> discord.Guild | None:
        """Return one server; None when we are not in it. Raises PlatformUnavailable when Discord does not answer."""
        known = self._client().get_guild(server_id) if self._holds_gateway() else None
        if known is not None and not known.unavailable:
            return known
        with suppress(KeyError):
            return self._servers[server_id]
        asking = self._client().fetch_guild(server_id, with_counts=False)
        self._servers[server_id] = found = await find("look at that server", LOOK_SECONDS, asking)
        return found

    async def servers(self) -> Sequence[discord.Guild]:
        """Return all servers we are in. Raises PlatformUnavailable when Discord does not answer."""
        client = self._client()
        if self._holds_gateway() and client.is_ready():
            ids = [one.id for one in client.guilds]
        else:
            async with api_call("look up our servers", LOOK_SECONDS):
                ids = [one.id async for one in client.fetch_guilds(limit=None)]
        return [server for one in ids if (server := await self.server(one)) is not None]

    async def channel(self, server_id: int, channel_id: int) -> discord.abc.GuildChannel | None:
        """Return a channel, no thread; None when it is not there, or not for us. Raises PlatformUnavailable."""
        server = await self.server(server_id)
        if server is None:
            return None
        known = server.get_channel(channel_id)
        if known is not None:
            return known
        with suppress(KeyError):
            return self._channels[channel_id]
        self._channels[channel_id] = found = await _channel_of(server, channel_id)
        return found

    async def bot_member(self, server: discord.Guild) -> discord.Member | None:
        """Us in a server, with our roles; None when that cannot be told. Raises PlatformUnavailable."""
        us = self._client().user
        known: discord.Member | None = server.me  # None where the gateway did not tell, whatever the types say
        if known is not None or us is None:
            return known
        with suppress(KeyError):
            return self._us[server.id]
        asking = server.fetch_member(us.id)
        self._us[server.id] = found = await find("look up a member", LOOK_SECONDS, asking)
        return found


async def _channel_of(server: discord.Guild, channel_id: int) -> discord.abc.GuildChannel | None:
    found = await find("look at that channel", LOOK_SECONDS, server.fetch_channel(channel_id))
    return found if isinstance(found, discord.abc.GuildChannel) else None
