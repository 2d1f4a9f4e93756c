"""What stands beside a sheet's cells in a workbook: merged areas, comments and notes. openpyxl streams cells alone."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from adapters.documents.zip_package import part, xml

MAX_MERGED = 20_000
MAX_COMMENTS = 5_000
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']")
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_ID = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}id",
)


@dataclass(frozen=True, slots=True)
class SheetExtras:
    """What one sheet has.

    Attributes:
        merged: (first row, last row, first column, last column) of each merged area, from 0.
        comments: (cell, text), the cell as 'B7'.
    """

    merged: tuple[tuple[int, int, int, int], ...] = ()
    comments: tuple[tuple[str, str], ...] = ()


def sheet_extras(package: zipfile.ZipFile) -> dict[str, SheetExtras]:
    """The extras of each worksheet by the sheet's name; damaged parts raise DocumentRejected."""
    names = set(package.namelist())
    found: dict[str, SheetExtras] = {}
    for sheet, path in _sheet_parts(package, names):
        if path not in names:
            continue
        merged = tuple(
            (int(top) - 1, int(bottom) - 1, column_index(left.decode()), column_index(right.decode()))
            for left, top, right, bottom in islice(_MERGED.findall(part(package, path)), MAX_MERGED)
        )
        found[sheet] = SheetExtras(merged, tuple(islice(_comments(package, names, path), MAX_COMMENTS)))
    return found


def column_index(letters: str) -> int:
    """A -> 0, Z -> 25, AA -> 26."""
    index = 0
    for letter in letters:
        index = index * 26 + ord(letter) - 64
    return index - 1


def _sheet_parts(package: zipfile.ZipFile, names: set[str]) -> Iterator[tuple[str, str]]:
    """(name of the sheet, path of its part) in the order of the workbook."""
    if "xl/workbook.xml" not in names:
        return
    targets = {identifier: target for identifier, _, target in _relations(package, names, "xl/workbook.xml")}
    for element in xml(part(package, "xl/workbook.xml")).iter():
        if str(element.tag).endswith("}sheet"):
            identifier = next((element.get(key) for key in _ID if element.get(key)), None)
            yield element.get("name", ""), targets.get(identifier or "", "")


def _relations(package: zipfile.ZipFile, names: set[str], path: str) -> Iterator[tuple[str, str, str]]:
    """(id, kind, path) of what a part refers to within the package."""
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
    """Threaded comments where there are any, else the notes; each thread's answers in order."""
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
