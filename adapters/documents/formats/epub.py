"""EPUB: the chapters in spine order, one block per chapter."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from adapters.documents.format import Format, Package
from adapters.documents.formats.html import page_text
from adapters.documents.html_markdown import soup, to_markdown
from adapters.documents.titles import choose_title, first_heading, iso_date
from adapters.documents.zip_package import open_package, part, xml
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
MAX_CHAPTERS = 3_000


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the text of the book without its navigation and pages without text."""
    with open_package(data) as book:
        _refuse_protected(book)
        at = _package_path(book)
        package = xml(_without_doctype(part(book, at)))
        blocks = tuple(_chapters(book, package, posixpath.dirname(at)))
    if not blocks:
        raise NoText("This e-book has no text.")
    return ParsedDocument(
        title=choose_title(name, package.findtext(f".//{_DC}title"), markdown=[block.text for block in blocks]),
        blocks=blocks,
        media_type="application/epub+zip",
        modified=_modified_date(package),
    )


def _package_path(book: zipfile.ZipFile) -> str:
    container = xml(_without_doctype(part(book, "META-INF/container.xml")))
    for element in container.iter():
        if element.tag.endswith("}rootfile") and (path := element.get("full-path")):
            return path
    raise DocumentRejected("This e-book is damaged: it does not say where its content is.")


def _chapters(book: zipfile.ZipFile, package: "Element", folder: str) -> Iterator[Block]:
    items = {item.get("id", ""): item for item in package.iter(f"{_OPF}item")}
    names = set(book.namelist())
    for i, reference in enumerate(package.iter(f"{_OPF}itemref")):
        item = items.get(reference.get("idref", ""))
        if i >= MAX_CHAPTERS:
            return
        if item is None or "nav" in (item.get("properties") or "").split():
            continue
        path = posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        if path not in names or not re.search(r"html|xml", item.get("media-type") or "html"):
            continue
        page = soup(page_text(part(book, path)))
        text = to_markdown(page.body or page)
        if text.strip():
            yield Block(text, label=first_heading([text]) or posixpath.basename(path))


def _refuse_protected(book: zipfile.ZipFile) -> None:
    """Raise DocumentRejected if chapters, not only fonts, are encrypted."""
    if "META-INF/encryption.xml" not in book.namelist():
        return
    listed = part(book, "META-INF/encryption.xml").decode("utf-8", "replace")
    if any(reference.lower().endswith(("html", ".htm", ".xml")) for reference in re.findall(r'URI="([^"]+)"', listed)):
        raise DocumentRejected("This e-book is protected against copying, so it cannot be read.")


def _without_doctype(data: bytes) -> bytes:
    """Remove a document type without entities, as old books declare; one with entities is refused later."""
    return re.sub(rb"<!DOCTYPE[^\[>]*>", b"", data, count=1)


def _modified_date(package: "Element") -> str | None:
    for meta in package.iter(f"{_OPF}meta"):
        if meta.get("property") == "dcterms:modified":
            return iso_date(meta.text)
    return iso_date(package.findtext(f".//{_DC}date"))


def _is_book(package: Package) -> bool:
    declared = package.declared == "application/epub+zip"
    return declared or (
        "META-INF/container.xml" in package.names and any(name.endswith(".opf") for name in package.names)
    )


FORMATS = (
    Format(
        media_type="application/epub+zip",
        read=read,
        label="EPUB",
        suffixes=("epub",),
        promises="e-book",
        in_package=_is_book,
    ),
)
