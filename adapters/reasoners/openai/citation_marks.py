r"""Normalization of the citation marks that models write to ``[id]``, also while a text streams.

Seen from models: ``[1]``, ``【1】``, ``【1†source】``, ``(1)``, ``[^1]``, ``[#1]``, ``[1, 2]``, ``[1-3]``,
``[Source: 1]``, ``[document 1]``, ``[Document 1, its title]``, ``[1.]``, ``\[1\]``, ``<sup>1</sup>``, full-width
brackets and digits, and marks that are links. Round brackets, braces and superscript digits are a mark only at the end
of a clause, with the number of a given document, and if no document has the same word before the same bracket.
"""

import re
from collections.abc import Iterable

LONGEST_RANGE = 10
ENDS = ".,;:!?)]([<\n|"  # follows a mark, but not a number that is part of the text
LONGEST_WORD = 60  # characters before a bracket that are compared

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_FEWEST_LETTERS = 4  # of a word with a superscript mark: "km²" and "10²" are not marks

_NAME = r"(?:documents?|docs?\.?|sources?|passages?|evidence|references?|refs?\.?|citations?|cite|id)(?:\s+id)?"
_ONE = rf"(?:[\^#]|{_NAME}\s*[:#=]?\s*\"?|E)?\s*\d{{1,4}}\"?"
_MANY = rf"{_ONE}(?:\s*(?:,|;|&|\+|and|to|[-–—])\s*{_ONE}){{0,19}}"
_SQUARE = (
    rf"\\?[\[【［〔]{{1,2}}\s*(?P<square>{_MANY})(?::\d{{1,3}})?(?:†[^\[\]【】［］〔〕\n]{{0,60}})?\.?\s*\\?[\]】］〕]{{1,2}}"
    r"(?:\([^()\n]{0,300}\))?(?::(?=\s*$))?"
)
_TITLED = rf"\[\s*(?P<titled>{_NAME}\s*[:#]?\s*\d{{1,4}})\s*[,:–—-]\s*[^\[\]\n]{{1,80}}\]"
_RAISED = rf"<sup>\s*[\[(]?\s*(?P<raised>{_MANY})\s*[\])]?\s*</sup>"
_ROUND = rf"(?:[(（]\s*(?P<round>{_MANY})\s*[)）]|\{{(?P<braced>\d{{1,4}})\}}|(?P<digits>[{_SUPERSCRIPTS}]{{1,3}}))"
_MARKS = re.compile(f"{_SQUARE}|{_TITLED}|{_RAISED}|{_ROUND}", re.IGNORECASE)
_PLAIN_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")
_NUMBERS = re.compile(r"(?P<first>\d{1,4})(?:\s*\"?\s*(?:[-–—]|to)\s*(?:[\^#]|E)?\s*(?P<last>\d{1,4}))?", re.IGNORECASE)
_NAMED = re.compile(_NAME, re.IGNORECASE)
_OF_THE_TEXT = re.compile(
    r"(?i)^(?:section|article|clause|paragraph|step|phase|version|level|tier|chapter|appendix|table|figure|no|number)$"
)

# The end of the text so far that may still become a mark, or a mark that may still become a link.
_HELD = re.compile(
    r"(?:\\?[\[【［〔]{1,2}[^\[\]【】［］〔〕\n]{0,80}(?:[\]】］〕]{1,2}(?:\([^()\n]{0,300}\)?)?)?"
    r"|[(（][^()（）\n]{0,30}(?:[)）][ \t]{0,2})?"
    rf"|\{{\d{{0,4}}(?:\}}[ \t]{{0,2}})?|[{_SUPERSCRIPTS}]{{1,3}}[ \t]{{0,2}}|\\"
    r"|<(?:s(?:u(?:p(?:>[^<>\n]{0,40}(?:<(?:/(?:s(?:u(?:p)?)?)?)?)?)?)?)?)?)$",
    re.IGNORECASE,
)


class CitationMarks:
    """Streaming rewriter for the marks of one draft."""

    def __init__(self, valid: Iterable[int], texts: Iterable[str]) -> None:
        """Accept marks of documents with these ids and texts."""
        self._valid = frozenset(valid)
        self._texts = "\n".join(texts).casefold()
        self._held = ""
        self._before = ""  # the end of the text already returned

    def feed(self, piece: str) -> str:
        """Add a piece and return the text that is ready."""
        text = self._held + piece
        held = _HELD.search(text)
        cut = held.start() if held else len(text)
        self._held = text[cut:]
        return self._gone_on(text[:cut])

    def rest(self) -> str:
        """Return the held-back text at the end."""
        held, self._held = self._held, ""
        return self._gone_on(held)

    def _gone_on(self, text: str) -> str:
        written = _MARKS.sub(self._mark, text)
        self._before = (self._before + text)[-LONGEST_WORD:]
        return written

    def _mark(self, match: re.Match[str]) -> str:
        if (sure := match.group("square") or match.group("titled") or match.group("raised")) is not None:
            return "".join(f"[{number}]" for number in _numbers(sure))
        raised = match.group("digits")
        inside = match.group("round") or match.group("braced") or raised.translate(_PLAIN_DIGITS)
        numbers = _numbers(inside)
        if not self._valid.issuperset(numbers) or (not _NAMED.match(inside) and self._is_text(match)):
            return match.group()
        return "".join(f"[{number}]" for number in numbers)

    def _is_text(self, match: re.Match[str]) -> bool:
        """Return whether a number in round brackets is text: a list number, or words of a document."""
        before = (self._before + match.string[: match.start()])[-LONGEST_WORD:].rpartition("\n")[2]
        word = before.split()[-1] if before.split() else ""
        gap = before[len(before.rstrip()) :]
        follows = match.string[match.end() :].lstrip(" ")[:1]
        if match.group("digits") and word.endswith((".", "!", "?")):
            return False
        if follows and follows not in ENDS:
            return True
        if match.group("digits") and word[-1:].isalnum() and not re.search(rf"[^\W\d_]{{{_FEWEST_LETTERS}}}$", word):
            return True
        return not word or bool(_OF_THE_TEXT.match(word)) or f"{word}{gap}{match.group()}".casefold() in self._texts


def _numbers(written: str) -> list[int]:
    numbers: list[int] = []
    for match in _NUMBERS.finditer(written):
        first = int(match.group("first"))
        last = int(match.group("last") or first)
        numbers.extend(range(first, last + 1) if first <= last <= first + LONGEST_RANGE else (first, last))
    return list(dict.fromkeys(numbers))
