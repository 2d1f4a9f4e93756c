"""Segmentation of a parsed document into paragraphs, list items, table rows and code blocks, with their headings.

A table row keeps its header, because a row without its header cannot be quoted. Words that end in a colon and introduce
a list, a table or a listing stay with it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, zip_longest

from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected
from core.model.knowledge import Locator
from core.model.markdown_lines import (
    HEADING,
    LIST_ITEM,
    cells_of,
    first_piece,
    is_table_rule,
    with_fences,
    without_emphasis,
)
from core.model.text import sentences

WRAPPED_AT = 50  # characters: an editor wrapped a line that is at least this long, not its author
MARGIN = 72  # characters: also a line that exceeds this with its next piece, such as a link
_QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+")
_KEEPS_LINES = ("```", "~~~", "|", ">", "#")
WIDE_ROW = 500  # characters
INTRODUCTION = 160  # characters: a longer introduction of a list, a table or a listing is not repeated
_LED_TO = ("```", "~~~", "|")
MOST_UNITS = 200_000  # paragraphs, items and rows of one document


@dataclass(frozen=True, slots=True)
class Segment:
    """Smallest unit that stays together: a paragraph, a list item, a table row, a code block."""

    text: str
    heading: tuple[str, ...]
    block: int
    locator: Locator
    tokens: int = 0
    header: str = ""  # the table's header rows, for a row
    joint: str = "\n\n"  # separator before it if it follows another unit
    lead: str = ""  # a heading that its section lost in a merge
    introduction: str = ""  # the words before a list, a table or a listing that end in a colon
    lines: tuple[int, ...] = ()  # source line number of each line, if the text kept its lines


def units_of(parsed: ParsedDocument) -> tuple[Segment, ...]:
    """Return the document's segments with their headings. A heading without content is a segment itself."""
    found: list[Segment] = []
    path: tuple[tuple[int, str], ...] = ()
    alone: Segment | None = None  # the latest heading, while nothing has come below it
    for number, block in enumerate(parsed.blocks):
        if block.label:  # a sheet or an archive member does not continue the previous block
            found.extend([alone] if alone else [])
            path, alone = (), None
        for first, last, lines in _paragraphs(block.text):
            heading = HEADING.match(lines[0]) if len(lines) == 1 else None
            if heading:
                level, name = len(heading["level"]), without_emphasis(heading["text"]).strip()
                if alone and path and level <= path[-1][0]:
                    found.append(alone)
                path = (*(step for step in path if step[0] < level), (level, name))
                alone = Segment(name, _names(path[:-1], parsed), number, _locator(block, first, last)) if name else None
                continue
            before = found[-1] if found and not alone else None
            alone = None
            made = tuple(_unit(lines, _names(path, parsed), number, block, first, last))
            found.extend(_introduced(made, before) if before and before.block == number else made)
            if len(found) > MOST_UNITS:
                raise DocumentRejected(f"It has more than {MOST_UNITS:,} paragraphs and rows. Split it.")
    return (*found, alone) if alone else tuple(found)


def _introduced(units: Sequence[Segment], before: Segment) -> Iterable[Segment]:
    """Return the units of a list, a table or a listing with the words right before it that introduce it."""
    listed = LIST_ITEM.match(units[0].text)
    if (listed or units[0].text.lstrip().startswith(_LED_TO)) and before.heading == units[0].heading:
        goes_on = listed and LIST_ITEM.match(before.text)  # a list with empty lines between its items
        words = before.introduction if goes_on else _introduction(before.text)
        return [replace(unit, introduction=words) for unit in units]
    if len(units) > 1 and LIST_ITEM.match(units[1].text) and not listed:  # introduced on the line above the list
        words = _introduction(units[0].text)
        return [units[0], *(replace(unit, introduction=words) for unit in units[1:])]
    return units


def _introduction(text: str) -> str:
    """Return the last sentence if it ends in a colon and is short."""
    said = sentences(LIST_ITEM.sub("", text))[-1:] if text.rstrip("*_ ").endswith(":") else ()
    return "".join(one for one in said if len(one) <= INTRODUCTION)


def _names(path: Iterable[tuple[int, str]], parsed: ParsedDocument) -> tuple[str, ...]:
    return tuple(name for _, name in path if name != parsed.title)


def _paragraphs(text: str) -> Iterable[tuple[int, int, list[str]]]:
    """Yield the lines between blank lines, with first and last line offsets. Yield headings separately."""
    run: list[str] = []
    start = 0
    lines = text.splitlines()
    for number, (line, fenced) in enumerate(chain(with_fences(lines), [("", 0)])):
        alone = not fenced and HEADING.match(line)
        if (line.strip() or fenced) and not alone:
            start = number if not run else start
            run.append(line)
            continue
        if any(part.strip() for part in run):
            yield number - len(run), number - 1, run
        run = []
        if alone:
            yield number, number, [line]


def _unit(
    lines: list[str], heading: tuple[str, ...], number: int, block: Block, first: int, last: int
) -> Iterable[Segment]:
    if len(lines) >= 2 and is_table_rule(lines[1]):
        yield from _table(lines, heading, number, block, first)
        return
    items = _list_items(lines)
    if len(items) > 1:
        offset = first
        for position, item in enumerate(items):
            at = _locator(block, offset, offset + len(item) - 1)
            yield Segment(_unwrap(item), heading, number, at, joint="\n" if position else "\n\n")
            offset += len(item)
        return
    text = _unwrap(lines)
    kept = text.count("\n") + 1 == len(lines)
    found = [block.source_line(first + offset) for offset in range(len(lines))] if kept else []
    numbers = tuple(line for line in found if line is not None)
    yield Segment(text, heading, number, _locator(block, first, last), lines=numbers)


def _unwrap(lines: list[str]) -> str:
    """Join the lines of a paragraph that an editor wrapped. Code, verses and addresses keep their lines."""
    if all(line.lstrip().startswith(">") for line in lines):  # drop the marks of a block quote
        lines = [_QUOTE_MARK.sub("", line) for line in lines]
    text = "\n".join(lines).strip("\n").rstrip()
    kept = text.splitlines()
    wrapped = len(kept) > 1 and all(_is_wrapped(line, after) for line, after in pairwise(kept))
    meant = any(line.lstrip().startswith(_KEEPS_LINES) or line.endswith(("  ", "\\")) for line in kept)
    if meant or not wrapped:
        return text
    joined = kept[0].rstrip()
    for line in kept[1:]:  # a nested item stays an item
        joined += f"\n{line.rstrip()}" if LIST_ITEM.match(line) else f" {line.strip()}"
    return joined


def _is_wrapped(line: str, after: str) -> bool:
    """Return whether an editor wrapped the line: it is long, or would be with the next piece."""
    if len(line) >= WRAPPED_AT or LIST_ITEM.match(after):
        return True
    return line[-1:] not in ".:;!?" and len(f"{line} {first_piece(after)}") > MARGIN


def _list_items(lines: list[str]) -> list[list[str]]:
    items: list[list[str]] = []
    for line in lines:
        if re.match(r"^(?:[-*+]|\d+[.)])\s+", line) or not items:
            items.append([line])
        else:
            items[-1].append(line)
    return items if sum(bool(re.match(r"^(?:[-*+]|\d+[.)])\s+", item[0])) for item in items) > 1 else [lines]


def _table(lines: list[str], heading: tuple[str, ...], number: int, block: Block, first: int) -> Iterator[Segment]:
    header = "\n".join(lines[:2])
    rows = [line for line in lines[2:] if line.strip()]
    if not rows:
        yield Segment(header, heading, number, _locator(block, first + 2, first + 2))
    wide = max(map(len, rows), default=0) > WIDE_ROW
    before = ""
    for offset, row in enumerate(rows):
        at = _locator(block, first + 2 + offset, first + 2 + offset)
        for own, text in _narrow(lines[0], row) or [(header, row)] if wide else [(header, row)]:
            yield Segment(text, heading, number, at, header=own, joint="\n" if own == before else "\n\n")
            before = own


def _narrow(header: str, row: str) -> list[tuple[str, str]]:
    """Return each cell with text as a table of two columns: the row's name and the cell.

    If cells are paragraphs, a row is too long for a passage.
    """
    (of_names, *columns), (name, *cells) = cells_of(header), cells_of(row)
    placed = zip_longest(columns, cells, fillvalue="")
    return [(f"| {of_names} | {column} |\n| --- | --- |", f"| {name} | {cell} |") for column, cell in placed if cell]


def _locator(block: Block, first: int, last: int) -> Locator:
    return Locator(block.page, block.label or "", block.source_line(first), block.source_line(last))
