"""Text from models, documents and people as Slack may safely show it.

Slack calls people only for ``<!channel>``, ``<!subteam^S1>``, ``<@U1>`` and, where a client links names, for a bare
``@channel``. So no ``<`` of foreign text is ever sent as it is, and every ``@`` that could begin a name is followed by
a word joiner, which no reader sees. Both hold for each character by itself: no cut of a stream can put one together.
https://docs.slack.dev/messaging/formatting-message-text

Of the service's own lines (``mrkdwn``) only our bold and code survive. Addresses are not made into links (the blocks
are ``verbatim``): a document's title may be one. Those of Slack's own messages are.
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
    """Escapes Markdown piece by piece; what comes out, joined, is what the whole text would have become.

    A ``>`` that begins a line stays: it makes a quote, and without a ``<`` before it nothing else.
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
    """Return a text as it is, safe in ``mrkdwn``: in a label, a title, a sentence of ours."""
    return _LINE_BEGIN.sub(lambda match: match.group().replace(">", "&gt;"), Escaper().push(text))


def safe_markdown(text: str) -> str:
    """Return an answer escaped for a ``markdown`` block. The sanitizer decides which addresses are links."""
    return Escaper().push(text)


def without_markup(markdown: str) -> str:
    """Return what a Markdown text says, in words alone: for notifications, which show every sign of it as it is."""
    lines = [_words_of(token) for token in _MARKDOWN.parse(markdown) if token.type in _WITH_WORDS]
    return _MARKS.sub("", "\n".join(line for line in lines if line)).strip()


def _words_of(token: Token) -> str:
    if not token.children:
        return token.content.strip()
    return "".join("\n" if child.type.endswith("break") else child.content for child in token.children).strip()


def link(url: str | None, label: str) -> str:
    """Return a ``mrkdwn`` link to a retrieved source; just the label where there is no plain web link."""
    words = escape(label).replace("|", "¦").replace("\n", " ")
    if url is None or not re.fullmatch(r"https?://[^\s<>|\"]{1,1900}", url):
        return words
    return f"<{url.replace('&', '&amp;')}|{words}>"


def shorten(text: str, limit: int) -> str:
    """Return the text in at most ``limit`` characters, cut at a word; entities stay whole."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    cut = re.sub(r"&[a-z]{0,5}$", "", cut)
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut).rstrip() + "…"


def group_call(group: str) -> str:
    """Return the mention of a user group, the one place that makes a ping; empty when it is no group's id."""
    return f"<!subteam^{group}>" if _GROUP_ID.fullmatch(group) else ""


_MESSAGE = re.compile(HOST + r"/archives/[A-Z0-9]+/p\d+(?:\?[\w.=&;]*)?")


def mrkdwn(line: Line) -> str:
    """Return one line, safe to show."""
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
