"""Marking a quote in what was rendered: found by its letters and digits alone, whatever markup stands between them."""

import re
from dataclasses import dataclass
from html import escape, unescape

from markupsafe import Markup

_PIECE = re.compile(r"<[^>]*>|[^<]+")


@dataclass(frozen=True, slots=True)
class Letters:
    """The letters and digits of a text, lower-cased, and where in the text each stands."""

    text: str
    places: tuple[int, ...]

    def find(self, quote: str) -> tuple[int, int] | None:
        """(start, end) in the text that the quote takes up; None where it is not in there."""
        wanted = letters_of(quote).text
        at = self.text.find(wanted) if wanted else -1
        return None if at < 0 else (self.places[at], self.places[at + len(wanted) - 1] + 1)


def letters_of(text: str) -> Letters:
    """Its letters and digits."""
    found = [(folded, place) for place, sign in enumerate(text) if sign.isalnum() for folded in sign.casefold()]
    return Letters("".join(sign for sign, _ in found), tuple(place for _, place in found))


def mark_quote(html: Markup, quote: str) -> Markup:
    """The same HTML with the quote in ``<mark>``; as it was where the quote is not found.

    ``html`` is what a cleaner wrote: its tags are well-formed. A mark is closed before each tag and opened after it.
    """
    pieces = [match.group() for match in _PIECE.finditer(str(html))]
    texts = ["" if piece.startswith("<") else unescape(piece) for piece in pieces]
    span = letters_of("".join(texts)).find(quote)
    if span is None:
        return html
    start, end = span
    out, at, first = [], 0, True
    for piece, text in zip(pieces, texts, strict=True):
        low, high = max(start - at, 0), min(end - at, len(text))
        if text and low < high and text.strip():
            name = ' id="quote"' if first else ""
            inner = f"<mark{name}>{escape(text[low:high])}</mark>"
            out.append(escape(text[:low]) + inner + escape(text[high:]))
            first = False
        else:
            out.append(piece)
        at += len(text)
    return Markup("".join(out))  # noqa: S704 - texts are escaped anew, tags are the cleaner's
