"""RST's tables as pipe tables: grid, simple, list-table and csv-table. Every row keeps the line it began on.

See docutils' reStructuredText specification, "Tables", and its directives "list-table" and "csv-table".
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from adapters.documents.tables import cell

Row = tuple[int, list[str]]
"""The row's line, from 0, and its cells."""

_DIRECTIVE = re.compile(r"^(\s*)\.\. (list-table|csv-table)::\s*(.*)$")
_OPTION = re.compile(r"^\s+:([\w-]+):\s*(.*)$")
_GRID_RULE = re.compile(r"^\s*\+(?:[-=]+\+)+\s*$")
_SIMPLE_RULE = re.compile(r"^(\s*)=+(?: +=+)+\s*$")


@dataclass(frozen=True, slots=True)
class _Table:
    caption: str
    rows: list[Row]
    end: int
    """The line behind the table, from 0."""


def with_pipe_tables(lines: list[str]) -> tuple[list[str], list[int]]:
    """The lines with their tables rewritten, and for each the line of the source it came from, from 1."""
    done: list[str] = []
    numbers: list[int] = []
    at = 0
    while at < len(lines):
        table = _table_at(lines, at)
        if table is None or len(table.rows) < 1:
            done.append(lines[at])
            numbers.append(at + 1)
            at += 1
            continue
        for text, number in _markdown_lines(table, at):
            done.append(text)
            numbers.append(number + 1)
        at = table.end
    return done, numbers


def _markdown_lines(table: _Table, at: int) -> Iterator[tuple[str, int]]:
    if table.caption:
        yield table.caption, at
        yield "", at
    elif at:
        yield "", at
    width = max(len(cells) for _, cells in table.rows)
    for i, (number, cells) in enumerate(table.rows):
        yield "| " + " | ".join(cell(text) for text in [*cells, *[""] * (width - len(cells))]) + " |", number
        if i == 0:
            yield "|" + " --- |" * width, number
    yield "", table.end - 1


def _table_at(lines: list[str], at: int) -> _Table | None:
    if match := _DIRECTIVE.match(lines[at]):
        return _directive(lines, at, match)
    if _GRID_RULE.match(lines[at]):
        return _grid(lines, at)
    if _SIMPLE_RULE.match(lines[at]):
        return _simple(lines, at)
    return None


def _directive(lines: list[str], at: int, match: re.Match[str]) -> _Table:
    indent, end = len(match[1]), at + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > indent):
        end += 1
    options: dict[str, str] = {}
    start = at + 1
    while start < end and (option := _OPTION.match(lines[start])):
        options[option[1]] = option[2]
        start += 1
    body = [(i, lines[i]) for i in range(start, end)]
    rows = list(_list_rows(body) if match[2] == "list-table" else _csv_rows(body))
    if options.get("header"):
        rows.insert(0, (at, next(csv.reader([options["header"]], skipinitialspace=True), [])))
    while end > at + 1 and not lines[end - 1].strip():
        end -= 1
    return _Table(match[3].strip(), rows, end)


def _list_rows(body: list[tuple[int, str]]) -> Iterator[Row]:
    row: Row | None = None
    for number, line in body:
        text = line.strip()
        if begun := re.match(r"\* -(?: (.*))?$", text):
            if row is not None:
                yield row
            row = (number, [begun[1] or ""])
        elif row is not None and (more := re.match(r"-(?: (.*))?$", text)):
            row[1].append(more[1] or "")
        elif row is not None and text:
            row[1][-1] = f"{row[1][-1]} {text}"
    if row is not None:
        yield row


def _csv_rows(body: list[tuple[int, str]]) -> Iterator[Row]:
    for number, line in body:
        if line.strip():
            yield number, [text.strip() for text in next(csv.reader([line.strip()], skipinitialspace=True), [])]


def _grid(lines: list[str], at: int) -> _Table | None:
    end = at
    while end < len(lines) and lines[end].lstrip().startswith(("+", "|")):
        end += 1
    edges = [i for i, sign in enumerate(lines[at]) if sign == "+"]
    rows: list[Row] = []
    cells: list[str] | None = None
    for number in range(at, end):
        line = lines[number]
        if line.lstrip().startswith("+"):
            cells = None
            continue
        parts = [line[a + 1 : b].strip() for a, b in pairwise(edges)]
        if cells is None:
            cells = parts
            rows.append((number, cells))
        else:
            cells[:] = [" ".join(filter(None, pair)) for pair in zip(cells, parts, strict=True)]
    return _Table("", rows, end) if len(edges) > 2 and rows else None


def _simple(lines: list[str], at: int) -> _Table | None:
    rules = [at]
    end = at + 1
    while end < len(lines) and len(rules) < 3:
        if _SIMPLE_RULE.match(lines[end]):
            rules.append(end)
        elif not lines[end].strip() and len(rules) == 1:
            return None
        elif not lines[end].strip() and len(rules) == 2 and not (end + 1 < len(lines) and lines[end + 1].strip()):
            break
        end += 1
    if len(rules) < 2:
        return None
    columns = [(match.start(), match.end()) for match in re.finditer("=+", lines[at])]
    rows: list[Row] = []
    for number in range(at + 1, rules[-1]):
        line = lines[number]
        if number in rules or not line.strip() or re.fullmatch(r"[\s-]+", line):
            continue
        starts = [start for start, _ in columns] + [len(line)]
        parts = [line[a : max(b, a)].strip() for a, b in pairwise(starts)]
        if rows and not parts[0]:  # an empty first cell goes on with the row above
            rows[-1][1][:] = [" ".join(filter(None, pair)) for pair in zip(rows[-1][1], parts, strict=True)]
        else:
            rows.append((number, parts))
    return _Table("", rows, rules[-1] + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
