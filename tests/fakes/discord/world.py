"""The server and everybody in it: members, roles, channels, threads, messages, and their JSON.

It keeps state and answers questions about it. Who may change it, and who is told, is left to the REST
endpoints, the people and the gateway.
"""

from __future__ import annotations

import asyncio
import mimetypes
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.fakes.discord import permissions, showing
from tests.fakes.discord.permissions import ORDINARY, Overwrite, Permission
from tests.fakes.discord.snowflakes import Snowflakes, created_at, now

if TYPE_CHECKING:
    from collections.abc import Iterable

Json = dict[str, Any]

TEXT, DM, VOICE, CATEGORY, PUBLIC_THREAD, PRIVATE_THREAD, FORUM = 0, 1, 2, 4, 11, 12, 15
DEFAULT_MESSAGE, THREAD_CREATED, REPLY, CHAT_COMMAND, THREAD_STARTER, MENU_COMMAND = 0, 18, 19, 20, 21, 23
HAS_THREAD, EPHEMERAL, LOADING, HAS_SNAPSHOT, LAYOUT = 1 << 5, 1 << 6, 1 << 7, 1 << 14, 1 << 15
UPLOAD_LIMIT = 10 * 1024 * 1024  # bytes, what a server without boosts allows


@dataclass(eq=False)
class Role:
    id: int
    name: str
    permissions: int = 0
    mentionable: bool = False
    managed: bool = False
    position: int = 1

    def payload(self) -> Json:
        colors = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
        return {
            "id": str(self.id),
            "name": self.name,
            "permissions": str(int(self.permissions)),
            "position": self.position,
            "color": 0,
            "colors": colors,
            "hoist": False,
            "managed": self.managed,
            "mentionable": self.mentionable,
            "flags": 0,
        }


@dataclass(eq=False)
class Member:
    """A user, and their membership of the one server there is."""

    id: int
    name: str
    bot: bool = False
    roles: list[Role] = field(default_factory=list)

    @property
    def mention(self) -> str:
        return f"<@{self.id}>"

    def user(self) -> Json:
        return {
            "id": str(self.id),
            "username": self.name,
            "global_name": None if self.bot else self.name.title(),
            "discriminator": "0000" if self.bot else "0",
            "avatar": None,
            "bot": self.bot,
            "public_flags": 0,
        }

    def membership(self) -> Json:
        """The member without the user, as it accompanies messages."""
        return {
            "roles": [str(role.id) for role in self.roles],
            "nick": None,
            "avatar": None,
            "joined_at": created_at(self.id),
            "deaf": False,
            "mute": False,
            "pending": False,
            "flags": 0,
            "premium_since": None,
            "communication_disabled_until": None,
        }

    def payload(self) -> Json:
        return {**self.membership(), "user": self.user()}


@dataclass(frozen=True)
class Attachment:
    id: int
    filename: str
    data: bytes
    url: str
    ephemeral: bool = False

    def payload(self) -> Json:
        content_type = mimetypes.guess_type(self.filename)[0] or "application/octet-stream"
        return {
            "id": str(self.id),
            "filename": self.filename,
            "size": len(self.data),
            "url": self.url,
            "proxy_url": self.url,
            "content_type": content_type,
            "ephemeral": self.ephemeral,
        }


@dataclass(eq=False)
class Channel:
    """A text or voice channel, category, forum, direct message or thread."""

    id: int
    kind: int
    name: str
    guild_id: int | None
    parent: Channel | None = None
    overwrites: dict[int, Overwrite] = field(default_factory=dict)
    recipients: list[Member] = field(default_factory=list)
    position: int = 0
    owner_id: int | None = None
    members: dict[int, Member] = field(default_factory=dict)
    archived: bool = False
    locked: bool = False
    auto_archive_minutes: int = 1440
    changed_at: str = field(default_factory=now)
    messages: dict[int, Message] = field(default_factory=dict)
    typing: list[Member] = field(default_factory=list)
    deleted: bool = False

    @property
    def is_thread(self) -> bool:
        return self.kind in {PUBLIC_THREAD, PRIVATE_THREAD}

    @property
    def mention(self) -> str:
        return f"<#{self.id}>"

    def posts(self) -> list[Message]:
        """What is still there, oldest first, ephemeral messages included."""
        return [message for message in self.messages.values() if not message.deleted]

    def payload(self) -> Json:
        if self.kind == DM:
            return self._direct()
        body: Json = {
            "id": str(self.id),
            "type": self.kind,
            "name": self.name,
            "guild_id": str(self.guild_id),
            "parent_id": str(self.parent.id) if self.parent else None,
            "flags": 0,
            "last_message_id": str(max(self.messages)) if self.messages else None,
            "rate_limit_per_user": 0,
        }
        return body | (self._thread() if self.is_thread else self._guild_channel())

    def _direct(self) -> Json:
        recipients = [member.user() for member in self.recipients]
        return {"id": str(self.id), "type": DM, "recipients": recipients, "last_message_id": None, "flags": 0}

    def _guild_channel(self) -> Json:
        of_voice: Json = {"bitrate": 64_000, "user_limit": 0} if self.kind == VOICE else {}
        return of_voice | {
            "position": self.position,
            "permission_overwrites": [overwrite.payload() for overwrite in self.overwrites.values()],
            "nsfw": False,
            "topic": None,
            "available_tags": [],
            "default_auto_archive_duration": 1440,
        }

    def _thread(self) -> Json:
        return {
            "owner_id": str(self.owner_id),
            "message_count": len(self.messages),
            "total_message_sent": len(self.messages),
            "member_count": len(self.members),
            "applied_tags": [],
            "thread_metadata": {
                "archived": self.archived,
                "locked": self.locked,
                "auto_archive_duration": self.auto_archive_minutes,
                "archive_timestamp": self.changed_at,
                "create_timestamp": created_at(self.id),
            },
        }


@dataclass(eq=False)
class Message:
    """A message, everything it ever showed, and who pinged whom with it."""

    id: int
    channel: Channel
    author: Member
    content: str = ""
    embeds: list[Json] = field(default_factory=list)
    components: list[Json] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    flags: int = 0
    kind: int = DEFAULT_MESSAGE
    reference: Message | None = None
    refers_to: Json | None = None
    nonce: str | int | None = None
    mentions: list[Member] = field(default_factory=list)
    mention_roles: list[Role] = field(default_factory=list)
    mention_everyone: bool = False
    reactions: dict[str, list[Member]] = field(default_factory=dict)
    forwarded: Message | None = None
    thread: Channel | None = None
    ephemeral_for: Member | None = None
    interaction_metadata: Json | None = None
    application_id: int | None = None
    edited_at: str | None = None
    deleted: bool = False
    history: list[showing.Sight] = field(default_factory=list)
    changed: float = 0.0  # when it last did, by the monotonic clock

    @property
    def text(self) -> str:
        if self.kind == THREAD_STARTER and self.reference is not None:
            return self.reference.text
        return showing.text(self.content, self.embeds, self.components)

    @property
    def loading(self) -> bool:
        """It says "… is thinking" and nothing else yet."""
        return bool(self.flags & LOADING)

    @property
    def url(self) -> str:
        return f"https://discord.com/channels/{self.channel.guild_id or '@me'}/{self.channel.id}/{self.id}"

    def controls(self) -> tuple[showing.Control, ...]:
        return showing.controls(self.components)

    def buttons(self) -> list[str]:
        """The labels of its buttons, left to right, top to bottom."""
        return [control.label for control in self.controls() if control.kind == showing.BUTTON]

    def control(self, wanted: str) -> showing.Control:
        """The control with this label or custom_id. Raises LookupError when nobody could find it."""
        for control in self.controls():
            if control.answers_to(wanted):
                return control
        raise LookupError(f"no control {wanted!r}; there are {[c.label for c in self.controls()]}")

    def sight_with(self, wanted: str) -> showing.Sight:
        """The latest state in which this control was there to press. Raises LookupError when it never was."""
        for sight in reversed(self.history):
            if any(control.answers_to(wanted) and not control.disabled for control in sight.controls):
                return sight
        raise LookupError(f"there never was a control {wanted!r}")

    def remember(self) -> None:
        state = (tuple(self.embeds), tuple(self.components), self.flags)
        self.history.append(showing.Sight(self.text, self.controls(), self.content, *state))
        self.changed = time.monotonic()

    def visible_to(self, member: Member | None) -> bool:
        return not self.deleted and self.ephemeral_for in (None, member)

    def payload(self, *, event: bool = False, nested: bool = False) -> Json:
        """The message's JSON; ``event`` adds what only the gateway sends along."""
        body = self._written() | self._mentioned()
        body |= self._lineage(nested=nested)
        if self.forwarded is not None:
            body["message_snapshots"] = [{"message": self.forwarded.snapshot()}]
        if self.thread is not None:
            body["thread"] = self.thread.payload()
        if self.nonce is not None:
            body["nonce"] = self.nonce
        if self.application_id is not None:
            body |= {"application_id": str(self.application_id), "webhook_id": str(self.application_id)}
        if self.interaction_metadata is not None:
            body["interaction_metadata"] = self.interaction_metadata
        if event and self.channel.guild_id is not None:
            body |= {"guild_id": str(self.channel.guild_id), "member": self.author.membership()}
        if event:
            body["channel_type"] = self.channel.kind
        return body

    def snapshot(self) -> Json:
        """What a message that forwards this one carries of it: its words and files, and not who wrote it."""
        kept = ("content", "embeds", "components", "attachments", "timestamp", "edited_timestamp", "flags", "type")
        mentions: Json = {"mentions": [], "mention_roles": []}
        return {name: self._written()[name] for name in kept} | mentions

    def _written(self) -> Json:
        return {
            "id": str(self.id),
            "channel_id": str(self.channel.id),
            "author": self.author.user(),
            "content": self.content,
            "embeds": self.embeds,
            "components": self.components,
            "attachments": [attachment.payload() for attachment in self.attachments],
            "timestamp": created_at(self.id),
            "edited_timestamp": self.edited_at,
            "flags": self.flags,
            "type": self.kind,
            "tts": False,
            "pinned": False,
        }

    def _mentioned(self) -> Json:
        users = [member.user() | {"member": member.membership()} for member in self.mentions]
        return {
            "mentions": users,
            "mention_roles": [str(role.id) for role in self.mention_roles],
            "mention_everyone": self.mention_everyone,
        }

    def _lineage(self, *, nested: bool) -> Json:
        body: Json = {}
        if self.refers_to is not None:
            body["message_reference"] = self.refers_to
            gone = self.reference is None or self.reference.deleted
            if not nested:
                original = self.reference
                body["referenced_message"] = None if gone or original is None else original.payload(nested=True)
        return body

    def redacted(self, *, reader: Member, event: bool = False) -> Json:
        """What an application without the message content intent is given instead."""
        body = self.payload(event=event)
        if self.channel.kind != DM and self.author is not reader and reader not in self.mentions:
            body |= {"content": "", "embeds": [], "components": [], "attachments": []}
            body.pop("message_snapshots", None)
            body.pop("referenced_message", None)
        return body


class Changes:
    """Wakes whoever waits for something to happen in the world."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, timeout: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), timeout)
        except TimeoutError:
            return


class World:
    """One server, its members and channels, and everybody's direct messages."""

    def __init__(self, *, bot_name: str, bot_permissions: int) -> None:
        self.ids = Snowflakes()
        self.changes = Changes()
        self.guild_id = self.ids.next()
        self.guild_name = "Acme"
        self.everyone = Role(self.guild_id, "@everyone", int(ORDINARY), position=0)
        self.roles: dict[int, Role] = {self.guild_id: self.everyone}
        self.members: dict[int, Member] = {}
        self.channels: dict[int, Channel] = {}
        self.attachments: dict[int, Attachment] = {}
        self.owner = self.add_member("owner")
        bot_role = self.add_role(bot_name, permissions=bot_permissions)
        bot_role.managed = True
        self.bot = self.add_member(bot_name, bot=True, roles=[bot_role])
        self.application_id = self.bot.id

    def add_role(self, name: str, *, permissions: int = 0, mentionable: bool = False) -> Role:
        role = Role(self.ids.next(), name, permissions, mentionable, position=len(self.roles))
        self.roles[role.id] = role
        return role

    def add_member(self, name: str, *, bot: bool = False, roles: Iterable[Role] = ()) -> Member:
        member = Member(self.ids.next(), name, bot, list(roles))
        self.members[member.id] = member
        return member

    def add_channel(self, kind: int, name: str, *, parent: Channel | None = None) -> Channel:
        channel = Channel(self.ids.next(), kind, name, self.guild_id, parent, position=len(self.channels))
        if parent is not None:
            inherited = parent.overwrites.values()
            channel.overwrites = {o.id: Overwrite(o.id, o.of_member, o.allow, o.deny) for o in inherited}
        self.channels[channel.id] = channel
        return channel

    def direct(self, member: Member) -> Channel:
        """The channel between the bot and one person, made when first needed."""
        for channel in self.channels.values():
            if channel.kind == DM and channel.recipients == [member]:
                return channel
        channel = Channel(self.ids.next(), DM, member.name, None, recipients=[member])
        self.channels[channel.id] = channel
        return channel

    def add_thread(self, parent: Channel, name: str, owner: Member, *, thread_id: int | None = None) -> Channel:
        thread = Channel(thread_id or self.ids.next(), PUBLIC_THREAD, name, self.guild_id, parent)
        thread.owner_id = owner.id
        thread.members[owner.id] = owner
        self.channels[thread.id] = thread
        return thread

    def attach(self, channel: Channel, filename: str, data: bytes, *, at: str, ephemeral: bool = False) -> Attachment:
        attachment_id = self.ids.next()
        url = f"{at}/attachments/{channel.id}/{attachment_id}/{filename}"
        attachment = Attachment(attachment_id, filename, data, url, ephemeral)
        self.attachments[attachment_id] = attachment
        return attachment

    def role_named(self, name: str) -> Role | None:
        return next((role for role in self.roles.values() if role.name == name), None)

    def member_named(self, name: str) -> Member | None:
        return next((member for member in self.members.values() if member.name == name), None)

    def channel_named(self, name: str) -> Channel:
        wanted = name.removeprefix("#")
        for channel in self.channels.values():
            if channel.name == wanted and channel.kind != DM and not channel.deleted:
                return channel
        raise LookupError(f"there is no channel {wanted!r}")

    def threads(self) -> list[Channel]:
        return [c for c in self.channels.values() if c.is_thread and not c.archived and not c.deleted]

    def guild_channels(self) -> list[Channel]:
        return [c for c in self.channels.values() if c.guild_id and not c.is_thread and not c.deleted]

    def permissions(self, member: Member, channel: Channel | None = None) -> int:
        """What a member may do, in the server or in one channel (a thread follows its parent)."""
        if member is self.owner:
            return permissions.EVERYTHING
        base = self.everyone.permissions
        for role in member.roles:
            base |= role.permissions
        if channel is None:
            return permissions.EVERYTHING if base & Permission.ADMINISTRATOR else base
        if channel.kind == DM:
            return int(ORDINARY) if member in (self.bot, *channel.recipients) else 0
        place = channel.parent if channel.is_thread and channel.parent else channel
        roles = [role.id for role in member.roles]
        return permissions.resolve(base, member.id, roles, self.guild_id, place.overwrites)

    def may(self, member: Member, permission: Permission, channel: Channel | None = None) -> bool:
        return bool(self.permissions(member, channel) & permission)

    def guild_payload(self) -> Json:
        """The guild as REST shows it, without channels and members."""
        return {
            "id": str(self.guild_id),
            "name": self.guild_name,
            "owner_id": str(self.owner.id),
            "roles": [role.payload() for role in self.roles.values()],
            "emojis": [],
            "stickers": [],
            "features": [],
            "icon": None,
            "splash": None,
            "banner": None,
            "description": None,
            "verification_level": 1,
            "default_message_notifications": 1,
            "explicit_content_filter": 0,
            "mfa_level": 0,
            "nsfw_level": 0,
            "premium_tier": 0,
            "preferred_locale": "en-US",
            "afk_timeout": 300,
            "system_channel_id": None,
            "system_channel_flags": 0,
        }

    def guild_create(self) -> Json:
        """The guild as the gateway introduces it: every channel, the active threads, only the bot itself."""
        return self.guild_payload() | {
            "unavailable": False,
            "large": False,
            "member_count": len(self.members),
            "joined_at": created_at(self.bot.id),
            "channels": [channel.payload() for channel in self.guild_channels()],
            "threads": [t.payload() for t in self.threads() if self.may(self.bot, Permission.VIEW_CHANNEL, t)],
            "members": [self.bot.payload()],
            "presences": [],
            "voice_states": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }
