"""Layout of a PDF page: tables without rules, and text columns.

Lines are grouped into rows by height, and rows are split at wide gaps. If the parts of several rows are aligned, they
form a table if they look like one, otherwise columns that are read one after the other.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from adapters.documents.formats.pdf_lines import Line, Stretch, is_right_to_left
from adapters.documents.formats.pdf_page import Box
from adapters.documents.formats.pdf_tables import FoundTable, RuledPage

MAX_COLUMNS = 14
_FIGURE = re.compile(r"[^\w]{0,3}\d[\d\s.,:/%'’()–-]*[^\w]{0,2}(?:[A-Za-z€$£%]{1,3})?|[-–—−]|n/?a", re.IGNORECASE)
_LIST_MARK = re.compile(r"[•●▪◦‣∙·*–-]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\[\d+\]")
_LEADER = re.compile(r"\.{4,}|(\. ){4,}")


@dataclass(frozen=True, slots=True)
class TextRow:
    """The parts of all lines at one height, from left to right."""

    parts: tuple[Stretch, ...]
    lines: tuple[Line, ...]

    @property
    def baseline(self) -> float:
        """Height of the row."""
        return self.lines[0].baseline

    @property
    def size(self) -> float:
        """Largest type size of the row's lines."""
        return max(line.size for line in self.lines)


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows that share columns, and the extent of each column."""

    rows: tuple[TextRow, ...]
    extents: tuple[tuple[float, float], ...]

    def cells(self, row: TextRow) -> list[str]:
        """Return the texts of a row, column by column."""
        texts = [""] * len(self.extents)
        for part in row.parts:
            at = self.column(part)
            texts[at] = f"{texts[at]} {part.text}".strip()
        if len(row.parts) == 1 and sum(_overlap(row.parts[0], extent) > 0 for extent in self.extents) != 1:
            return [row.parts[0].text, *[""] * (len(self.extents) - 1)]  # the name of a group of rows
        return texts

    def column(self, part: Stretch) -> int:
        """Return the column that a part overlaps most, or the nearest one."""
        return max(range(len(self.extents)), key=lambda i: _overlap(part, self.extents[i]))

    @property
    def box(self) -> Box:
        """Bounding box of the rows."""
        lines = [line for row in self.rows for line in row.lines]
        return (
            min(line.left for line in lines),
            max(line.right for line in lines),
            min(line.bottom for line in lines),
            max(line.top for line in lines),
        )


def _overlap(part: Stretch, extent: tuple[float, float]) -> float:
    return min(part.right, extent[1]) - max(part.left, extent[0])


def lay_out(lines: list[Line], ruled: RuledPage, rules: Sequence[Box]) -> tuple[list[Line], list[FoundTable]]:
    """Return the lines in reading order, and the page's tables, including those without rules.

    Args:
        lines: lines of the page in file order.
        ruled: tables and frames formed by rules.
        rules: lines drawn on the page.
    """
    found = list(ruled.tables)
    free = [line for line in lines if not any(t.holds(line.left, line.right, line.bottom, line.top) for t in found)]
    groups: list[list[Line]] = []
    for frame in ruled.frames:
        inside = _in_frame(free, frame)
        if not inside:
            continue
        lines, parted = _one_after_the_other(lines, inside)
        groups += parted
        taken = {id(line) for row in inside.rows for line in row.lines}
        free = [line for line in free if id(line) not in taken]
    for group in (_without_paragraphs(free), *groups):
        for columns in _side_by_side(_rows(group)):
            if (table := _table(columns, rules)) is not None:
                found.append(table)
            elif _are_blocks(columns, lines):
                lines, _ = _one_after_the_other(lines, columns)
    return lines, found


def _without_paragraphs(lines: Sequence[Line]) -> list[Line]:
    """Return the lines without running text, which may be in its own column beside a table."""
    running: set[int] = set()
    chain: list[Line] = []
    for line in [*lines, None]:
        if line is not None and chain and _runs_on(chain[-1], line):
            chain.append(line)
            continue
        if len(chain) > 3:
            running |= set(map(id, chain))
        chain = [line] if line is not None else []
    return [line for line in lines if id(line) not in running]


def _runs_on(above: Line, line: Line) -> bool:
    """Return whether a line continues running text above it: same left edge and size, several words, no wide gap."""
    down = above.baseline - line.baseline
    long = min(len(above.text.split()), len(line.text.split())) > 3
    aligned = abs(above.left - line.left) < 2 and abs(above.size - line.size) < 0.6
    return long and aligned and 0 < down < line.size * 1.7 and len(above.parts) < 2 and len(line.parts) < 2


def _in_frame(lines: Sequence[Line], frame: Sequence[Box]) -> Columns | None:
    """Return the lines inside adjacent boxes as columns."""
    if not frame:
        return None
    bottom, top = min(box[2] for box in frame), max(box[3] for box in frame)
    left, right = min(box[0] for box in frame), max(box[1] for box in frame)
    inside = [
        line
        for line in lines
        if bottom <= (line.bottom + line.top) / 2 <= top and left <= (line.left + line.right) / 2 <= right
    ]
    return Columns(tuple(_rows(inside)), tuple((box[0], box[1]) for box in frame)) if inside else None


def _rows(lines: Sequence[Line]) -> list[TextRow]:
    """Group lines into rows by height, from the top."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: (-line.baseline, line.left)):
        if rows and rows[-1][0].baseline - line.baseline < min(line.size, rows[-1][0].size) * 0.4:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [TextRow(tuple(sorted(_parts(row), key=lambda part: part.left)), tuple(row)) for row in rows]


def _parts(lines: Sequence[Line]) -> Iterator[Stretch]:
    for line in lines:
        yield from line.parts or (Stretch(line.text, line.left, line.right),)


def _side_by_side(rows: Sequence[TextRow]) -> Iterator[Columns]:
    """Yield runs of rows whose parts are aligned in columns."""
    run: list[TextRow] = []
    for row in rows:
        if run and not _goes_on(run, row):
            yield from _columns(run)
            run = []
        if run or _is_parted(row):
            run.append(row)
    yield from _columns(run)


def _is_parted(row: TextRow) -> bool:
    """Return whether a row has several parts and is not a list item, numbered heading or table of contents."""
    return len(row.parts) > 1 and not _LIST_MARK.fullmatch(row.parts[0].text) and not _is_leader(row)


def _is_leader(row: TextRow) -> bool:
    return any(_LEADER.search(part.text) for part in row.parts)


def _goes_on(run: Sequence[TextRow], row: TextRow) -> bool:
    """Return whether a row belongs to the run above it: close enough, same type size, and similarly split."""
    above = run[-1]
    down = above.baseline - row.baseline
    if down > above.size * 3.2 or abs(above.size - row.size) > max(1.0, above.size * 0.15) or _is_leader(row):
        return False
    if len(row.parts) > 1:
        return not _LIST_MARK.fullmatch(row.parts[0].text) or len(row.parts) > 2
    part = row.parts[0]
    last = next(other for other in reversed(run) if len(other.parts) > 1)
    crossed = sum(part.left < b.left - 1 and part.right > b.left + 1 for b in last.parts[1:])
    return down < above.size * 2.2 and (not crossed or len(part.text.split()) < 5)


def _columns(run: list[TextRow]) -> Iterator[Columns]:
    """Yield the columns shared by a run's rows, without trailing rows that have only one part."""
    while run and len(run[-1].parts) < 2 and run[-1].parts[0].left < run[0].parts[-1].left - 5:
        run = run[:-1]
    parted = [row for row in run if len(row.parts) > 1]
    if len(parted) < 3:
        return
    usual = sorted(len(row.parts) for row in parted)[len(parted) // 2]
    extents = _extents([part for row in parted if len(row.parts) >= usual for part in row.parts], len(parted))
    if not 2 <= len(extents) <= MAX_COLUMNS:
        return
    columns = Columns(tuple(run), tuple(extents))
    apart = sum(len({columns.column(part) for part in row.parts}) == len(row.parts) for row in parted)
    if apart >= len(parted) * 0.8:
        yield columns


def _extents(parts: Sequence[Stretch], rows: int) -> list[tuple[float, float]]:
    """Return the horizontal extent of each column; parts that cross a common gap are ignored as spanning headings."""
    merged = _merged(parts)
    if rows > 3:  # a character that occurs in one row only is not a column
        merged = [one for one in merged if sum(_overlap(part, one) > 0 for part in parts) > 1]
    if len(merged) > 1 or rows < 5:
        return merged
    widths = sorted(part.right - part.left for part in parts)
    narrow = [part for part in parts if part.right - part.left <= widths[int(len(widths) * 0.9)]]
    return _merged(narrow)


def _merged(parts: Sequence[Stretch]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for part in sorted(parts, key=lambda part: part.left):
        if merged and part.left < merged[-1][1] + 0.5:
            merged[-1] = (merged[-1][0], max(merged[-1][1], part.right))
        else:
            merged.append((part.left, part.right))
    return merged


def _table(columns: Columns, rules: Sequence[Box]) -> FoundTable | None:
    """Return the columns as a table if they contain figures or have rules across them, as in books."""
    cells = [columns.cells(row) for row in columns.rows]
    filled = [text for row in cells for text in row if text]
    if not _may_be_table(columns, cells, filled):
        return None
    ruled = _is_ruled(columns, rules)
    body = [row for row in cells[1:] if sum(map(bool, row)) > 1]
    figures = [sum(bool(_FIGURE.fullmatch(row[i])) for row in body if row[i]) for i in range(len(columns.extents))]
    counts = [sum(bool(row[i]) for row in body) for i in range(len(columns.extents))]
    of_figures = sum(count > 1 and found >= count * 0.6 for found, count in zip(figures, counts, strict=True))
    words = sum(len(text.split()) for text in filled) / len(filled)
    bold = all(line.bold for line in columns.rows[0].lines) and not all(line.bold for line in columns.rows[1].lines)
    if any(row.lines[0].fixed for row in columns.rows) and of_figures < 2:  # code
        return None
    if not (ruled or of_figures or (len(columns.extents) > 2 and words < 4) or (bold and words < 5)):
        return None
    rows = _with_whole_cells(_with_group_names(cells))
    if is_right_to_left(" ".join(filled)):
        rows = [row[::-1] for row in rows]
    return FoundTable(tuple(map(tuple, rows)), *columns.box)


def _may_be_table(columns: Columns, cells: Sequence[Sequence[str]], filled: Sequence[str]) -> bool:
    """Return whether the rows hold short cells, rather than prose, form labels with values or numbers of a drawing."""
    first = [row[0] for row in cells if row[0]]
    labels = sum(text.endswith(":") for text in first)
    labelled = sum(all(re.match(r"[^\W\d][\w .]{1,24}: ?\S?", text) for text in row if text) for row in cells)
    long = sum(len(text.split()) > 12 for text in filled)
    named = sum(any(letter.isalpha() for letter in text) for text in filled)
    if len(columns.extents) == 2 and (labels > len(first) * 0.5 or labelled > 1 or _is_prose(columns)):
        return False
    ticked = sum(any("[x]" in text or "[ ]" in text for text in row) for row in cells)
    if ticked and labels + sum(text.endswith("?") for text in first) > len(first) * 0.5:
        return False
    if _is_contents(cells):
        return False
    marks = sum(bool(_LIST_MARK.fullmatch(text)) for text in first)
    named_enough = named >= len(filled) * 0.12 or len(columns.extents) > 2
    return long <= len(filled) * 0.15 and named_enough and marks <= len(first) * 0.6


def _is_contents(cells: Sequence[Sequence[str]]) -> bool:
    """Return whether the rows are a table of contents: the last cells are ascending page numbers."""
    pages = [int(row[-1]) for row in cells if row[-1].isdecimal()]
    return len(cells) > 3 and len(pages) == len(cells) and len(cells[0]) < 4 and pages == sorted(pages)


def _is_prose(columns: Columns) -> bool:
    """Return whether all columns are text that continues from line to line."""
    texts = [[columns.cells(row)[i] for row in columns.rows] for i in range(len(columns.extents))]
    return all(
        sum(len(text.split()) > 3 for text in column) > len([text for text in column if text]) * 0.5 for column in texts
    )


def _is_ruled(columns: Columns, rules: Sequence[Box]) -> bool:
    """Return whether at least two rules span most of the columns."""
    left, right, bottom, top = columns.box
    size = columns.rows[0].size
    across = [
        rule
        for rule in rules
        if rule[3] - rule[2] < 3
        and min(rule[1], right) - max(rule[0], left) > (right - left) * 0.6
        and bottom - size * 1.5 <= rule[2] <= top + size * 1.5
    ]
    return len({round(rule[2]) for rule in across}) > 1


def _with_group_names(cells: list[list[str]]) -> list[list[str]]:
    """Merge a row of group names into the header below it, repeating each name for its columns."""
    at = next((i for i, row in enumerate(cells[:3]) if sum(map(bool, row)) > 1), 0)
    upper, lower = cells[at : at + 2] if at + 1 < len(cells) else ([], [])
    named = [i for i, text in enumerate(upper) if text and i]
    if len(named) < 2 or any(_FIGURE.fullmatch(text) for text in upper if text):
        return cells
    if sum(map(bool, lower[1:])) <= len(named) or upper[0] or any(_FIGURE.fullmatch(text) for text in lower if text):
        return cells
    groups = [upper[min(named, key=lambda k: (abs(k - i), k))] if text and i else "" for i, text in enumerate(lower)]
    merged = [f"{group} {text}".strip() for group, text in zip(groups, lower, strict=True)]
    return [*cells[:at], merged, *cells[at + 2 :]]


def _with_whole_cells(cells: Sequence[list[str]]) -> list[list[str]]:
    """Join wrapped rows: a row without first cell and figures continues the row above."""
    rows: list[list[str]] = []
    for row in cells:
        words = [text for text in row if text]
        more = rows and not row[0] and not any(_FIGURE.fullmatch(text) for text in words)
        lower = rows and len(words) == 1 and words[0][:1].islower()
        if (more and len(rows) > 1) or lower:
            rows[-1] = [f"{a} {b}".strip() for a, b in zip(rows[-1], row, strict=True)]
        else:
            rows.append(list(row))
    return rows


def _are_blocks(columns: Columns, lines: Sequence[Line]) -> bool:
    """Return whether the file order is row by row although each column is a text of its own."""
    if len(columns.extents) > 3:
        return False
    gaps = [b[0] - a[1] for a, b in pairwise(columns.extents)]
    if min(gaps) < columns.rows[0].size * 1.2:
        return False
    cells = [columns.cells(row) for row in columns.rows]
    first = [row[0] for row in cells if row[0]]
    if sum(text.endswith(":") for text in first) > len(first) * 0.5:  # form labels with their values
        return False
    starts = all(text.endswith(":") for text in cells[0] if text)
    labelled = any(all(re.match(r"[^\W\d][\w .]{1,24}: ?\S", text) for text in row) for row in cells[1:])
    if not (starts or labelled or _is_prose(columns)):
        return False
    order = {id(line): i for i, line in enumerate(lines)}
    places = [min(order[id(line)] for line in row.lines) for row in columns.rows]
    beside = [max(order[id(line)] for line in row.lines) for row in columns.rows]
    return all(last < following for last, following in zip(beside[:-1], places[1:], strict=True))


def _one_after_the_other(lines: Sequence[Line], columns: Columns) -> tuple[list[Line], list[list[Line]]]:
    """Return the lines with the columns read one after the other, and the lines of each column."""
    moved = {id(line) for row in columns.rows for line in row.lines}
    start = next(i for i, line in enumerate(lines) if id(line) in moved)
    ordered = [
        [line for row in columns.rows for line in _of_column(row, columns, i)] for i in range(len(columns.extents))
    ]
    rest = [line for line in lines if id(line) not in moved]
    before = sum(id(line) not in moved for line in lines[:start])
    return [*rest[:before], *(line for column in ordered for line in column), *rest[before:]], ordered


def _of_column(row: TextRow, columns: Columns, number: int) -> Iterator[Line]:
    """Yield the part of each line of a row that is in this column, as a line."""
    for line in row.lines:
        parts = [part for part in _parts([line]) if columns.column(part) == number]
        if parts:
            text, left, right = " ".join(p.text for p in parts), min(p.left for p in parts), max(p.right for p in parts)
            yield replace(line, text=text, left=left, right=right, parts=tuple(parts))
