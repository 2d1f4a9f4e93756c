"""Which format bytes are.

Content decides first, the name second: a PDF called .docx is read as a PDF. A name that promises a binary
format over content that is none is refused, because something went wrong on its way here.
"""

import json
import re
import zipfile
from pathlib import PurePosixPath

from adapters.documents.encodings import decode, looks_binary
from adapters.documents.zip_package import open_package, part
from core.model.errors import DocumentRejected, NoText

PDF = "application/pdf"
RTF = "application/rtf"
ZIP = "application/zip"
MSG = "application/vnd.ms-outlook"
EPUB = "application/epub+zip"
EML = "message/rfc822"
HTML = "text/html"
CODE = "text/x-source"
_OOXML = "application/vnd.openxmlformats-officedocument"
DOCX = f"{_OOXML}.wordprocessingml.document"
PPTX = f"{_OOXML}.presentationml.presentation"
XLSX = f"{_OOXML}.spreadsheetml.sheet"
ODT = "application/vnd.oasis.opendocument.text"

LANGUAGES = {
    "py": "python", "pyi": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript", "ts": "typescript",
    "tsx": "typescript", "java": "java", "kt": "kotlin", "scala": "scala", "go": "go", "rs": "rust", "c": "c",
    "h": "c", "cc": "cpp", "cpp": "cpp", "hpp": "cpp", "cs": "csharp", "rb": "ruby", "php": "php", "swift": "swift",
    "sh": "bash", "bash": "bash", "ps1": "powershell", "sql": "sql", "lua": "lua", "pl": "perl", "r": "r",
    "ex": "elixir", "exs": "elixir", "erl": "erlang", "hs": "haskell", "dart": "dart", "vue": "vue", "tf": "hcl",
    "yaml": "yaml", "yml": "yaml", "toml": "toml", "ini": "ini", "cfg": "ini", "conf": "ini", "xml": "xml",
    "css": "css", "proto": "protobuf", "graphql": "graphql", "gradle": "groovy", "groovy": "groovy",
}  # fmt: skip
"""File endings of source code to the name of the language, as code fences call it."""

_TEXT_BY_ENDING = {
    "md": "text/markdown", "markdown": "text/markdown", "mdx": "text/markdown", "mkd": "text/markdown",
    "txt": "text/plain", "text": "text/plain", "log": "text/plain", "csv": "text/csv",
    "tsv": "text/tab-separated-values", "tab": "text/tab-separated-values", "rst": "text/x-rst", "rest": "text/x-rst",
    "json": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
    "html": HTML, "htm": HTML, "xhtml": HTML, "eml": EML,
    **dict.fromkeys(LANGUAGES, CODE),
}  # fmt: skip
_BINARY_ENDINGS = {
    "pdf": "PDF", "docx": "Word document", "pptx": "PowerPoint file", "xlsx": "Excel workbook",
    "odt": "OpenDocument text", "epub": "e-book", "msg": "Outlook message", "zip": "ZIP archive", "rtf": "RTF document",
}  # fmt: skip

_IMAGE_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"),
    (b"II*\0", "image/tiff"), (b"MM\0*", "image/tiff"),
)  # fmt: skip
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/tiff", "image/webp")
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
_HTML = re.compile(
    r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_MAIL_HEADER = re.compile(
    r"^(From|To|Subject|Date|Received|Return-Path|Message-ID|MIME-Version|Delivered-To|Cc):", re.IGNORECASE
)


def detect(name: str, data: bytes) -> str:
    """The media type, a key of `reader.READERS`.

    Raises:
        DocumentRejected: empty, a known format that is not read, or nothing known.
    """
    if not data.strip(b" \t\r\n\0\xef\xbb\xbf"):
        raise NoText("This file is empty.")
    ending = _file_extension(name)
    if found := _by_magic(data):
        return found
    if ending in _BINARY_ENDINGS and not (
        ending == "rtf" and not looks_binary(data) and _HTML.match(decode(data[:4096]))
    ):
        kind = "a web page" if not looks_binary(data) and _HTML.match(decode(data[:4096])) else "something else"
        raise DocumentRejected(
            f"The name says {_BINARY_ENDINGS[ending]}, but the content is {kind}, or its beginning is cut off.",
            remedy="Fetch or export it again.",
        )
    if looks_binary(data):
        if ending in _TEXT_BY_ENDING:
            raise DocumentRejected(
                f"The name says text (.{ending}), but there are control bytes in it, as in a damaged or another file.",
                remedy="Save it as text in UTF-8 and add it again.",
            )
        raise DocumentRejected(
            f"Files of this kind{f' (.{ending})' if ending else ''} are not read.", remedy=_SUPPORTED
        )
    return _text_type(ending, decode(data[:65_536]))


_SUPPORTED = (
    "Add Markdown, text, HTML, PDF, DOCX, PPTX, XLSX, CSV, mail, EPUB, RTF, ODT, RST, JSON, source code "
    "or a ZIP of these."
)


def _by_magic(data: bytes) -> str | None:
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _package_type(data)  # before PDF, whose mark may stand behind other bytes: of an archive's first file
    if b"%PDF-" in data[:1024]:
        return PDF
    if data.startswith(b"{\\rtf"):
        return RTF
    if data.startswith(_OLE):
        return _ole_type(data)
    if image := _image_type(data):
        return image
    _refuse_by_magic(data)
    return None


def _image_type(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((image for magic, image in _IMAGE_MAGIC if data.startswith(magic)), None)


def _refuse_by_magic(data: bytes) -> None:
    """Refuse what holds no text under its own name."""
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
    raise DocumentRejected(f"This is {what}, which holds no text to index.", remedy=remedy)


def _package_type(data: bytes) -> str:
    """What a zip package holds, by its members."""
    with open_package(data) as package:
        names = set(package.namelist())
        declared = _declared_type(package) if "mimetype" in names else ""
    if "[Content_Types].xml" in names:
        for folder, media_type in (("word/", DOCX), ("ppt/", PPTX), ("xl/", XLSX)):
            if any(member.startswith(folder) for member in names):
                if "xl/workbook.bin" in names:
                    raise DocumentRejected("This is a binary Excel workbook (.xlsb).", remedy="Save it as .xlsx.")
                return media_type
    if declared == EPUB or ("META-INF/container.xml" in names and any(n.endswith(".opf") for n in names)):
        return EPUB
    if declared.startswith("application/vnd.oasis.opendocument"):
        return ODT
    return ZIP


def _declared_type(package: zipfile.ZipFile) -> str:
    if package.getinfo("mimetype").file_size > 200:
        return ""
    return part(package, "mimetype").decode("ascii", "ignore").strip()


def _ole_type(data: bytes) -> str:
    """What an old Microsoft compound file holds."""
    import olefile

    try:
        with olefile.OleFileIO(data) as compound:
            streams = {"/".join(path).lower() for path in compound.listdir()}
    except (OSError, ValueError, IndexError, TypeError, KeyError, AttributeError) as error:
        raise DocumentRejected(
            "This file is cut off or damaged and cannot be opened.", remedy="Save it again."
        ) from error
    if "__properties_version1.0" in streams:
        return MSG
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
            raise DocumentRejected(f"This is an old {what}, a format that is not read.", remedy=f"Save it as {newer}.")
    raise DocumentRejected("This is an old Microsoft file of a kind that is not read.", remedy=_SUPPORTED)


def _text_type(ending: str, head: str) -> str:
    """The media type of text, by its content where that is plain, else by the file's ending."""
    known = _TEXT_BY_ENDING.get(ending)
    if known in (None, CODE, "text/plain"):
        _refuse_office_xml(head)
    if known == CODE:
        return CODE
    if known in (None, "text/plain", EML) and _is_mail(head):
        return EML
    if _HTML.match(head) and known != "text/markdown":
        return HTML
    if known is not None:
        return "text/plain" if known == EML else known
    if head.lstrip()[:1] in ("{", "[") and _is_json(head):
        return "application/json"
    return "text/plain"


def _refuse_office_xml(head: str) -> None:
    """Office documents of 2003 are one XML file; read as source code they would be noise around a few words."""
    if not head.lstrip().startswith("<?xml"):
        return
    for mark, what, newer in _OFFICE_XML:
        if mark in head[:4096]:
            raise DocumentRejected(f"This is {what}, a format that is not read.", remedy=f"Save it as {newer}.")


def _is_mail(head: str) -> bool:
    """Whether the text begins with the headers of a mail."""
    lines = head.lstrip("\n").split("\n\n", 1)[0].split("\n")
    headers = [match[1].lower() for line in lines[:80] if (match := _MAIL_HEADER.match(line))]
    starts = bool(lines and re.match(r"[A-Za-z][\w-]*:|From ", lines[0]))
    sure = {"message-id", "mime-version", "received", "return-path"} & set(headers)
    return starts and len(set(headers)) >= 2 and (bool(sure) or {"from", "to", "subject"} <= set(headers))


def _is_json(head: str) -> bool:
    try:
        json.JSONDecoder().raw_decode(head.lstrip())
    except ValueError:
        return len(head) > 60_000 and bool(re.match(r'\s*[\[{]\s*(\{\s*)?"', head))
    except RecursionError:
        return False
    return True


def _file_extension(name: str) -> str:
    """The ending without its dot; of Markdown that a site generator fills in (`page.html.md.erb`), Markdown's."""
    path = PurePosixPath(name.replace("\\", "/").lower())
    within = PurePosixPath(path.stem).suffix.lstrip(".") if path.suffix == ".erb" else ""
    return within if _TEXT_BY_ENDING.get(within) == "text/markdown" else path.suffix.lstrip(".")


def is_image(media_type: str) -> bool:
    """Whether it is a picture by itself."""
    return media_type in IMAGES


def misnaming_notes(name: str, media_type: str) -> tuple[str, ...]:
    """A note when the name promised another format than the content is."""
    ending = _file_extension(name)
    promised = {
        "pdf": PDF,
        "docx": DOCX,
        "pptx": PPTX,
        "xlsx": XLSX,
        "odt": ODT,
        "epub": EPUB,
        "msg": MSG,
        "rtf": RTF,
        "zip": ZIP,
    }
    if (ending in promised and promised[ending] != media_type) or (
        ending in _TEXT_BY_ENDING and media_type in promised.values()
    ):
        return (f"named .{ending}, but read as {media_type}",)
    return ()
