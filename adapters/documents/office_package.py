"""Office packages as their libraries know them: Strict Open XML, templates, slide shows and files with macros.

Word, Excel and PowerPoint write them all; python-docx, openpyxl and python-pptx know the transitional document alone.
Only names are exchanged (ISO/IEC 29500-1 and -4 name the same things twice), and nothing of a macro is read.
"""

import re
import zipfile
from io import BytesIO

from adapters.documents.format import Package
from adapters.documents.zip_package import open_package, part, refuse_declared_entities

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
    """Whether this is an Open XML package whose main part is below `folder` ("word/")."""
    return CONTENT_TYPES in package.names and any(name.startswith(folder) for name in package.names)


def open_transitional(data: bytes) -> bytes:
    """The package with the names that the libraries know; the same bytes where it has them already.

    Raises:
        DocumentRejected: damaged, encrypted, a bomb, or with entities declared in it.
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
    """The same package without one of its parts. Raises DocumentRejected."""
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
