"""Decoding of bytes to text with plain newlines: byte-order marks, UTF-8, then a guess.

The format modules read what a file itself declares (an HTML meta tag, a MIME charset).
"""

import codecs
import re

from core.model.errors import DocumentRejected
from core.model.plain_text import compose

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 256 * 1024
_ESCAPED = re.compile("[\udc80-\udcff]")
_MULTIBYTE = re.compile("[\x80-\ud7ff\ue000-\U0010ffff]")
_DATA_ADDRESS = re.compile(
    r"data:[\w.+-]{1,40}/[\w.+-]{1,80}(?:;[\w=.-]{1,60})*;base64,(?:[A-Za-z0-9+/=%_-]|\n(?=[A-Za-z0-9+/=]{30}))*"
)
_DEFINED_DATA = re.compile(r"^ {0,3}\[([^\]\n]{1,200})\]:[ \t]*<?data:[^\s>]*>?[ \t]*$", re.MULTILINE)
_DATA_PICTURE = re.compile(r"!\[([^\]\n]{0,500})\]\(<?data:[^\s()]{0,100}>?(?:\s+\"[^\"\n]*\")?\)")
_NAMED_PICTURE = re.compile(r"!\[([^\]\n]{0,500})\]\[([^\]\n]{1,200})\]")
_DATA_TAG = re.compile(r"<img\b[^<>]{0,2000}?src\s*=\s*[\"']?data:[^<>]{0,2000}>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*[\"']([^\"'<>]{0,500})[\"']", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{300,}={0,2}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")


def decode(data: bytes, declared: str | None = None) -> str:
    """Return `data` as text with plain newlines and without control characters.

    Try in this order: byte-order mark, UTF-8, UTF-8 with some Windows-1252 bytes, the declared encoding, UTF-16 without
    a mark, a guess from the bytes (charset-normalizer), Windows-1252.

    Raises:
        DocumentRejected: when the bytes are not text in any encoding.
    """
    text = _by_mark(data) or _strict(data, "utf-8") or _mostly_utf8(data) or (declared and _strict(data, declared))
    if not text:
        text = _utf16_without_mark(data) or _guess_encoding(data)
    return clean(text)


def repair(text: str) -> str:
    """Return the text with mojibake repaired and Unicode characters composed.

    ftfy repairs UTF-8 read as Windows-1252 and Windows-1252 read as Latin-1, once or repeatedly. Line breaks stay where
    they are.
    """
    if text.isascii():
        return text
    import ftfy

    config = ftfy.TextFixerConfig(
        unescape_html=False, fix_line_breaks=False, uncurl_quotes=False, fix_character_width=False, explain=False
    )
    return compose(ftfy.fix_text(text, config))


def without_data(text: str) -> str:
    """Return the text without base64 data: images become their alternative text, other data is dropped.

    Line breaks stay where they are.
    """
    if "base64," in text:
        defined = {found[1].casefold() for found in _DEFINED_DATA.finditer(text)}
        text = _DEFINED_DATA.sub("", text)
        text = _DATA_ADDRESS.sub(lambda found: "data:" + "\n" * found[0].count("\n"), text)
        text = _DATA_PICTURE.sub(lambda found: _picture(found[1]), text)
        text = _DATA_TAG.sub(lambda found: _picture("".join(_ALT.findall(found[0])[:1])), text)
        if defined:
            text = _NAMED_PICTURE.sub(
                lambda found: _picture(found[1]) if found[2].casefold() in defined else found[0], text
            )
    return _BASE64.sub(lambda found: "" if _is_data(found[0]) else found[0], text)


def _picture(alternative: str) -> str:
    return f"[Image: {alternative.strip()}]" if len(alternative.strip()) > 2 else ""


def _is_data(run: str) -> bool:
    """Return whether a run without spaces is base64 data: it mixes upper case, lower case and digits."""
    return all(re.search(kind, run[:200]) for kind in ("[A-Z]", "[a-z]", r"\d"))


def clean(text: str) -> str:
    """Return the text with plain newlines, without control characters and stray byte-order marks."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").replace("\ufeff", "")
    return _CONTROLS.sub("", text)


def looks_binary(data: bytes) -> bool:
    """Return whether the bytes are not text: zero bytes outside UTF-16 and UTF-32, or more than 5% control bytes."""
    head = data[:8192]
    if any(head.startswith(mark) for mark, _ in _MARKS) or _utf16_without_mark(head):
        return False
    controls = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in head)
    return b"\0" in head or controls > len(head) // 20


def _by_mark(data: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    return None


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _mostly_utf8(data: bytes) -> str | None:
    """Decode UTF-8 that contains some Windows-1252 bytes, as in files joined from several sources."""
    if b"\0" in data[:8192]:
        return None
    text = data.decode("utf-8", errors="surrogateescape")
    wrong = _ESCAPED.findall(text)
    right = len(_MULTIBYTE.findall(text))
    if not right or len(wrong) > right:
        return None
    return _ESCAPED.sub(lambda found: bytes([ord(found[0]) - 0xDC00]).decode("cp1252", errors="ignore"), text)


def _utf16_without_mark(data: bytes) -> str | None:
    """Decode UTF-16 without a mark if the text is mostly Western: every other byte is zero."""
    sample = data[: 4096 // 2 * 2]
    if len(sample) < 4:
        return None
    half = len(sample) // 2
    for encoding, zeros in (("utf-16-le", sample[1::2].count(0)), ("utf-16-be", sample[0::2].count(0))):
        other = sample.count(0) - zeros
        if zeros > 0.7 * half and other < 0.05 * half:
            return data.decode(encoding, errors="replace")
    return None


def _guess_encoding(data: bytes) -> str:
    if looks_binary(data):
        raise DocumentRejected(
            "The encoding of this text is not known.", remedy="Save it as UTF-8 text and add it again."
        )
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    return data.decode(best.encoding if best else "cp1252", errors="replace")
