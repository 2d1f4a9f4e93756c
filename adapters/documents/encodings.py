"""Bytes to text: byte-order marks, UTF-8, what the bytes look like, and plain newlines.

What a file declares about itself (an HTML meta, a MIME charset) is its format's business.
"""

import codecs
import re

from core.model.errors import DocumentRejected

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 256 * 1024
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff]")


def decode(data: bytes, declared: str | None = None) -> str:
    """The text of `data`: plain newlines, no control characters.

    Tries, in this order: byte-order mark, UTF-8, the declared name, UTF-16 without a mark, a guess from the bytes
    (charset-normalizer), Windows-1252.

    Raises:
        DocumentRejected: when the bytes are no text in any encoding.
    """
    text = _by_mark(data) or _strict(data, "utf-8") or (declared and _strict(data, declared))
    if not text:
        text = _utf16_without_mark(data) or _guess_encoding(data)
    return clean(text)


def clean(text: str) -> str:
    """Plain newlines, no control characters, no byte-order marks left over from joining files."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x0c", "\n").replace("\ufeff", "")
    return _CONTROLS.sub("", text).replace("\x85", "\n")


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
