"""Core's Markdown and lines in Discord's dialect, without mentions and with links to sources only. Pure functions.

``layouts`` decides where a text appears and with which buttons.
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
LINK_LIMIT = 400  # a longer address is left out, because it would crowd out the text
TABLE_WIDTH = 76  # characters of a code line that fit Discord's window beside its lists

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
_CELL_MARKUP = re.compile(r"(\*\*|__|`)([^*_`\n]+)\1")  # code would show the markup
_SPECIAL = re.compile(r"([\\*_~`|>\[\]()#])")


def without_mentions(text: str) -> str:
    """Make mentions of people, roles, everyone, channels and commands inert, without a visible change."""
    return _MENTION.sub(lambda match: match.group() + _ZERO_WIDTH, text)


def escape(text: str) -> str:
    """Return a title or name on one line, with its Markdown escaped."""
    return without_mentions(_SPECIAL.sub(r"\\\1", " ".join(text.split())))


def clip(text: str, limit: int) -> str:
    """Return at most ``limit`` characters, with an ellipsis if the text was cut."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def thread_name(question: str) -> str:
    """Return a thread name for a question: its first words as plain text, never empty."""
    words = re.sub(r"<[@#:/][^>]*>|[*_~`|>#\\]", " ", question)
    return clip(without_mentions(" ".join(words.split())), THREAD_NAME_LIMIT) or "Question"


def markdown(text: str) -> str:
    """Return an answer's text in Discord's dialect, without mentions and without links that hide their target.

    Discord shows no tables, so tables become code, and wide ones become lists. Headings below the third level become
    bold, and images become their captions.
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
    if sum(widths) + 2 * (width - 1) > TABLE_WIDTH:  # a table in code is unreadable once its lines wrap
        return [_row_as_item(cells[0], row) for row in cells[1:]]
    drawn = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in plain]
    return ["```", drawn[0], "  ".join("─" * size for size in widths), *drawn[1:], "```"]


def _row_as_item(header: list[str], row: list[str]) -> str:
    """Return a row of a wide table as a list item: its first cell, then each other cell after its column's name."""
    first, names = row[0].strip("*_ "), [name.strip("*_ ") for name in header[1:]]
    named = [f"{name}: {cell}" if name else cell for name, cell in zip(names, row[1:], strict=True) if cell]
    return "- " + " · ".join([f"**{first}**", *named] if first else named)


def _open_links(text: str) -> str:
    """Write links as their words followed by the address. The sanitizer decides which are links."""
    text = _IMAGE.sub(r"\1", text)
    return _MASKED.sub(lambda m: f"<{m[2]}>" if m[1].strip() == m[2] else f"{m[1]} (<{m[2]}>)", text)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts = _CODE.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def principal_name(principal: str) -> str:
    """Return a principal's display name: a mention of a role, channel or person, or "everybody in this server".

    The caller must send these mentions with notifications disallowed. A principal of another platform stays unchanged.
    """
    try:
        named = Principal.parse(principal)
    except ValueError:
        return escape(principal)
    ours = named.platform == "discord" and named.id.isascii() and named.id.isdecimal()
    return _SHOWN[named.kind].format(named.id) if ours and named.kind in _SHOWN else escape(principal)


def link(address: str | None) -> str:
    """Return the address if a browser can open it, or an empty string."""
    url = (address or "").strip()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    sound = parts.scheme in ("http", "https") and parts.netloc and not re.search(r"[\s<>()\[\]\\]", url)
    return url if sound and len(url) <= LINK_LIMIT else ""


def link_citations(text: str, citations: Sequence[Citation]) -> str:
    """Return the text with each ``[n]`` outside code linked to its source, if the source has an address."""
    addresses = {citation.n: link(citation.url) for citation in citations}

    def marker(match: re.Match[str]) -> str:
        address = addresses.get(int(match[1]))
        return f"[[{match[1]}]](<{address}>)" if address else match[0]

    return _outside_code(text, lambda part: _MARKER.sub(marker, part))


def answer_parts(text: str, citations: Sequence[Citation]) -> tuple[str, ...]:
    """Return an answer as messages of at most 2,000 characters. Code fences and citations stay whole.

    Citation markers become links if there is room for the addresses.
    """
    written = markdown(text)
    for limit in (MESSAGE_LIMIT, 1_500, 1_000):
        parts = tuple(link_citations(part, citations) for part in split_markdown(written, limit))
        if all(len(part) <= MESSAGE_LIMIT for part in parts):
            return parts
    return split_markdown(written, MESSAGE_LIMIT)


def source_lines(citations: Sequence[Citation]) -> str:
    """Return the numbered sources in small print, with linked title, place and date."""
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
    """Return the passages behind an answer as one Markdown text, each below its source."""
    head = f"**Passages behind the answer to “{escape(clip(question, 200))}”**"
    blocks = [head, *(f"{_source(one)}\n{_block_quote(one.quote)}" for one in citations)]
    if withheld:
        blocks.append(f"-# {withheld} more from documents that you don't have permission to read.")
    return "\n\n".join(blocks)


def _block_quote(passage: str) -> str:
    shown = f"“{clip(without_marks(passage.strip()), 1_500)}”"
    return "\n".join(f"> {_literal(line)}".rstrip() for line in shown.split("\n"))


def _literal(line: str) -> str:
    """Return a line of a passage with all its Markdown escaped."""
    return without_mentions(_SPECIAL.sub(r"\\\1", line))


SMALL_PRINT = 600  # characters of a message reserved for content beside the lines


def markdown_lines(lines: Iterable[Line]) -> str:
    """Return lines as one text with Discord's names of places and people, cut to fit a message."""
    return clip("\n".join("".join(map(_span, line)) for line in lines), LAYOUT_TEXT_LIMIT - SMALL_PRINT) or "…"


def _span(span: Span) -> str:
    match span.style:
        case Style.PLAIN | Style.LINK:  # the sanitizer decides which addresses are links
            return markdown(span.text)
        case Style.STRONG:
            return f"**{words}**" if (words := escape(span.text)) else ""
        case Style.CODE:
            return f"`{markdown(span.text)}`"
        case Style.PRINCIPAL:
            return principal_name(span.text)
        case unknown:
            assert_never(unknown)
