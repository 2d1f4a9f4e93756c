"""Where things are on Discord: keys of conversations, ids of people and places, and the way back to a message.

An ``ReplyTarget`` is what an incoming message carries through the inbox, so that whichever worker answers finds the
place again: in a thread that it may still have to start, as a reply, or in answer to an interaction.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Self

import discord

from core.model.conversation import Person, ThreadKey

PLATFORM = "discord"
TOKEN_SECONDS = 14 * 60.0  # of the 15 minutes for which an interaction's token is good


class ReplyMode(StrEnum):
    """How an answer comes to stand where it stands."""

    START = "start"  # in a thread that is started on the question
    POST = "post"  # in the channel itself: a thread, a forum post, a direct message
    REPLY = "reply"  # in the channel, referring to the question
    RESPONSE = "response"  # as the answer to an interaction, for all to see
    PRIVATE = "private"  # the same, for one person's eyes
    DIRECT = "direct"  # in a direct message, although it was asked elsewhere


@dataclass(frozen=True, slots=True)
class ReplyTarget:
    """``channel`` is where the question stands; ``response`` and ``token`` are an interaction's."""

    manner: ReplyMode
    channel: str
    message: str = ""
    guild: str = ""
    asker: str = ""
    token: str = ""
    response: str = ""
    about: str = ""  # the message that the question refers to
    edited: str = ""  # when the question was edited to read as it does, in seconds since the epoch
    file: str = ""  # the address of a file that came with a command, and so hangs on no message

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Self:
        """From an incoming message's ``address``. Raises ValueError when it is none of ours."""
        known = {name: values.get(name, "") for name in cls.__slots__}
        return cls(**{**known, "manner": ReplyMode(known["manner"])})  # type: ignore[arg-type]

    def to_mapping(self) -> dict[str, str]:
        """As an incoming message carries it."""
        return {name: str(value) for name, value in asdict(self).items() if value}


def person_of(user: discord.abc.User) -> Person:
    """Someone on Discord, under their qualified id."""
    return Person(user_principal(user.id), user.display_name)


def user_principal(user_id: int | str) -> str:
    """A person as grants name them, and as ``Person.id``."""
    return f"{PLATFORM}:user:{user_id}"


def user_id(person: Person) -> int:
    """Discord's own id of a person. Raises ValueError for someone of another platform."""
    kind, _, number = person.id.rpartition(":")
    if kind != f"{PLATFORM}:user":
        raise ValueError(f"{person.id} is nobody on Discord.")
    return int(number)


def guild_principal(guild_id: int | str) -> str:
    """The principal that everybody in a server holds."""
    return f"{PLATFORM}:guild:{guild_id}"


def role_principal(guild_id: int | str, role_id: int | str) -> str:
    """Everybody who has a role."""
    return f"{PLATFORM}:role:{guild_id}/{role_id}"


def direct_key(channel_id: int | str) -> ThreadKey:
    """The one conversation of a direct message channel."""
    return ThreadKey(PLATFORM, "", str(channel_id), str(channel_id))


def private_key(guild_id: int | str, channel_id: int | str, person_id: int | str) -> ThreadKey:
    """What one person asks in a channel for their own eyes: a conversation of its own, which nobody else shares."""
    return ThreadKey(PLATFORM, str(guild_id), str(channel_id), f"private-{person_id}")


def guild_key(guild_id: int | str, channel_id: int | str, thread_id: int | str) -> ThreadKey:
    """A thread of a channel. One that is started on a message has that message's id."""
    return ThreadKey(PLATFORM, str(guild_id), str(channel_id), str(thread_id))


def key_of(channel: object, guild_id: int | None, message_id: int) -> ThreadKey:
    """The conversation that a message in this channel belongs to, or would begin."""
    if guild_id is None:
        return direct_key(getattr(channel, "id", 0))
    if isinstance(channel, discord.Thread):
        return guild_key(guild_id, channel.parent_id, channel.id)
    return guild_key(guild_id, getattr(channel, "id", 0), message_id)


def base_channel_id(channel: object) -> int:
    """The channel whose members may read here: a thread's is its parent."""
    if isinstance(channel, discord.Thread):
        return channel.parent_id
    return int(getattr(channel, "id", 0))
