"""Discord's ids: conversation keys, principals of people, roles and servers, and the ids in them."""

import re

import discord

from core.model.conversation import Person, ThreadKey
from core.model.principals import Principal, PrincipalKind

PLATFORM = "discord"
GUILD = "guild"  # the principal kind for everybody in a server
_ROLE = re.compile(r"\d{5,25}")


def person_of(user: discord.abc.User) -> Person:
    """Return someone on Discord, with their qualified id."""
    return Person(user_principal(user.id), user.display_name)


def user_principal(user_id: int | str) -> str:
    """Return a person's principal, which is also their ``Person.id``."""
    return str(Principal(PLATFORM, PrincipalKind.USER, str(user_id)))


def user_id(person: Person) -> int:
    """Return a person's Discord id. Raises ValueError for a person of another platform."""
    principal = Principal.parse(person.id)
    if (principal.platform, principal.kind) != (PLATFORM, PrincipalKind.USER):
        raise ValueError(f"{person.id} is not a Discord user.")
    return int(principal.id)


def guild_principal(guild_id: int | str) -> str:
    """Return the principal of everybody in a server."""
    return str(Principal(PLATFORM, GUILD, str(guild_id)))


def role_principal(guild_id: int | str, role_id: int | str) -> str:
    """Return the principal of everybody with a role."""
    return str(Principal(PLATFORM, PrincipalKind.ROLE, str(role_id), str(guild_id)))


def handoff_role(setting: str) -> int | None:
    """Return the id of the role that *Ask a person* mentions. The setting may be written as a mention."""
    found = _ROLE.search(setting)
    return int(found.group()) if found else None


def direct_key(channel_id: int | str) -> ThreadKey:
    """Return the only conversation of a direct message channel."""
    return ThreadKey(PLATFORM, "", str(channel_id), str(channel_id))


def private_key(guild_id: int | str, channel_id: int | str, person_id: int | str) -> ThreadKey:
    """Return the conversation of one person's private questions in a channel."""
    return ThreadKey(PLATFORM, str(guild_id), str(channel_id), f"private-{person_id}")


def guild_key(guild_id: int | str, channel_id: int | str, thread_id: int | str) -> ThreadKey:
    """Return the key of a channel's thread. A thread started on a message has that message's id."""
    return ThreadKey(PLATFORM, str(guild_id), str(channel_id), str(thread_id))


def key_of(channel: object, guild_id: int | None, message_id: int) -> ThreadKey:
    """Return the conversation that a message in this channel belongs to or would start."""
    if guild_id is None:
        return direct_key(getattr(channel, "id", 0))
    if isinstance(channel, discord.Thread):
        return guild_key(guild_id, channel.parent_id, channel.id)
    return guild_key(guild_id, getattr(channel, "id", 0), message_id)


def base_channel_id(channel: object) -> int:
    """Return the id of the channel whose readers may read here. For a thread, it is its parent."""
    if isinstance(channel, discord.Thread):
        return channel.parent_id
    return int(getattr(channel, "id", 0))
