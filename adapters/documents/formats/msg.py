"""MSG: Outlook's mail format, a compound file of properties ([MS-OXMSG], [MS-OXRTFCP])."""

import codecs
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adapters.documents.encodings import clean, decode
from adapters.documents.format import Format
from adapters.documents.formats.html import page_text
from adapters.documents.formats.mail import html_to_text, letter
from adapters.documents.zip_package import MAX_PART
from core.model.document_content import ParsedDocument
from core.model.errors import DocumentRejected

if TYPE_CHECKING:
    import olefile

_DAMAGED = (OSError, ValueError, IndexError, TypeError, KeyError, AttributeError, struct.error)
_FILETIME_EPOCH = 11_644_473_600
_RTF_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20"
    b"\\b\\i\\u\\tab\\tx"
)
SUBJECT, SENDER, SENDER_MAIL, TO, CC, BODY, HTML, RTF = "0037", "0C1A", "0C1F", "0E04", "0E03", "1000", "1013", "1009"
MESSAGE_CODE_PAGE, INTERNET_CODE_PAGE, MESSAGE_LOCALE = 0x3FFD, 0x3FDE, 0x3FF1
_LOCALES = {
    0x404: "cp950", 0xC04: "cp950", 0x804: "gb18030", 0x1004: "gb18030", 0x411: "cp932", 0x412: "cp949",
    0x405: "cp1250", 0x40E: "cp1250", 0x415: "cp1250", 0x418: "cp1250", 0x41A: "cp1250", 0x41B: "cp1250",
    0x419: "cp1251", 0x422: "cp1251", 0x402: "cp1251", 0x408: "cp1253", 0x41F: "cp1254", 0x40D: "cp1255",
    0x401: "cp1256", 0x425: "cp1257", 0x426: "cp1257", 0x427: "cp1257", 0x41E: "cp874", 0x42A: "cp1258",
}  # fmt: skip
"""Code pages of locales ([MS-LCID]) whose scripts are not in Windows-1252."""
_ATTACHMENT_LONG, _ATTACHMENT_SHORT = "3707", "3704"


def read(name: str, data: bytes) -> ParsedDocument:
    """Return one mail as Markdown."""
    import olefile

    try:
        with olefile.OleFileIO(data) as compound:
            return _letter(name, compound)
    except _DAMAGED as error:
        raise DocumentRejected("This Outlook message is damaged and cannot be read.") from error


def _letter(name: str, compound: "olefile.OleFileIO") -> ParsedDocument:
    sender, address = _text(compound, SENDER), _text(compound, SENDER_MAIL)
    shown = {
        "From": f"{sender} <{address}>" if "@" in address and sender != address else sender or address,
        "To": _text(compound, TO),
        "Cc": _text(compound, CC),
        "Date": _sent_time(compound) or "",
    }
    return letter(
        name,
        _text(compound, SUBJECT),
        shown,
        _body(compound),
        _attachments(compound),
        media_type="application/vnd.ms-outlook",
    )


def _body(compound: Any) -> str:
    """Return the HTML body, or the text, or the text of the compressed RTF."""
    if page := _raw(compound, f"__substg1.0_{HTML}0102"):
        return html_to_text(page_text(page, _code_page(compound, INTERNET_CODE_PAGE)))
    if markup := _text(compound, HTML):
        return html_to_text(markup)
    if text := _text(compound, BODY):
        return text
    packed = _raw(compound, f"__substg1.0_{RTF}0102")
    if not packed:
        return ""
    from adapters.documents.formats.rtf import to_markdown

    return to_markdown(unpack_rtf(packed))[0]


def _text(compound: Any, tag: str, folder: str = "") -> str:
    """Return a text property, in Unicode or in the old encoding."""
    if raw := _raw(compound, f"{folder}__substg1.0_{tag}001F"):
        return clean(raw.decode("utf-16-le", "replace")).strip("\0 ")
    raw = _raw(compound, f"{folder}__substg1.0_{tag}001E")
    return decode(raw, _message_encoding(compound)).strip("\0 ") if raw else ""


def _message_encoding(compound: Any) -> str:
    """Return the encoding of old texts: the message's code page, the internet code page, or the locale's."""
    return (
        _code_page(compound, MESSAGE_CODE_PAGE)
        or _code_page(compound, INTERNET_CODE_PAGE)
        or _LOCALES.get(_number(compound, MESSAGE_LOCALE) or 0)
        or "cp1252"
    )


def _code_page(compound: Any, tag: int) -> str | None:
    """Return the Python encoding of a code page property."""
    page = _number(compound, tag)
    return _codepage_encoding(page) if page else None


def _number(compound: Any, tag: int) -> int | None:
    """Return a numeric property, or None if it is missing."""
    for kind, number, at in _fixed_properties(compound):
        if (kind, number) == (0x0003, tag):
            (value,) = struct.unpack_from("<I", at)
            return int(value)
    return None


def _codepage_encoding(page: int) -> str | None:
    """Return the Python encoding of a Windows code page, or None if it is unknown."""
    name = {
        65001: "utf-8",
        1200: "utf-16-le",
        20127: "ascii",
        20866: "koi8-r",
        21866: "koi8-u",
        20932: "euc-jp",
        51932: "euc-jp",
        51949: "euc-kr",
        50220: "iso2022_jp",
        54936: "gb18030",
        52936: "hz",
    }.get(page)
    if 28591 <= page <= 28605:
        name = f"iso8859-{page - 28590}"
    name = name or f"cp{page}"
    try:
        codecs.lookup(name)
    except LookupError:
        return None
    return name


def _fixed_properties(compound: Any) -> Iterator[tuple[int, int, bytes]]:
    """Yield (type, tag, value of eight bytes) of the message's fixed-size properties ([MS-OXMSG] 2.4)."""
    fixed = _raw(compound, "__properties_version1.0")
    for at in range(32, len(fixed) - 15, 16):
        kind, tag = struct.unpack_from("<HH", fixed, at)
        yield kind, tag, fixed[at + 8 : at + 16]


def _raw(compound: Any, stream: str) -> bytes:
    if not compound.exists(stream) or compound.get_size(stream) > MAX_PART:
        return b""
    content: bytes = compound.openstream(stream).read()
    return content


def _sent_time(compound: Any) -> str | None:
    """Return the time of sending (0x0039) or delivery (0x0E06), ISO, from the fixed-size properties."""
    from datetime import UTC, datetime

    for kind, tag, value in _fixed_properties(compound):
        if kind == 0x0040 and tag in (0x0039, 0x0E06):
            (ticks,) = struct.unpack("<Q", value)
            seconds = ticks // 10_000_000 - _FILETIME_EPOCH
            return datetime.fromtimestamp(seconds, UTC).isoformat() if 0 < seconds < 4e9 else None
    return None


def _attachments(compound: Any) -> list[str]:
    folders = {path[0] for path in compound.listdir() if path[0].startswith("__attach_version1.0")}
    names = (
        _text(compound, _ATTACHMENT_LONG, f"{folder}/") or _text(compound, _ATTACHMENT_SHORT, f"{folder}/")
        for folder in sorted(folders)[:200]
    )
    return [name for name in names if name]


def unpack_rtf(data: bytes) -> bytes:
    """Decompress RTF from LZFu ([MS-OXRTFCP] 2.1).

    Raises:
        ValueError: not LZFu, or too large.
    """
    _, size, kind, _ = struct.unpack_from("<IIII", data)
    if kind == 0x414C454D:  # "MELA": stored
        return data[16 : 16 + size]
    if kind != 0x75465A4C or size > MAX_PART:
        raise ValueError("not a compressed RTF")
    window = bytearray(4096)
    window[: len(_RTF_DICTIONARY)] = _RTF_DICTIONARY
    write, out, at = len(_RTF_DICTIONARY), bytearray(), 16
    while at < len(data) and len(out) < size:
        control = data[at]
        at += 1
        for bit in range(8):
            if control >> bit & 1:
                offset, length = data[at] << 4 | data[at + 1] >> 4, (data[at + 1] & 0xF) + 2
                at += 2
                if offset == write % 4096:
                    return bytes(out)
                run = _run(window, offset, length, write)
            else:
                if at >= len(data):
                    return bytes(out)
                run = data[at : at + 1]
                window[write % 4096] = run[0]
                at += 1
            out += run
            write += len(run)
    return bytes(out)


def _run(window: bytearray, offset: int, length: int, write: int) -> bytes:
    """Return a run from the window, which is updated while it is read, because runs may overlap."""
    run = bytearray()
    for i in range(length):
        byte = window[(offset + i) % 4096]
        window[(write + i) % 4096] = byte
        run.append(byte)
    return bytes(run)


FORMATS = (
    Format(
        media_type="application/vnd.ms-outlook",
        read=read,
        suffixes=("msg",),
        promises="Outlook message",
        in_compound=lambda streams: "__properties_version1.0" in streams,
    ),
)
