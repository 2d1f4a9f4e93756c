"""Markdown blocks defined by indentation: code, notes and tabs of MkDocs, definitions.

Later stages work line by line and do not recognize these blocks. Here code is fenced, and the content of a note, tab or
definition is unindented below its label. Line numbers stay valid: fences replace the blank lines around the code. If it
is unclear whether a block is code, it stays unchanged.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.model.markdown_lines import FENCE, HEADING, LIST_ITEM, with_fences

_STEP = 4  # columns of indentation of a block's content
_NOTE = re.compile(r'^\s*(?:!!!|\?\?\?\+?)\s+(?P<kind>[\w-]+)(?:\s+[\w-]+)*(?:\s+"(?P<title>.*)")?\s*$')
_TAB = re.compile(r'^\s*===[!+]?\s+"(?P<title>[^"]+)"\s*$')
_DEFINITION = re.compile(r"^\s*:\s+(?P<told>\S.*)$")
_FOOTNOTE = re.compile(r"^\s*\[\^[^\]]+\]:\s")
_MARKS = (LIST_ITEM, HEADING, _NOTE, _TAB, _DEFINITION)
# Kinds of note that are shown with their title; for other kinds the title is enough: "Failure", "Quote".
_SAID_OF_TITLE = frozenset(
    ("note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "info", "example", "bug")
)
_TERM = 100  # maximum characters; a longer line is a paragraph
_NOT_PROSE = ("|", "<", ">", "#", "![")
# Beginnings that indicate that an indented block is not code.
_NOT_CODE = re.compile(r"\||>|!?\[[^\[\]]*\][(:\[]|\{[%{:]|\*\[|\*\*|__|<%")
_MARKED_UP = re.compile(r"(?<![\w$`])`[^`\n]+`(?!`)|\]\(\S|\*\*\w|^\s*(?:!!!|\?\?\?)\s")  # code has no inline markup
_WORD = re.compile(r"[\"'“‘(*_\[]*(?:[A-Z]?[a-z][a-z'’-]*|[AI])[\"'”’)*_\]]*[.,:;!?]*")
_PROSE_WORDS = 60  # maximum words of a block to examine


@dataclass(frozen=True, slots=True)
class _Holder:
    """An open block, which continues as far as lines are indented."""

    content: int
    """The minimum column of its lines."""
    removed: int = 0
    """The number of columns by which its content is unindented."""
    may_hold_code: bool = True


def with_plain_blocks(lines: Sequence[str]) -> list[str]:
    """Fence indented code, and convert notes, tabs and definitions to paragraphs, lists and listings."""
    return _Reading(lines).done


class _Reading:
    """Line reader of one document, from the first line to the last."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._holders: list[_Holder] = []
        self._label: tuple[int, str] | None = None  # label of a block without content so far, and its line
        self._defining = False  # whether there was a definition since the last heading
        self._decided = 0  # indented lines before this one have been examined
        self.done = list(lines)
        block = 0
        for at, (line, fenced) in enumerate(with_fences(lines)):
            if fenced and fenced == block:
                self.done[at] = _moved(line, self._removed)
            elif line.strip() and at >= self._decided:
                self._read(at)
            block = fenced

    @property
    def _removed(self) -> int:
        return sum(holder.removed for holder in self._holders)

    def _read(self, at: int) -> None:
        line = self._lines[at]
        self._close(at)
        if self._is_code(at):
            return
        self.done[at] = _moved(line, self._removed)
        if (note := _NOTE.match(line) or _TAB.match(line)) and self._holds_more(at):
            self._open_note(at, note)
        elif (definition := _DEFINITION.match(line)) and self._defines(at):
            self._place_label(at)
            self._open_definition(at, definition["told"])
        else:
            self._place_label(at)
            self._defining = self._defining and not HEADING.match(line)
            if LIST_ITEM.match(line):
                self._holders.append(_Holder(_column(line) + 2, may_hold_code=False))
            elif _FOOTNOTE.match(line):
                self._holders.append(_Holder(_column(line) + _STEP, may_hold_code=False))

    def _close(self, at: int) -> None:
        """Close the blocks that this line does not continue; without a blank line above it may continue a paragraph."""
        line = self._lines[at]
        begins = self._after_blank(at) or any(mark.match(line) for mark in (*_MARKS, FENCE))
        while begins and self._holders and _column(line) < self._holders[-1].content:
            self._holders.pop()

    def _after_blank(self, at: int) -> bool:
        return at == 0 or not self._lines[at - 1].strip()

    def _holds_more(self, at: int) -> bool:
        """Return whether the next non-empty line is indented below this one."""
        below = next((self._lines[i] for i in range(at + 1, len(self._lines)) if self._lines[i].strip()), "")
        return _column(below) >= _column(self._lines[at]) + _STEP

    def _open_note(self, at: int, note: re.Match[str]) -> None:
        self._place_label(at)
        self._holders.append(_Holder(_column(self._lines[at]) + _STEP, removed=_STEP))
        words = _words_over(note)
        indent = self.done[at][: -len(self.done[at].lstrip())]
        self.done[at] = f"{indent}{words}" if words else ""
        if words.endswith(":"):
            self._label = (at, words)

    def _place_label(self, at: int) -> None:
        """Move a label to the first line of its paragraph; above anything else it keeps its own line."""
        placed, self._label = self._label, None
        text = self.done[at].lstrip()
        leads = placed and not (LIST_ITEM.match(text) or FENCE.match(text) or text.startswith(_NOT_PROSE))
        if placed and leads and not (_NOTE.match(text) or _TAB.match(text)):
            indent = self.done[at][: len(self.done[at]) - len(text)]
            self.done[placed[0]], self.done[at] = "", f"{indent}{placed[1]} {text}"

    def _defines(self, at: int) -> bool:
        """Return whether a line that starts with a colon follows a term, a heading or another definition."""
        above = self._above(at)
        if above is None or _column(self._lines[at]) >= _STEP + self._base:
            return False
        line = self._lines[above]
        more = _DEFINITION.match(line) or (self._defining and self._after_blank(at))
        return bool(HEADING.match(line) or more) or self._is_term(above, at)

    def _is_term(self, above: int, at: int) -> bool:
        """Return whether a line is short and isolated enough to be a defined term."""
        line = self._lines[above]
        if _column(line) != _column(self._lines[at]) or any(mark.match(line) for mark in (*_MARKS, FENCE)):
            return False
        alone = self._after_blank(above) or bool(HEADING.match(self._lines[above - 1]))
        return alone and len(line) <= _TERM and line.rstrip()[-1] not in ".!?:;,|"

    @property
    def _base(self) -> int:
        return self._holders[-1].content if self._holders else 0

    def _above(self, at: int) -> int | None:
        return next((i for i in range(at - 1, -1, -1) if self._lines[i].strip()), None)

    def _open_definition(self, at: int, told: str) -> None:
        """Remove the definition's mark, add a colon to its term, and join both if a blank line separates them."""
        above = self._above(at)
        indent = self.done[at][: len(self.done[at]) - len(self.done[at].lstrip())]
        self.done[at] = f"{indent}{told}"
        if above is not None and self._is_term(above, at):
            term = self.done[above].strip()
            if above == at - 1:
                self.done[above] = f"{indent}{term}:"
            else:
                self.done[above], self.done[at] = "", f"{indent}{term}: {told}"
        self._defining = True
        self._holders.append(_Holder(_column(self._lines[at]) + _STEP, removed=_STEP))

    def _is_code(self, at: int) -> bool:
        """Fence the block that begins here if it is indented code; return whether it is."""
        base = self._base
        if at == 0 or not self._after_blank(at) or _column(self._lines[at]) < base + _STEP:
            return False
        if any(not holder.may_hold_code for holder in self._holders[-1:]):
            return False
        end = self._end_of_block(at, base + _STEP)
        if not self._reads_as_code(at, end) or (end < len(self._lines) and self._lines[end].strip()):
            self._holders.append(_Holder(base + _STEP, may_hold_code=False))
            return False
        self._fence(at, end, base)
        return True

    def _end_of_block(self, at: int, column: int) -> int:
        """Return the line after the last one with this indentation."""
        end = at
        for number in range(at, len(self._lines)):
            if self._lines[number].strip():
                if _column(self._lines[number]) < column:
                    break
                end = number + 1
        return end

    def _reads_as_code(self, at: int, end: int) -> bool:
        first = self._lines[at].strip()
        above = self._above(at)
        led = above is not None and self._lines[above].rstrip("*_ ").endswith(":")
        if _NOT_CODE.match(first) or LIST_ITEM.match(first) or _NOTE.match(first) or _TAB.match(first):
            return False
        if FENCE.match(first) or (first.startswith("<") and not led):
            return False
        block = self._lines[at:end]
        return not _is_prose(block, led=led) and not any(map(_MARKED_UP.search, block))

    def _fence(self, at: int, end: int, base: int) -> None:
        margin = " " * (base - self._removed)
        self._label = None
        for number in range(at, end):
            self.done[number] = _moved(self._lines[number], self._removed + _STEP)
        self.done[at - 1] = f"{margin}```"
        if end < len(self._lines):
            self.done[end] = f"{margin}```"
        else:
            self.done[-1] += f"\n{margin}```"
        self._decided = end


def _words_over(note: re.Match[str]) -> str:
    """Return the label of a note or tab: "Note:", with a title "Note: Backups", for a tab "Linux:"."""
    title = note["title"]
    if "kind" not in note.groupdict():
        return f"{title.strip().rstrip(':')}:"
    kind = note["kind"]
    if title is None:
        return f"{kind.capitalize()}:"
    title = title.strip()
    return f"{kind.capitalize()}: {title}" if title and kind.lower() in _SAID_OF_TITLE else title


def _is_prose(lines: Sequence[str], *, led: bool) -> bool:
    """Return whether indented lines are prose rather than code; after a lead-in, only complete sentences count."""
    tokens = [token for line in lines for token in line.split()][:_PROSE_WORDS]
    plain = sum(bool(_WORD.fullmatch(token)) for token in tokens)
    if len(tokens) < 3 or plain < 0.75 * len(tokens):
        return False
    return lines[-1].rstrip().endswith((".", "!", "?")) or (not led and tokens[0][:1].isupper())


def _column(line: str) -> int:
    """Return the column of the first character."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(_STEP))


def _moved(line: str, columns: int) -> str:
    """Return the line unindented by up to this many columns."""
    if not columns:
        return line
    text = line.lstrip()
    return " " * max(0, _column(line) - columns) + text if text else ""
