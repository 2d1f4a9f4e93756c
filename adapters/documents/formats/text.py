"""Plain text and logs. Each log entry is a list item, so that a code is quoted with its own entry only.

Removed lines become blank, so line numbers stay valid for citations.
"""

import re
from collections.abc import Iterator

from adapters.documents.encodings import decode, without_data
from adapters.documents.format import Format
from adapters.documents.titles import choose_title
from core.model.document_content import Block, ParsedDocument
from core.model.errors import NoText
from core.model.markdown_lines import with_fences

_UNDERLINE = re.compile(r"^\s{0,3}(=+|-+)\s*$")
_NO_HEADING = re.compile(r"^\s{0,3}([-*+>|#]|\d+[.)])(\s|$)|^\s{4,}|\|")


def read_text(name: str, data: bytes) -> ParsedDocument:
    """Read plain text; lines underlined with '===' or '---' are headings."""
    lines = atx_headings(without_data(decode(data)).split("\n"), need=4)
    body, first = trim_lines(lines)
    if not body:
        raise NoText("There is no text in this file.")
    return ParsedDocument(
        title=choose_title(name, markdown=[body]),
        blocks=(Block(body, first_line=first),),
        media_type="text/plain",
    )


def trim_lines(lines: list[str]) -> tuple[str, int]:
    """Return the lines without leading and trailing blank lines, and the 1-based number of the first one."""
    filled = [i for i, line in enumerate(lines) if line.strip()]
    if not filled:
        return "", 1
    return "\n".join(line.rstrip() for line in lines[filled[0] : filled[-1] + 1]), filled[0] + 1


def atx_headings(lines: list[str], *, need: int = 2) -> list[str]:
    """Convert Setext headings ('Title' over '=====') to ATX outside of fences; the underline becomes blank."""
    done = list(lines)
    for i, (line, fenced) in enumerate(with_fences(lines)):
        if fenced or i == 0 or not (under := _UNDERLINE.match(line)) or len(under[1]) < need:
            continue
        above = done[i - 1]
        alone = i == 1 or not lines[i - 2].strip() or done[i - 2].startswith("#")
        if above.strip() and alone and len(above) < 150 and not _NO_HEADING.search(above):
            done[i - 1] = ("# " if under[1][0] == "=" else "## ") + above.strip()
            done[i] = ""
    return done


MAX_LINES = 300_000
ENTRY_CHARS = 2_000
"""Maximum characters of an entry with its continuation lines; the rest becomes another item."""

MOST_CONTINUED = 60
"""Maximum lines of a stack trace that stay with its entry."""

_MOMENT = (
    r"\[?(?:\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d"
    r"|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d|[A-Z][a-z]{2} [ \d]?\d \d\d:\d\d:\d\d"
    r"|\d\d[-/.]\d\d[-/.]\d{2,4} \d\d:\d\d:\d\d|\d\d:\d\d:\d\d[.,]\d|\d{10}(?:\.\d+)?\b)"
)
_LEVEL = r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b"
_ENTRY = re.compile(rf"^(?:<\d{{1,3}}>)?(?:\S{{1,60}} (?:\S{{1,30}} ){{0,2}})?{_MOMENT}|^{_LEVEL}")


def read_log(name: str, data: bytes) -> ParsedDocument:
    """Return the entries as a list, each with its continuation lines."""
    lines = decode(data).split("\n")
    entries = list(_entries(lines[:MAX_LINES]))
    if not entries:
        raise NoText("There is no text in this file.")
    notes = (f"only the first {MAX_LINES:,} lines were read",) if len(lines) > MAX_LINES else ()
    numbers = tuple(number for number, _ in entries)
    block = Block("\n".join(f"- {text}" for _, text in entries), first_line=numbers[0], lines=numbers)
    return ParsedDocument(choose_title(name), (block,), "text/x-log", notes=notes)


def _entries(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (line from 1, text) of each entry, joined with its continuation lines."""
    begun, pieces, length = 0, list[str](), 0
    for number, line in enumerate(lines, 1):
        text = " ".join(line.split())
        fits = len(pieces) < MOST_CONTINUED and length + len(text) < ENTRY_CHARS
        if not text:
            continue
        if pieces and (not fits or _ENTRY.match(line)):
            yield begun, " ".join(pieces)
            pieces, length = [], 0
        begun = begun if pieces else number
        pieces.append(text)
        length += len(text) + 1
    if pieces:
        yield begun, " ".join(pieces)


def _is_log(known: str | None, head: str) -> bool:
    """Return whether enough lines begin with a timestamp or level; stack traces have many other lines."""
    if known not in (None, "text/plain"):
        return False
    lines = [line for line in head.split("\n")[:80] if line.strip()]
    entries = [line for line in lines if _ENTRY.match(line)]
    return len(entries) >= 4 and len(entries) >= 0.2 * len(lines) and bool(_ENTRY.match(lines[0]))


FORMATS = (
    Format(
        media_type="text/plain",
        read=read_text,
        label="text",
        suffixes=("txt", "text", "log"),
        not_a_title=r".*\.txt",
    ),
    Format(media_type="text/x-log", read=read_log, label="logs", in_text=_is_log, rank=-1),
)
