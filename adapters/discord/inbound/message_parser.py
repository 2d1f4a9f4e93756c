"""What a Discord message is to us: nothing, or something said where we may answer. Asks Discord nothing.

Other bots and webhooks, but for those that are allowed, and Discord's own messages are nothing. In a thread everything
is passed on, and whether it goes on with our conversation is the message handler's to decide; so is what a person says
in a channel without naming us, marked as such.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

import discord

from adapters.discord.api.ids import key_of, person_of
from adapters.discord.outbound.edit_versions import stamp_of
from adapters.discord.outbound.layouts import message_text, said_in
from core.model.conversation import ThreadKey
from core.model.incoming_events import OUR_MENTION, FileReference, IncomingMessage
from core.model.reply_target import ReplyMode, ReplyTarget

POSTED_BY_PEOPLE = (discord.MessageType.default, discord.MessageType.reply)  # all others are Discord's own notes
GREETING = "Hello"  # what a mention without a word asks


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who we are: our user's id, and the role that Discord made for us in this server."""

    user_id: int
    role_id: int | None = None


def bot_identity(user_id: int, guild: discord.Guild | None) -> BotIdentity:
    """Who we are in this server."""
    role = guild.self_role if guild is not None else None
    return BotIdentity(user_id, role.id if role is not None else None)


def may_be_for_us(message: discord.Message, allowed_bots: Collection[str] = ()) -> bool:
    """Whether a person said it, or a bot that is allowed by id or name.

    Such a bot is heard in a channel alone: threads are for people, or two bots would never end. A webhook counts by its
    id, since whoever posts through it can call themselves anything.
    """
    if message.type not in POSTED_BY_PEOPLE:
        return False
    if is_by_person(message):
        return True
    names = {str(message.author.id)}
    if message.webhook_id is None:
        names.add(message.author.name.casefold())
    return bool(names & set(allowed_bots)) and not isinstance(message.channel, discord.Thread)


def is_by_person(message: discord.Message) -> bool:
    """Whether a human being wrote it."""
    return not message.author.bot and message.webhook_id is None


def mentions_us(message: discord.Message, us: BotIdentity) -> bool:
    """Whether it names us, or our role, which people pick as easily."""
    return any(user.id == us.user_id for user in message.mentions) or us.role_id in message.raw_role_mentions


def reply_reference(message: discord.Message) -> int | None:
    """The id of the message that this one replies to."""
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    return message.reference.message_id


def attachments_of(message: discord.Message) -> list[discord.Attachment]:
    """The files that hang on a message, and on those that it forwards."""
    return [file for one in said_in(message) for file in one.attachments]


def file_references(message: discord.Message) -> tuple[FileReference, ...]:
    """The same, by their ids."""
    return tuple(FileReference(str(one.id), one.filename, one.size) for one in attachments_of(message))


def parse_message(
    message: discord.Message,
    us: BotIdentity,
    *,
    continues: ThreadKey | None = None,
    edited: bool = False,
    allowed_bots: Collection[str] = (),
) -> IncomingMessage | None:
    """The message, if it could be for us. ``continues``: the conversation of the message of ours that it replies to."""
    if not may_be_for_us(message, allowed_bots):
        return None
    original = message.reference.resolved if message.reference is not None else None
    to_us = isinstance(original, discord.Message) and original.author.id == us.user_id
    direct = message.guild is None
    named = mentions_us(message, us) or to_us or continues is not None
    threaded = isinstance(message.channel, discord.Thread)
    addressed = named or direct or threaded
    if not (addressed or is_by_person(message)):
        return None
    return IncomingMessage(
        id=str(message.id),
        thread=continues or _key(message),
        text=_with_title(message, _question(message, us, original)),
        asker=person_of(message.author),
        reply_target=_reply_target(message, in_place=direct or threaded, continues=continues),
        mentions_us=named,
        direct=direct,
        mentions_others=_mentions_others(message, us, original),
        edited=edited,
        files=file_references(message),
        in_channel=not addressed,
        opens_post=_opens_post(message) and is_by_person(message),
        wording=readable_text(message, us, OUR_MENTION) if mentions_us(message, us) else "",
    )


def _opens_post(message: discord.Message) -> bool:
    """Whether a forum's post begins with it: it has its id. Where we may not read it, nobody knows what it asks."""
    return message.id == message.channel.id and bool(message.content or message.attachments)


def _with_title(message: discord.Message, text: str) -> str:
    """A question with the title of the post that begins with it: often that is where it is asked."""
    if not isinstance(message.channel, discord.Thread) or message.id != message.channel.id:
        return text
    return message.channel.name if text in ("", GREETING) else f"{message.channel.name}\n{text}"


def _key(message: discord.Message) -> ThreadKey:
    return key_of(message.channel, message.guild.id if message.guild else None, message.id)


def _reply_target(message: discord.Message, *, in_place: bool, continues: ThreadKey | None) -> ReplyTarget:
    otherwise = ReplyMode.REPLY if continues is not None else ReplyMode.START
    return ReplyTarget(
        mode=ReplyMode.POST if in_place else otherwise,
        channel=str(message.channel.id),
        message=str(message.id),
        guild=str(message.guild.id) if message.guild else "",
        asker=str(message.author.id),
        about=str(reply_reference(message) or ""),
        edited=stamp_of(message.edited_at),
    )


def _mentions_others(message: discord.Message, us: BotIdentity, original: object) -> bool:
    people = any(user.id != us.user_id for user in message.mentions)
    roles = any(role != us.role_id for role in message.raw_role_mentions)
    answers = isinstance(original, discord.Message) and original.author.id not in (us.user_id, message.author.id)
    return people or roles or answers or message.mention_everyone


def _question(message: discord.Message, us: BotIdentity, original: object) -> str:
    """What was said, without naming us; a bare mention in reply to something asks that."""
    text = readable_text(message, us)
    if not text and isinstance(original, discord.Message) and original.author.id != us.user_id:
        text = readable_text(original, us)
    return text or ("" if attachments_of(message) else GREETING)


def _name(user: discord.abc.User) -> str:
    return f"@{user.display_name}".replace("\\", "")


def readable_text(message: discord.Message, us: BotIdentity, ours: str = " ") -> str:
    """A message's words as people see them: names where the raw text has ids, and ``ours`` where it mentions us."""
    text = message_text(message)
    mention = rf"<@!?{us.user_id}>" + (rf"|<@&{us.role_id}>" if us.role_id else "")
    text = re.sub(mention, ours, text)
    for user in message.mentions:
        text = re.sub(rf"<@!?{user.id}>", _name(user), text)
    for role in message.role_mentions:
        text = text.replace(f"<@&{role.id}>", f"@{role.name}")
    for channel in message.channel_mentions:
        text = text.replace(f"<#{channel.id}>", f"#{channel.name}")
    return re.sub(r"[ \t]{2,}", " ", text).strip()
