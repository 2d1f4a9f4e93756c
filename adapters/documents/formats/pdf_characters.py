"""What the code points of a PDF's text are as text."""

import re


def characters(codes: list[int]) -> str:
    """Code points to text: surrogate pairs joined, ligatures spelt out, what fonts left unnamed dropped."""
    known = (code for code in codes if code <= 0x10FFFF)  # a font may claim more than there is
    text = b"".join(code.to_bytes(2, "little") if code < 0x10000 else chr(code).encode("utf-16-le") for code in known)
    decoded = text.decode("utf-16-le", errors="ignore").replace("\xad", "").replace("\x02", "-\x02")
    for ligature, letters in (("ﬀ", "ff"), ("ﬁ", "fi"), ("ﬂ", "fl"), ("ﬃ", "ffi"), ("ﬄ", "ffl")):
        decoded = decoded.replace(ligature, letters)
    decoded = re.sub(r"[\x00\x01\x03-\x08\x0b-\x1f\ufffe\uffff\ufffd\ue000-\uf8ff]", "", decoded)
    return re.sub(r"[ \t\xa0]+", " ", decoded).strip()
