"""Workbook content other than cell values: merged areas, comments, links, hidden rows, formulas without a value.

openpyxl streams only values. The XML of a sheet may be large, so it is searched with regular expressions instead of
parsed.
"""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from itertools import islice

from adapters.documents.zip_package import part, xml

MAX_COLUMNS = 500
MAX_MERGED = 20_000
MAX_COMMENTS = 5_000
MAX_LINKS = 20_000
MAX_FORMULAS = 50_000
MAX_FORMULA = 200
"""Maximum characters of a formula that is shown in place of its value."""

_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
_ROW = re.compile(rb"<(?:\w+:)?row\s([^>]*)>")
_COLUMN = re.compile(rb"<(?:\w+:)?col\s([^>]*)>")
_CELL_LINK = re.compile(rb"<(?:\w+:)?hyperlink\s([^>]*)>")
_FORMULA = re.compile(
    rb"<(?:\w+:)?c\s([^>]*)>\s*<(?:\w+:)?f\b[^>]*?(?:/>|>([^<]*)</(?:\w+:)?f>)\s*(<(?:\w+:)?v>[^<]|<(?:\w+:)?is>)?"
)
_HYPERLINK = re.compile(r'=?\s*HYPERLINK\(\s*"(https?://[^"\s]+)"', re.IGNORECASE)
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_ID = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}id",
)


Cell = tuple[int, int]
"""Row and column of a cell, from 0."""


@dataclass(frozen=True, slots=True)
class SheetExtras:
    """Extras of one sheet.

    Attributes:
        merged: (first row, last row, first column, last column) of each merged area, from 0.
        comments: (cell, text), the cell as 'B7'.
        links: the address behind a cell, by (row, column) from 0.
        uncomputed: the formula of each cell without a stored value, by (row, column).
        hidden_rows, hidden_columns: from 0.
    """

    merged: tuple[tuple[int, int, int, int], ...] = ()
    comments: tuple[tuple[str, str], ...] = ()
    links: Mapping[Cell, str] = field(default_factory=dict)
    uncomputed: Mapping[Cell, str] = field(default_factory=dict)
    hidden_rows: tuple[int, ...] = ()
    hidden_columns: tuple[int, ...] = ()


def sheet_extras(package: zipfile.ZipFile) -> dict[str, SheetExtras]:
    """Return the extras of each worksheet by its name. Raises DocumentRejected for damaged parts."""
    names = set(package.namelist())
    found: dict[str, SheetExtras] = {}
    for sheet, path in _sheet_parts(package, names):
        if path not in names:
            continue
        source = part(package, path)
        merged = tuple(
            (int(top) - 1, int(bottom) - 1, column_index(left.decode()), column_index(right.decode()))
            for left, top, right, bottom in islice(_MERGED.findall(source), MAX_MERGED)
        )
        formulas, addresses = _formulas(source)
        found[sheet] = SheetExtras(
            merged,
            tuple(islice(_comments(package, names, path), MAX_COMMENTS)),
            {**addresses, **dict(islice(_links(package, names, path, source), MAX_LINKS))},
            formulas,
            *_hidden(source),
        )
    return found


def _formulas(source: bytes) -> tuple[dict[Cell, str], dict[Cell, str]]:
    """Return formulas without a stored value, and addresses of HYPERLINK formulas, both by cell."""
    uncomputed: dict[Cell, str] = {}
    addresses: dict[Cell, str] = {}
    for match in islice(_FORMULA.finditer(source), MAX_FORMULAS):
        at = _cell(_attribute(match[1], b"r"))
        text = unescape((match[2] or b"").decode("utf-8", "replace")).strip()[:MAX_FORMULA]
        if at is not None and match[3] is None and _attribute(match[1], b"t") != "str":
            uncomputed[at] = text
        if at is not None and (link := _HYPERLINK.match(text)):
            addresses[at] = link[1]
    return uncomputed, addresses


def _links(package: zipfile.ZipFile, names: set[str], path: str, source: bytes) -> Iterator[tuple[Cell, str]]:
    """Yield link addresses by cell; a link over several cells belongs to the first one."""
    targets: dict[str, str] = {}
    for match in _CELL_LINK.finditer(source):
        targets = targets or dict(_addresses(package, names, path))
        at = _cell(_attribute(match[1], b"ref").partition(":")[0])
        address = targets.get(_attribute(match[1], rb"\w+:id"))
        if at is not None and address:
            yield at, address


def _addresses(package: zipfile.ZipFile, names: set[str], path: str) -> Iterator[tuple[str, str]]:
    folder, name = posixpath.split(path)
    listed = f"{folder}/_rels/{name}.rels"
    for relation in xml(part(package, listed)).iter(_RELATION) if listed in names else ():
        if relation.get("TargetMode") == "External":
            yield relation.get("Id", ""), relation.get("Target", "")


def _hidden(source: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return (hidden rows, hidden columns), from 0."""
    if b"hidden=" not in source:
        return (), ()
    rows = [match[1] for match in _ROW.finditer(source) if _is_hidden(match[1])]
    columns = [match[1] for match in _COLUMN.finditer(source) if _is_hidden(match[1])]
    numbers = (_attribute(row, b"r") for row in rows)
    spans = ((_attribute(column, b"min"), _attribute(column, b"max")) for column in columns)
    return (
        tuple(int(number) - 1 for number in numbers if number.isdigit()),
        tuple(
            at
            for first, last in spans
            if first.isdigit() and last.isdigit()
            for at in range(int(first) - 1, min(int(last), MAX_COLUMNS))
        ),
    )


def _is_hidden(attributes: bytes) -> bool:
    return _attribute(attributes, b"hidden") in ("1", "true")


def _attribute(attributes: bytes, name: bytes) -> str:
    found = re.search(rb"(?:^|\s)" + name + rb"\s*=\s*[\"']([^\"']*)[\"']", attributes)
    return found[1].decode("utf-8", "replace") if found else ""


def _cell(reference: str) -> Cell | None:
    """Return 'B7' as (6, 1)."""
    match = re.fullmatch(r"([A-Z]{1,3})(\d{1,7})", reference)
    return (int(match[2]) - 1, column_index(match[1])) if match else None


def column_index(letters: str) -> int:
    """Return the 0-based number of a column by its letters."""
    from openpyxl.utils import column_index_from_string

    return int(column_index_from_string(letters)) - 1


def _sheet_parts(package: zipfile.ZipFile, names: set[str]) -> Iterator[tuple[str, str]]:
    """Yield (sheet name, path of its part) in workbook order."""
    if "xl/workbook.xml" not in names:
        return
    targets = {identifier: target for identifier, _, target in _relations(package, names, "xl/workbook.xml")}
    for element in xml(part(package, "xl/workbook.xml")).iter():
        if str(element.tag).endswith("}sheet"):
            identifier = next((element.get(key) for key in _ID if element.get(key)), None)
            yield element.get("name", ""), targets.get(identifier or "", "")


def _relations(package: zipfile.ZipFile, names: set[str], path: str) -> Iterator[tuple[str, str, str]]:
    """Yield (id, kind, path) of a part's relations within the package."""
    folder, name = posixpath.split(path)
    listed = f"{folder}/_rels/{name}.rels"
    if listed not in names:
        return
    for relation in xml(part(package, listed)).iter(_RELATION):
        target = relation.get("Target", "")
        if relation.get("TargetMode") == "External":
            continue
        whole = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        yield relation.get("Id", ""), relation.get("Type", "").rpartition("/")[2], whole


def _comments(package: zipfile.ZipFile, names: set[str], path: str) -> Iterator[tuple[str, str]]:
    """Yield threaded comments in order, or the notes if there are none."""
    by_kind = {kind: target for _, kind, target in _relations(package, names, path)}
    threaded = by_kind.get("threadedComment", "")
    source = threaded if threaded in names else by_kind.get("comments", "")
    if source not in names:
        return
    for element in xml(part(package, source)).iter():
        if not str(element.tag).endswith(("}comment", "}threadedComment")):
            continue
        text = "".join(piece.text or "" for piece in element.iter() if str(piece.tag).endswith(("}t", "}text")))
        if text := re.sub(r"\s+", " ", text).strip():
            yield element.get("ref", ""), text
