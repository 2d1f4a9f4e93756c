"""What a line of Markdown is, as CommonMark and GFM define it: a fence, a heading, a list item, the rule of a table.

For text that is read line by line and stays as it is written: passages, drafts, messages. What is set as a page goes
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
# GFM's delimiter row: below a table's header, hyphens for each column. Possessive, since lines come from anybody.
_TABLE_RULE = re.compile(r"^\s*+\|?\s*+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+$")

# An inline link: its words, which may go over a line, and an address that may have brackets of its own. No image.
_LINK = re.compile(r"(?<!!)\[([^\[\]]{1,300})\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")

_EMPHASIS = re.compile(r"(?<!\\)[*`]+|(?<![^\W_])_+|_+(?![^\W_])")

# What an editor that wraps lines keeps whole: a link with its address, words of code, else the first word.
_PIECE = re.compile(r"!?\[[^\[\]]{1,300}\](?:\([^()\s]*\))?\S*|(?P<mark>`+)[^`]+(?P=mark)\S*|\S+")


def first_piece(line: str) -> str:
    """Return what would have had to fit at the end of the line before, if that had not been ended on purpose."""
    found = _PIECE.match(line.lstrip())
    return found[0] if found else ""


def without_links(text: str) -> str:
    """Return the text with the words of its links in their place."""
    return _LINK.sub(r"\1", text)


def without_emphasis(text: str) -> str:
    """Return the text without the signs of emphasis and code; an underline within a word is of the word: `MAX_SIZE`."""
    return _EMPHASIS.sub("", text)


def is_table_rule(line: str) -> bool:
    """Whether a line can stand below a table's header. Hyphens alone, without a bar, are a rule across the page."""
    return "|" in line and bool(_TABLE_RULE.match(line))


def cells_of(row: str) -> tuple[str, ...]:
    """Return the cells of a table's row or header; empty ones are kept, so that each has its column."""
    line = row.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.strip() for cell in line.split("|"))


def with_fences(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Each line with the number of its fenced block, whose own marks are of it: 1 for the first, 0 outside of any.

    A block ends at a mark of its own kind that is at least as long and has nothing behind it, or with the text.
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
    """Yield the lines in runs: each fenced block whole, and what is between two of them; whether it is a block."""
    for block, run in groupby(with_fences(lines), key=itemgetter(1)):
        yield bool(block), [line for line, _ in run]


def without_marks(text: str) -> str:
    """Return the words of a passage, line by line, without the marks of Markdown; code stays as it is."""
    kept = ((line, fence) for line, fence in with_fences(text.splitlines()) if not FENCE.match(line))
    shown = [line if fence else _words_of(line) for line, fence in kept if fence or not is_table_rule(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(shown)).strip("\n")


def _words_of(line: str) -> str:
    """Return the words of a line that is not code; of a table's row its cells."""
    heading = HEADING.match(line)
    words = heading["text"] if heading else _BEGINNING.sub("", line)
    if words.startswith("|"):
        words = " · ".join(filter(None, cells_of(words)))
    return without_emphasis(without_links(words)).strip()
