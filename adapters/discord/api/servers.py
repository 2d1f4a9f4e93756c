"""The servers we are in, with roles, channels and members, from the gateway's cache or the API.

Only one process has the gateway connection. Other processes fetch what they need and cache it for half a minute.
Members are always fetched, because the gateway sends none without the members intent.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Generic, TypeVar

import discord
from cachetools import TTLCache

from adapters.discord.api.errors import api_call, find

REMEMBERED_SECONDS = 30.0  # a removed person loses access within a minute
MOST_REMEMBERED = 2_000
LOOK_SECONDS = 10.0

Key = TypeVar("Key")
Found = TypeVar("Found")


class _Remembered(Generic[Key, Found]):
    """Half-minute cache of Discord's answers, including "not found"."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._kept: TTLCache[Key, Found | None] = TTLCache(MOST_REMEMBERED, REMEMBERED_SECONDS)

    async def get(self, key: Key, fetch: Callable[[], Awaitable[Found]]) -> Found | None:
        with suppress(KeyError):
            return self._kept[key]
        self._kept[key] = found = await find(self._doing, LOOK_SECONDS, fetch())
        return found

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)


class Servers:
    """Lookup of servers, channels and members. A missing or inaccessible one is None.

    ``client`` is logged in. ``holds_gateway`` says whether its gateway connection keeps its server data current. All
    methods raise PlatformUnavailable if Discord does not answer.
    """

    def __init__(self, client: Callable[[], discord.Client], holds_gateway: Callable[[], bool]) -> None:
        self._client = client
        self._holds_gateway = holds_gateway
        self._servers = _Remembered[int, discord.Guild]("look at that server")
        self._channels = _Remembered[int, "discord.abc.GuildChannel | discord.Thread"]("look at that channel")
        self._members = _Remembered[tuple[int, int], discord.Member]("look up a member")

    async def server(self, server_id: int) -> discord.Guild | None:
        """Return one server."""
        known = self._client().get_guild(server_id) if self._holds_gateway() else None
        if known is not None and not known.unavailable:
            return known
        return await self._servers.get(server_id, lambda: self._client().fetch_guild(server_id, with_counts=False))

    async def servers(self) -> Sequence[discord.Guild]:
        """Return all servers we are in."""
        client = self._client()
        if self._holds_gateway() and client.is_ready():
            ids = [one.id for one in client.guilds]
        else:
            async with api_call("look up our servers", LOOK_SECONDS):
                ids = [one.id async for one in client.fetch_guilds(limit=None)]
        return [server for one in ids if (server := await self.server(one)) is not None]

    async def channel(self, server_id: int, channel_id: int) -> discord.abc.GuildChannel | None:
        """Return a channel, but no thread."""
        server = await self.server(server_id)
        if server is None:
            return None
        known = server.get_channel(channel_id)
        if known is not None:
            return known
        found = await self._channels.get(channel_id, lambda: server.fetch_channel(channel_id))
        return found if isinstance(found, discord.abc.GuildChannel) else None

    async def member(self, server: discord.Guild, user_id: int) -> discord.Member | None:
        """Return a member with their roles, as of the last half minute."""
        return await self._members.get((server.id, user_id), lambda: server.fetch_member(user_id))

    def forget_member(self, server_id: int, user_id: int) -> None:
        """Drop a member from the cache because they changed or left."""
        self._members.forget((server_id, user_id))

    async def bot_member(self, server: discord.Guild) -> discord.Member | None:
        """Return our own member in a server, with our roles."""
        us = self._client().user
        known: discord.Member | None = server.me  # None without gateway data, despite the declared type
        return known if known is not None or us is None else await self.member(server, us.id)
