"""Readers and settings of a channel, by Discord's own rules for who may view it.

Everybody in an audience must be allowed to see the evidence. So a channel's audience holds the channel and its server
(every reader is a member). It holds a role only if *everybody* who may view the channel has that role.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import discord

from adapters.discord.api.ids import guild_principal, person_of, role_principal, user_id, user_principal
from adapters.discord.api.servers import Servers
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import Permissions
from core.model.principals import channel_principal
from core.service.actions.user_actions import UserActions


class ChannelAccess:
    """Lookups of audiences, rights and settings, without a cache of their own."""

    def __init__(self, client: Callable[[], discord.Client], servers: Servers, user_actions: UserActions) -> None:
        self._client = client
        self._servers = servers
        self._user_actions = user_actions

    async def audience_of_channel(self, thread: ThreadKey) -> Audience:
        """Return what all viewers of a conversation's channel have in common; empty if unknown."""
        channel = await self._channel(thread)
        if channel is None:
            return Audience()
        return Audience(await self._principals(channel), public=is_public(channel))

    async def _principals(self, channel: discord.abc.GuildChannel) -> frozenset[str]:
        us = self._client().user
        return await channel_principals(channel, us.id if us is not None else 0, self._servers.member)

    async def audience_of_person(self, person: Person) -> Audience:
        """Return the audience of one person, as in a direct message: their principals in every shared server."""
        found: set[str] = {person.id}
        for guild in await self._servers.servers():
            member = await self._servers.member(guild, user_id(person))
            if member is not None:
                found |= person_principals(member)
        return Audience(frozenset(found))

    async def audience_in_channel(
        self, person: Person, guild_id: int | None, channel: object, user: discord.abc.User | None = None
    ) -> Audience:
        """Return the audience of one person in a place: their principals, plus the channel's if they may view it."""
        guild = await self._servers.server(guild_id) if guild_id is not None else None
        if guild is None:
            return await self.audience_of_person(person)
        known = user if isinstance(user, discord.Member) else await self._servers.member(guild, user_id(person))
        if known is None:
            return Audience(frozenset({person.id}))
        principals = person_principals(known)
        base = channel.parent if isinstance(channel, discord.Thread) else channel
        if isinstance(base, discord.abc.GuildChannel) and may_view(base, known):
            principals |= await self._principals(base)
        return Audience(principals)

    async def reader_of_channel(self, person: Person, thread: ThreadKey) -> Audience | None:
        """Return what one person may see in a conversation's channel, or None if they may not view it now."""
        channel = await self._channel(thread)
        member = await self._servers.member(channel.guild, user_id(person)) if channel is not None else None
        if channel is None or member is None or not may_view(channel, member):
            return None
        return Audience(person_principals(member) | await self._principals(channel))

    async def members_in(self, guild: discord.Guild | None, user_ids: Sequence[int]) -> list[discord.Member]:
        """Return those of these people who are in a server. Raises PlatformUnavailable."""
        found = [await self._servers.member(guild, one) for one in user_ids] if guild is not None else []
        return [one for one in found if one is not None]

    async def audience_of_interaction(self, interaction: "discord.Interaction[Any]") -> Audience:
        """Return the audience of the person who used a command or button, for an ephemeral reply."""
        return await self.audience_in_channel(
            person_of(interaction.user), interaction.guild_id, interaction.channel, interaction.user
        )

    async def audience_in_thread(self, person: Person, thread: ThreadKey) -> Audience:
        """Return the audience of one person in a conversation's channel."""
        channel = await self._channel(thread)
        return await self.audience_in_channel(person, int(thread.space) if thread.space else None, channel)

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return what this person may do in this conversation's server, as of the last half minute."""
        guild = await self._servers.server(int(thread.space)) if thread.space else None
        if guild is None:
            return Permissions(principals=(await self.audience_of_person(person)).principals)
        member = await self._servers.member(guild, user_id(person))
        if member is None:
            return Permissions(principals=frozenset({person.id}))
        channel = await self._channel(thread)
        moderates = channel is not None and is_moderator(channel, member)
        return Permissions(is_admin(member), person_principals(member), is_moderator=moderates)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return the effective settings: the defaults, then the category's, then the channel's."""
        return await self._user_actions.settings.effective_settings(*await self.places(thread))

    async def places(self, thread: ThreadKey) -> tuple[str, ...]:
        """Return the places whose settings apply to this conversation, widest first."""
        channel = await self._channel(thread)
        category = getattr(channel, "category_id", None)
        above = (channel_principal("discord", thread.space, str(category)),) if category else ()
        return (*above, thread.place)

    async def may_call(self, role_id: int, thread: ThreadKey) -> bool:
        """Return whether mentioning this role notifies anybody: it exists, and we may mention it."""
        channel = await self._channel(thread)
        role = channel.guild.get_role(role_id) if channel is not None else None
        if channel is None or role is None:
            return False
        us = await self._servers.bot_member(channel.guild)
        return role.mentionable or (us is not None and channel.permissions_for(us).mention_everyone)

    async def _channel(self, thread: ThreadKey) -> discord.abc.GuildChannel | None:
        """Return a conversation's channel, never a thread, whose readers are its channel's."""
        if not thread.space.isdigit() or not thread.channel.isdigit():
            return None
        return await self._servers.channel(int(thread.space), int(thread.channel))


FetchMember = Callable[[discord.Guild, int], Awaitable[discord.Member | None]]


def is_admin(member: discord.Member | None) -> bool:
    """Return whether a member may administer us: through *Administrator* or *Manage Server*, or as owner."""
    if member is None:
        return False
    allowed = member.guild_permissions
    return allowed.administrator or allowed.manage_guild


def is_moderator(channel: discord.abc.GuildChannel, member: discord.Member) -> bool:
    """Return whether a member may delete messages or close threads in a channel."""
    allowed = channel.permissions_for(member)
    return allowed.manage_messages or allowed.manage_threads


def person_principals(member: discord.Member) -> frozenset[str]:
    """Return a member's principals in one server: themselves, the server, and each of their roles."""
    guild = member.guild.id
    roles = {role_principal(guild, role.id) for role in member.roles if not role.is_default()}
    return frozenset({user_principal(member.id), guild_principal(guild), *roles})


async def channel_principals(channel: discord.abc.GuildChannel, us: int, members: FetchMember) -> frozenset[str]:
    """Return what all readers of a channel have in common: the channel, the server, and possibly one role.

    A role counts if nobody without it may view the channel: @everyone may not, no other role grants access, and every
    person with an individual grant has the role too. Administrators do not count, because they can read everything
    anyway. Our own id ``us`` does not count either, but other bots with access do.
    """
    guild = channel.guild
    shared = {channel_principal("discord", str(guild.id), str(channel.id)), guild_principal(guild.id)}
    doors = [role for role in guild.roles if _lets_in(channel, role) and not _is_ours(role, us)]
    if len(doors) == 1 and not doors[0].is_default() and await _all_named_have(channel, doors[0], us, members):
        shared.add(role_principal(guild.id, doors[0].id))
    return frozenset(shared)


def is_public(channel: discord.abc.GuildChannel) -> bool:
    """Return whether every member of the server may view the channel."""
    return _lets_in(channel, channel.guild.default_role)


def _lets_in(channel: discord.abc.GuildChannel, role: discord.Role) -> bool:
    """Return whether a non-administrator with only this role (and @everyone) may view the channel.

    Checking one role at a time is enough. Combining roles only adds permissions except for denials, and one role's
    allow overrides another's denial. So a member who gets in through several roles gets in through one of them.
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
    """Return whether Discord made this role for us. Nobody else can have it, and we are not a reader."""
    return role.tags is not None and role.tags.bot_id == us


async def _all_named_have(channel: discord.abc.GuildChannel, role: discord.Role, us: int, members: FetchMember) -> bool:
    """Return whether everybody with an individual grant has this role (or may read everything anyway)."""
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
    """Return whether a member may view a channel now."""
    return member is not None and channel.permissions_for(member).view_channel
