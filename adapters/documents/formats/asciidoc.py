"""AsciiDoc to Markdown, line by line, so that every line keeps its number.

Supported: headings, lists, tables, listings, notes, links, document attributes. Not supported: includes and conditions.
"""

import re
from collections.abc import Callable, Iterator

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.tables import pipe_table
from adapters.documents.titles import choose_title, iso_date
from core.model.document_content import Block, ParsedDocument
from core.model.errors import NoText

_HEADING = re.compile(r"^(={1,6})\s+(?P<words>\S.*?)\s*=*$")
_ATTRIBUTE = re.compile(r"^:(!?[\w-]+!?):\s*(.*?)\s*$")
_BLOCK_ATTRIBUTES = re.compile(r"^\[([^\]\n]*)\]\s*$")
_TITLE = re.compile(r"^\.(?![.\s])(?P<words>\S.*)$")
_LISTED = re.compile(r"^\s*(\*{1,5}|-|\.{1,5}|\d+\.)\s+(?P<words>\S.*)$")
_DEFINED = re.compile(r"^(\s*)((?![^\n]{0,200}?://)\S[^\n]{0,200}?):{2,4}(?:\s+(?P<words>\S.*))?$")
_NOTE = re.compile(r"^(NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+(?P<words>\S.*)$")
_QUOTED = re.compile(r"(?:quote|verse)\s*,\s*(\S.*)")
_NOTES = ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION")
_DELIMITER = re.compile(r"^(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,}\w*)\s*$")
_TABLE = re.compile(r"^[|,:!]={3,}\s*$")
_MACRO = re.compile(r"^(?:include|ifdef|ifndef|ifeval|endif|toc|video|audio)::")
_PICTURE = re.compile(r"\b(?:image|icon)::?(?P<file>[^\s\[]+)\[(?P<alt>[^\],\n]*)[^\]\n]*\]")
_LINK = re.compile(r"(?:\blink:|(?<![\w/\"'(\[<`]))(?P<address>https?://[^\s\[\]<>]+)\[(?P<words>[^\]\n]*)\]")
_OTHER_LINK = re.compile(r"\b(?:link|xref|mailto):(?P<address>[^\s\[\]]+)\[(?P<words>[^\]\n]*)\]")
_REFERENCE = re.compile(r"<<(?P<to>[^>,\n]+)(?:,\s*(?P<words>[^>\n]+))?>>")
_NAMED = re.compile(r"\{([\w-]+)\}")
_INLINE: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])"), lambda found: f"**{found[1]}**"),
    (re.compile(r"\[\.?[\w.-]+\]#([^#\n]+)#"), lambda found: found[1]),
    (re.compile(r"\bfootnote:[\w-]*\[([^\]\n]+)\]"), lambda found: f" ({found[1]})"),
    (re.compile(r"\b(?:kbd|btn|menu):?[\w-]*\[([^\]\n]+)\]"), lambda found: found[1]),
    (re.compile(r"\(\(\([^()\n]*\)\)\)|\bindexterm:\[[^\]\n]*\]"), lambda _: ""),
    (re.compile(r"\(\((?P<one>[^()\n]+)\)\)|\bindexterm2:\[(?P<other>[^\]\n]+)\]"), lambda found: found[1] or found[2]),
    (re.compile(r"(?<=\S)\s\+$"), lambda _: ""),
)


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the text as Markdown with its source lines."""
    source = decode(data).split("\n")
    reading = _Reading(source)
    lines = reading.lines()
    text = "\n".join(line for _, line in lines)
    if not text.strip():
        raise NoText("There is no text in this file.")
    numbers = tuple(number for number, _ in lines)
    return ParsedDocument(
        title=choose_title(name, markdown=[text]),
        blocks=(Block(text, first_line=1, lines=numbers),),
        media_type="text/asciidoc",
        modified=iso_date(reading.attributes.get("revdate")),
        notes=tuple(reading.notes()),
    )


class _Reading:
    """Line reader of one document, from the first line to the last."""

    def __init__(self, source: list[str]) -> None:
        self._source = source
        self._at = 0
        self._label = ""  # attributes in brackets before the next block
        self._included = 0
        self.attributes: dict[str, str] = {}

    def notes(self) -> Iterator[str]:
        """Yield notes on content that was left out."""
        if self._included:
            yield f"files included in this one not read: {self._included}"

    def lines(self) -> list[tuple[int, str]]:
        """Return (source line from 1, Markdown) of every line."""
        found: list[tuple[int, str]] = []
        while self._at < len(self._source):
            number = self._at + 1
            line = self._source[self._at].rstrip()
            self._at += 1
            if delimiter := _DELIMITER.match(line):
                found += self._delimited(number, delimiter[1])
            elif _TABLE.match(line):
                found += self._table(number, line)
            else:
                found.append((number, self._line(line)))
        return found

    def _line(self, line: str) -> str:
        """Convert a line outside of blocks."""
        for pattern, written in _LINES:
            if found := pattern.match(line):
                return written(self, found)
        return self._inline(line)

    def attribute(self, found: re.Match[str]) -> str:
        """Store the value of a document attribute."""
        self.attributes[found[1].strip("!").lower()] = self._inline(found[2])
        return ""

    def macro(self, found: re.Match[str]) -> str:
        """Count an include; drop the line."""
        self._included += found[0].startswith("include::")
        return ""

    def label(self, found: re.Match[str]) -> str:
        """Store the attributes of the next block; return a lead-in for a note or a quote."""
        self._label = found[1]
        if quoted := _QUOTED.match(found[1]):
            source = quoted[1].replace('"', "")
            return f"Quoted from {self._inline(source)}:"
        return f"{found[1].capitalize()}:" if found[1] in _NOTES else ""

    def led(self, found: re.Match[str], before: str, after: str = "") -> str:
        """Return the words after a mark, with Markdown's mark instead."""
        return f"{before}{self._inline(found['words'])}{after}"

    def item(self, found: re.Match[str]) -> str:
        """Return a list item, indented by the depth of its mark."""
        mark = found[1]
        depth = len(mark) if mark[0] in "*." else 1
        return self.led(found, f"{'  ' * (depth - 1)}{'-' if mark[0] in '*-' else '1.'} ")

    def term(self, found: re.Match[str]) -> str:
        """Return a term with its definition as a list item."""
        return f"- {self._inline(found[2])}: {self._inline(found['words'] or '')}".rstrip()

    def _delimited(self, number: int, mark: str) -> list[tuple[int, str]]:
        """Convert a delimited block: a listing to fences, a comment to blank lines, anything else to plain lines."""
        label, self._label = self._label, ""
        kind = mark[0]
        start = self._at
        if kind in "=*_" or mark == "--":
            return [(number, "")]  # the lines of examples, sidebars and quotes are read like all others
        while self._at < len(self._source) and self._source[self._at].rstrip() != mark.rstrip(
            "abcdefghijklmnopqrstuvwxyz"
        ):
            self._at += 1
        body = self._source[start : self._at]
        end = min(self._at + 1, len(self._source))
        self._at += 1
        if kind == "/":
            return [(line, "") for line in range(number, end + 1)]
        language = re.match(r"source(?:%\w+)?,\s*\"?([\w+#-]+)", label)
        fence = "````" if any("```" in line for line in body) else "```"
        listing = [(start + i + 1, line.rstrip()) for i, line in enumerate(body)]
        return [(number, f"{fence}{language[1] if language else ''}"), *listing, (end, fence)]

    def _table(self, number: int, mark: str) -> list[tuple[int, str]]:
        """Convert a table, with the stated number of columns or that of the first row."""
        label, self._label = self._label, ""
        rows: list[list[str]] = []
        cells: list[str] = []
        separator = {"|": "|", "!": "!", ",": ",", ":": ":"}[mark[0]]
        stated = re.search(r'cols\s*=\s*"?([^"\]]+)"?', label)
        columns = _columns(stated[1]) if stated else 0
        while self._at < len(self._source) and self._source[self._at].rstrip() != mark:
            line = self._source[self._at].strip()
            self._at += 1
            if not line:
                continue
            found = [self._inline(cell.strip()) for cell in _cells(line, separator)]
            if found and separator in "|!" and not line.startswith(separator) and cells and not _STYLED.match(line):
                cells[-1] = f"{cells[-1]} {found[0]}".strip()
                found = found[1:]
            cells += found
            columns = columns or len(cells)
            while columns and len(cells) >= columns and (separator in ",:" or self._next_begins(separator)):
                rows.append(cells[:columns])
                cells = cells[columns:]
        rows += [cells[i : i + columns] for i in range(0, len(cells), columns)] if columns else []
        self._at += 1
        if not rows:
            return [(number, "")]
        text = pipe_table(rows[0], rows[1:]) if len(rows) > 1 else " · ".join(rows[0])
        return [(number, ""), *((number, line) for line in text.split("\n")), (number, "")]

    def _next_begins(self, separator: str) -> bool:
        """Return whether the next non-empty line begins a cell or ends the table."""
        following = next((line.strip() for line in self._source[self._at : self._at + 50] if line.strip()), separator)
        return following.startswith(separator) or bool(_STYLED.match(following))

    def _inline(self, text: str) -> str:
        """Convert inline markup outside of code."""
        pieces = re.split(r"(`[^`\n]+`)", text)
        return "".join(piece if i % 2 else self._words(piece) for i, piece in enumerate(pieces))

    def _words(self, text: str) -> str:
        text = _NAMED.sub(lambda found: self.attributes.get(found[1].lower(), found[0]), text)
        text = _PICTURE.sub(lambda found: f"[Image: {found['alt'].strip()}]" if found["alt"].strip() else "", text)
        text = _LINK.sub(lambda found: _linked(found["words"], found["address"]), text)
        text = _OTHER_LINK.sub(lambda found: _linked(found["words"], found["address"]), text)
        text = _REFERENCE.sub(lambda found: (found["words"] or found["to"]).strip(), text)
        for pattern, written in _INLINE:
            text = pattern.sub(written, text)
        return text


_LINES: tuple[tuple[re.Pattern[str], Callable[[_Reading, re.Match[str]], str]], ...] = (
    (re.compile(r"//|\[\[[^\]\n]+\]\]\s*$|\+\s*$"), lambda _reading, _found: ""),
    (_ATTRIBUTE, _Reading.attribute),
    (_MACRO, _Reading.macro),
    (_BLOCK_ATTRIBUTES, _Reading.label),
    (_HEADING, lambda reading, found: reading.led(found, f"{'#' * len(found[1])} ")),
    (_TITLE, lambda reading, found: reading.led(found, "", ":")),
    (_NOTE, lambda reading, found: reading.led(found, f"{found[1].capitalize()}: ")),
    (_LISTED, _Reading.item),
    (_DEFINED, _Reading.term),
)
"""Patterns of lines, in the order in which they are tried."""

_STYLED = re.compile(r"^(?:\d+\+|\.\d+\+|\d+\*)?[<^>.]{0,2}[adehlmsv]?\|")


def _linked(words: str, address: str) -> str:
    """Return a link with its words, without the options after a comma."""
    shown = re.sub(r",\s*(?:window|role|opts|title)=.*$", "", words.rstrip("^")).strip('"') or address.rstrip("^")
    return f"[{shown}]({address})" if shown != address and "//" in address else shown


def _columns(stated: str) -> int:
    """Return the number of columns of "1,2,3" or "3*"."""
    total = 0
    for part in stated.split(",") if "," in stated else stated.split(";"):
        times = re.match(r"\s*(\d+)\*", part)
        total += int(times[1]) if times else 1
    return min(total, 100)


def _cells(line: str, separator: str) -> list[str]:
    """Return the cells of a line. A cell's style may precede its separator: `a|`, `2+|`."""
    if separator in ",:":
        return [cell.strip().strip('"') for cell in line.split(separator)]
    pieces = re.split(
        rf"(?:(?<=\s)|^)(?:\d+\+|\.\d+\+|\d+\*)?[<^>.]{{0,2}}[adehlmsv]?(?<!\\){re.escape(separator)}", line
    )
    pieces = pieces if len(pieces) > 1 else re.split(rf"(?<!\\){re.escape(separator)}", line)
    return pieces[1:] if not pieces[0].strip() else pieces


FORMATS = (Format(media_type="text/asciidoc", read=read, label="AsciiDoc", suffixes=("adoc", "asciidoc", "asc")),)
