"""Who reads where, and what applies there: the questions that a place raises, answered from Discord and the settings.

The rules of who reads a channel are ``permissions``; this finds the channels and people they are about.
"""

from collections.abc import Callable, Sequence
from typing import Any

import discord

from adapters.discord.api.ids import person_of, user_id
from adapters.discord.api.permissions import (
    Members,
    channel_principals,
    is_admin,
    is_moderator,
    is_public,
    may_view,
    person_principals,
)
from adapters.discord.api.servers import Servers
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, Person, ThreadKey
from core.model.incoming_events import Permissions
from core.model.principals import channel_principal
from core.service.actions.user_actions import UserActions


class ChannelAccess:
    """Audiences, rights and settings, looked up anew each time; members are remembered for half a minute."""

    def __init__(self, client: Callable[[], discord.Client], servers: Servers, user_actions: UserActions) -> None:
        self._client = client
        self._servers = servers
        self._user_actions = user_actions
        self.members = Members()

    async def audience_of_channel(self, thread: ThreadKey) -> Audience:
        """Everybody who may view a conversation's channel: what they all share. Nothing when that cannot be told."""
        channel = await self._channel(thread)
        if channel is None:
            return Audience()
        return Audience(await self._principals(channel), public=is_public(channel))

    async def _principals(self, channel: discord.abc.GuildChannel) -> frozenset[str]:
        us = self._client().user
        return await channel_principals(channel, us.id if us is not None else 0, self.members.get)

    async def audience_of_person(self, person: Person) -> Audience:
        """One person by themselves, as in a direct message: what they have in every server that we share."""
        found: set[str] = {person.id}
        for guild in await self._servers.servers():
            member = await self.members.get(guild, user_id(person))
            if member is not None:
                found |= person_principals(member)
        return Audience(frozenset(found))

    async def audience_in_channel(
        self, person: Person, guild_id: int | None, channel: object, user: discord.abc.User | None = None
    ) -> Audience:
        """One person in a place, for their own eyes: what they have, and what the channel has if they may view it."""
        guild = await self._servers.server(guild_id) if guild_id is not None else None
        if guild is None:
            return await self.audience_of_person(person)
        known = user if isinstance(user, discord.Member) else await self.members.get(guild, user_id(person))
        if known is None:
            return Audience(frozenset({person.id}))
        principals = person_principals(known)
        base = channel.parent if isinstance(channel, discord.Thread) else channel
        if isinstance(base, discord.abc.GuildChannel) and may_view(base, known):
            principals |= await self._principals(base)
        return Audience(principals)

    async def members_in(self, guild: discord.Guild | None, user_ids: Sequence[int]) -> list[discord.Member]:
        """Those of these people who are in a server. Raises PlatformUnavailable."""
        found = [await self.members.get(guild, one) for one in user_ids] if guild is not None else []
        return [one for one in found if one is not None]

    async def audience_of_interaction(self, interaction: "discord.Interaction[Any]") -> Audience:
        """Whoever uses a command or a button, for their own eyes, there."""
        return await self.audience_in_channel(
            person_of(interaction.user), interaction.guild_id, interaction.channel, interaction.user
        )

    async def audience_in_thread(self, person: Person, thread: ThreadKey) -> Audience:
        """The same, for a conversation."""
        channel = await self._channel(thread)
        return await self.audience_in_channel(person, int(thread.space) if thread.space else None, channel)

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """What this person may do in this conversation's server, as of the last half minute."""
        guild = await self._servers.server(int(thread.space)) if thread.space else None
        if guild is None:
            return Permissions(principals=(await self.audience_of_person(person)).principals)
        member = await self.members.get(guild, user_id(person))
        if member is None:
            return Permissions(principals=frozenset({person.id}))
        channel = await self._channel(thread)
        moderates = channel is not None and is_moderator(channel, member)
        return Permissions(is_admin(member), person_principals(member), is_moderator=moderates)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """What applies: the defaults, what was chosen for the category, then for the channel."""
        return await self._user_actions.settings.effective_settings(*await self.places(thread))

    async def places(self, thread: ThreadKey) -> tuple[str, ...]:
        """The ids under which settings may have been chosen that concern this conversation, the widest first."""
        channel = await self._channel(thread)
        category = getattr(channel, "category_id", None)
        above = (channel_principal("discord", thread.space, str(category)),) if category else ()
        return (*above, thread.place)

    async def may_call(self, role_id: int, thread: ThreadKey) -> bool:
        """Whether mentioning this role in a conversation notifies anybody: it is there, and may be mentioned by us."""
        channel = await self._channel(thread)
        role = channel.guild.get_role(role_id) if channel is not None else None
        if channel is None or role is None:
            return False
        us = await self._servers.bot_member(channel.guild)
        return role.mentionable or (us is not None and channel.permissions_for(us).mention_everyone)

    async def _channel(self, thread: ThreadKey) -> discord.abc.GuildChannel | None:
        """The channel of a conversation: never a thread, whose readers are those of its channel."""
        if not thread.space.isdigit() or not thread.channel.isdigit():
            return None
        return await self._servers.channel(int(thread.space), int(thread.channel))
