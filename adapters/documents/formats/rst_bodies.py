"""What RST's directives hold, moved to the margin below words that say what it is; what nobody is shown is blanked.

The body of a note, of a tab or of a card is text as any other, and only its indentation says where it ends. Code,
tables and pictures stay as they are: other modules read them. Every line keeps its number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.documents.html_tables import table_lines
from core.model.markdown_lines import LIST_ITEM

_DIRECTIVE = re.compile(r"^\s*\.\. (?P<kind>[\w:-]+)::(?:\s+(?P<argument>.*?))?\s*$")
_OPTION = re.compile(r"^\s+:[\w -]+:(?:\s.*)?$")
_RULE = re.compile(r"^\s*([=\-`:.'\"~^_*+#<>!$%&,/;?@\\|(){}\[\]])\1{2,}\s*$")
_SUBSTITUTION = re.compile(r"^\s*\.\. \|[^|]+\| ")
# Two dots and anything that is neither a directive nor a target, a footnote or a substitution.
_REMARK = re.compile(r"^\s*\.\.(?:\s+(?![_\[|])(?!\w[\w:.+-]*::).*)?$")
_NAMED = frozenset(
    ("note", "warning", "tip", "important", "caution", "danger", "hint", "attention", "error", "seealso")
)
_TITLED = frozenset(
    [
        *("tab", "tab-item", "md-tab-item", "group-tab", "dropdown", "details", "collapse", "card", "grid-item-card"),
        *("admonition", "topic", "sidebar"),
    ]
)
_SILENT = frozenset(
    ("contents", "toctree", "index", "include", "raw", "meta", "highlight", "currentmodule", "module", "sectionauthor")
)
_READ_ELSEWHERE = frozenset(
    [
        *("code-block", "code", "sourcecode", "code-tab", "prompt", "parsed-literal", "math", "image", "figure"),
        *("list-table", "csv-table", "table", "literalinclude"),
    ]
)


@dataclass(frozen=True, slots=True)
class _Holder:
    """What is indented below a line."""

    column: int
    """Of that line: its body ends where a line is not indented further."""
    removed: int
    """How many columns the body is moved to the left."""
    kept: bool = False
    """Whether it is only moved, and not read."""


def with_plain_bodies(lines: Sequence[str]) -> list[str]:
    """The lines with the bodies of directives as text, and those of silent ones blank."""
    return _Reading(lines).done


class _Reading:
    """One reading from the first line to the last."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._holders: list[_Holder] = []
        self._label: tuple[int, str] | None = None  # words over a body that has not begun, and their line
        self._behind = 0  # lines before this one have been read
        self.done = list(lines)
        for at, line in enumerate(lines):
            if line.strip() and at >= self._behind:
                self._read(at)

    def _read(self, at: int) -> None:
        line = self._lines[at]
        while self._holders and _column(line) <= self._holders[-1].column:
            self._holders.pop()
        removed = self._holders[-1].removed if self._holders else 0
        self.done[at] = _moved(line, removed)
        if self._holders and self._holders[-1].kept:
            return
        if _SUBSTITUTION.match(line) or _REMARK.match(line):
            self._blank(at, self._end_of_body(at))
        elif directive := _DIRECTIVE.match(line):
            self._open(at, directive["kind"], directive["argument"] or "", removed)
        else:
            self._read_text(at, removed)

    def _open(self, at: int, kind: str, argument: str, removed: int) -> None:
        if kind in _SILENT:
            end = self._end_of_body(at)
            self._blank(at, end)
            if kind == "raw" and argument == "html":
                self.done[at:end] = table_lines(self._lines[at:end])
            return
        self._label = None
        column = _column(self._lines[at])
        if kind in _READ_ELSEWHERE:
            self._holders.append(_Holder(column, removed, kept=True))
            return
        indent = " " * max(0, column - removed)
        self.done[at] = f"{indent}{_words_over(kind, argument)}".rstrip()
        body = self._begin_of_body(at)
        if body is None:
            return
        self._holders.append(_Holder(column, removed + _column(self._lines[body]) - column))
        if self.done[at].endswith(":") and kind in _NAMED | _TITLED:
            self._label = (at, self.done[at].strip())

    def _read_text(self, at: int, removed: int) -> None:
        text = self.done[at].lstrip()
        indent = self.done[at][: len(self.done[at]) - len(text)]
        title = bool(removed) and self._is_title(at)  # of a part of a body, which is no section of the document
        if title:
            text = text.rstrip() if text.rstrip().endswith(("?", "!", ":")) else f"{text.rstrip()}:"
            self._blank(at, at + 2)
            self.done[at] = f"{indent}{text}"
        elif text.rstrip().endswith("::"):
            self._holders.append(_Holder(_column(self._lines[at]), removed, kept=True))
        placed, self._label = self._label, None
        if placed and not (LIST_ITEM.match(text) or text.startswith(("|", "+-", "+=", "==", "#."))):
            self.done[placed[0]], self.done[at] = "", f"{indent}{placed[1]} {text}"
        if title and text.endswith(":"):
            self._label = (at, self.done[at].strip())

    def _is_title(self, at: int) -> bool:
        """Whether the line below only underlines this one."""
        line, under = self._lines[at], self._lines[at + 1] if at + 1 < len(self._lines) else ""
        long = len(under.strip()) >= min(len(line.strip()), 4)
        return bool(_RULE.match(under)) and long and _column(under) == _column(line) and not _RULE.match(line)

    def _begin_of_body(self, at: int) -> int | None:
        """The first line of a directive's body; its options, which are no part of it, are blanked."""
        column, end = _column(self._lines[at]), at + 1
        while end < len(self._lines) and _OPTION.match(self._lines[end]) and _column(self._lines[end]) > column:
            end += 1
        self._blank(at + 1, end)
        first = next((i for i in range(end, len(self._lines)) if self._lines[i].strip()), None)
        return first if first is not None and _column(self._lines[first]) > column else None

    def _end_of_body(self, at: int) -> int:
        """The line behind the last one that is indented further than this one."""
        column, end = _column(self._lines[at]), at + 1
        if self._lines[at].strip() == ".." and not "".join(self._lines[end : end + 1]).strip():
            return end  # two dots before a blank line end what stands above, and hold nothing
        for number in range(at + 1, len(self._lines)):
            if self._lines[number].strip():
                if _column(self._lines[number]) <= column:
                    break
                end = number + 1
        return end

    def _blank(self, at: int, end: int) -> None:
        self.done[at:end] = [""] * (end - at)
        self._behind = end


def _words_over(kind: str, argument: str) -> str:
    """A note's kind and its first words, "Note: …", a tab's label, "Linux:"; of what is not known what it is given."""
    if kind in _NAMED:
        return f"{'See also' if kind == 'seealso' else kind.capitalize()}: {argument}".rstrip()
    if kind == "only":
        return ""
    return f"{argument.rstrip(':')}:" if kind in _TITLED and argument else argument


def _column(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(8))


def _moved(line: str, columns: int) -> str:
    """The line moved to the left, as far as there is room."""
    return " " * max(0, _column(line) - columns) + line.lstrip() if columns else line
