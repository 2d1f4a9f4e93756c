"""What was said before us: the earlier messages of a thread we are pulled into, or what a question replies to."""

from collections.abc import Iterable

import discord
import structlog

from adapters.discord.api.errors import api_call
from adapters.discord.api.servers import Servers
from adapters.discord.inbound.message_parser import POSTED_BY_PEOPLE, BotIdentity, bot_identity, readable_text
from adapters.discord.outbound.text import clip
from core.model.conversation import ContextMessage, Role
from core.model.errors import FootnoteError
from core.model.incoming_events import IncomingMessage
from core.model.reply_target import ReplyMode

MOST_MESSAGES = 50
LONGEST = 2_000  # characters of one message
LONGEST_TOGETHER = 20_000

log = structlog.get_logger(__name__)


async def read_thread_context(
    client: discord.Client, servers: Servers, message: IncomingMessage
) -> tuple[ContextMessage, ...]:
    """At most 50 messages, oldest first, by the names their authors have here; nothing where we may not look."""
    target = message.reply_target
    guild = await servers.server(int(target.guild)) if target.guild else None
    us = bot_identity(client.user.id if client.user else 0, guild)
    channel = client.get_partial_messageable(int(target.channel), guild_id=guild.id if guild else None)
    found: list[discord.Message] = []
    try:
        async with api_call("read what was said before", 20):
            if target.mode is ReplyMode.POST and target.guild and target.message:
                before = discord.Object(int(target.message))
                found = [one async for one in channel.history(limit=MOST_MESSAGES, before=before)][::-1]
            elif target.about:
                found = [await channel.fetch_message(int(target.about))]
    except FootnoteError as error:
        log.info("no_context", reason=str(error))
    return _newest_that_fit(_context_lines(found, us))


def _context_lines(messages: Iterable[discord.Message], us: BotIdentity) -> list[ContextMessage]:
    lines: list[ContextMessage] = []
    for message in messages:
        shown = _opening_message(message)
        text = clip(readable_text(shown, us), LONGEST) if shown is not None else ""
        if shown is not None and text:
            role = Role.ASSISTANT if shown.author.id == us.user_id else Role.PERSON
            lines.append(ContextMessage(shown.author.display_name, text, role))
    return lines


def _opening_message(message: discord.Message) -> discord.Message | None:
    """The message itself; for the note with which a thread begins, the message that it was started on."""
    if message.type is discord.MessageType.thread_starter_message and message.reference is not None:
        original = message.reference.resolved
        return original if isinstance(original, discord.Message) else None
    return message if message.type in POSTED_BY_PEOPLE else None


def _newest_that_fit(lines: list[ContextMessage]) -> tuple[ContextMessage, ...]:
    """The newest that fit together."""
    kept: list[ContextMessage] = []
    left = LONGEST_TOGETHER
    for line in reversed(lines):
        left -= len(line.text)
        if left < 0:
            break
        kept.append(line)
    return tuple(reversed(kept))
