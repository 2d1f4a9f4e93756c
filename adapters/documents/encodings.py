"""Bytes to text: byte-order marks, UTF-8, what the bytes look like, and plain newlines.

What a file declares about itself (an HTML meta, a MIME charset) is its format's business.
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
    """Return the text of `data`: plain newlines, no control characters.

    Tries, in this order: byte-order mark, UTF-8, also with some bytes of Windows-1252 in it, the declared name, UTF-16
    without a mark, a guess from the bytes (charset-normalizer), Windows-1252.

    Raises:
        DocumentRejected: when the bytes are no text in any encoding.
    """
    text = _by_mark(data) or _strict(data, "utf-8") or _mostly_utf8(data) or (declared and _strict(data, declared))
    if not text:
        text = _utf16_without_mark(data) or _guess_encoding(data)
    return clean(text)


def repair(text: str) -> str:
    """Return the text as it was meant: what was read in a wrong encoding before it came here, letters of one form.

    ftfy knows the wrong encodings: UTF-8 taken for Windows-1252, Windows-1252 taken for Latin-1, once or more often.
    Lines stay lines.
    """
    if text.isascii():
        return text
    import ftfy

    config = ftfy.TextFixerConfig(
        unescape_html=False, fix_line_breaks=False, uncurl_quotes=False, fix_character_width=False, explain=False
    )
    return compose(ftfy.fix_text(text, config))


def without_data(text: str) -> str:
    """Return the text without base64 files: pictures become their alternative text, other files are dropped.

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
    """Whether letters without a space between them are a file: large and small ones and digits, all in a mixture."""
    return all(re.search(kind, run[:200]) for kind in ("[A-Z]", "[a-z]", r"\d"))


def clean(text: str) -> str:
    """Plain newlines, no control characters, no byte-order marks left over from joining files."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").replace("\ufeff", "")
    return _CONTROLS.sub("", text)


def looks_binary(data: bytes) -> bool:
    """Whether these bytes are no text: zero bytes that no UTF-16 or UTF-32 explains, or mostly controls."""
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
    """UTF-8 with some bytes of Windows-1252 in it, as files put together from several have them."""
    if b"\0" in data[:8192]:
        return None
    text = data.decode("utf-8", errors="surrogateescape")
    wrong = _ESCAPED.findall(text)
    right = len(_MULTIBYTE.findall(text))
    if not right or len(wrong) > right:
        return None
    return _ESCAPED.sub(lambda found: bytes([ord(found[0]) - 0xDC00]).decode("cp1252", errors="ignore"), text)


def _utf16_without_mark(data: bytes) -> str | None:
    """UTF-16 of mostly Western text: every other byte is zero."""
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
            "This is not text in any encoding we know.", remedy="Save it as UTF-8 text and add it again."
        )
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    return data.decode(best.encoding if best else "cp1252", errors="replace")
