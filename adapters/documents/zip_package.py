"""Untrusted zip packages: office files, e-books, archives.

Limits are checked against the central directory before anything is unpacked; zipfile then enforces the stated sizes.
XML parts must not declare entities, which no office program writes. A document type without entities, as OpenOffice
wrote, is harmless: the DTD it references is never fetched.
"""

import re
import zipfile
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any

from adapters.documents.format import Package
from core.model.errors import DocumentRejected

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_MEMBERS = 10_000
MAX_UNPACKED = 400 * 1024 * 1024
MAX_PART = 150 * 1024 * 1024
MAX_RATIO = 250
"""Deflate reaches about 1000 at most; real documents stay below 100."""

RATIO_FREE = 5 * 1024 * 1024
"""Parts up to this size may have any compression ratio."""

_DECLARES = re.compile(rb"<!(?:DOCTYPE[^>\[]*\[|ENTITY)", re.IGNORECASE)
_DAMAGED = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error),
    *(EOFError, OSError, NotImplementedError, ValueError, RuntimeError),
)


def open_package(data: bytes) -> zipfile.ZipFile:
    """Return the package after checking its sizes.

    Raises:
        DocumentRejected: damaged, encrypted, or too large when unpacked.
    """
    try:
        package = zipfile.ZipFile(BytesIO(data))
    except _DAMAGED as error:
        raise DocumentRejected(
            "This file is incomplete or damaged: its zip directory cannot be read.", remedy="Fetch or export it again."
        ) from error
    check_sizes(package.infolist())
    return package


def check_sizes(members: list[zipfile.ZipInfo]) -> None:
    """Refuse zip bombs and encrypted members by the sizes and flags in the directory."""
    if len(members) > MAX_MEMBERS:
        raise DocumentRejected(f"This file has {len(members)} parts. More than {MAX_MEMBERS} cannot be read.")
    if sum(member.file_size for member in members) > MAX_UNPACKED:
        raise DocumentRejected(
            f"Unpacked, this file would be over {MAX_UNPACKED // 2**20} MB; it looks like a zip bomb."
        )
    for member in members:
        if member.flag_bits & 0x1:
            raise DocumentRejected(
                "This file is protected by a password.", remedy="Save a copy without the password and add that."
            )
        ratio = member.file_size / max(member.compress_size, 1)
        if member.file_size > MAX_PART or (member.file_size > RATIO_FREE and ratio > MAX_RATIO):
            raise DocumentRejected(
                f"A part of this file grows {ratio:.0f}-fold to {member.file_size // 2**20} MB when unpacked; "
                "it looks like a zip bomb."
            )


def part(package: zipfile.ZipFile, path: str) -> bytes:
    """Return the bytes of one part.

    Raises:
        DocumentRejected: missing or damaged.
    """
    try:
        return package.read(path)
    except KeyError as error:
        raise DocumentRejected(f"This file is incomplete: its part {path[:100]} is missing.") from error
    except _DAMAGED as error:
        raise DocumentRejected(f"This file is damaged: its part {path[:100]} cannot be unpacked.") from error


def refuse_declared_entities(package: zipfile.ZipFile) -> None:
    """Refuse a package whose XML parts declare entities or a DTD (billion laughs, external files)."""
    for member in package.infolist():
        if not member.filename.lower().endswith((".xml", ".rels", ".vml")):
            continue
        data = part(package, member.filename)
        if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:64]:
            data = data.replace(b"\0", b"")
        if _DECLARES.search(data):
            raise DocumentRejected(f"Its part {member.filename[:100]} declares XML entities, so it may be harmful.")


def xml(data: bytes) -> "Element":
    """Parse an XML part; entities and external references are forbidden.

    Raises:
        DocumentRejected: not well-formed, or with forbidden declarations.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element[Any] = fromstring(data)
    except DefusedXmlException as error:
        raise DocumentRejected("It declares XML entities, so it may be harmful.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise DocumentRejected("Its XML is damaged and cannot be read.") from error
    return root


CONTENT_TYPES = "[Content_Types].xml"
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_OPEN_XML = b"application/vnd.openxmlformats-officedocument."
_MAIN_PARTS = (
    (
        re.compile(rb"application/vnd\.(?:openxmlformats-officedocument\.wordprocessingml\.template|"
                   rb"ms-word\.(?:document\.macroEnabled|template\.macroEnabledTemplate))\.main\+xml"),
        _OPEN_XML + b"wordprocessingml.document.main+xml",
    ),
    (
        re.compile(rb"application/vnd\.(?:openxmlformats-officedocument\.presentationml\.(?:slideshow|template)|"
                   rb"ms-powerpoint\.(?:presentation|slideshow|template)\.macroEnabled)\.main\+xml"),
        _OPEN_XML + b"presentationml.presentation.main+xml",
    ),
)  # fmt: skip


def is_office_xml(package: Package, folder: str) -> bool:
    """Return whether this is an Open XML package whose main part is below `folder` ("word/")."""
    return CONTENT_TYPES in package.names and any(name.startswith(folder) for name in package.names)


def open_transitional(data: bytes) -> bytes:
    """Return the package in the variant that the libraries support (transitional); unchanged if it already is.

    Raises:
        DocumentRejected: damaged, encrypted, a zip bomb, or with declared entities.
    """
    with open_package(data) as package:
        refuse_declared_entities(package)
        names = package.namelist()
        types = part(package, CONTENT_TYPES) if CONTENT_TYPES in names else b""
        relations = part(package, "_rels/.rels") if "_rels/.rels" in names else b""
        if not _STRICT.search(relations) and _with_known_main_part(types) == types:
            return data
        return _rewrite(package)


def without_part(data: bytes, left_out: str) -> bytes:
    """Return the same package without one of its parts. Raises DocumentRejected."""
    out = BytesIO()
    with open_package(data) as package, zipfile.ZipFile(out, "w") as written:
        for name in package.namelist():
            if name != left_out:
                written.writestr(name, part(package, name))
    return out.getvalue()


def _rewrite(package: zipfile.ZipFile) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as written:
        for member in package.infolist():
            content = part(package, member.filename)
            if member.filename == CONTENT_TYPES:
                content = _with_known_main_part(content)
            elif member.filename.endswith((".xml", ".rels")):
                content = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", content)
            written.writestr(member.filename, content)
    return out.getvalue()


def _with_known_main_part(types: bytes) -> bytes:
    for pattern, known in _MAIN_PARTS:
        types = pattern.sub(known, types)
    return types
