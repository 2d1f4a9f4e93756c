"""OpenDocument: text (ODT), and the paragraphs and tables of sheets and slides."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from adapters.documents.format import Format
from adapters.documents.tables import table
from adapters.documents.titles import choose_title, iso_date, with_address
from adapters.documents.zip_package import open_package, part, refuse_declared_entities, xml
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NS = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _TABLE, _OFFICE, _DRAW, _STYLE = (_NS % name for name in ("text", "table", "office", "drawing", "style"))
_SVG = _NS % "svg-compatible"
_XLINK = "{http://www.w3.org/1999/xlink}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_SKIPPED = frozenset(
    (
        f"{_TEXT}tracked-changes",
        f"{_OFFICE}annotation",
        f"{_OFFICE}forms",
        f"{_TEXT}sequence-decls",
        f"{_OFFICE}scripts",
    )
)
_ROW_GROUPS = frozenset(f"{_TABLE}{name}" for name in ("table-header-rows", "table-rows", "table-row-group"))
MAX_REPEATED = 100
MAX_DEPTH = 60
MAX_ROWS = 50_000


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the body as Markdown; slides and sheets become headings."""
    with open_package(data) as package:
        refuse_declared_entities(package)
        if "META-INF/manifest.xml" in package.namelist() and b"encryption-data" in part(
            package, "META-INF/manifest.xml"
        ):
            raise DocumentRejected(
                "This document is protected by a password.", remedy="Save a copy without the password and add that."
            )
        content = xml(part(package, "content.xml"))
        facts = xml(part(package, "meta.xml")) if "meta.xml" in package.namelist() else None
    body = content.find(f"{_OFFICE}body")
    markdown = "\n\n".join(piece for piece in _Walk(content).blocks(body) if piece.strip()) if body is not None else ""
    if not markdown:
        raise NoText("This document has no text.")
    return ParsedDocument(
        title=choose_title(name, facts.findtext(f".//{_DC}title") if facts is not None else None, markdown=[markdown]),
        blocks=(Block(markdown),),
        media_type="application/vnd.oasis.opendocument.text",
        modified=iso_date((facts.findtext(f".//{_DC}date") or "")[:19]) if facts is not None else None,
    )


class _Walk:
    """One pass over the body, with the automatic styles of paragraphs and lists."""

    def __init__(self, content: "Element") -> None:
        self._parents = {
            style.get(f"{_STYLE}name", ""): style.get(f"{_STYLE}parent-style-name", "")
            for style in content.iter(f"{_STYLE}style")
        }
        self._ordered = {
            style.get(f"{_STYLE}name", "")
            for style in content.iter(f"{_TEXT}list-style")
            if style.find(f"{_TEXT}list-level-style-number") is not None
        }

    def blocks(self, parent: "Element", depth: int = 0) -> Iterator[str]:
        """Yield the block-level pieces below an element."""
        if depth > MAX_DEPTH:
            raise DocumentRejected("This document is nested too deeply to be read.")
        for child in parent:
            if child.tag in _SKIPPED:
                continue
            if child.tag == f"{_TEXT}h":
                level = child.get(f"{_TEXT}outline-level", "1")
                text = _one_line(inline(child))
                yield f"{'#' * min(int(level) if level.isdigit() else 1, 6)} {text}" if text else ""
            elif child.tag == f"{_TEXT}p":
                yield self.paragraph(child)
                yield from self.frames(child, depth)
            elif child.tag == f"{_TEXT}list":
                yield "\n".join(self.items(child, 0, child.get(f"{_TEXT}style-name", "")))
            elif child.tag == f"{_TABLE}table":
                yield from self.table(child)
            elif child.tag == f"{_DRAW}page":
                yield f"## {child.get(f'{_DRAW}name', 'Slide')}"
                yield from self.blocks(child, depth + 1)
            else:
                yield from self.blocks(child, depth + 1)

    def paragraph(self, element: "Element") -> str:
        """Return a paragraph; the style 'Title' makes it the document's heading."""
        text = inline(element)
        style = element.get(f"{_TEXT}style-name", "")
        if text and "Title" in (style, self._parents.get(style)):
            return f"# {_one_line(text)}"
        return re.sub(r"^(#+\s)", r"\\\1", text)

    def frames(self, element: "Element", depth: int) -> Iterator[str]:
        """Yield the text boxes and alternative texts anchored in a paragraph."""
        for box in element.iter(f"{_DRAW}text-box"):
            yield from self.blocks(box, depth + 1)
        for described in element.iter(f"{_SVG}desc"):
            if described.text and len(described.text.strip()) > 2:
                yield f"[Image: {_one_line(described.text)}]"

    def items(self, listed: "Element", level: int, style: str) -> Iterator[str]:
        """Yield the items of a list and of nested lists."""
        number = 0
        for item in listed:
            for child in item:
                if child.tag == f"{_TEXT}list" and level < 10:
                    yield from self.items(child, level + 1, child.get(f"{_TEXT}style-name", style))
                elif text := _one_line(inline(child)):
                    number += 1
                    yield f"{'  ' * level}{f'{number}.' if style in self._ordered else '-'} {text}"

    def table(self, element: "Element") -> Iterator[str]:
        """Yield a table; a sheet's name becomes a heading."""
        text = table([list(_cells(row)) for row in islice(_own_rows(element), MAX_ROWS)])
        name = element.get(f"{_TABLE}name", "")
        if text and name and not re.fullmatch(r"Table\d+|Tabelle\d+|Sheet\d+", name):
            yield f"## {name}"
        yield text


def _own_rows(table_element: "Element", depth: int = 0) -> Iterator["Element"]:
    """Yield the rows of this table, excluding nested tables."""
    for child in table_element:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag in _ROW_GROUPS and depth < MAX_DEPTH:
            yield from _own_rows(child, depth + 1)


def _cells(row: "Element") -> Iterator[str]:
    """Yield a row's texts, with repeated cells up to a limit."""
    for cell in row:
        if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            continue
        text = _cell_text(cell)
        repeated = cell.get(f"{_TABLE}number-columns-repeated", "1")
        times = min(int(repeated), MAX_REPEATED) if repeated.isdigit() else 1
        yield from [text] * (times if text else min(times, 20))


def _cell_text(cell: "Element", depth: int = 0) -> str:
    """Return a cell's text on one line; a nested table row by row."""
    if depth > MAX_DEPTH:
        raise DocumentRejected("This document is nested too deeply to be read.")
    pieces: list[str] = []
    for child in cell:
        if child.tag in _SKIPPED:
            continue
        if child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
            pieces.append(_one_line(inline(child)))
            pieces.extend(_cell_text(box, depth + 1) for box in child.iter(f"{_DRAW}text-box"))
        elif child.tag == f"{_TABLE}table":
            rows = (", ".join(filter(None, _cells(row))) for row in islice(_own_rows(child), MAX_ROWS))
            pieces.append("; ".join(filter(None, rows)))
        else:
            pieces.append(_cell_text(child, depth + 1))
    return " ".join(filter(None, pieces))


def inline(element: "Element") -> str:
    """Return a paragraph's text with line breaks and bracketed notes, without frames."""
    return re.sub(r"[ \t\xa0]+", " ", "".join(_inline(element))).strip()


def _inline(element: "Element") -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag in (f"{_TEXT}s", f"{_TEXT}tab"):
            yield " "
        elif child.tag == f"{_TEXT}line-break":
            yield "\n"
        elif child.tag == f"{_TEXT}a":
            yield with_address("".join(_inline(child)), child.get(f"{_XLINK}href"))
        elif child.tag == f"{_TEXT}note":
            yield f" [{_one_line(' '.join(child.itertext()))}]"
        elif child.tag not in _SKIPPED and not child.tag.startswith(_DRAW):
            yield from _inline(child)
        yield child.tail or ""


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


FORMATS = (
    Format(
        media_type="application/vnd.oasis.opendocument.text",
        read=read,
        label="ODT",
        suffixes=("odt",),
        promises="OpenDocument text",
        in_package=lambda package: package.declared.startswith("application/vnd.oasis.opendocument"),
        not_a_title=r".*\.odt",
    ),
)
