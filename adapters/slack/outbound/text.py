"""Escaping of text from models, documents and people for Slack.

Slack notifies people only for ``<!channel>``, ``<!subteam^S1>``, ``<@U1>`` and, where a client links names, a bare
``@channel``. So every ``<`` of foreign text is escaped, and every ``@`` that could begin a name gets an invisible word
joiner after it. Both rules work on single characters, so no split of a stream can form a mention.
https://docs.slack.dev/messaging/formatting-message-text

In our own lines (``mrkdwn``) only bold and code stay active. Addresses do not become links, because a document's title
may be one (the blocks are ``verbatim``). Links to Slack messages are the exception.
"""

import re
from typing import assert_never

from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.slack.api.ids import HOST
from core.model.plain_text import JOINER
from core.service.kb.text_spans import Line, Span, Style

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_WITH_WORDS = {"inline", "fence", "code_block"}
_MARKS = re.compile(r" ?\[\d{1,6}\]")

_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LINE_BEGIN = re.compile(r"(?m)^[ >]*>")
_WORD = re.compile(r"[\w.]")
_GROUP_ID = re.compile(r"S[A-Z0-9]{2,20}")


class Escaper:
    """Escapes Markdown piece by piece, with the same result as for the whole text.

    A ``>`` at the beginning of a line stays. It makes a quote, and does nothing else without a ``<`` before it.
    """

    def __init__(self) -> None:
        self._before = ""
        self._line_begins = True

    def push(self, piece: str) -> str:
        """Return the piece, safe to append."""
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
    """Return the text escaped for ``mrkdwn``: for a label, a title or a sentence."""
    return _LINE_BEGIN.sub(lambda match: match.group().replace(">", "&gt;"), Escaper().push(text))


def safe_markdown(text: str) -> str:
    """Return an answer escaped for a ``markdown`` block. The sanitizer decides which addresses are links."""
    return Escaper().push(text)


def without_markup(markdown: str) -> str:
    """Return the plain words of a Markdown text, for notifications, which would show the markup."""
    lines = [_words_of(token) for token in _MARKDOWN.parse(markdown) if token.type in _WITH_WORDS]
    return _MARKS.sub("", "\n".join(line for line in lines if line)).strip()


def _words_of(token: Token) -> str:
    if not token.children:
        return token.content.strip()
    return "".join("\n" if child.type.endswith("break") else child.content for child in token.children).strip()


def link(url: str | None, label: str) -> str:
    """Return a ``mrkdwn`` link to a retrieved source, or only the label if the URL is not a plain web link."""
    words = escape(label).replace("|", "¦").replace("\n", " ")
    if url is None or not re.fullmatch(r"https?://[^\s<>|\"]{1,1900}", url):
        return words
    return f"<{url.replace('&', '&amp;')}|{words}>"


def shorten(text: str, limit: int) -> str:
    """Return at most ``limit`` characters, cut at a word. Entities stay whole."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    cut = re.sub(r"&[a-z]{0,5}$", "", cut)
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip() + "…"


def group_call(group: str) -> str:
    """Return the mention of a user group, or an empty string for an invalid id. Only this function creates pings."""
    return f"<!subteam^{group}>" if _GROUP_ID.fullmatch(group) else ""


_MESSAGE = re.compile(HOST + r"/archives/[A-Z0-9]+/p\d+(?:\?[\w.=&;]*)?")


def mrkdwn(line: Line) -> str:
    """Return one line as safe ``mrkdwn``."""
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    words = escape(" ".join(span.text.splitlines()))
    match span.style:
        case Style.PLAIN | Style.PRINCIPAL:
            return words
        case Style.STRONG:
            return f"*{words}*" if words.strip() else words
        case Style.CODE:
            return f"`{words}`"
        case Style.LINK:
            return f"<{words}>" if _MESSAGE.fullmatch(words) else words
        case unknown:
            assert_never(unknown)
