"""REST: messages, their reactions and attachments, threads, forum posts and typing."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tests.fakes.discord import limits, mentions, showing
from tests.fakes.discord.calls import Answer, Call, endpoint
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.refusal import Refusal, missing_access, missing_permissions, unknown
from tests.fakes.discord.world import (
    CATEGORY,
    DM,
    FORUM,
    LAYOUT,
    LOADING,
    REPLY,
    TEXT,
    Attachment,
    Channel,
    Member,
    Message,
)

if TYPE_CHECKING:
    from tests.fakes.discord.server import FakeDiscord

Json = dict[str, Any]

CHANNEL, MESSAGES, MESSAGE = (
    "/channels/{channel_id}",
    "/channels/{channel_id}/messages",
    "/channels/{channel_id}/messages/{message_id}",
)
EDITABLE_FLAGS = (1 << 2) | LAYOUT


def channel_of(discord: FakeDiscord, call: Call, *needed: Permission) -> Channel:
    """The channel of the path, if the bot sees it and holds every permission that is needed."""
    channel = discord.world.channels.get(call.snowflake("channel_id"))
    if channel is None or channel.deleted:
        raise unknown("Channel", 10003)
    require(discord, channel, *needed)
    return channel


def require(discord: FakeDiscord, channel: Channel, *needed: Permission) -> None:
    world = discord.world
    if not world.may(world.bot, Permission.VIEW_CHANNEL, channel):
        raise missing_access()
    if any(not world.may(world.bot, permission, channel) for permission in needed):
        raise missing_permissions()


def message_of(channel: Channel, message_id: int) -> Message:
    """A message as the channel's endpoints know it: ephemeral ones live only under their interaction's token."""
    message = channel.messages.get(message_id)
    if message is None or message.deleted or message.ephemeral_for is not None:
        raise unknown("Message", 10008)
    return message


def numbered(components: list[Json] | None) -> list[Json]:
    """The components as Discord stores them: each with an ``id`` of its own within the message."""
    stored = copy.deepcopy(components or [])
    for number, component in enumerate(showing.walk(stored), start=1):
        component["id"] = component.get("id") or number
    return stored


def attached(
    discord: FakeDiscord, channel: Channel, body: Json, call: Call, *, kept: list[Attachment], private: bool = False
) -> list[Attachment]:
    """The attachments after a request: those of before that it lists (all if it lists none) and its uploads."""
    listed = body.get("attachments")
    names = {int(item["id"]): item.get("filename") for item in listed or ()}
    remaining = kept if listed is None else [attachment for attachment in kept if attachment.id in names]
    return remaining + [
        discord.world.attach(channel, names.get(index) or filename, data, at=discord.url, ephemeral=private)
        for index, (filename, data) in call.files.items()
    ]


def mentionable_text(message: Message) -> str:
    """What may ping: the content, or a layout's text displays, never an embed."""
    return showing.text(message.content, (), message.components)


def ping(discord: FakeDiscord, message: Message, allowed: Json | None) -> None:
    """Works out whom the message mentions, and records whom it notified."""
    reference = message.reference if message.kind == REPLY else None
    found = mentions.mentioned(
        discord.world, mentionable_text(message), allowed, author=message.author, replied_to=reference
    )
    message.mentions, message.mention_roles = found.users, found.roles
    message.mention_everyone = found.everyone
    if message.author is discord.world.bot and message.ephemeral_for is None:
        discord.notified += [mentions.Ping("user", member.name, message) for member in found.users]
        discord.notified += [mentions.Ping("role", role.name, message) for role in found.roles]
        discord.notified += [mentions.Ping("everyone", "everyone", message)] * found.everyone


async def create(
    discord: FakeDiscord, channel: Channel, body: Json, call: Call, *, private: Member | None = None, **more: Any
) -> Message:
    """Checks and publishes a message of the bot. ``more`` are further fields of `Message`."""
    mentions.check(body.get("allowed_mentions"), permitted_roles=discord.permitted_roles)
    flags = (body.get("flags") or 0) | more.pop("flags", 0)
    limits.message(body, flags=flags, files=len(call.files))
    message = Message(more.pop("id", None) or discord.world.ids.next(), channel, discord.world.bot, flags=flags)
    message.content = body.get("content") or ""
    message.embeds = [{"type": "rich"} | embed for embed in body.get("embeds") or ()]
    message.components = numbered(body.get("components"))
    message.attachments = attached(discord, channel, body, call, kept=[], private=private is not None)
    message.ephemeral_for = private
    for name, value in more.items():
        setattr(message, name, value)
    ping(discord, message, body.get("allowed_mentions"))
    return await discord.posting.publish(message)


async def amend(discord: FakeDiscord, message: Message, body: Json, call: Call) -> Message:
    """Checks and makes an edit: what a request leaves out stays as it was."""
    mentions.check(body.get("allowed_mentions"), permitted_roles=discord.permitted_roles)
    after: Json = {"content": message.content, "embeds": message.embeds, "components": message.components}
    after |= {key: body[key] for key in after if key in body}
    flags = message.flags | ((body.get("flags") or 0) & EDITABLE_FLAGS)
    kept = attached(discord, message.channel, body, call, kept=message.attachments)
    limits.message(after, flags=flags, files=len(kept))
    message.content = after["content"] or ""
    message.embeds = [{"type": "rich"} | embed for embed in after["embeds"] or ()]
    message.components = numbered(after["components"])
    message.attachments = kept
    if message.loading:  # the first text of a deferred answer notifies like a new message
        message.flags = flags & ~LOADING
        ping(discord, message, body.get("allowed_mentions"))
    else:
        message.flags = flags
    return await discord.posting.edited(message)


def shown(discord: FakeDiscord, message: Message) -> Json:
    """A message as REST returns it to this application."""
    body = message.payload() if discord.reads_content else message.redacted(reader=discord.world.bot)
    me = discord.world.bot
    body["reactions"] = [
        {
            "emoji": {"id": None, "name": emoji},
            "count": len(fans),
            "count_details": {"burst": 0, "normal": len(fans)},
            "me": me in fans,
            "me_burst": False,
            "burst_colors": [],
        }
        for emoji, fans in message.reactions.items()
        if fans
    ]
    return body


def _needed(channel: Channel, body: Json, call: Call) -> list[Permission]:
    sending = Permission.SEND_MESSAGES_IN_THREADS if channel.is_thread else Permission.SEND_MESSAGES
    needed = [sending]
    needed += [Permission.EMBED_LINKS] if body.get("embeds") else []
    return needed + ([Permission.ATTACH_FILES] if call.files else [])


def _answered(discord: FakeDiscord, channel: Channel, body: Json) -> Json:
    """The fields of a message that is a reply."""
    reference = body.get("message_reference")
    if not reference:
        return {}
    if not discord.world.may(discord.world.bot, Permission.READ_MESSAGE_HISTORY, channel):
        raise Refusal(403, 160002, "Cannot reply without permission to read message history")
    original = channel.messages.get(int(reference["message_id"]))
    if original is None or original.deleted:
        if reference.get("fail_if_not_exists", True):
            errors = {
                "message_reference": {"_errors": [{"code": "REPLIES_UNKNOWN_MESSAGE", "message": "Unknown message"}]}
            }
            raise Refusal(400, 50035, "Invalid Form Body", errors=errors)
        return {}
    refers_to: Json = {"type": 0, "message_id": str(original.id), "channel_id": str(channel.id)}
    if channel.guild_id is not None:
        refers_to["guild_id"] = str(channel.guild_id)
    return {"reference": original, "refers_to": refers_to, "kind": REPLY}


@endpoint("POST", MESSAGES)
async def create_message(discord: FakeDiscord, call: Call) -> Answer:
    channel = channel_of(discord, call)
    if channel.kind in (CATEGORY, FORUM):
        raise Refusal(
            400, 50008, "Cannot send messages in a non-text channel", violation="message to a non-text channel"
        )
    require(discord, channel, *_needed(channel, call.body, call))
    if channel.archived and channel.locked:
        raise Refusal(400, 50083, "Thread is archived")
    nonce = call.body.get("nonce")
    first = discord.nonces.get(str(nonce)) if nonce is not None and call.body.get("enforce_nonce") else None
    if first is not None:
        return 200, shown(discord, first)
    message = await create(discord, channel, call.body, call, nonce=nonce, **_answered(discord, channel, call.body))
    if nonce is not None:
        discord.nonces[str(nonce)] = message
    return 200, shown(discord, message)


@endpoint("PATCH", MESSAGE)
async def edit_message(discord: FakeDiscord, call: Call) -> Answer:
    channel = channel_of(discord, call)
    message = message_of(channel, call.snowflake("message_id"))
    if message.author is not discord.world.bot:
        raise Refusal(
            403, 50005, "Cannot edit a message authored by another user", violation="edited another's message"
        )
    if channel.archived:
        raise Refusal(400, 50083, "Thread is archived")
    return 200, shown(discord, await amend(discord, message, call.body, call))


@endpoint("DELETE", MESSAGE)
async def delete_message(discord: FakeDiscord, call: Call) -> Answer:
    channel = channel_of(discord, call)
    message = message_of(channel, call.snowflake("message_id"))
    if message.author is not discord.world.bot:
        require(discord, channel, Permission.MANAGE_MESSAGES)
    if channel.archived:
        raise Refusal(400, 50083, "Thread is archived")
    await discord.posting.delete(message)
    return 204, None


@endpoint("GET", MESSAGE)
async def get_message(discord: FakeDiscord, call: Call) -> Answer:
    channel = channel_of(discord, call, Permission.READ_MESSAGE_HISTORY)
    return 200, shown(discord, message_of(channel, call.snowflake("message_id")))


@endpoint("GET", MESSAGES)
async def list_messages(discord: FakeDiscord, call: Call) -> Answer:
    """Newest first; ``before``, ``after`` and ``around`` are ids. Without the history permission: none."""
    channel = channel_of(discord, call)
    if not discord.world.may(discord.world.bot, Permission.READ_MESSAGE_HISTORY, channel):
        return 200, []
    limit = int(call.query.get("limit", 50))
    found = [message for message in channel.posts() if message.ephemeral_for is None]
    if "before" in call.query:
        found = [message for message in found if message.id < int(call.query["before"])][-limit:]
    elif "after" in call.query:
        found = [message for message in found if message.id > int(call.query["after"])][:limit]
    elif "around" in call.query:
        middle = int(call.query["around"])
        found = sorted(sorted(found, key=lambda message: abs(message.id - middle))[:limit], key=lambda m: m.id)
    return 200, [shown(discord, message) for message in reversed(found[-limit:])]


@endpoint("POST", "/channels/{channel_id}/typing")
async def type_in_channel(discord: FakeDiscord, call: Call) -> Answer:
    channel = channel_of(discord, call)
    require(discord, channel, _needed(channel, {}, call)[0])
    await discord.posting.types(channel, discord.world.bot)
    return 204, None


REACTION = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji_name}"


@endpoint("PUT", f"{REACTION}/@me")
async def add_reaction(discord: FakeDiscord, call: Call) -> Answer:
    channel = channel_of(discord, call, Permission.READ_MESSAGE_HISTORY, Permission.ADD_REACTIONS)
    if channel.archived:
        raise Refusal(400, 50083, "Thread is archived")
    message = message_of(channel, call.snowflake("message_id"))
    await discord.posting.react(message, discord.world.bot, call.params["emoji_name"])
    return 204, None


@endpoint("DELETE", f"{REACTION}/@me")
async def remove_reaction(discord: FakeDiscord, call: Call) -> Answer:
    message = message_of(channel_of(discord, call), call.snowflake("message_id"))
    emoji, me = call.params["emoji_name"], discord.world.bot
    if me not in message.reactions.get(emoji, ()):
        raise unknown("Emoji", 10014)
    await discord.posting.react(message, me, emoji, removed=True)
    return 204, None


@endpoint("POST", "/channels/{channel_id}/messages/{message_id}/threads")
async def start_thread(discord: FakeDiscord, call: Call) -> Answer:
    channel = channel_of(discord, call)
    message = message_of(channel, call.snowflake("message_id"))
    if channel.kind != TEXT:
        raise Refusal(
            400, 50024, "Cannot execute action on this channel type", violation="a thread outside a text channel"
        )
    require(discord, channel, Permission.CREATE_PUBLIC_THREADS)
    limits.thread_name(call.body["name"])
    if message.thread is not None:
        raise Refusal(400, 160004, "A thread has already been created for this message")
    thread = await discord.posting.start_thread(message, call.body["name"], discord.world.bot)
    thread.auto_archive_minutes = call.body.get("auto_archive_duration") or thread.auto_archive_minutes
    return 201, thread.payload()


@endpoint("POST", "/channels/{channel_id}/threads")
async def start_thread_or_post(discord: FakeDiscord, call: Call) -> Answer:
    """A forum post with its first message, or a thread that hangs on no message."""
    channel = channel_of(discord, call)
    limits.thread_name(call.body["name"])
    world = discord.world
    needed = Permission.SEND_MESSAGES if channel.kind == FORUM else Permission.CREATE_PUBLIC_THREADS
    require(discord, channel, needed)
    thread = world.add_thread(channel, call.body["name"], world.bot)
    if channel.kind != FORUM:
        await discord.posting.announce_thread(thread)
        return 201, thread.payload()
    try:
        await discord.posting.announce_thread(thread)
        message = await create(discord, thread, call.body["message"], call, id=thread.id)
    except Refusal:
        thread.deleted = True
        raise
    return 201, thread.payload() | {"message": shown(discord, message)}


@endpoint("GET", CHANNEL)
async def get_channel(discord: FakeDiscord, call: Call) -> Answer:
    return 200, channel_of(discord, call).payload()


@endpoint("PATCH", CHANNEL)
async def edit_thread(discord: FakeDiscord, call: Call) -> Answer:
    """Name, archive and lock of a thread: its owner, or who manages threads, may change them."""
    thread = channel_of(discord, call)
    if not thread.is_thread:
        raise Refusal(501, 0, "Only threads can be edited here", violation="PATCH of a channel that is no thread")
    if thread.owner_id != discord.world.bot.id or "locked" in call.body:
        require(discord, thread, Permission.MANAGE_THREADS)
    if "name" in call.body:
        limits.thread_name(call.body["name"])
    for name in ("name", "archived", "locked"):
        setattr(thread, name, call.body.get(name, getattr(thread, name)))
    await discord.posting.thread_changed(thread)
    return 200, thread.payload()


@endpoint("PUT", "/channels/{channel_id}/thread-members/@me")
async def join_thread(discord: FakeDiscord, call: Call) -> Answer:
    thread = channel_of(discord, call)
    thread.members.setdefault(discord.world.bot.id, discord.world.bot)
    return 204, None


@endpoint("POST", "/users/@me/channels")
async def open_direct_channel(discord: FakeDiscord, call: Call) -> Answer:
    member = discord.world.members.get(int(call.body["recipient_id"]))
    if member is None:
        raise unknown("User", 10013)
    if member.bot:
        raise Refusal(400, 50007, "Cannot send messages to this user")
    channel = discord.world.direct(member)
    assert channel.kind == DM
    return 200, channel.payload()
