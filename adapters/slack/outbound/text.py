"""Text from models, documents and people as Slack may safely show it.

Slack calls people only for ``<!channel>``, ``<!subteam^S1>``, ``<@U1>`` and, where a client links names, for a bare
``@channel``. So no ``<`` of foreign text is ever sent as it is, and every ``@`` that could begin a name is followed by
a word joiner, which no reader sees. Both hold for each character by itself: no cut of a stream can put one together.
https://docs.slack.dev/messaging/formatting-message-text
"""

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.model.plain_text import JOINER

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_WITH_WORDS = {"inline", "fence", "code_block"}
_MARKS = re.compile(r" ?\[\d{1,6}\]")

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LINE_BEGIN = re.compile(r"(?m)^[ >]*>")
_WORD = re.compile(r"[\w.]")
_GROUP_ID = re.compile(r"S[A-Z0-9]{2,20}")


class Escaper:
    """Escapes Markdown piece by piece; what comes out, joined, is what the whole text would have become.

    A ``>`` that begins a line stays: it makes a quote, and without a ``<`` before it nothing else.
    """

    def __init__(self) -> None:
        self._before = ""
        self._line_begins = True

    def push(self, piece: str) -> str:
        """The piece, safe to append."""
        return "".join(self._character(character) for character in piece).replace("\x00", "")

    def _character(self, character: str) -> str:
        before, self._before = self._before, character
        begins, self._line_begins = self._line_begins, character == "\n" or (self._line_begins and character in " >")
        if character == ">" and begins:
            return character
        if character == "@" and not _WORD.match(before):
            return "@" + JOINER
        return _ESCAPES.get(character, character)


def escape(text: str) -> str:
    """A text as it is, safe in ``mrkdwn``: in a label, a title, a sentence of ours."""
    return _LINE_BEGIN.sub(lambda match: match.group().replace(">", "&gt;"), Escaper().push(text))


def safe_markdown(text: str) -> str:
    """An answer for a ``markdown`` block, escaped. Which of its addresses are links is the sanitizer's to decide."""
    return Escaper().push(text)


def without_markup(markdown: str) -> str:
    """What a Markdown text says, in words alone: for notifications, which show every sign of it as it is."""
    lines = [_words_of(token) for token in _MARKDOWN.parse(markdown) if token.type in _WITH_WORDS]
    return _MARKS.sub("", "\n".join(line for line in lines if line)).strip()


def _words_of(token: Token) -> str:
    if not token.children:
        return token.content.strip()
    return "".join("\n" if child.type.endswith("break") else child.content for child in token.children).strip()


def link(url: str | None, label: str) -> str:
    """A ``mrkdwn`` link to a retrieved source; just the label where there is no plain web link."""
    words = escape(label).replace("|", "¦").replace("\n", " ")
    if url is None or not re.fullmatch(r"https?://[^\s<>|\"]{1,1900}", url):
        return words
    return f"<{url.replace('&', '&amp;')}|{words}>"


def shorten(text: str, limit: int) -> str:
    """The text in at most ``limit`` characters, cut at a word; entities stay whole."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    cut = re.sub(r"&[a-z]{0,5}$", "", cut)
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip() + "…"


def group_call(group: str) -> str:
    """The live mention of a configured user group: the one place that makes a ping. Empty when it is no group's id."""
    return f"<!subteam^{group}>" if _GROUP_ID.fullmatch(group) else ""
