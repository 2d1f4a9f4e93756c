"""RTF: text, headings by outline level or style, tables, links. Images, field codes and hidden text are left out.

This is our own small reader, because the permissively licensed libraries drop the structure or are unmaintained. It
supports the part of the RTF 1.9 specification that carries text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from adapters.documents.encodings import clean
from adapters.documents.format import Format
from adapters.documents.tables import table
from adapters.documents.titles import choose_title, iso_date, with_address
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

_ADDRESS = re.compile(rb'[^"\\]{0,200}?HYPERLINK[^"\\]{0,40}"(https?://[^"\s\\]{1,400})"')
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)"
)
_SKIPPED = frozenset(
    (
        b"fonttbl colortbl stylesheet info pict object header headerl headerr headerf footer footerl "
        b"footerr footerf footnote listtable listoverridetable rsidtbl generator themedata "
        b"colorschememapping latentstyles datastore xmlnstbl mmathPr pgptbl bkmkstart bkmkend "
        b"filetbl revtbl annotation atnid atnauthor nonshppict shpinst sp "
    ).split()
)
_SIGNS = {
    b"tab": " ", b"line": "\n", b"emdash": "—", b"endash": "–", b"bullet": "•", b"lquote": "‘", b"rquote": "’",
    b"ldblquote": "“", b"rdblquote": "”", b"emspace": " ", b"enspace": " ", b"nestcell": " ", b"nestrow": " ",
}  # fmt: skip
_CHARSETS = {0: "cp1252", 128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}  # fmt: skip
MAX_GROUPS = 500


@dataclass(frozen=True, slots=True)
class _State:
    """State that a group inherits from the enclosing group."""

    skipped: bool = False
    hidden: bool = False
    font: int = -1
    after_unicode: int = 1
    outline: int = 9
    style: int = 0
    in_table: bool = False
    listed: bool = False


@dataclass(slots=True)
class _Reader:
    """Collected output and document settings."""

    code_page: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict)
    headings: dict[int, int] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    pending: bytearray = field(default_factory=bytearray)
    address: str = ""
    links: list[tuple[int, int, str]] = field(default_factory=list)
    """Open links: group depth, index of the first text piece, address."""

    def open_link(self, depth: int) -> None:
        """Begin the text of a link whose field code contained an address."""
        if self.address:
            self.links.append((depth, len(self.text), self.address))
            self.address = ""

    def close_link(self, depth: int) -> None:
        """End a link when the group of its text ends."""
        while self.links and self.links[-1][0] > depth:
            _, start, address = self.links.pop()
            if start < len(self.text):
                self.text[start:] = [with_address("".join(self.text[start:]), address)]

    def flush(self, state: _State) -> None:
        """Decode the pending bytes with the font's character set."""
        if self.pending:
            encoding = self.fonts.get(state.font, self.code_page)
            self.text.append(bytes(self.pending).decode(encoding, "replace"))
            self.pending.clear()

    def end_paragraph(self, state: _State) -> None:
        """Finish the paragraph as a heading, list item or prose."""
        text = re.sub(r"[ \t\xa0]+", " ", clean("".join(self.text))).strip()
        if state.in_table:
            self.text.append(" ")
            return
        self.text.clear()
        self.end_table()
        if not text:
            return
        level = state.outline + 1 if state.outline < 9 else self.headings.get(state.style, 0)
        bullet = re.match(r"[•·▪o]\s+", text) if state.listed else None
        if level and len(text) < 200:
            self.pieces.append(f"{'#' * min(level, 6)} {text}")
        elif bullet:
            self._item(f"- {text[bullet.end() :]}")
        elif state.listed and not re.match(r"\d+[.)]", text):
            self._item(f"- {text}")
        else:
            self.pieces.append(re.sub(r"^(#+\s)", r"\\\1", text))

    def _item(self, text: str) -> None:
        if self.pieces and self.pieces[-1].startswith("- "):
            self.pieces[-1] += f"\n{text}"
        else:
            self.pieces.append(text)

    def end_row(self) -> None:
        """Finish a table row."""
        if self.row:
            self.rows.append(self.row)
        self.row = []

    def end_table(self) -> None:
        """Write the collected rows as a table."""
        if self.rows:
            self.pieces.append(table(self.rows))
        self.rows = []


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the document as Markdown."""
    if data.count(b"{") > data.count(b"}") + 1:
        raise DocumentRejected("This RTF document is incomplete: its end is missing.", remedy="Save it again.")
    markdown, title = to_markdown(data)
    if not markdown:
        raise NoText("There is no text in this document.")
    moment = re.search(rb"\\revtim\\yr(\d+)\\mo(\d+)\\dy(\d+)", data[:20_000])
    return ParsedDocument(
        title=choose_title(name, title, markdown=[markdown]),
        blocks=(Block(markdown),),
        media_type="application/rtf",
        modified=iso_date("{:04}-{:02}-{:02}".format(*map(int, moment.groups()))) if moment else None,
    )


def to_markdown(data: bytes) -> tuple[str, str | None]:
    """Return (Markdown, title from the document's properties or None) of RTF bytes."""
    reader = _Reader(fonts=_fonts(data), headings=_heading_styles(data))
    page = re.search(rb"\\ansicpg(\d{3,5})", data[:2_000])
    reader.code_page = _known_encoding(f"cp{page[1].decode()}") if page else "cp1252"
    if page and page[1] == b"65001":
        reader.code_page = "utf-8"
    _walk(reader, data)
    title = re.search(rb"\{\\title ([^{}]*)\}", data[:50_000])
    stated = (
        re.sub(rb"\\'([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), title[1]).decode("cp1252", "replace")
        if title
        else None
    )
    return "\n\n".join(piece for piece in reader.pieces if piece.strip()), stated


def _walk(reader: _Reader, data: bytes) -> None:
    """Process all tokens; a group inherits the state of the enclosing group."""
    state, skip, starred = _State(), 0, False
    stack: list[_State] = []
    for token in _TOKEN.finditer(data):
        word, number, hexed, symbol, brace, plain = token.groups()
        if brace:
            reader.flush(state)
            state = _enter_or_leave_group(brace, state, stack)
            reader.close_link(len(stack))
        elif word == b"fldinst":
            address = _ADDRESS.match(data, token.end())
            reader.address = address[1].decode("latin-1") if address else ""
            state = replace(state, skipped=True)
        elif word is not None:
            if not state.skipped:
                reader.flush(state)
                if word == b"fldrslt":
                    reader.open_link(len(stack))
                state = _control(reader, state, word, int(number) if number else None, starred=starred)
                skip = state.after_unicode if word == b"u" else skip
        elif symbol != b"*" and not state.skipped and not state.hidden:
            skip = _literal(reader, state, hexed, symbol, plain, skip)
        starred = symbol == b"*"
    reader.flush(state)
    reader.end_paragraph(replace(state, in_table=False))
    reader.end_table()


def _enter_or_leave_group(brace: bytes, state: _State, stack: list[_State]) -> _State:
    """Return the state after entering or leaving a group."""
    if brace == b"}":
        outer = stack.pop() if stack else _State()  # keeps whether an inner group marked a list item
        return replace(outer, listed=outer.listed or (state.listed and not state.skipped))
    if len(stack) > MAX_GROUPS:
        raise DocumentRejected("This RTF document is nested too deeply to be read.")
    stack.append(state)
    return state


def _literal(
    reader: _Reader, state: _State, hexed: bytes | None, symbol: bytes | None, plain: bytes | None, skip: int
) -> int:
    """Read plain bytes and escapes; `skip` counts the replacement characters after a Unicode character."""
    if hexed:
        if skip:
            return skip - 1
        reader.pending.append(int(hexed, 16))
    elif symbol:
        reader.flush(state)
        reader.text.append(
            {b"~": " ", b"_": "-", b"-": "", b"\n": "\n", b"\r": "\n"}.get(
                symbol, symbol.decode("latin-1") if symbol in b"\\{}" else ""
            )
        )
    elif plain:
        reader.pending += plain[skip:]
        return max(0, skip - len(plain))
    return skip


def _control(reader: _Reader, state: _State, word: bytes, number: int | None, *, starred: bool) -> _State:
    """Apply a control word to the text and return the new state; unknown starred groups are skipped."""
    if word in _SKIPPED or (starred and word not in (b"shptxt", b"nesttableprops")):
        return replace(state, skipped=True)
    if word in (b"par", b"sect", b"page"):
        reader.end_paragraph(state)
    elif word == b"cell":
        reader.row.append(clean("".join(reader.text)))
        reader.text.clear()
    elif word == b"row":
        reader.end_row()
    elif word == b"u" and number is not None and not state.hidden:
        reader.text.append(_unicode(number))
    elif word in _SIGNS and not state.hidden:
        reader.text.append(_SIGNS[word])
    change = _CHANGES.get(word)
    return change(state, number) if change else state


_CHANGES: dict[bytes, Callable[[_State, int | None], _State]] = {
    b"pard": lambda state, _: replace(state, outline=9, style=0, in_table=False, listed=False),
    b"plain": lambda state, _: replace(state, hidden=False),
    b"intbl": lambda state, _: replace(state, in_table=True),
    b"ls": lambda state, _: replace(state, listed=True),
    b"pntext": lambda state, _: replace(state, listed=True),
    b"listtext": lambda state, _: replace(state, listed=True),
    b"outlinelevel": lambda state, number: replace(state, outline=min(max(number or 0, 0), 9)),
    b"s": lambda state, number: replace(state, style=number or 0),
    b"f": lambda state, number: replace(state, font=number or 0),
    b"uc": lambda state, number: replace(state, after_unicode=1 if number is None else min(max(number, 0), 10)),
    b"v": lambda state, number: replace(state, hidden=number != 0),
}


def _unicode(number: int) -> str:
    code = number + 65536 if number < 0 else number
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else ""


def _fonts(data: bytes) -> dict[int, str]:
    """Return font numbers with the encodings of their character sets."""
    return {
        int(font[1]): _CHARSETS.get(int(font[2]), "cp1252")
        for font in re.finditer(rb"\{\\f(\d{1,6})[^{}]{0,80}?\\fcharset(\d{1,3})", data[:200_000])
        if font[2] not in (b"0", b"1", b"2")
    }


def _heading_styles(data: bytes) -> dict[int, int]:
    """Return style numbers with heading levels, from names in the style sheet."""
    found = re.finditer(rb"\\s(\d{1,5})\\[^{};]{0,600}?heading (\d);", data[:400_000])
    return {int(style[1]): int(style[2]) for style in found}


def _known_encoding(encoding: str) -> str:
    try:
        b"".decode(encoding)
    except LookupError:
        return "cp1252"
    return encoding


FORMATS = (
    Format(
        media_type="application/rtf",
        read=read,
        label="RTF",
        suffixes=("rtf",),
        promises="RTF document",
        html_under_suffix=True,
        in_bytes=lambda data: data.startswith(b"{\\rtf"),
        not_a_title=r".*\.rtf",
    ),
)
