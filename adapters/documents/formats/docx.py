"""DOCX: headings by style, paragraphs, lists, tables, text boxes, notes and page headers, in document order.

python-docx opens the file and resolves styles. The body is walked element by element, because python-docx's paragraph
list lacks content controls, text boxes and nested tables. The notes list what is left out (deleted text of tracked
changes, images without alternative text, embedded files).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from adapters.documents.format import Format
from adapters.documents.formats.docx_text import ALTERNATE, ENDNOTE, SKIPPED, W, alternative_text, inline
from adapters.documents.tables import table
from adapters.documents.titles import choose_title, iso_date
from adapters.documents.zip_package import is_office_xml, open_transitional
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
_BLIP = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop)\s*([1-9])", re.IGNORECASE)
MAX_DEPTH = 40
_PAGE_NUMBER = re.compile(r"[\W\d]*(?:page|seite|p\.?)?[\W\d]*(?:of|von|/)?[\W\d]*", re.IGNORECASE)


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the body as Markdown, followed by footnotes and endnotes."""
    document = _open(open_transitional(data))
    walk = Walk(_Styles(document), _numbering_formats(document))
    walk.comments = _comments(document, walk)
    walk.links = link_targets(document.part)
    pieces = list(walk.blocks(document.element.body))
    if not walk.headings:
        pieces = [piece.as_heading() for piece in pieces]
    above, below = _page_texts(document, walk, pieces)
    at = 1 if pieces and pieces[0].kind in ("title", "heading") else 0
    markdown = _assemble([*pieces[:at], *above, *pieces[at:], *_notes(document, walk), *below])
    if not markdown.strip():
        pictured = any(relation.reltype.endswith("/image") for relation in document.part.rels.values())
        remedy = "It contains only pictures. Run text recognition (OCR) on them." if pictured else None
        raise NoText("This document has no text.", remedy=remedy)
    # Without properties, python-docx invents some that are dated now.
    kinds = [relation.reltype for relation in document.part.package.rels.values()]
    facts = document.core_properties if any(kind.endswith("/core-properties") for kind in kinds) else None
    titled = next((piece.text for piece in pieces if piece.kind == "title"), None)
    return ParsedDocument(
        title=choose_title(name, titled, facts.title if facts else None, markdown=[markdown]),
        blocks=(Block(markdown),),
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        modified=iso_date((facts.modified or facts.created) if facts else None),
        notes=tuple(_left_out(document)),
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph, heading, list item or table as Markdown."""

    kind: str
    text: str
    level: int = 0
    bold: bool = False

    @property
    def markdown(self) -> str:
        """The piece as Markdown."""
        if self.kind == "title":
            return f"# {self.text}"
        if self.kind == "heading":
            return f"{'#' * min(self.level, 6)} {self.text}"
        return self.text

    def as_heading(self) -> "Piece":
        """Return a short bold line as a heading, for documents without heading styles."""
        short = len(self.text) < 90 and "\n" not in self.text and not self.text.endswith((".", ",", ";"))
        if self.kind == "paragraph" and self.bold and short:
            return Piece("heading", self.text.replace("**", "").strip(), 2)
        return self


@dataclass(slots=True)
class Walk:
    """One pass over a document's elements that counts headings and list numbers."""

    styles: "_Styles"
    formats: dict[tuple[str, str], str]
    links: dict[str, str] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    headings: int = 0
    counters: dict[tuple[str, int], int] = field(default_factory=dict)

    def blocks(self, parent: Any, depth: int = 0) -> Iterator[Piece]:
        """Yield the pieces below an element with paragraphs and tables."""
        if depth > MAX_DEPTH:
            raise DocumentRejected("This document is nested too deeply to be read.")
        for child in parent:
            if child.tag == f"{W}p":
                yield from self.paragraph(child, depth)
            elif child.tag == f"{W}tbl":
                yield from self.table(child, depth)
            elif child.tag not in SKIPPED and isinstance(child.tag, str):
                yield from self.blocks(child, depth + 1)

    def paragraph(self, element: Any, depth: int) -> Iterator[Piece]:
        """Yield a paragraph, and the text boxes anchored in it."""
        text, bold = inline(element, self.links)
        style, level = self.styles.of(element)
        if text and style == "title" and not self.headings:
            yield Piece("title", _one_line(text))
        elif text and level:
            self.headings += 1
            yield Piece("heading", _one_line(text), level)
        elif text and style == "code":
            yield Piece("code", text)
        elif text:
            yield self.item(element, text) or Piece("paragraph", text, bold=bold)
        for box in element.iter(f"{W}txbxContent"):
            if not any(up.tag in (f"{ALTERNATE}Fallback", f"{W}txbxContent") for up in box.iterancestors()):
                yield from self.blocks(box, depth + 1)
        for mark in element.iter(f"{W}commentReference"):
            if comment := self.comments.get(mark.get(f"{W}id") or ""):
                yield Piece("comment", f"[{comment}]")

    def item(self, element: Any, text: str) -> Piece | None:
        """Return the paragraph as a list item, or None if it is none."""
        if (number := self.styles.numbering(element)) is None:
            return None
        list_id, level = number
        kind = self.formats.get((list_id, str(level)), "bullet")
        if kind == "none":
            return None
        mark = "-"
        if kind != "bullet":
            for key in [k for k in self.counters if k[0] == list_id and k[1] > level]:
                del self.counters[key]
            self.counters[list_id, level] = self.counters.get((list_id, level), 0) + 1
            mark = f"{self.counters[list_id, level]}."
        return Piece("item", f"{'  ' * min(level, 6)}{mark} {text}", level)

    def table(self, element: Any, depth: int) -> Iterator[Piece]:
        """Yield a table, or only the content of a table with one column."""
        rows = [list(_own(row, f"{W}tc")) for row in _own(element, f"{W}tr")]
        if max(map(len, rows), default=0) <= 1:
            for cell in (cell for row in rows for cell in row):
                yield from self.blocks(cell, depth + 1)
            return
        above: dict[int, str] = {}
        texts = [self.row(cells, above, depth) for cells in rows]
        if len(rows) > 2 and sum(map(_span, rows[0])) > len(rows[0]) and texts[1][0] in ("", texts[0][0]):
            texts = [_joined_header(texts[0], texts[1]), *texts[2:]]
        if text := table(texts):
            yield Piece("table", text)

    def row(self, cells: list[Any], above: dict[int, str], depth: int) -> list[str]:
        """Return a row's texts; vertically merged cells repeat, horizontally merged cells leave blanks."""
        texts: list[str] = []
        for cell in cells:
            merged = cell.find(f"{W}tcPr/{W}vMerge")
            goes_on = merged is not None and merged.get(f"{W}val") != "restart"
            pieces = [] if goes_on else list(self.blocks(cell, depth + 1))
            text = above.get(len(texts), "") if goes_on else " ".join(_flat(piece) for piece in pieces)
            above[len(texts)] = text
            texts.append(text)
            texts.extend([""] * (_span(cell) - 1))
        return texts


def _span(cell: Any) -> int:
    """Return the number of columns that a cell spans."""
    width = _val(cell, f"{W}tcPr/{W}gridSpan", "1")
    return min(int(width), 100) if width.isdigit() else 1


def _joined_header(upper: list[str], lower: list[str]) -> list[str]:
    """Merge two header rows: "Day" and "Evening" below "First aiders" become "First aiders Day" and so on."""
    group, names = "", list[str]()
    for at, text in enumerate(upper):
        group = text or group
        below = lower[at] if at < len(lower) else ""
        names.append(" ".join(dict.fromkeys(filter(None, (group, below)))))
    return names


def link_targets(part: Any) -> dict[str, str]:
    """Return the external link targets of a part, by relation id."""
    return {
        identifier: relation.target_ref
        for identifier, relation in part.rels.items()
        if relation.is_external and relation.reltype.endswith("/hyperlink")
    }


class _Styles:
    """Styles of a document: which paragraphs are headings, titles, code or list items."""

    def __init__(self, document: Any) -> None:
        self._by_id = {style.get(f"{W}styleId"): style for style in _style_elements(document)}

    def of(self, paragraph: Any) -> tuple[str, int]:
        """Return the kind of a paragraph ("title", "code" or "") and its heading level, 0 for none."""
        if (level := _val(paragraph, f"{W}pPr/{W}outlineLvl", "9")) < "9":
            return "", int(level) + 1
        for style in self._chain(paragraph):
            name = _val(style, f"{W}name").lower()
            if match := _HEADING_STYLE.fullmatch(name):
                return "", int(match[1])
            if name in ("title", "titel", "titre"):
                return "title", 0
            if re.search(r"\bcode\b|preformatted|listing|macro text", name):
                return "code", 0
            if (level := _val(style, f"{W}pPr/{W}outlineLvl", "9")) < "9":
                return "", int(level) + 1
        return "", 0

    def numbering(self, paragraph: Any) -> tuple[str, int] | None:
        """Return (list id, level from 0) of a list item, from the paragraph or its style."""
        for holder in (paragraph, *self._chain(paragraph)):
            found = holder.find(f"{W}pPr/{W}numPr")
            if found is None:
                continue
            list_id, depth = _val(found, f"{W}numId"), _val(found, f"{W}ilvl", "0")
            if list_id:
                return None if list_id == "0" else (list_id, int(depth) if depth.isdigit() else 0)
        for style in self._chain(paragraph):
            name = _val(style, f"{W}name").lower()
            if name.startswith(("list bullet", "list number")):
                return name.rstrip(" 0123456789"), 0
        return None

    def _chain(self, paragraph: Any) -> Iterator[Any]:
        """Yield the paragraph's style and the styles that it is based on."""
        style_id = _val(paragraph, f"{W}pPr/{W}pStyle")
        for _ in range(10):
            style = self._by_id.get(style_id)
            if style is None:
                return
            yield style
            style_id = _val(style, f"{W}basedOn")


def _val(element: Any, path: str, default: str = "") -> str:
    """Return the value of a setting below an element."""
    found = element.find(path)
    return default if found is None else str(found.get(f"{W}val") or default)


def _style_elements(document: Any) -> list[Any]:
    try:
        return list(document.styles.element.iterchildren(f"{W}style"))
    except (KeyError, AttributeError):
        return []


def _numbering_formats(document: Any) -> dict[tuple[str, str], str]:
    """Return the number format ('bullet', 'decimal', …) by (list id, level)."""
    found = {("list bullet", "0"): "bullet", ("list number", "0"): "decimal"}
    try:
        root = document.part.numbering_part.element
    except (KeyError, NotImplementedError, AttributeError):
        return found
    abstract: dict[str, dict[str, str]] = {}
    for definition in root.iterchildren(f"{W}abstractNum"):
        levels = abstract.setdefault(definition.get(f"{W}abstractNumId"), {})
        for level in definition.iterchildren(f"{W}lvl"):
            levels[level.get(f"{W}ilvl")] = _val(level, f"{W}numFmt", "decimal")
    for number in root.iterchildren(f"{W}num"):
        for level, kind in abstract.get(_val(number, f"{W}abstractNumId"), {}).items():
            found[number.get(f"{W}numId"), level] = kind
    return found


def _notes(document: Any, walk: Walk) -> Iterator[Piece]:
    """Yield footnotes and endnotes, numbered like their references."""
    for kind, prefix in (("/footnotes", ""), ("/endnotes", ENDNOTE)):
        for note in _side_part(document, kind, walk):
            text = " ".join(_flat(piece) for piece in walk.blocks(note))
            if text and (note.get(f"{W}id") or "0") not in ("0", "-1"):
                yield Piece("note", f"[^{prefix}{note.get(f'{W}id')}]: {text}")


def _comments(document: Any, walk: Walk) -> dict[str, str]:
    """Return 'Comment by Ada: text' by comment id; the prefix separates comments from the document's own text."""
    found: dict[str, str] = {}
    for comment in _side_part(document, "/comments", walk):
        text = " ".join(_flat(piece) for piece in walk.blocks(comment))
        author = _one_line(comment.get(f"{W}author") or "").strip()
        if text:
            found[comment.get(f"{W}id") or ""] = f"Comment{f' by {author}' if author else ''}: {text}"
    return found


def _side_part(document: Any, kind: str, walk: Walk) -> Iterator[Any]:
    """Yield the entries of a part other than the body: notes, comments or page headers."""
    from docx.oxml import parse_xml

    before = walk.links
    for relation in document.part.rels.values():
        if not relation.is_external and relation.reltype.endswith(kind):
            walk.links = link_targets(relation.target_part)
            yield from list(parse_xml(relation.target_part.blob))
    walk.links = before


def _page_texts(document: Any, walk: Walk, pieces: Sequence[Piece]) -> tuple[list[Piece], list[Piece]]:
    """Return the texts of page headers and footers once each, without page numbers and repetitions of the body."""
    said = {_flat(piece).casefold() for piece in pieces}
    found: dict[str, list[Piece]] = {"header": [], "footer": []}
    for kind, shown in found.items():
        for element in _side_part(document, f"/{kind}", walk):
            holder = element.makeelement(f"{W}body")
            holder.append(element)
            for text in (_flat(piece).strip() for piece in walk.blocks(holder)):
                if text and not _PAGE_NUMBER.fullmatch(text) and text.casefold() not in said:
                    said.add(text.casefold())
                    shown.append(Piece("paragraph", f"Page {kind}: {text}"))
    return found["header"], found["footer"]


def _left_out(document: Any) -> Iterator[str]:
    """Yield notes on content of the body that is not read."""
    body = document.element.body
    if next(body.iter(f"{W}del", f"{W}moveFrom"), None) is not None:
        yield "deleted text of tracked changes left out"
    marks = (mark for mark in body.iter(f"{_PICTURE}docPr") if mark.getparent().find(f".//{_BLIP}") is not None)
    pictures = sum(not alternative_text(mark) for mark in marks)
    if pictures:
        yield f"pictures without an alternative text not read: {pictures}"
    kinds = [relation.reltype.rpartition("/")[2] for relation in document.part.rels.values()]
    for kind, name in (("chart", "charts"), ("package", "embedded files"), ("oleObject", "embedded objects")):
        if count := kinds.count(kind):
            yield f"{name} not read: {count}"


def _own(parent: Any, tag: str, depth: int = 0) -> Iterator[Any]:
    """Yield a table's rows or a row's cells, including those in content controls, excluding nested tables."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml") and depth < MAX_DEPTH:
            yield from _own(child, tag, depth + 1)


def _assemble(pieces: list[Piece]) -> str:
    """Join pieces with blank lines; list items and code lines stay together."""
    parts: list[str] = []
    last = ""
    for piece in pieces:
        text = piece.markdown
        if piece.kind == "item" and last == "item":
            parts[-1] += f"\n{text}"
        elif piece.kind == "code" and last == "code":
            parts[-1] = parts[-1].removesuffix("\n```") + f"\n{text}\n```"
        elif piece.kind == "code":
            parts.append(f"```\n{text}\n```")
        else:
            parts.append(text)
        last = piece.kind
    return "\n\n".join(parts)


def _open(data: bytes) -> Any:
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        return docx.Document(BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError, SyntaxError, AttributeError) as error:
        raise DocumentRejected(
            "This Word document is damaged and cannot be opened.", remedy="Save it again."
        ) from error


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def _flat(piece: Piece) -> str:
    return re.sub(r"^\s*-\s", "", _one_line(re.sub(r"\n\|( --- \|)+", "", piece.text)))


FORMATS = (
    Format(
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        read=read,
        label="DOCX",
        suffixes=("docx",),
        promises="Word document",
        in_package=lambda package: is_office_xml(package, "word/"),
        not_a_title=r"document\d*|word[ ]document|microsoft[ ]word\b.*|.*\.docx?",
    ),
)
