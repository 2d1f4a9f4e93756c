"""Lines of a PDF page from pdfium: text, position, type, and parts separated by wide gaps."""

import ctypes
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapters.documents.formats.pdf_page import Box, PageFrame, TickBox, turn_upright

if TYPE_CHECKING:
    import pypdfium2

EDGE_SHARE = 0.1
"""Share of the page height at top and bottom that holds running heads and page numbers."""

WIDE_GAP = 0.9
"""Minimum gap between parts of a line, in type sizes; such words may be in different columns."""

INSIDE = 4.0
"""Maximum distance in points of a letter from the middle of its box."""

BESIDE = 25.0
"""Maximum distance in points of a box from its word."""

_CROSSES = frozenset("xXvV✓✔✗✘☒☑×■●n43l8")
"""Characters used for ticks: letters, and names of ZapfDingbats and Wingdings symbols."""

_DATE_OR_YEAR = re.compile(r"(?:19|20)\d\d|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}[/.-]\d{1,2}[/.-]\d{1,2}")
_OF_NUMBERS = frozenset(map(ord, "0123456789/.,:-"))
_BOLD = re.compile(r"bold|black|heavy|semibold|demi", re.IGNORECASE)
_FIXED = re.compile(r"courier|mono|consolas|menlo|monaco|typewriter|cmtt|\bcode", re.IGNORECASE)
_UNNAMED = re.compile(r"[\x00\x01\x03-\x08\x0b-\x1f\ufffe\uffff\ufffd\ue000-\uf8ff\u200b\u2060\ufeff]")
_PRESENTATION = re.compile("[\ufb00-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]+")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a line without a wide gap."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page as typeset. Coordinates in points from the bottom left corner of the page."""

    text: str
    size: float
    left: float
    right: float
    bottom: float
    top: float
    baseline: float
    bold: bool = False
    fixed: bool = False
    at_edge: bool = False
    parts: tuple[Stretch, ...] = ()


@dataclass(frozen=True, slots=True)
class CellLine:
    """A line of text within one cell of a table."""

    text: str
    left: float
    right: float
    baseline: float
    size: float
    parts: tuple[Stretch, ...] = ()


def characters(codes: Sequence[int]) -> str:
    """Return code points as text: surrogates joined, ligatures spelt out, unmapped characters dropped."""
    known = (code for code in codes if code <= 0x10FFFF)  # a font may state code points that do not exist
    text = b"".join(code.to_bytes(2, "little") if code < 0x10000 else chr(code).encode("utf-16-le") for code in known)
    decoded = text.decode("utf-16-le", errors="ignore").replace("\xad", "").replace("\x02", "-\x02")
    decoded = _PRESENTATION.sub(lambda found: unicodedata.normalize("NFKC", found[0]), decoded)
    return re.sub(r"[ \t\xa0\u2000-\u200a\u202f]+", " ", _UNNAMED.sub("", decoded)).strip()


def is_right_to_left(text: str) -> bool:
    """Return whether most letters are Hebrew, Arabic or another right-to-left script."""
    kinds = [unicodedata.bidirectional(letter) for letter in text if letter.isalpha()]
    return sum(kind in ("R", "AL") for kind in kinds) * 2 > len(kinds)


@dataclass(frozen=True, slots=True)
class PageText:
    """pdfium's handle of a page's text, with the page's frame."""

    raw: Any
    frame: PageFrame

    def runs(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield (indexes, code points) of each line in file order, which follows columns."""
        import pypdfium2.raw as pdfium

        start = 0
        codes: list[int] = []
        for i in range(pdfium.FPDFText_CountChars(self.raw)):
            code = pdfium.FPDFText_GetUnicode(self.raw, i)
            if code in (10, 13):
                yield list(range(start, i)), codes
                start, codes = i + 1, []
            else:
                codes.append(code)
        yield list(range(start, start + len(codes))), codes

    def lines(self, ticks: Sequence[TickBox] = ()) -> list[Line]:
        """Return the visible lines of a page; text outside of the displayed area is dropped."""
        found = (self._line(at, codes, ticks) for at, codes in self.runs())
        return [line for line in found if line is not None]

    def _line(self, at: list[int], codes: list[int], ticks: Sequence[TickBox]) -> Line | None:
        """Return the line of these characters, or None if nothing of it is visible."""
        frame = self.frame
        inked = [i for i, code in zip(at, codes, strict=True) if code > 32]
        if not inked:
            return None
        if not all(frame.shows(self._box(i)) for i in (inked[0], inked[-1])):
            hidden = {i for i in inked if not frame.shows(self._box(i))}
            kept = [(i, code) for i, code in zip(at, codes, strict=True) if i not in hidden]
            at, codes = [i for i, _ in kept], [code for _, code in kept]
            inked = [i for i in inked if i not in hidden]
        if not characters(codes) or not inked:
            return None
        size = round(sorted(self._size(i) for i in (inked[0], inked[len(inked) // 2], inked[-1]))[1] * 2) / 2
        first, last = self.box(inked[0]), self.box(inked[-1])
        margin = frame.height * EDGE_SHARE
        fonts = [self._font(inked[0]), self._font(inked[-1])]
        bottom, top = min(first[2], last[2]), max(first[3], last[3])
        near = [tick for tick in ticks if bottom - size * 0.4 <= tick.y <= top + size * 0.4]
        parts = self._parts(at, codes, size, near)
        return Line(
            text=" ".join(part.text for part in parts),
            size=size,
            bold=all(_BOLD.search(font) for font in fonts),
            fixed=all(_FIXED.search(font) for font in fonts),
            left=min(first[0], last[0]),
            right=max(first[1], last[1]),
            bottom=bottom,
            top=top,
            baseline=frame.point(*self._origin(inked[0]))[1],
            at_edge=bottom > frame.height - margin or top < margin,
            parts=parts,
        )

    def _parts(self, at: list[int], codes: list[int], size: float, ticks: Sequence[TickBox]) -> tuple[Stretch, ...]:
        """Return the parts of a line between wide gaps; check boxes between words become "[x]" and "[ ]"."""
        parts: list[Stretch] = []
        words: list[PdfWord] = []
        found = self._with_joined_digits([self._word(*word) for word in _words(at, codes)], size)
        ticks = [tick for tick in ticks if any(word.is_near(tick.x) for word in found)]
        for new in found:
            if words and new.gap_to(words[-1]) > max(size * WIDE_GAP, 4.0):
                parts.append(_part(words, ticks, parts[-1].right if parts else None))
                words = []
            words.append(new)
        parts.append(_part(words, ticks, parts[-1].right if parts else None, last=True))
        return tuple(part for part in parts if part.text)

    def _word(self, at: list[int], codes: list[int]) -> "PdfWord":
        box = self.box(at[0])
        end = box if len(at) == 1 else self.box(at[-1])
        return PdfWord(codes, min(box[0], end[0]), max(box[1], end[1]), at[-1] + 1)

    def _with_joined_digits(self, words: list["PdfWord"], size: float) -> list["PdfWord"]:
        """Join digits that are typeset separately, if the line has a date or year like that."""
        runs: list[list[PdfWord]] = []
        for word in words:
            if runs and word.goes_on(runs[-1][-1], size) and self._is_generated(runs[-1][-1].end):
                runs[-1].append(word)
            else:
                runs.append([word])
        joined = ("".join(characters(word.codes) for word in run) for run in runs if len(run) > 1)
        if not any(map(_DATE_OR_YEAR.fullmatch, joined)):
            return words
        return [
            PdfWord([code for word in run for code in word.codes], run[0].left, run[-1].right, run[-1].end)
            for run in runs
        ]

    def _is_generated(self, index: int) -> bool:
        """Return whether pdfium inserted this space because of a gap, and it is not in the file."""
        import pypdfium2.raw as pdfium

        return bool(pdfium.FPDFText_IsGenerated(self.raw, index) == 1)

    def cell_lines(self, cells: Sequence[Box]) -> list[list[CellLine]]:
        """Return the lines of text inside each of these boxes, from the top."""
        found: list[dict[int, list[tuple[int, int]]]] = [{} for _ in cells]
        heights: dict[int, list[int]] = {}
        for number, (at, codes) in enumerate(self.runs()):
            inside: int | None = None
            for i, code in zip(at, codes, strict=True):
                if code > 32:
                    left, right, bottom, top = self.box(i)
                    x, y = (left + right) / 2, (bottom + top) / 2
                    if round(y) not in heights:
                        heights[round(y)] = [k for k, box in enumerate(cells) if box[2] <= y <= box[3]]
                    inside = next((k for k in heights[round(y)] if cells[k][0] <= x <= cells[k][1]), None)
                if inside is not None:
                    found[inside].setdefault(number, []).append((i, code))
        return [_joined(self._cell_line(chars) for chars in lines.values()) for lines in found]

    def _cell_line(self, chars: list[tuple[int, int]]) -> CellLine:
        at, codes = [i for i, _ in chars], [code for _, code in chars]
        baseline = self.frame.point(*self._origin(at[0]))[1]
        size = self._size(at[0])
        parts = self._parts(at, codes, size, ())
        if not parts:
            return CellLine("", 0.0, 0.0, baseline, size)
        left, right = min(part.left for part in parts), max(part.right for part in parts)
        return CellLine(" ".join(part.text for part in parts), left, right, baseline, size, parts)

    def box(self, index: int) -> Box:
        """Return the box of a character in displayed coordinates."""
        return self.frame.box(self._box(index))

    def _size(self, index: int) -> float:
        import pypdfium2.raw as pdfium

        matrix = pdfium.FS_MATRIX()
        scale = 1.0
        if pdfium.FPDFText_GetMatrix(self.raw, index, matrix):
            scale = float((matrix.c**2 + matrix.d**2) ** 0.5) or 1.0
        return float(pdfium.FPDFText_GetFontSize(self.raw, index)) * scale

    def _box(self, index: int) -> Box:
        import pypdfium2.raw as pdfium

        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        pdfium.FPDFText_GetCharBox(self.raw, index, left, right, bottom, top)
        return left.value, right.value, bottom.value, top.value

    def _origin(self, index: int) -> tuple[float, float]:
        import pypdfium2.raw as pdfium

        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self.raw, index, x, y)
        return x.value, y.value

    def _font(self, index: int) -> str:
        import pypdfium2.raw as pdfium

        buffer = ctypes.create_string_buffer(128)
        flags = ctypes.c_int()
        pdfium.FPDFText_GetFontInfo(self.raw, index, buffer, 128, flags)
        return buffer.value.decode("utf-8", "ignore")


@dataclass(frozen=True, slots=True)
class PdfWord:
    """A word: its code points and position."""

    codes: list[int]
    left: float
    right: float
    end: int
    """The index after its last character."""

    def goes_on(self, before: "PdfWord", size: float) -> bool:
        """Return whether this word continues a number that is typeset digit by digit."""
        last, length = before.codes[-1], len(self.codes)
        short = length == 1 or (length == 2 and len(before.codes) == 1) or chr(last) in "/-"
        numbers = last in _OF_NUMBERS and _OF_NUMBERS.issuperset(self.codes)
        return short and numbers and 0 < self.left - before.right < size * 0.65

    def is_near(self, x: float) -> bool:
        """Return whether a check box at this position belongs to this word."""
        return self.left - BESIDE < x < self.right + BESIDE

    def gap_to(self, other: "PdfWord") -> float:
        """Return the horizontal gap between two words, in either order."""
        return max(self.left - other.right, other.left - self.right)


def read_lines(page: "pypdfium2.PdfPage", ticks: Sequence[TickBox]) -> tuple[list[Line], PageFrame]:
    """Turn the page upright and read its lines."""
    frame = turn_upright(page)
    text_page = page.get_textpage()
    try:
        shown = [tick.shown(frame) for tick in ticks]
        return PageText(text_page.raw, frame).lines(shown), frame
    finally:
        text_page.close()


def _words(at: list[int], codes: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield (indexes, code points) of each word."""
    word: tuple[list[int], list[int]] = ([], [])
    for i, code in zip(at, codes, strict=True):
        if code in (32, 0xA0, 9):
            if word[0]:
                yield word
            word = ([], [])
        elif code > 32 or word[0]:
            word[0].append(i)
            word[1].append(code)
    if word[0]:
        yield word


def _part(words: Sequence[PdfWord], ticks: Sequence[TickBox], after: float | None, *, last: bool = False) -> Stretch:
    """Join words and check boxes into one part; boxes before its first word belong to it."""
    pieces: list[str] = []
    reached = after if after is not None else float("-inf")
    for word in words:
        text, middle = characters(word.codes), (word.left + word.right) / 2
        inside = any(abs(tick.x - middle) < INSIDE for tick in ticks)
        pieces += [tick.mark for tick in ticks if reached <= tick.x < middle and not abs(tick.x - middle) < INSIDE]
        if text:
            pieces.append("[x]" if inside and text in _CROSSES else text)
        reached = middle + INSIDE if inside else middle
    if last:
        pieces += [tick.mark for tick in ticks if tick.x >= reached]
    left, right = min(word.left for word in words), max(word.right for word in words)
    return Stretch(" ".join(pieces), left, right)


def _joined(lines: Iterator[CellLine]) -> list[CellLine]:
    """Sort lines from the top; merge those at the same height, such as a superscript and its word."""
    joined: list[CellLine] = []
    for line in sorted(lines, key=lambda line: -line.baseline):
        before = joined[-1] if joined else None
        if before is not None and before.baseline - line.baseline < max(before.size, line.size) * 0.45:
            first, second = sorted((before, line), key=lambda one: one.left)
            if is_right_to_left(before.text + line.text):
                first, second = second, first
            text = f"{first.text} {second.text}"
            left, right = min(first.left, second.left), max(first.right, second.right)
            size = max(before.size, line.size)
            joined[-1] = CellLine(text, left, right, before.baseline, size, (*first.parts, *second.parts))
        elif line.text:
            joined.append(line)
    return joined
