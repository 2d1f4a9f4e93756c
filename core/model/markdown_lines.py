"""Classifies lines of Markdown as CommonMark and GFM define them: fences, headings, list items, table rules.

For text that is read line by line and stays as written: passages, drafts, messages. Text that is shown as a page goes
through a Markdown parser, in the adapter that shows it.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

HEADING = re.compile(r"^ {0,3}(?P<level>#{1,6})\s+(?P<text>.+?)\s*#*\s*$")
LIST_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_BEGINNING = re.compile(rf"^\s*(?:>\s*)*(?:{LIST_ITEM.pattern[1:]})?")
FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
# GFM's delimiter row below a table header: hyphens for each column. Possessive, because lines are untrusted.
_TABLE_RULE = re.compile(r"^\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+$")

# An inline link: its words may span a line break, and its address may have brackets of its own. Not an image.
_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,300})\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")

_EMPHASIS = re.compile(r"(?<!\\)[*`]+|(?<![^\W_])_+|_+(?![^\W_])")

# What an editor never breaks when it wraps lines: a link with its address, code, otherwise the first word.
_PIECE = re.compile(r"!?\[[^\[\]]{1,300}\](?:\([^()\s]*\))?\S*|(?P<mark>`+)[^`]+(?P=mark)\S*|\S+")


def first_piece(line: str) -> str:
    """Return the first unbreakable piece of a line, which would have had to fit on the line before."""
    found = _PIECE.match(line.lstrip())
    return found[0] if found else ""


def without_links(text: str) -> str:
    """Return the text with each link replaced by its words."""
    return _LINK.sub(r"\1", text)


def without_emphasis(text: str) -> str:
    """Return the text without marks of emphasis and code. An underscore within a word stays: `MAX_SIZE`."""
    return _EMPHASIS.sub("", text)


def is_table_rule(line: str) -> bool:
    """Return whether a line can be the rule below a table header. Hyphens without a bar are a horizontal rule."""
    return "|" in line and bool(_TABLE_RULE.match(line))


def cells_of(row: str) -> tuple[str, ...]:
    """Return the cells of a table row or header, including empty ones, so that each keeps its column."""
    line = row.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.strip() for cell in line.split("|"))


def with_fences(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield each line with the number of its fenced block, marks included: 1 for the first, 0 outside any block.

    A block ends at a mark of its own kind that is at least as long and has nothing after it, or at the end of the text.
    """
    opened, number = "", 0
    for line in lines:
        match = FENCE.match(line)
        number += bool(match and not opened)
        yield line, number if opened or match else 0
        if match is None:
            continue
        mark = match["mark"]
        if not opened:
            opened = mark
        elif mark[0] == opened[0] and len(mark) >= len(opened) and not match["info"].strip():
            opened = ""


def fenced_runs(lines: Iterable[str]) -> Iterator[tuple[bool, list[str]]]:
    """Yield (whether it is a fenced block, lines) for each fenced block and each run of lines between blocks."""
    for block, run in groupby(with_fences(lines), key=itemgetter(1)):
        yield bool(block), [line for line, _ in run]


def without_marks(text: str) -> str:
    """Return a passage line by line without Markdown marks; code stays unchanged."""
    kept = ((line, fence) for line, fence in with_fences(text.splitlines()) if not FENCE.match(line))
    shown = [line if fence else _words_of(line) for line, fence in kept if fence or not is_table_rule(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(shown)).strip("\n")


def _words_of(line: str) -> str:
    """Return the words of a line that is not code; for a table row, its cells."""
    heading = HEADING.match(line)
    words = heading["text"] if heading else _BEGINNING.sub("", line)
    if words.startswith("|"):
        words = " · ".join(filter(None, cells_of(words)))
    return without_emphasis(without_links(words)).strip()
