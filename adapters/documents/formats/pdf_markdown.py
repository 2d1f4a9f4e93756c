"""Conversion of PDF lines and tables to Markdown: headings by outline or type size, paragraphs, lists, code.

Headers and footers that repeat on most pages are dropped. A table that continues on the next page keeps its header.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from adapters.documents.formats.pdf_lines import Line
from adapters.documents.formats.pdf_tables import FoundTable
from core.model.document_content import Block

HEADING_RATIO = 1.12
"""Minimum type size of a heading, relative to the body."""

HEADING_CHARS = 160
_NUMBERED = re.compile(r"^((\d+\.)+\d*|\d+|[A-Z]\.|Appendix [A-Z]|Chapter \d+|Section \d+)\s+\S")
_LIST_MARK = re.compile(r"^([•●▪◦‣∙·*–-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+")


def largest_text(pages: list[list[Line]]) -> str | None:
    """Return the largest text of the first page with text, including following lines of that size."""
    lines = next((page for page in pages if page), [])
    top = max((line.size for line in lines if len(line.text) > 3), default=0.0)
    if top < _body_size(pages) * 1.2:
        return None
    start = next(i for i, line in enumerate(lines) if line.size == top and len(line.text) > 3)
    joined = [line.text for line in lines[start : start + 3] if line.size == top]
    return " ".join(joined).replace("-\x02 ", "").replace("\x02", "")


def _body_size(pages: list[list[Line]]) -> float:
    sizes: Counter[float] = Counter()
    for line in (line for page in pages for line in page):
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def page_blocks(pages: list[list[Line]], outline: dict[str, int], tables: list[list[FoundTable]]) -> Iterator[Block]:
    """Yield a block for each page with text."""
    body = _body_size(pages)
    running = _running_lines(pages, body)
    levels = _levels(pages, body, outline)
    before: FoundTable | None = None  # the table at the end of the previous page, if nothing follows it
    for i, lines in enumerate(pages):
        kept = [line for line in lines if _edge_key(line, body) not in running]
        found = sorted(tables[i], key=lambda table: -table.top)
        open_end = found[-1] if found and not any(line.top < found[-1].bottom for line in kept) else None
        if found and before and found[0].continues(before) and not any(line.bottom > found[0].top for line in kept):
            found[0] = found[0].with_header_of(before)
            open_end = found[0] if open_end and len(found) == 1 else open_end
        before = open_end
        text = _page_markdown(kept, levels, found)
        if text.strip():
            yield Block(text, page=i + 1)


def _running_lines(pages: list[list[Line]], body: float) -> set[str]:
    """Return the keys of headers, footers and page numbers: edge lines that repeat on many pages with other text."""
    if len(pages) < 3:
        return set()
    seen: Counter[str] = Counter()
    for lines in pages:
        keys = {key for line in lines if (key := _edge_key(line, body))}
        if any(_edge_key(line, body) not in keys for line in lines):
            seen.update(keys)
    filled = sum(bool(lines) for lines in pages)
    return {key for key, times in seen.items() if times >= max(3, filled * 0.3)}


def _edge_key(line: Line, body: float) -> str:
    """Return a key that identifies an edge line on other pages, ignoring digits; '' for all other lines."""
    if not line.at_edge or line.size >= body * HEADING_RATIO or len(line.text) > 90:
        return ""
    key = re.sub(r"\d+|\b[ivxl]+\b", "#", line.text.lower())
    return key if re.search(r"[^\W\d_]", key) or key.count("#") == 1 else ""


@dataclass(frozen=True, slots=True)
class Levels:
    """Criteria for the heading levels of a file."""

    body: float
    sizes: dict[float, int]
    outline: dict[str, int]
    bold_counts: bool

    def of(self, line: Line) -> int:
        """Return the heading level of a line, 0 for prose."""
        text = line.text
        if line.fixed or not _may_be_heading(text):
            return 0
        if level := self.outline.get(heading_key(text)):
            return min(level, 6)
        if text.endswith((",", ";", "-\x02")) or re.search(r"\.{4,}|(\. ){4,}", text) or text[0].islower():
            return 0
        if level := self.sizes.get(line.size, 0):
            return level
        below = min(max(self.sizes.values(), default=0) + 1, 6)
        if not line.bold or len(text) > 90:
            return 0
        alone = self.bold_counts and not text.endswith((".", ":"))
        return below if alone or _NUMBERED.match(text) else 0


def _may_be_heading(text: str) -> bool:
    if len(text) > HEADING_CHARS or (len(text) > 70 and text.endswith(".")):
        return False
    mark = _LIST_MARK.match(text)
    return bool(re.search(r"[^\W\d_]{2}", text)) and (mark is None or bool(_NUMBERED.match(text)))


def _levels(pages: list[list[Line]], body: float, outline: dict[str, int]) -> Levels:
    lines = [line for page in pages for line in page]
    chars: Counter[float] = Counter()
    for line in lines:
        chars[line.size] += len(line.text)
    total = sum(chars.values()) or 1
    large = sorted((s for s in chars if s >= body * HEADING_RATIO and chars[s] < total * 0.25), reverse=True)
    merged: dict[float, int] = {}
    level, last = 0, 0.0
    for size in large:
        if not last or size < last * 0.94:
            level, last = level + 1, size
        merged[size] = min(level, 4)
    bold = sum(len(line.text) for line in lines if line.bold and line.size >= body * 0.95)
    return Levels(body, merged, outline, bold_counts=bold < total * 0.12)


def _page_markdown(lines: list[Line], levels: Levels, tables: list[FoundTable]) -> str:
    """Return a page as Markdown: paragraphs joined, headings marked, code fenced, tables at their first line."""
    pieces: list[Piece] = []
    written: set[int] = set()
    leading = _usual_leading(lines)
    for line in lines:
        box = (line.left, line.right, line.bottom, line.top)
        at = next((i for i, ruled in enumerate(tables) if ruled.holds(*box)), None)
        if at is not None:
            if at not in written:
                pieces.append(Piece("table", 0, [], tables[at].markdown))
                written.add(at)
            continue
        level = levels.of(line)
        kind = "heading" if level else "code" if line.fixed else "prose"
        last = pieces[-1] if pieces else None
        if last is not None and last.goes_on_with(line, kind, level, leading):
            last.lines.append(line)
        else:
            pieces.append(Piece(kind, level, [line]))
    edge = sorted(line.right for line in lines)[int(len(lines) * 0.9)] if lines else 0.0
    return "\n\n".join(piece.markdown(edge) for piece in pieces)


@dataclass(frozen=True, slots=True)
class Piece:
    """A heading, paragraph, list item, code block or table."""

    kind: str
    level: int
    lines: list[Line]
    table: str = ""

    def goes_on_with(self, line: Line, kind: str, level: int, leading: float) -> bool:
        """Return whether the next line belongs to this piece; a heading's first line decides for all its lines."""
        if not self.lines:
            return False
        before = self.lines[-1]
        if self.kind == "heading" and abs(before.size - line.size) < 0.6 and not _NUMBERED.match(line.text):
            return before.bold == line.bold and 0 < before.baseline - line.baseline < line.size * 1.7
        return (self.kind, self.level) == (kind, level) and _continues(before, line, kind, leading)

    def markdown(self, edge: float) -> str:
        """Return the piece as Markdown; `edge` is the right edge of the page's lines, in points."""
        if self.kind == "table":
            return self.table
        if self.kind == "code":
            return self._code()
        text = self._join_lines(edge).replace("\x02", "")
        if self.kind == "heading" and _may_be_heading(text) and len(self.lines) < 4:
            return f"{'#' * self.level} {text.replace(chr(10), ' ')}"
        if match := _LIST_MARK.match(text):
            number = match[1][-1] in ".)" and match[1][0].isdigit()
            return f"{match[1] if number else '-'} {text[match.end() :]}"
        return re.sub(r"^(#+\s)", r"\\\1", text)

    def _join_lines(self, edge: float) -> str:
        """Join full lines; keep the line break after a short line, as in an address or a table without rules."""
        text = self.lines[0].text
        reach = max(edge if edge - self.lines[0].left < 700 else 0.0, *(line.right for line in self.lines), 1.0)
        reach = max(line.right for line in self.lines) if len(self.lines) > 2 else reach
        for before, line in pairwise(self.lines):
            more = line.text
            if text.endswith("-\x02"):
                text = text[:-2] + more
            elif text.endswith("-") and more[:1].islower() and text[-2:-1].isalpha():
                text = text[:-1] + more
            else:
                full = before.right > reach - (reach - before.left) * 0.25
                flows = _is_beside(before, line) or (full and not _is_row(before.text))
                text += (" " if flows else "\n") + more
        return text

    def _code(self) -> str:
        left = min(line.left for line in self.lines)
        step = max((self.lines[0].right - self.lines[0].left) / max(len(self.lines[0].text), 1), 3.0)
        rows = [" " * round((line.left - left) / step) + line.text.replace("\x02", "") for line in self.lines]
        return rows[0].strip() if len(rows) == 1 else "```\n" + "\n".join(rows) + "\n```"


def _is_row(text: str) -> bool:
    """Return whether a line is a table row (mostly numbers) or a form line with check boxes."""
    words = text.split()
    if "[x]" in text or "[ ]" in text:
        return True
    return len(words) > 2 and sum(word[:1].isdigit() or word[-1:].isdigit() for word in words) > len(words) * 0.6


def _continues(before: Line, line: Line, kind: str, leading: float) -> bool:
    """Return whether a line continues the paragraph or code of the line before it."""
    down = before.baseline - line.baseline
    if kind == "code":
        return -line.size * 2 < down < line.size * 3
    if _is_beside(before, line):
        return True
    if abs(before.size - line.size) > 0.6 or _LIST_MARK.match(line.text):
        return False
    if down < 0:  # higher up: the next column
        return not before.text.endswith((".", ":", "!", "?")) and line.text[:1].islower()
    return down < max(leading, line.size) * 1.3


def _is_beside(before: Line, line: Line) -> bool:
    """Return whether two lines are one: split by a superscript or subscript, or a form label and its value."""
    return abs(before.baseline - line.baseline) < line.size * 0.45 and before.right < line.right


def _usual_leading(lines: list[Line]) -> float:
    """Return the median distance between baselines of full lines on this page, in points."""
    edge = max((line.right for line in lines), default=0.0)
    steps = sorted(
        before.baseline - line.baseline
        for before, line in pairwise(lines)
        if abs(before.size - line.size) < 0.6
        and before.right > edge * 0.8
        and 0.8 * line.size < before.baseline - line.baseline < 2.6 * line.size
    )
    return steps[len(steps) // 2] if steps else max((line.size for line in lines), default=10.0) * 1.2


def heading_key(text: str) -> str:
    """Return the letters that identify a bookmark and its heading."""
    return re.sub(r"[\W\d_]+", "", text).lower()
