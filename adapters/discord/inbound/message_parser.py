"""Parser for Discord messages: an incoming message, or None if it is not for us. Makes no requests.

It ignores Discord's own messages, and bots and webhooks that are not allowed. In a thread it passes everything on, and
the message handler decides whether a message continues our conversation. It also passes on what a person says in a
channel without a mention, marked as such.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import discord
from cachetools import LRUCache

from adapters.discord.api.ids import key_of, person_of
from adapters.discord.inbound.message_words import BotIdentity, attachments_of, words_of
from adapters.discord.outbound.answer_records import stamp_of
from core.model.conversation import ThreadKey
from core.model.incoming_events import OUR_MENTION, FileReference, IncomingMessage, ReplyMode, ReplyTarget
from core.model.message_text import GREETING, only_points, plain_question

POSTED_BY_PEOPLE = (discord.MessageType.default, discord.MessageType.reply)  # all others are Discord's own notes


def may_be_for_us(message: discord.Message, allowed_bots: Collection[str] = ()) -> bool:
    """Return whether a person wrote it, or a bot that is allowed by id or name.

    Such a bot may ask in channels only. Threads are for people, or two bots could answer each other forever. A webhook
    counts by its id, because its posts can carry any name.
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
    """Return whether a human being wrote it."""
    return not message.author.bot and message.webhook_id is None


def mentions_us(message: discord.Message, us: BotIdentity) -> bool:
    """Return whether the message mentions us or our role, which people pick as easily."""
    return any(user.id == us.user_id for user in message.mentions) or us.role_id in message.raw_role_mentions


def reply_reference(message: discord.Message) -> int | None:
    """Return the id of the message that this one replies to."""
    if message.type is not discord.MessageType.reply or message.reference is None:
        return None
    return message.reference.message_id


def file_references(message: discord.Message) -> tuple[FileReference, ...]:
    """Return the files of a message and of those that it forwards, by their ids."""
    return tuple(FileReference(str(one.id), one.filename, one.size) for one in attachments_of(message))


def parse_message(
    message: discord.Message,
    us: BotIdentity,
    *,
    continues: ThreadKey | None = None,
    edited: bool = False,
    allowed_bots: Collection[str] = (),
) -> IncomingMessage | None:
    """Parse a message that could be for us.

    ``continues`` is the conversation of the message of ours that it replies to.
    """
    if not may_be_for_us(message, allowed_bots):
        return None
    original = message.reference.resolved if message.reference is not None else None
    to_us = isinstance(original, discord.Message) and original.author.id == us.user_id
    direct = message.guild is None
    named = mentions_us(message, us) or to_us or continues is not None
    threaded = isinstance(message.channel, discord.Thread)
    addressed = named or direct or threaded
    remembered = to_us and (threaded or continues is not None)  # our own message is already part of the conversation
    about = "" if remembered else str(reply_reference(message) or "")
    if not (addressed or is_by_person(message)):
        return None
    return IncomingMessage(
        id=str(message.id),
        thread=continues or _key(message),
        text=_with_title(message, _question(message, us, original)),
        asker=person_of(message.author),
        reply_target=_reply_target(message, in_place=direct or threaded, continues=continues, about=about),
        mentions_us=named,
        direct=direct,
        mentions_others=_mentions_others(message, us, original),
        edited=edited,
        files=file_references(message),
        in_channel=not addressed,
        opens_post=_opens_post(message) and is_by_person(message),
        wording=words_of(message, us, ours=OUR_MENTION) if named else "",
    )


def _opens_post(message: discord.Message) -> bool:
    """Return whether a forum post begins with this message. An unreadable message asks nothing."""
    return message.id == message.channel.id and bool(message.content or message.attachments)


def _with_title(message: discord.Message, text: str) -> str:
    """Return a question with the title of its forum post, because the title is often the question."""
    if not isinstance(message.channel, discord.Thread) or message.id != message.channel.id:
        return text
    return message.channel.name if text in ("", GREETING) else f"{message.channel.name}\n{text}"


def _key(message: discord.Message) -> ThreadKey:
    return key_of(message.channel, message.guild.id if message.guild else None, message.id)


def _reply_target(message: discord.Message, *, in_place: bool, continues: ThreadKey | None, about: str) -> ReplyTarget:
    otherwise = ReplyMode.REPLY if continues is not None else ReplyMode.START
    return ReplyTarget(
        mode=ReplyMode.POST if in_place else otherwise,
        channel=str(message.channel.id),
        message=str(message.id),
        guild=str(message.guild.id) if message.guild else "",
        asker=str(message.author.id),
        about=about,
        edited=stamp_of(message.edited_at),
    )


def _mentions_others(message: discord.Message, us: BotIdentity, original: object) -> bool:
    people = any(user.id != us.user_id for user in message.mentions)
    roles = any(role != us.role_id for role in message.raw_role_mentions)
    answers = isinstance(original, discord.Message) and original.author.id not in (us.user_id, message.author.id)
    return people or roles or answers or message.mention_everyone


def _question(message: discord.Message, us: BotIdentity, original: object) -> str:
    """Return the words without our name. A reply that only refers to another message asks that message's question."""
    text, files = plain_question(words_of(message, us)), attachments_of(message)
    if isinstance(original, discord.Message) and original.author.id != us.user_id:
        names = [user.display_name for user in (*message.mentions, original.author)]
        if only_points(text, names):
            text = plain_question(words_of(original, us))
            files = files or attachments_of(original)
    return text or ("" if files else GREETING)


MOST_TURNS = 3
QUIET_SECONDS = 3_600.0  # after which a bot may ask again if no person writes
CHANNELS_REMEMBERED = 1_000


@dataclass(slots=True)
class _Turns:
    messages: list[int] = field(default_factory=list)
    last: float = 0.0


class BotLoopGuard:
    """Limits how often bots may ask in a row. It counts in this process only, which receives every event.

    ``now`` is a monotonic clock in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._channels: LRUCache[int, _Turns] = LRUCache(CHANNELS_REMEMBERED)

    def person_spoke(self, channel_id: int) -> None:
        """Reset the turns of bots in a channel."""
        self._channels.pop(channel_id, None)

    def may_ask(self, channel_id: int, message_id: int) -> bool:
        """Return whether a bot's message may be answered. An accepted one may come again as an edit."""
        turns = self._channels.setdefault(channel_id, _Turns())
        if self._now() - turns.last > QUIET_SECONDS:
            turns.messages.clear()
        if message_id in turns.messages:
            return True
        if len(turns.messages) >= MOST_TURNS:
            return False
        turns.messages.append(message_id)
        turns.last = self._now()
        return True
