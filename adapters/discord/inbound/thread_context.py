"""What was said before a question: in its thread, and in the message that it replies to."""

import discord

from adapters.discord.inbound.message_parser import POSTED_BY_PEOPLE
from adapters.discord.inbound.message_words import BotIdentity, attachments_of, previews_of, words_of
from adapters.discord.inbound.nearby_messages import NearbyMessages
from adapters.discord.outbound.text import clip
from core.model.conversation import ContextMessage, Role
from core.model.message_text import LINK_PREVIEW

MOST_MESSAGES = 50
LONGEST = 2_000  # characters of one message
LONGEST_TOGETHER = 20_000


async def read_thread_context(nearby: NearbyMessages, us: BotIdentity) -> tuple[ContextMessage, ...]:
    """Return what was said before, oldest first, by the names that authors have in the server.

    In a thread these are the newest 50 messages. The message that began the thread and the one that is replied to are
    among them, however far back they are.
    """
    newest = await nearby.newest(MOST_MESSAGES)
    opening = await nearby.opening() if len(newest) == MOST_MESSAGES else None
    about = await nearby.replied_to()
    always = sorted({one.id: one for one in (opening, about) if one is not None}.values(), key=lambda one: one.id)
    kept = [line for one in always for line in await _lines(nearby, one, us)]
    left = LONGEST_TOGETHER - sum(len(line.text) for line in kept)
    ids = {one.id for one in always}
    since = [line for one in newest if one.id not in ids for line in await _lines(nearby, one, us)]
    return (*kept, *_newest_that_fit(since, left))


async def _lines(nearby: NearbyMessages, message: discord.Message, us: BotIdentity) -> list[ContextMessage]:
    """A message as context: its words and the names of its files, then the previews of its links."""
    shown = _opening_message(message)
    if shown is None:
        return []
    original = await nearby.forwarded(shown)
    words = clip(words_of(shown, us, original.mentions if original is not None else ()), LONGEST)
    files = ", ".join(file.filename for file in attachments_of(shown))
    text = "\n".join(filter(None, (words, files and f"[attached: {files}]")))
    author = shown.author.display_name
    author += f", forwarding {original.author.display_name}" if original is not None else ""
    role = Role.ASSISTANT if shown.author.id == us.user_id else Role.PERSON
    said = [ContextMessage(author, text, role)] if text else []
    preview = clip(previews_of(shown), LONGEST)
    return [*said, ContextMessage(LINK_PREVIEW, preview)] if preview else said


def _opening_message(message: discord.Message) -> discord.Message | None:
    """The message itself; for the note with which a thread begins, the message that it was started on."""
    if message.type is discord.MessageType.thread_starter_message and message.reference is not None:
        original = message.reference.resolved
        return original if isinstance(original, discord.Message) else None
    return message if message.type in POSTED_BY_PEOPLE else None


def _newest_that_fit(lines: list[ContextMessage], left: int) -> tuple[ContextMessage, ...]:
    """The newest that fit together."""
    kept: list[ContextMessage] = []
    for line in reversed(lines):
        left -= len(line.text)
        if left < 0:
            break
        kept.append(line)
    return tuple(reversed(kept))
