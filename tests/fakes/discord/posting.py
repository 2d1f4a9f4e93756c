"""Changes to messages and threads that anybody may make, and telling the gateway about them.

Whether the one who makes them may do so is decided before: by the REST endpoints for the bot, by `people` for persons.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.snowflakes import now
from tests.fakes.discord.world import DM, HAS_THREAD, THREAD_STARTER, Channel, Member, Message

if TYPE_CHECKING:
    from tests.fakes.discord.gateway import Gateway
    from tests.fakes.discord.world import World

Json = dict[str, Any]


class MessageOperations:
    """Publishes, edits and deletes messages; opens, archives and reopens threads."""

    def __init__(self, world: World, gateway: Gateway) -> None:
        self.world = world
        self.gateway = gateway

    async def tell(self, event: str, channel: Channel, data: Json, *, redacted: Json | None = None) -> None:
        """Dispatches what happens in a channel, if the bot may see that channel."""
        if self.world.may(self.world.bot, Permission.VIEW_CHANNEL, channel):
            await self.gateway.dispatch(event, data, redacted=redacted, direct=channel.kind == DM)

    async def _tell_message(self, event: str, message: Message) -> None:
        if message.ephemeral_for is None:
            hidden = message.redacted(reader=self.world.bot, event=True)
            await self.tell(event, message.channel, message.payload(event=True), redacted=hidden)

    async def publish(self, message: Message) -> Message:
        """Puts a message into its channel. A thread that was archived reopens."""
        channel = message.channel
        if channel.is_thread:
            channel.members.setdefault(message.author.id, message.author)
        if channel.archived:
            await self.set_archived(channel, archived=False)
        channel.messages[message.id] = message
        message.remember()
        await self._tell_message("MESSAGE_CREATE", message)
        self.world.changes.notify()
        return message

    async def edited(self, message: Message) -> Message:
        """Tells of an edit that was just made."""
        message.edited_at = now()
        message.remember()
        await self._tell_message("MESSAGE_UPDATE", message)
        self.world.changes.notify()
        return message

    async def delete(self, message: Message) -> None:
        message.deleted = True
        data = {"id": str(message.id), "channel_id": str(message.channel.id)}
        if message.channel.guild_id is not None:
            data["guild_id"] = str(message.channel.guild_id)
        if message.ephemeral_for is None:
            await self.tell("MESSAGE_DELETE", message.channel, data)
        self.world.changes.notify()

    async def delete_together(self, messages: list[Message]) -> None:
        """What a moderator or a bot removes at once: told in one event."""
        channel = messages[0].channel
        for message in messages:
            message.deleted = True
        data = {"ids": [str(message.id) for message in messages], "channel_id": str(channel.id)}
        await self.tell("MESSAGE_DELETE_BULK", channel, data | {"guild_id": str(channel.guild_id)})
        self.world.changes.notify()

    async def react(self, message: Message, member: Member, emoji: str, *, removed: bool = False) -> None:
        fans = message.reactions.setdefault(emoji, [])
        if removed:
            fans.remove(member)
        elif member not in fans:
            fans.append(member)
        data: Json = {
            "user_id": str(member.id),
            "channel_id": str(message.channel.id),
            "message_id": str(message.id),
            "message_author_id": str(message.author.id),
            "emoji": {"id": None, "name": emoji},
            "type": 0,
            "burst": False,
        }
        if message.channel.guild_id is not None:
            data["guild_id"] = str(message.channel.guild_id)
            data |= {} if removed else {"member": member.payload()}
        await self.tell(f"MESSAGE_REACTION_{'REMOVE' if removed else 'ADD'}", message.channel, data)
        self.world.changes.notify()

    async def start_thread(self, message: Message, name: str, owner: Member) -> Channel:
        """A thread on a message takes over its id and opens with a starter that points back to it."""
        thread = self.world.add_thread(message.channel, name, owner, thread_id=message.id)
        message.thread = thread
        message.flags |= HAS_THREAD
        await self.announce_thread(thread)
        await self._tell_message("MESSAGE_UPDATE", message)
        refers_to = {"type": 0, "message_id": str(message.id), "channel_id": str(message.channel.id)}
        starter = Message(self.world.ids.next(), thread, message.author, kind=THREAD_STARTER, reference=message)
        starter.refers_to = refers_to | {"guild_id": str(message.channel.guild_id)}
        await self.publish(starter)
        return thread

    async def announce_thread(self, thread: Channel) -> None:
        await self.tell("THREAD_CREATE", thread, thread.payload() | {"newly_created": True})
        self.world.changes.notify()

    async def set_archived(self, thread: Channel, *, archived: bool) -> None:
        thread.archived = archived
        await self.thread_changed(thread)

    async def delete_thread(self, thread: Channel) -> None:
        """Delete a thread; Discord sends no event for its messages."""
        thread.deleted = True
        data = {"id": str(thread.id), "guild_id": str(thread.guild_id), "type": thread.kind}
        await self.tell("THREAD_DELETE", thread, data | {"parent_id": str(thread.parent.id if thread.parent else 0)})
        self.world.changes.notify()

    async def thread_changed(self, thread: Channel) -> None:
        thread.changed_at = now()
        await self.tell("THREAD_UPDATE", thread, thread.payload())
        self.world.changes.notify()

    async def types(self, channel: Channel, member: Member) -> None:
        channel.typing.append(member)
        data: Json = {"channel_id": str(channel.id), "user_id": str(member.id)}
        data["timestamp"] = int(time.time())
        if channel.guild_id is not None:
            data |= {"guild_id": str(channel.guild_id), "member": member.payload()}
        await self.tell("TYPING_START", channel, data)
        self.world.changes.notify()
