"""Reader of any supported file: detect its format and call that format's reader.

The content decides before the name: a PDF called .docx is read as a PDF. If the name promises a binary format and no
binary format matches the content, the file is refused, because something went wrong on its way here. Each format's
module declares how the format is recognized. This module names only formats that are never read.
"""

import zipfile
from dataclasses import replace
from pathlib import PurePosixPath

from adapters.documents.encodings import decode, looks_binary, repair, without_data
from adapters.documents.format import Package, by_media_type, by_suffix, formats
from adapters.documents.zip_package import open_package, part
from core.model.document_content import ParsedDocument
from core.model.errors import DocumentRejected, NoText

_REFUSED_MAGIC = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"), (b"Rar!\x1a\x07", "a RAR archive"), (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"), (b"\x28\xb5\x2f\xfd", "a Zstandard archive"), (b"\x7fELF", "a program"),
    (b"MZ", "a Windows program"), (b"\xcf\xfa\xed\xfe", "a program"), (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS", "an audio file"), (b"ID3", "an audio file"), (b"fLaC", "an audio file"), (b"PAR1", "a Parquet file"),
)  # fmt: skip
_OFFICE_XML = (
    ("schemas.microsoft.com/office/word/2003/wordml", "a Word 2003 XML document", ".docx"),
    ("Word.Document", "a Word XML document", ".docx"),
    ("urn:schemas-microsoft-com:office:spreadsheet", "an Excel 2003 XML workbook", ".xlsx"),
    ("Excel.Sheet", "an Excel XML workbook", ".xlsx"),
    ("PowerPoint.Show", "a PowerPoint XML presentation", ".pptx"),
    ("urn:oasis:names:tc:opendocument:xmlns:office:1.0", "a flat OpenDocument file", ".odt"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def detect(name: str, data: bytes) -> str:
    """Return the media type of one of the formats.

    Raises:
        DocumentRejected: empty, a known format that is not supported, or unknown.
    """
    if not data.strip(b" \t\r\n\0\xef\xbb\xbf"):
        raise NoText("This file is empty.")
    if found := _by_bytes(data):
        return found
    suffix, binary = _suffix(name), looks_binary(data)
    promised = by_suffix().get(suffix)
    if promised and promised.promises:
        page = not binary and _text_type(None, decode(data[:4096])) == "text/html"
        if not (page and promised.html_under_suffix):
            kind = "a web page" if page else "something else"
            raise DocumentRejected(
                f"The name says {promised.promises}, but the content is {kind}, or its beginning is missing.",
                remedy="Fetch or export it again.",
            )
        promised = None
    if binary and promised:
        raise DocumentRejected(
            f"The name says text (.{suffix}), but the file contains control bytes. It may be damaged or of another"
            " kind.",
            remedy="Save it as text in UTF-8 and add it again.",
        )
    if binary:
        raise DocumentRejected(
            f"Files of this kind{f' (.{suffix})' if suffix else ''} are not read.", remedy=_supported()
        )
    return _text_type(promised.media_type if promised else None, decode(data[:65_536]))


def _supported() -> str:
    labels = sorted((one.label for one in formats() if one.label and one.label != "ZIP"), key=str.casefold)
    return f"Add {', '.join(labels)} or a ZIP of these."


def _by_bytes(data: bytes) -> str | None:
    """Return the media type that the bytes show, or None if they may be text."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _package_type(data)  # before PDF, whose magic bytes may occur in an archive's first file
    if data.startswith(_OLE):
        return _compound_type(data)
    for one in formats():
        if one.in_bytes and one.in_bytes(data):
            return one.media_type
    _refuse_by_magic(data)
    return None


def _refuse_by_magic(data: bytes) -> None:
    """Refuse file types that hold no text, by their magic bytes."""
    for magic, what in _REFUSED_MAGIC:
        if data.startswith(magic) and (len(magic) > 3 or looks_binary(data)):
            _refuse(what)
    if data[:4] == b"RIFF":
        _refuse("an audio or video file")
    if data[4:8] == b"ftyp":
        _refuse("a video or HEIC image")
    if data[257:262] == b"ustar":
        _refuse("a tar archive")


def _refuse(what: str, remedy: str | None = None) -> None:
    raise DocumentRejected(f"This is {what}, which contains no text.", remedy=remedy)


def _package_type(data: bytes) -> str:
    """Return the media type of a zip package by its members; a plain ZIP archive is the fallback."""
    with open_package(data) as opened:
        names = frozenset(opened.namelist())
        package = Package(names, _declared_type(opened) if "mimetype" in names else "")
    return next(one.media_type for one in formats() if one.in_package and one.in_package(package))


def _declared_type(package: zipfile.ZipFile) -> str:
    if package.getinfo("mimetype").file_size > 200:
        return ""
    return part(package, "mimetype").decode("ascii", "ignore").strip()


def _compound_type(data: bytes) -> str:
    """Return the media type of an old Microsoft compound file by its streams."""
    import olefile

    try:
        with olefile.OleFileIO(data) as compound:
            streams = frozenset("/".join(path).lower() for path in compound.listdir())
    except (OSError, ValueError, IndexError, TypeError, KeyError, AttributeError) as error:
        raise DocumentRejected(
            "This file is incomplete or damaged and cannot be opened.", remedy="Save it again."
        ) from error
    for one in formats():
        if one.in_compound and one.in_compound(streams):
            return one.media_type
    if {"encryptedpackage", "encryptioninfo"} & streams:
        raise DocumentRejected(
            "This file is protected by a password.", remedy="Save a copy without the password and add that."
        )
    for stream, what, newer in (
        ("worddocument", "Word document (.doc)", ".docx"),
        ("workbook", "Excel workbook (.xls)", ".xlsx"),
        ("book", "Excel workbook (.xls)", ".xlsx"),
        ("powerpoint document", "PowerPoint file (.ppt)", ".pptx"),
    ):
        if stream in streams:
            raise DocumentRejected(f"This is an old {what}. This format cannot be read.", remedy=f"Save it as {newer}.")
    raise DocumentRejected("Old Microsoft files of this kind cannot be read.", remedy=_supported())


def _text_type(promised: str | None, head: str) -> str:
    """Return the media type of text: what a format recognizes in it, or what its suffix promises."""
    if promised in (None, "text/x-source", "text/plain"):
        _refuse_office_xml(head)
    for one in formats():
        if one.in_text and one.in_text(promised, head):
            return one.media_type
    return "text/plain" if promised is None or by_media_type()[promised].text_by_content else promised


def _refuse_office_xml(head: str) -> None:
    """Refuse Office 2003 XML documents: read as source code, they would be mostly noise."""
    if not head.lstrip().startswith("<?xml"):
        return
    for mark, what, newer in _OFFICE_XML:
        if mark in head[:4096]:
            raise DocumentRejected(f"This is {what}. This format cannot be read.", remedy=f"Save it as {newer}.")


def _suffix(name: str) -> str:
    """Return the suffix without its dot, or `md` for Markdown templates of site generators (`page.html.md.erb`)."""
    path = PurePosixPath(name.replace("\\", "/").lower())
    within = PurePosixPath(path.stem).suffix.lstrip(".") if path.suffix == ".erb" else ""
    inner = by_suffix().get(within)
    return within if inner and inner.media_type == "text/markdown" else path.suffix.lstrip(".")


def misnaming_notes(name: str, media_type: str) -> tuple[str, ...]:
    """Return a note if the name promises a different format than the content."""
    suffix = _suffix(name)
    promised, actual = by_suffix().get(suffix), by_media_type()[media_type]
    if promised and actual.suffixes and promised.media_type != media_type and (promised.promises or actual.promises):
        return (f"named .{suffix}, but read as {media_type}",)
    return ()


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the text of any supported file as Markdown with locators.

    Raises:
        DocumentRejected: with one reason that a person understands.
    """
    media_type = detect(name, data)
    parsed = by_media_type()[media_type].read(name, data)
    blocks = tuple(
        replace(block, text=without_data(repair(block.text))) for block in parsed.blocks if block.text.strip()
    )
    if not blocks and not parsed.picture_pages:
        raise NoText("There is no text in this file.")
    notes = (*parsed.notes, *misnaming_notes(name, media_type))
    return replace(parsed, title=repair(parsed.title), blocks=blocks, notes=notes)
