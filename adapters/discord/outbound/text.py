"""Core's Markdown and lines as Discord writes them: no ping, no link but to a source, nothing cut in half.

Every function is pure. Where a text appears, and with which buttons, is decided in ``layouts``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import assert_never
from urllib.parse import urlsplit

from adapters.discord.api.ids import GUILD
from core.model.answer import Citation
from core.model.markdown_lines import is_table_rule, with_fences, without_marks
from core.model.principals import Principal, PrincipalKind
from core.service.kb.text_spans import Line, Span, Style
from core.service.text_splitter import split_markdown

MESSAGE_LIMIT = 2_000  # characters of an answer in one message
LAYOUT_TEXT_LIMIT = 4_000  # of all texts of one message together
THREAD_NAME_LIMIT = 100
LABEL_LIMIT = 80
TITLE_LIMIT = 90
SOURCES_LIMIT = 1_400  # characters of a source list below the last piece of an answer
LINK_LIMIT = 400  # a longer address stays out: it would crowd out the text
TABLE_WIDTH = 76  # characters of a line of code that Discord's window shows beside its lists before it wraps it

_ZERO_WIDTH = "\u200b"
_MENTION = re.compile(r"@(?=everyone\b|here\b)|<(?=@|#|id:|/|sound:)", re.IGNORECASE)
_IMAGE = re.compile(r"!\[([^\]\n]{0,300})\]\([^)\n]*\)")
_MASKED = re.compile(r"(?<!\])\[([^\]\n]{1,300})\]\(<?(https?://[^)\s>]{1,2000})>?\)")
_MARKER = re.compile(r"\[(\d{1,4})\](?!\()")
_DEEP_HEADING = re.compile(r"^#{4,6}\s+(.+?)\s*#*\s*$")
_RULE = re.compile(r"^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$")
_TABLE_LINE = re.compile(r"^\|?(?:[^|\n]+\|)+[^|\n]*(?:\|[ \t]*)?$")
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)
_SHOWN = {
    PrincipalKind.ROLE: "<@&{}>",
    PrincipalKind.CHANNEL: "<#{}>",
    PrincipalKind.USER: "<@{}>",
    GUILD: "everybody in this server",
}
_CELL_MARKUP = re.compile(r"(\*\*|__|`)([^*_`\n]+)\1")  # in code every sign of it would be seen
_SPECIAL = re.compile(r"([\\*_~`|>\[\]()#])")


def without_mentions(text: str) -> str:
    """Make mentions of people, roles, everyone, channels and commands inert, without a visible change."""
    return _MENTION.sub(lambda match: match.group() + _ZERO_WIDTH, text)


def escape(text: str) -> str:
    """Return a title or a name: shown as it is, on one line, with no Markdown in it coming alive."""
    return without_mentions(_SPECIAL.sub(r"\\\1", " ".join(text.split())))


def clip(text: str, limit: int) -> str:
    """At most ``limit`` characters, the last an ellipsis where something is missing."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def thread_name(question: str) -> str:
    """Return the name of a question's thread: its first words, as plain text, never empty."""
    words = re.sub(r"<[@#:/][^>]*>|[*_~`|>#\\]", " ", question)
    return clip(without_mentions(" ".join(words.split())), THREAD_NAME_LIMIT) or "Question"


def markdown(text: str) -> str:
    """Return an answer's text in Discord's dialect, without links that hide where they lead and without mentions.

    Tables become code, since Discord shows none, and wide ones lists; headings below the third level become bold;
    images their caption.
    """
    lines: list[str] = []
    rows: list[str] = []
    for line, fenced in with_fences([*text.split("\n"), ""]):
        if not fenced and _TABLE_LINE.match(line):
            rows.append(line)
            continue
        lines += _table(rows)
        rows = []
        lines.append(line if fenced else _line(line))
    return without_mentions(_outside_code("\n".join(lines).strip("\n"), _open_links))


def _line(line: str) -> str:
    if _RULE.match(line):
        return ""
    return _DEEP_HEADING.sub(r"**\1**", line)


def _table(rows: list[str]) -> list[str]:
    if len(rows) < 2 or not is_table_rule(rows[1]):
        return [_line(row) for row in rows]
    cells = [[cell.strip() for cell in row.strip().strip("|").split("|")] for row in [rows[0], *rows[2:]]]
    width = max(map(len, cells))
    cells = [row + [""] * (width - len(row)) for row in cells]
    plain = [[_CELL_MARKUP.sub(r"\2", cell) for cell in row] for row in cells]
    widths = [max(len(row[column]) for row in plain) for column in range(width)]
    if sum(widths) + 2 * (width - 1) > TABLE_WIDTH:  # wrapped lines of code are no table any more
        return [_row_as_item(cells[0], row) for row in cells[1:]]
    drawn = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in plain]
    return ["```", drawn[0], "  ".join("─" * size for size in widths), *drawn[1:], "```"]


def _row_as_item(header: list[str], row: list[str]) -> str:
    """Write a row of a wide table as a list item: its first cell, then each other behind its column's name."""
    first, names = row[0].strip("*_ "), [name.strip("*_ ") for name in header[1:]]
    named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, row[1:], strict=True) if cell]
    return "- " + " · ".join([f"**{first}**", *named] if first else named)


def _open_links(text: str) -> str:
    """Write links as their words, then the address; the sanitizer decides which are links."""
    text = _IMAGE.sub(r"\1", text)
    return _MASKED.sub(lambda m: f"<{m[2]}>" if m[1].strip() == m[2] else f"{m[1]} (<{m[2]}>)", text)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts = _CODE.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def principal_name(principal: str) -> str:
    """Return a principal as people see it: a role, a channel or a person by name, a server as everybody in it.

    These mentions are for the eye: whatever shows them sends them with no mention allowed. A principal of another
    platform stays as it is written.
    """
    try:
        named = Principal.parse(principal)
    except ValueError:
        return escape(principal)
    ours = named.platform == "discord" and named.id.isascii() and named.id.isdecimal()
    return _SHOWN[named.kind].format(named.id) if ours and named.kind in _SHOWN else escape(principal)


def link(address: str | None) -> str:
    """Return the address where it is one that a browser opens; else empty."""
    url = (address or "").strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    sound = parts.scheme in ("http", "https") and parts.netloc and not re.search(r"[\s<>()\[\]\\]", url)
    return url if sound and len(url) <= LINK_LIMIT else ""


def link_citations(text: str, citations: Sequence[Citation]) -> str:
    """Every ``[n]`` as a link to its source, where the source has an address; code is left alone."""
    addresses = {citation.n: link(citation.url) for citation in citations}

    def marker(match: re.Match[str]) -> str:
        address = addresses.get(int(match[1]))
        return f"[[{match[1]}]](<{address}>)" if address else match[0]

    return _outside_code(text, lambda part: _MARKER.sub(marker, part))


def answer_parts(text: str, citations: Sequence[Citation]) -> tuple[str, ...]:
    """Return an answer in messages of at most 2,000 characters; code fences and citations stay whole.

    Markers are links wherever the addresses leave room for that.
    """
    written = markdown(text)
    for limit in (MESSAGE_LIMIT, 1_500, 1_000):
        parts = tuple(link_citations(part, citations) for part in split_markdown(written, limit))
        if all(len(part) <= MESSAGE_LIMIT for part in parts):
            return parts
    return split_markdown(written, MESSAGE_LIMIT)


def source_lines(citations: Sequence[Citation]) -> str:
    """Return the numbered list of sources in small print: title, place, date; the title is the link."""
    lines: list[str] = []
    for citation in citations:
        line = "-# " + _source(citation)
        if sum(map(len, lines)) + len(lines) + len(line) > SOURCES_LIMIT - 60:
            left = len(citations) - len(lines)
            lines.append(f"-# … and {left} more: *Show quotes* has them all.")
            break
        lines.append(line)
    return "\n".join(lines)


def _source(citation: Citation) -> str:
    title = escape(clip(citation.title or citation.document, TITLE_LIMIT))
    address = link(citation.url)
    named = f"[{title}](<{address}>)" if address else title
    parts = [named, escape(clip(citation.short_place, TITLE_LIMIT)), escape(citation.dated)]
    return f"[{citation.n}] " + " · ".join(part for part in parts if part)


def quote_blocks(question: str, citations: Sequence[Citation], withheld: int) -> str:
    """Return the exact passages behind an answer, each below its source, as one Markdown text."""
    head = f"**Passages behind the answer to “{escape(clip(question, 200))}”**"
    blocks = [head, *(f"{_source(one)}\n{_block_quote(one.quote)}" for one in citations)]
    if withheld:
        blocks.append(f"-# {withheld} more from documents that you don't have permission to read.")
    return "\n\n".join(blocks)


def _block_quote(passage: str) -> str:
    shown = f"“{clip(without_marks(passage.strip()), 1_500)}”"
    return "\n".join(f"> {_literal(line)}".rstrip() for line in shown.split("\n"))


def _literal(line: str) -> str:
    """Return a line of a passage as it is written: none of its signs comes alive as Markdown."""
    return without_mentions(_SPECIAL.sub(r"\\\1", line))


SMALL_PRINT = 600  # characters of a message that are left for what is beside the lines


def markdown_lines(lines: Iterable[Line]) -> str:
    """Lines as one text, with places and people by the names that Discord has; at most what a message takes."""
    return clip("\n".join("".join(map(_span, line)) for line in lines), LAYOUT_TEXT_LIMIT - SMALL_PRINT) or "…"


def _span(span: Span) -> str:
    match span.style:
        case Style.PLAIN | Style.LINK:  # which addresses are links is the sanitizer's to decide
            return markdown(span.text)
        case Style.STRONG:
            return f"**{words}**" if (words := escape(span.text)) else ""
        case Style.CODE:
            return f"`{markdown(span.text)}`"
        case Style.PRINCIPAL:
            return principal_name(span.text)
        case unknown:
            assert_never(unknown)
