"""Table detection in a sheet: where tables begin and end, their header rows, and lines above them.

A sheet may contain several tables, separated by empty rows or columns or by titles. One table may have empty rows below
its header and between groups of rows, and a narrow empty column as spacing.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from adapters.documents.tables import stretches

MAX_GAP = 3
"""Maximum empty rows between a header and its rows; after more, another table begins."""

MAX_REPEATED = 120
"""Maximum length of lines above a table that each of its parts repeats: a period, a unit."""

MAX_HEADER = 4
"""Maximum number of header rows."""

_NUMBER = re.compile(r"[-+(]{0,2}[$€£¥]? ?[\d.,]+ ?[%$€£¥]?[KMB]?\)?|=.* \(not computed\)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NO_VALUE = re.compile(r"[-–—.?]*|n/?a|tbd|tbc", re.IGNORECASE)

Grid = list[list[str]]
Rows = dict[int, list[str]]
"""Non-empty rows by their number from 0. The size stated in a sheet may include a million empty rows."""


def regions(found: Rows) -> Iterator[tuple[int, int, Grid]]:
    """Yield separate tables as (first row, first column, cells), from 0, including empty rows inside them."""
    for top, rows in _joined(list(_bands(found))):
        width = max(map(len, rows))
        used = [any(j < len(row) and row[j] for row in rows) for j in range(width)]
        for start, end in _spans(used, rows):
            part = [row[start:end] for row in rows]
            above = next(i for i, row in enumerate(part) if any(row))
            below = next(i for i, row in enumerate(reversed(part)) if any(row))
            for first, cells in _titled(part[above : len(part) - below]):
                yield top + above + first, start, cells


def sheet_table(rows: Grid) -> Iterator[tuple[str, int, int]]:
    """Yield a region as (Markdown, first row, last row): lines above the header as text, then the table."""
    head = 0
    while head < min(len(rows), 5) and sum(map(bool, rows[head])) <= 1 and _width(rows) > 1:
        head += 1
    while head < len(rows) - 1 and _is_caption(rows[head:]):
        head += 1
    above = "\n\n".join(" · ".join(" ".join(text.split()) for text in row if text) for row in rows[:head] if any(row))
    body = rows[head:]
    if not any(map(any, body)):
        yield above, 0, max(head - 1, 0)
    elif _width(body) == 1 or (_filled_columns(body) == 2 and (len(body) == 1 or not _is_header(body))):
        pairs = [": ".join(filter(None, row)) for row in body if any(row)]
        text = "\n".join(f"- {pair}" for pair in pairs) if len(pairs) > 1 else pairs[0]
        yield "\n\n".join(filter(None, (above, text))), 0, len(rows) - 1
    else:
        for i, (text, first, last) in enumerate(_stretches(body)):
            repeated = above if i == 0 or len(above) <= MAX_REPEATED else ""
            shown = "\n\n".join(filter(None, (repeated, text)))
            yield shown, 0 if i == 0 else head + first, head + last


# --- table boundaries


def _bands(found: Rows) -> Iterator[tuple[int, Grid]]:
    """Yield runs of consecutive non-empty rows as (number of the first row, cells)."""
    top, band = 0, list[list[str]]()
    for number in sorted(found):
        if band and number != top + len(band):
            yield top, band
            band = []
        if not band:
            top = number
        band.append(found[number])
    if band:
        yield top, band


def _joined(bands: Sequence[tuple[int, Grid]]) -> Iterator[tuple[int, Grid]]:
    """Yield the bands; a band without its own header is joined to the one above whose columns it continues."""
    top, rows, named = 0, list[list[str]](), set[int]()
    for next_top, below in bands:
        gap = next_top - top - len(rows)
        if rows and gap <= MAX_GAP and (_goes_on(named, below) or _is_header_alone(rows, below)):
            rows.extend([""] for _ in range(gap))
            rows.extend(below)
            named |= _named_columns(below)
            continue
        if rows:
            yield top, rows
        top, rows, named = next_top, list(below), _named_columns(below)
    if rows:
        yield top, rows


def _goes_on(named: set[int], below: Grid) -> bool:
    """Return whether rows after a gap continue the table above: their figures are under its named columns."""
    if not named or not _has_numbers(below[0]):
        return False
    figures = {j for row in below for j, text in enumerate(row) if text and _NUMBER.fullmatch(text)}
    return bool(figures) and figures <= named


def _is_header_alone(rows: Grid, below: Grid) -> bool:
    """Return whether a single row names the columns of the text rows below it, three or more columns."""
    columns = [{j for j, text in enumerate(row) if text} for row in (rows[0], below[0])]
    return (
        len(rows) == 1 and len(below) > 1 and len(columns[0]) > 2 and columns[0] == columns[1] == _named_columns(rows)
    )


def _named_columns(rows: Grid) -> set[int]:
    """Return the columns with text in a row that has several texts and no figures."""
    heads = [row for row in rows if not _has_numbers(row) and sum(map(bool, row)) > 1]
    return {j for row in heads for j, text in enumerate(row) if text}


def _spans(used: list[bool], rows: Grid) -> list[tuple[int, int]]:
    """Return runs of used columns; a single column, or one with only figures, joins the adjacent table."""
    runs: list[tuple[int, int]] = []
    for j, filled in enumerate(used):
        beside = j - runs[-1][1] if runs else None
        if filled and (beside == 0 or (beside == 1 and _is_figures(rows, *runs[-1], j))):
            runs[-1] = (runs[-1][0], j + 1)
        elif filled:
            runs.append((j, j + 1))
    if len(runs) > 1 and any(end - start == 1 for start, end in runs):
        return [(runs[0][0], runs[-1][1])]
    return runs


def _is_figures(rows: Grid, start: int, end: int, column: int) -> bool:
    """Return whether a column extends the table to its left: a name in the header, and only numbers below."""
    left = [row[start:end] for row in rows]
    begins = next((i for i, row in enumerate(rows) if column < len(row) and row[column]), 0)
    if begins >= next((i for i, row in enumerate(left) if _has_numbers(row)), len(rows)):
        return False
    if rows[begins][column] in left[begins]:
        return False
    filled = [row[column] for row in rows if column < len(row) and row[column] and not _YEAR.fullmatch(row[column])]
    figures = sum(bool(_NUMBER.fullmatch(text) or _NO_VALUE.fullmatch(text)) for text in filled)
    return figures >= 2 and figures >= len(filled) - MAX_HEADER + 1 and not _NUMBER.fullmatch(filled[0])


def _titled(rows: Grid) -> Iterator[tuple[int, Grid]]:
    """Yield adjacent tables with a single-cell title each, without empty rows between them, as (first row, cells)."""
    start = 0
    for i in range(2, len(rows) - 2):
        titled = sum(map(bool, rows[i])) == 1 and not _has_numbers(rows[i])
        header, first = rows[i + 1], rows[i + 2]
        if titled and sum(map(bool, header)) > 1 and not _has_numbers(header) and _has_numbers(first):
            figures = [j for j, text in enumerate(rows[i - 1]) if text and _NUMBER.fullmatch(text)]
            if any(j < len(header) and header[j] for j in figures):
                yield start, rows[start:i]
                start = i
    yield start, rows[start:]


# --- headers


def _stretches(body: Grid) -> Iterator[tuple[str, int, int]]:
    """Yield a table in parts with its header (several rows, or none), without empty rows."""
    header: Sequence[str] = [""] * len(body[0])
    start = 0
    if len(body) > 1 and _is_header(body):
        start = _header_rows(body)
        header = _one_header(body[:start])
    filled = [i for i in range(start, len(body)) if any(body[i])]
    for stretch in stretches(header, [body[i] for i in filled]):
        if filled:
            yield stretch.text, filled[stretch.first], filled[stretch.last]
        else:
            yield stretch.text, 0, len(body) - 1


def _header_rows(body: Grid) -> int:
    """Return the number of header rows: those with text above columns of numbers."""
    if len(body) > 2 and _is_group_row(body):
        return 2
    leading = next((i for i, row in enumerate(body) if i and any(row) and _has_numbers(row)), 0)
    if not 1 < leading <= MAX_HEADER + MAX_GAP:
        return 1
    figures = _figure_columns(body[leading:])
    count = 1
    for i in range(1, leading):
        row = body[i]
        named = [j for j in figures if j < len(row) and row[j] and not _NO_VALUE.fullmatch(row[j])]
        if any(row) and not named:
            break
        count = i + 1 if named else count
    return count


def _figure_columns(rows: Grid) -> set[int]:
    """Return the columns in which most filled cells are numbers."""
    filled, figures = Counter[int](), Counter[int]()
    for row in rows[:200]:
        for j, text in enumerate(row):
            if text and not _NO_VALUE.fullmatch(text):
                filled[j] += 1
                figures[j] += bool(_NUMBER.fullmatch(text))
    return {j for j in figures if figures[j] >= 0.8 * filled[j] and figures[j]}


def _one_header(rows: Grid) -> list[str]:
    """Merge several header rows: a group name is prepended to each name of its group."""
    rows = [row for row in rows if any(row)]
    width = _width(rows)
    columns: list[list[str]] = [[] for _ in range(width)]
    for at, row in enumerate(rows):
        lower = rows[at + 1] if at + 1 < len(rows) else None
        spread = _spread(row, lower, width) if lower else row
        for j in range(width):
            columns[j].append(spread[j] if j < len(spread) else "")
    return [" ".join(dict.fromkeys(filter(None, column))) for column in columns]


def _spread(row: Sequence[str], lower: Sequence[str], width: int) -> list[str]:
    """Return a row of group names, repeated to the right if the names below repeat: 2025, 2026."""
    cells = [*row, *[""] * (width - len(row))]
    names = [text for text in lower if text]
    if len(set(names)) == len(names):
        return cells
    last = ""
    for j, text in enumerate(cells):
        last = text or last
        cells[j] = text or (last if j and j < len(lower) and lower[j] else "")
    return cells


def _is_caption(rows: Grid) -> bool:
    """Return whether the first row is a line above a table rather than a header: a unit, a period."""
    filled = sum(map(bool, rows[0]))
    if not any(rows[0]) or len(rows) < 3 or 3 * filled > _filled_columns(rows) or _has_numbers(rows[0]):
        return not any(rows[0])
    lower = [text for text in rows[1] if text]
    header = len(lower) > filled and not _has_numbers(rows[1])
    return header and len(set(lower)) == len(lower) and not _is_group_row(rows)


def _is_header(rows: Grid) -> bool:
    """Return whether the first row is a header: words or years, but not a label with a value."""
    first = [text for text in rows[0] if text]
    if len(first) == 2 and len(rows) > 1 and _NUMBER.fullmatch(rows[-1][-1] if rows[-1] else ""):
        return not _NUMBER.fullmatch(first[1]) or bool(_YEAR.fullmatch(first[1]))
    numbers = [text for text in first if _NUMBER.fullmatch(text)]
    return not numbers or (len(numbers) < len(first) and all(_YEAR.fullmatch(text) for text in numbers))


def _is_group_row(rows: Grid) -> bool:
    """Return whether the first row groups the second: merged texts repeat above different names."""
    repeated = any(a and a == b for a, b in zip(rows[0], rows[0][1:], strict=False))
    return repeated and _is_header(rows[1:])


def _has_numbers(row: Sequence[str]) -> bool:
    """Return whether a row contains figures; single years do not count, because they may name columns."""
    return any(_NUMBER.fullmatch(text) and not _YEAR.fullmatch(text) for text in row if text)


def _filled_columns(rows: Grid) -> int:
    return sum(any(j < len(row) and row[j] for row in rows) for j in range(_width(rows)))


def _width(rows: Grid) -> int:
    return max((len(row) for row in rows), default=0)
