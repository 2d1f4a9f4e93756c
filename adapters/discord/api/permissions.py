"""Who will read an answer, by Discord's own rules for who may view a channel; looked up when it is needed.

Everybody in an audience must be allowed to see the evidence. So a channel's audience holds the channel, its server
(whoever reads it is a member), and a role only where *everybody* who may view the channel has that role.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import discord
from cachetools import TTLCache

from adapters.discord.api.errors import find
from adapters.discord.api.ids import guild_principal, role_principal, user_principal
from core.model.principals import channel_principal

MEMBER_SECONDS = 30.0  # how old a member's roles may be: someone removed is out within a minute
MEMBERS_REMEMBERED = 2_000
LOOK_SECONDS = 10.0

FetchMember = Callable[[discord.Guild, int], Awaitable[discord.Member | None]]


class Members:
    """Members with their roles, remembered for half a minute: without the members intent nothing else keeps them."""

    def __init__(self) -> None:
        self._kept: TTLCache[tuple[int, int], discord.Member | None] = TTLCache(MEMBERS_REMEMBERED, MEMBER_SECONDS)

    async def get(self, guild: discord.Guild, user_id: int) -> discord.Member | None:
        """The member as of the last half minute; None when they are not in the server. Raises PlatformUnavailable."""
        with suppress(KeyError):
            return self._kept[guild.id, user_id]
        found = await find("look up a member", LOOK_SECONDS, guild.fetch_member(user_id))
        self._kept[guild.id, user_id] = found
        return found

    def forget(self, guild_id: int, user_id: int) -> None:
        """Look them up anew next time: they have changed or gone."""
        self._kept.pop((guild_id, user_id), None)


def is_admin(member: discord.Member | None) -> bool:
    """Whether someone may administer us in their server: by *Administrator* or *Manage Server*, or as its owner."""
    if member is None:
        return False
    allowed = member.guild_permissions
    return allowed.administrator or allowed.manage_guild


def is_moderator(channel: discord.abc.GuildChannel, member: discord.Member) -> bool:
    """Whether someone looks after a channel: may remove messages there, or close threads."""
    allowed = channel.permissions_for(member)
    return allowed.manage_messages or allowed.manage_threads


def person_principals(member: discord.Member) -> frozenset[str]:
    """What one member has in one server: themselves, the server, and each of their roles."""
    guild = member.guild.id
    roles = {role_principal(guild, role.id) for role in member.roles if not role.is_default()}
    return frozenset({user_principal(member.id), guild_principal(guild), *roles})


async def channel_principals(channel: discord.abc.GuildChannel, us: int, members: FetchMember) -> frozenset[str]:
    """What all readers of a channel share: the channel, the server, and the role that lets them in, if it is one.

    A role counts when nobody without it may view the channel: @everyone may not, no other role lets anybody in, and
    every person who is let in by name has it too. Administrators may read everything anyway, and do not count; nor do
    we, by our id ``us``; other bots that are let in do.
    """
    guild = channel.guild
    shared = {channel_principal("discord", str(guild.id), str(channel.id)), guild_principal(guild.id)}
    doors = [role for role in guild.roles if _lets_in(channel, role) and not _is_ours(role, us)]
    if len(doors) == 1 and not doors[0].is_default() and await _all_named_have(channel, doors[0], us, members):
        shared.add(role_principal(guild.id, doors[0].id))
    return frozenset(shared)


def is_public(channel: discord.abc.GuildChannel) -> bool:
    """Whether every member of the server may view the channel."""
    return _lets_in(channel, channel.guild.default_role)


def _lets_in(channel: discord.abc.GuildChannel, role: discord.Role) -> bool:
    """Whether a member with just this role (and @everyone) may view the channel, and is no administrator.

    Looking at one role at a time is enough: taking roles together adds permissions but for denials, and what a role
    denies another that allows outweighs, so whoever gets in by several gets in by one of them.
    """
    everyone = channel.guild.default_role
    base = discord.Permissions(everyone.permissions.value | role.permissions.value)
    if base.administrator:
        return False
    view = base.view_channel
    for one in (everyone, role):
        wanted = channel.overwrites_for(one).view_channel
        view = view if wanted is None else wanted
    return bool(view)


def _is_ours(role: discord.Role, us: int) -> bool:
    """The role that Discord made for us, which nobody else can have: we are not a reader."""
    return role.tags is not None and role.tags.bot_id == us


async def _all_named_have(channel: discord.abc.GuildChannel, role: discord.Role, us: int, members: FetchMember) -> bool:
    """Whether everybody whom the channel lets in by name has this role (or may read everything anyway)."""
    for target, overwrite in channel.overwrites.items():
        if isinstance(target, discord.Role) or not overwrite.view_channel:
            continue
        if target.id == us:
            continue
        member = await members(channel.guild, target.id)
        if member is None or not (member.guild_permissions.administrator or member.get_role(role.id)):
            return False
    return True


def may_view(channel: discord.abc.GuildChannel, member: discord.Member | None) -> bool:
    """Whether a member may view a channel now."""
    return member is not None and channel.permissions_for(member).view_channel
