"""A conversation as a document: who said what and when, in Markdown, under its title.

How a platform reads its own history is the platform's business; that the same conversation always becomes the same
bytes is what lets an unchanged thread cost nothing.
"""

from dataclasses import dataclass
from datetime import datetime

MOST_MESSAGES = 2_000  # of one conversation
MOST_CHARACTERS = 400_000


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """One message. ``text`` is plain or Markdown, names written out instead of the platform's own codes."""

    author: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread, or a stretch of a channel. ``source`` is its stable name within a base, ``permalink`` leads back."""

    source: str
    title: str
    messages: tuple[TranscriptMessage, ...]
    permalink: str | None = None


def as_markdown(conversation: Conversation) -> bytes:
    """The conversation as a Markdown file in UTF-8; what is beyond the bounds is left out at the end, and said."""
    lines = [f"# {' '.join(conversation.title.split())}", ""]
    size = 0
    left_out = len(conversation.messages)
    for said in conversation.messages[:MOST_MESSAGES]:
        size += len(said.text)
        if size > MOST_CHARACTERS:
            break
        left_out -= 1
        if said.text.strip():
            lines += [f"**{said.author}**, {said.at:%Y-%m-%d %H:%M}:", "", said.text.strip(), ""]
    if left_out:
        lines += [f"({left_out} further messages are not kept.)", ""]
    return "\n".join(lines).encode(errors="replace")


def first_line(conversation: Conversation, most: int) -> str:
    """Who said what first, in one plain line of at most so many characters."""
    words: list[str] = []
    for said in conversation.messages:
        words += [f"{said.author}:", *said.text.split()]
        if sum(map(len, words)) > most:
            break
    return " ".join(words)[:most]
