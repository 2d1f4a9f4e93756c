"""Rewrites links, images, autolinks and HTML tags of a Markdown text, found by parsing it as CommonMark.

Clients differ in whether they render raw HTML and know tables. So a text is parsed in each of these ways until no
parser finds anything that the judge would change. Only the markup of rejected links changes; everything else stays as
written.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, autolink, backtick, image, link
from markdown_it.token import Token

_MOST_NESTING = 20  # of quotes, lists and labels; deeper markup is escaped, not rewritten
_MOST_ROUNDS = 8  # removing a link's markup may form another link from the text around it
_BRACKET = re.compile(r"[\[\]]|\n[ \t]*\n")
_PLACED = ("link_open", "image", "code_inline")
_MAY_BE_ACTIVE = re.compile(r"\][(:]|<")  # every link, image, definition, autolink and tag contains one of these
PLAIN_TARGET = r"[^\s()<>\\`]*(?:\([^\s()<>\\`]*\)[^\s()<>\\`]*)*"  # balanced, at most one level deep
_PLAIN_TARGET = re.compile(PLAIN_TARGET)
_QUOTED_TARGET = re.compile(r"[^\n<>\\`]*")
_ENTITY = re.compile(r"&[#\w]{1,40};")
# Tags that load, link or run something, tags with attributes, comments and declarations. A name in angle brackets
# stays: List<String>.
_ACTIVE_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<[!?][^<>]*>?"
    r"|</?(?:a|applet|area|audio|base|button|embed|form|frame|frameset|iframe|img|input|link|math|meta|object|script"
    r"|source|style|svg|template|textarea|track|video)\b[^<>]*>?"
    r"|<[a-z][a-z0-9-]*[\s/][^<>]*[=/][^<>]+>?",
    re.IGNORECASE | re.DOTALL,
)


class LinkForm(StrEnum):
    """How a link is written."""

    LINK = "link"
    IMAGE = "image"
    AUTOLINK = "autolink"


class LinkVerdict(StrEnum):
    """What to do with a link."""

    KEEP = "keep"
    UNWRAP = "unwrap"  # its words stay; an autolink's address stays as text
    ESCAPE = "escape"  # an autolink that is only text in angle brackets


@dataclass(frozen=True, slots=True)
class MarkdownLink:
    """A link as a client would follow it. ``label`` is Markdown."""

    form: LinkForm
    address: str
    label: str


Judge = Callable[[MarkdownLink], tuple[LinkVerdict, str]]  # the text is added after the words of an unwrapped link


def rewrite_links(text: str, judge: Judge) -> str:
    """Return the text with only the links that the judge keeps, and without HTML that loads or runs anything.

    Kept links are written as ``[label](address)``, without a title or a separate definition.
    """
    if _MAY_BE_ACTIVE.search(text) and _bracket_depth(text) > _MOST_NESTING - 4:
        return _escaped(text)
    for _ in range(_MOST_ROUNDS):
        before = text
        for parser in _parsers():
            if not _MAY_BE_ACTIVE.search(text):
                return text
            text = _rewritten(text, parser, judge)
        if text == before:
            return text
    return _escaped(text)


def _bracket_depth(text: str) -> int:
    """Return the maximum number of brackets open at once. A blank line closes all."""
    depth = deepest = 0
    for found in _BRACKET.findall(text):
        depth = 0 if found[0] == "\n" else max(0, depth + (1 if found == "[" else -1))
        deepest = max(deepest, depth)
    return deepest


@lru_cache(maxsize=4)  # called once for every address of one text
def code_in(text: str) -> Callable[[int], bool]:
    """Return a function that says whether a place in the text is code for every client."""
    spans = [_code_spans(text, parser) for parser in _parsers()]
    return lambda place: all(any(start <= place < end for start, end in one) for one in spans)


def _code_spans(text: str, parser: MarkdownIt) -> list[tuple[int, int]]:
    source, spans = _Source(text), list[tuple[int, int]]()
    for block, in_table in _blocks(parser.parse(text)):
        if block.type in ("fence", "code_block"):
            spans.append(source.span(block.map or (0, 0)))
        elif block.type == "inline":
            with suppress(_Unplaced):
                places = source.places(block, in_table=in_table)
                code = (child.meta for child in block.children or () if child.type == "code_inline")
                spans += [(places[one["start"]], places[one["end"] - 1]) for one in code]
    return spans


def _escaped(text: str) -> str:
    """Return the text with all possibly active markup escaped. A Markdown client shows the same words."""
    return text.replace("](", "]\\(").replace("]:", "]\\:").replace("<", "&lt;")


@cache
def _parsers() -> tuple[MarkdownIt, ...]:
    return tuple(_parser(html=html, tables=tables) for html, tables in product((False, True), repeat=2))


def _parser(*, html: bool, tables: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": html, "maxNesting": _MOST_NESTING})
    if tables:
        parser.enable(["table", "strikethrough"])
    parser.validateLink = lambda _address: True  # type: ignore[assignment, method-assign]  # every address is judged, whatever its scheme
    parser.normalizeLink = lambda address: address  # type: ignore[assignment, method-assign]
    parser.inline.ruler.at("link", _placed(link))
    parser.inline.ruler.at("image", _placed(image))
    parser.inline.ruler.at("autolink", _placed(autolink))
    parser.inline.ruler.at("backticks", _placed(backtick))
    parser.block.ruler.at("reference", _reference, {"alt": []})
    return parser


def _placed(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Wrap a rule so that it also records where in the inline content its token is written."""

    def placed(state: StateInline, silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        if not silent:
            made = next((token for token in state.tokens[count:] if token.type in _PLACED), None)
            if made is None:  # backticks that make no code
                return True
            made.meta = {"start": start, "end": state.pos}
            if made.type != "code_inline" and made.markup != "autolink":
                opening = start + (made.type == "image")
                label_end = int(state.md.helpers.parseLinkLabel(state, opening, made.type == "link_open"))
                made.meta |= {"label": opening + 1, "label_end": label_end}
        return True

    return placed


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the rule for definitions, and record the lines of each."""
    if not reference(state, start, end, silent):
        return False
    if not silent:
        state.env.setdefault("definitions", []).append((start, state.line))
    return True


# --- rewriting


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class _Unplaced(Exception):
    """The place of a token in the text was not found."""


class _Source:
    """A text by lines, with the places of its blocks' inline content."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)
        self._cells: dict[int, int] = {}  # by line of a table: where the next cell may begin

    def places(self, block: Token, *, in_table: bool) -> list[int]:
        """Return the place in the text of each character of a block's inline content. Raises _Unplaced."""
        first = (block.map or [0, 0])[0]
        places: list[int] = []
        for number, part in enumerate(block.content.split("\n"), first):
            words = part.strip()
            line = self.lines[number] if number < len(self.lines) else ""
            at = line.find(words, self._cells.get(number, 0)) if in_table else line.rfind(words)
            if at < 0:
                raise _Unplaced
            if in_table:
                self._cells[number] = at + len(words)
            at += self.starts[number]
            lead = len(part) - len(part.lstrip()) if words else 0
            places += (
                [at] * lead + list(range(at, at + len(words))) + [at + len(words)] * (len(part) - lead - len(words) + 1)
            )
        return places

    def span(self, lines: Sequence[int]) -> tuple[int, int]:
        """Return the start and end of these lines, including the last line's end."""
        return self.starts[lines[0]], min(self.starts[lines[1]], len(self.text))


def _rewritten(text: str, parser: MarkdownIt, judge: Judge) -> str:
    source, env = _Source(text), dict[str, list[tuple[int, int]]]()
    tokens = parser.parse(text, env)
    edits: list[_Edit] = [_Edit(*source.span(lines), "") for lines in env.get("definitions", ())]
    for token, in_table in _blocks(tokens):
        if token.level >= _MOST_NESTING - 2:
            return _escaped(text)
        if token.type == "html_block":
            edits += _without_tags(source.text, source.span(token.map or (0, 0)))
        elif token.type == "inline":
            try:
                edits += _inline_edits(source, token, judge, in_table=in_table)
            except _Unplaced:
                start, end = source.span(token.map or (0, 0))
                edits.append(_Edit(start, end, _escaped(text[start:end])))
    return _applied(text, edits)


def _blocks(tokens: Sequence[Token]) -> Iterator[tuple[Token, bool]]:
    """Yield each token, and whether it is in a table."""
    in_table = False
    for token in tokens:
        in_table = token.type == "table_open" or (in_table and token.type != "table_close")
        yield token, in_table


def _inline_edits(source: _Source, block: Token, judge: Judge, *, in_table: bool) -> Iterator[_Edit]:
    found = [child for child in block.children or () if child.type in ("link_open", "image")]
    tags = any(child.type == "html_inline" and _ACTIVE_TAG.search(child.content) for child in block.children or ())
    places = source.places(block, in_table=in_table)
    for token in found:
        yield from _link_edits(source, token, places, judge)
    if tags:
        yield from _without_tags(source.text, (places[0], places[-1]))


def _link_edits(source: _Source, token: Token, places: Sequence[int], judge: Judge) -> Iterator[_Edit]:
    start, end = places[token.meta["start"]], places[token.meta["end"] - 1] + 1
    if token.markup == "autolink":
        address = source.text[start + 1 : end - 1]
        verdict, more = judge(MarkdownLink(LinkForm.AUTOLINK, address, address))
        if verdict is LinkVerdict.ESCAPE:
            yield _Edit(start, start + 1, "&lt;")
        elif verdict is LinkVerdict.UNWRAP:
            yield _Edit(start, end, address + more)
        return
    form = LinkForm.IMAGE if token.type == "image" else LinkForm.LINK
    label, label_end = places[token.meta["label"]], places[token.meta["label_end"]]
    words, target = source.text[label:label_end], str(token.attrs["src" if form is LinkForm.IMAGE else "href"])
    verdict, more = judge(MarkdownLink(form, target, words))
    written = _target(target) if verdict is LinkVerdict.KEEP else None
    if written is None:
        yield _Edit(start, label, "")
        yield _Edit(label_end, end, more)
    elif source.text[label_end:end] != written:
        yield _Edit(label_end, end, written)


def _target(address: str) -> str | None:
    """Return a link's target in a form that every client reads alike; None if the address has no such form."""
    if _ENTITY.search(address):
        return None
    if _PLAIN_TARGET.fullmatch(address):
        return f"]({address})"
    return f"](<{address}>)" if _QUOTED_TARGET.fullmatch(address) else None


def _without_tags(text: str, span: tuple[int, int]) -> Iterator[_Edit]:
    start, end = span
    for tag in _ACTIVE_TAG.finditer(text, start, end):
        yield _Edit(tag.start(), tag.end(), "")


def _applied(text: str, edits: Sequence[_Edit]) -> str:
    """Return the text with these edits. Of two that overlap only the first applies; the next round finds the other."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits):
        if edit.start >= at:
            pieces += [text[at : edit.start], edit.text]
            at = edit.end
    return "".join([*pieces, text[at:]])
