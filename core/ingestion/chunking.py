"""From a parsed document to sections (parents) and passages (children).

Sections follow the headings: tiny ones are merged under their common parent, huge ones split between paragraphs.
Passages fill the encoder's window without crossing a page, so that a citation's page is exact. A table that is split
repeats its header row, because a row without its header cannot be quoted; what is led to by words that end in a colon,
and begins a passage, repeats these words.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, zip_longest

from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText
from core.model.knowledge import Document, Locator, Passage
from core.model.markdown_lines import (
    HEADING,
    LIST_ITEM,
    cells_of,
    first_piece,
    is_table_rule,
    with_fences,
    without_emphasis,
)
from core.model.text import sentences

PASSAGE_TOKENS = 180  # the default encoder reads 256; title and headings need room
SECTION_TOKENS = 1_400
TINY_TOKENS = 24
WRAPPED_AT = 50  # characters: a line at least this long was broken by an editor, not by its author
MARGIN = 72  # characters: nor was one whose next piece (a link, say) would not have fitted below this
_QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+")
_KEEPS_LINES = ("```", "~~~", "|", ">", "#")
WIDE_ROW = 500  # characters
INTRODUCTION = 160  # characters: longer words that lead to a list, a table or a listing are not repeated
_LED_TO = ("```", "~~~", "|")

MOST_UNITS = 200_000  # paragraphs, items and rows of one document
MOST_PASSAGES = 20_000  # of one document: some 3.6 million tokens
CUTTING_SECONDS = 120.0  # from the parsed document to its passages

CountTokens = Callable[[Sequence[str]], Awaitable[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Segment:
    """The smallest stretch that is kept together: a paragraph, a list item, a table row, a code block."""

    text: str
    heading: tuple[str, ...]
    block: int
    locator: Locator
    tokens: int = 0
    header: str = ""  # the table's header rows, for a row
    joint: str = "\n\n"  # what stands before it when it follows another unit
    lead: str = ""  # a heading that its section lost when it was merged
    introduction: str = ""  # the words before a list, a table or a listing that end in a colon
    lines: tuple[int, ...] = ()  # the source's line of each line of the text, where it kept its lines


@dataclass(frozen=True, slots=True)
class SectionSegments:
    """Units that make one section."""

    heading: tuple[str, ...]
    units: tuple[Segment, ...]

    @property
    def tokens(self) -> int:
        """The length in the encoder's tokens."""
        return sum(unit.tokens for unit in self.units)


async def passages_of(
    parsed: ParsedDocument, document: Document, count_tokens: CountTokens, window: int
) -> tuple[Passage, ...]:
    """The passages of a document in reading order, ids and sections assigned.

    Raises NoText without any, and DocumentRejected of a document that makes too many passages or takes too long.
    """
    try:
        async with asyncio.timeout(CUTTING_SECONDS):
            return await _passages_of(parsed, document, count_tokens, window)
    except TimeoutError:
        raise DocumentRejected("Cutting it into passages takes too long. Split it into smaller files.") from None


async def _passages_of(
    parsed: ParsedDocument, document: Document, count_tokens: CountTokens, window: int
) -> tuple[Passage, ...]:
    target = min(PASSAGE_TOKENS, max(32, window - 64))
    units = await asyncio.to_thread(units_of, parsed)  # a file of some megabytes would hold the event loop up
    counts = await count_tokens([unit.text for unit in units]) if units else []
    measured = [replace(unit, tokens=tokens) for unit, tokens in zip(units, counts, strict=True)]
    fitting = await _split_long(measured, count_tokens, target)
    found = await asyncio.to_thread(_assemble, fitting, document, target)
    if not found:
        raise NoText("It holds no text.")
    if len(found) > MOST_PASSAGES:
        raise DocumentRejected(f"It makes {len(found):,} passages, more than {MOST_PASSAGES:,}. Split it.")
    return found


def _assemble(units: Sequence[Segment], document: Document, target: int) -> tuple[Passage, ...]:
    found: list[Passage] = []
    seen: dict[str, int] = {}
    for number, stretch in enumerate(_sections(units)):
        section = _digest(document.id, document.version, str(number))
        for group in _pack(stretch.units, target):
            text = _join(group)
            content = _digest(*stretch.heading, text)
            seen[content] = seen.get(content, -1) + 1
            found.append(
                Passage(
                    id=passage_id(document.id, document.version, content, seen[content]),
                    knowledge_base=document.knowledge_base,
                    document=document.id,
                    version=document.version,
                    section=section,
                    ordinal=len(found),
                    title=document.title,
                    text=text,
                    heading=stretch.heading,
                    locator=_span(group),
                    source=document.source,
                    url=document.url,
                    dated=document.dated,
                )
            )
    return tuple(found)


def passage_id(document: str, version: str, content: str, repeat: int) -> str:
    """A content hash: the same text in the same version of the same document always has the same id."""
    return _digest(document, version, content, str(repeat))


def same_passage_in(version: str, passages: Sequence[Passage], document: str = "") -> dict[str, str]:
    """For each passage's id, the id that the same content has in another version: its vector can be reused.

    ``document`` is the id of the document with that version, where it is another one.
    """
    seen: dict[str, int] = {}
    twins: dict[str, str] = {}
    for passage in passages:
        content = _digest(*passage.heading, passage.text)
        seen[content] = seen.get(content, -1) + 1
        twins[passage.id] = passage_id(document or passage.document, version, content, seen[content])
    return twins


def units_of(parsed: ParsedDocument) -> tuple[Segment, ...]:
    """The document as units, each under its path of headings; a heading with nothing below it is a unit itself."""
    found: list[Segment] = []
    path: tuple[tuple[int, str], ...] = ()
    alone: Segment | None = None  # the latest heading, while nothing has come below it
    for number, block in enumerate(parsed.blocks):
        if block.label:  # a sheet, an archive's member: it does not continue what came before
            found.extend([alone] if alone else [])
            path, alone = (), None
        for first, last, lines in _paragraphs(block.text):
            heading = HEADING.match(lines[0]) if len(lines) == 1 else None
            if heading:
                level, name = len(heading["level"]), without_emphasis(heading["text"]).strip()
                if alone and path and level <= path[-1][0]:
                    found.append(alone)
                path = (*(step for step in path if step[0] < level), (level, name))
                alone = Segment(name, _names(path[:-1], parsed), number, _locator(block, first, last)) if name else None
                continue
            before = found[-1] if found and not alone else None
            alone = None
            made = tuple(_unit(lines, _names(path, parsed), number, block, first, last))
            found.extend(_introduced(made, before) if before and before.block == number else made)
            if len(found) > MOST_UNITS:
                raise DocumentRejected(f"It has more than {MOST_UNITS:,} paragraphs and rows. Split it.")
    return (*found, alone) if alone else tuple(found)


def _introduced(units: Sequence[Segment], before: Segment) -> Iterable[Segment]:
    """The units of a list, a table or a listing with the words right before it that lead to it."""
    listed = LIST_ITEM.match(units[0].text)
    if (listed or units[0].text.lstrip().startswith(_LED_TO)) and before.heading == units[0].heading:
        goes_on = listed and LIST_ITEM.match(before.text)  # a list with empty lines between its items
        words = before.introduction if goes_on else _introduction(before.text)
        return [replace(unit, introduction=words) for unit in units]
    if len(units) > 1 and LIST_ITEM.match(units[1].text) and not listed:  # they stand on the line above the list
        words = _introduction(units[0].text)
        return [units[0], *(replace(unit, introduction=words) for unit in units[1:])]
    return units


def _introduction(text: str) -> str:
    """The last sentence, where it ends in a colon and is short."""
    said = sentences(LIST_ITEM.sub("", text))[-1:] if text.rstrip("*_ ").endswith(":") else ()
    return "".join(one for one in said if len(one) <= INTRODUCTION)


def _names(path: Iterable[tuple[int, str]], parsed: ParsedDocument) -> tuple[str, ...]:
    return tuple(name for _, name in path if name != parsed.title)


def _paragraphs(text: str) -> Iterable[tuple[int, int, list[str]]]:
    """Runs of lines between blank lines, with first and last line offsets; headings stand alone."""
    run: list[str] = []
    start = 0
    lines = text.splitlines()
    for number, (line, fenced) in enumerate(chain(with_fences(lines), [("", 0)])):
        alone = not fenced and HEADING.match(line)
        if (line.strip() or fenced) and not alone:
            start = number if not run else start
            run.append(line)
            continue
        if any(part.strip() for part in run):
            yield number - len(run), number - 1, run
        run = []
        if alone:
            yield number, number, [line]


def _unit(
    lines: list[str], heading: tuple[str, ...], number: int, block: Block, first: int, last: int
) -> Iterable[Segment]:
    if len(lines) >= 2 and is_table_rule(lines[1]):
        yield from _table(lines, heading, number, block, first)
        return
    items = _list_items(lines)
    if len(items) > 1:
        offset = first
        for position, item in enumerate(items):
            at = _locator(block, offset, offset + len(item) - 1)
            yield Segment(_unwrap(item), heading, number, at, joint="\n" if position else "\n\n")
            offset += len(item)
        return
    text = _unwrap(lines)
    kept = text.count("\n") + 1 == len(lines)
    found = [block.source_line(first + offset) for offset in range(len(lines))] if kept else []
    numbers = tuple(line for line in found if line is not None)
    yield Segment(text, heading, number, _locator(block, first, last), lines=numbers)


def _unwrap(lines: list[str]) -> str:
    """A paragraph whose editor wrapped it, as one line again; code, verses and addresses keep their lines."""
    if all(line.lstrip().startswith(">") for line in lines):  # a block quote: its marks are not its words
        lines = [_QUOTE_MARK.sub("", line) for line in lines]
    text = "\n".join(lines).strip("\n").rstrip()
    kept = text.splitlines()
    wrapped = len(kept) > 1 and all(_is_wrapped(line, after) for line, after in pairwise(kept))
    meant = any(line.lstrip().startswith(_KEEPS_LINES) or line.endswith(("  ", "\\")) for line in kept)
    if meant or not wrapped:
        return text
    joined = kept[0].rstrip()
    for line in kept[1:]:  # an item within an item stays one
        joined += f"\n{line.rstrip()}" if LIST_ITEM.match(line) else f" {line.strip()}"
    return joined


def _is_wrapped(line: str, after: str) -> bool:
    """Whether an editor ended the line, and not its author: it is long, or becomes so with the next piece."""
    if len(line) >= WRAPPED_AT or LIST_ITEM.match(after):
        return True
    return line[-1:] not in ".:;!?" and len(f"{line} {first_piece(after)}") > MARGIN


def _list_items(lines: list[str]) -> list[list[str]]:
    items: list[list[str]] = []
    for line in lines:
        if re.match(r"^(?:[-*+]|\d+[.)])\s+", line) or not items:
            items.append([line])
        else:
            items[-1].append(line)
    return items if sum(bool(re.match(r"^(?:[-*+]|\d+[.)])\s+", item[0])) for item in items) > 1 else [lines]


def _table(lines: list[str], heading: tuple[str, ...], number: int, block: Block, first: int) -> Iterator[Segment]:
    header = "\n".join(lines[:2])
    rows = [line for line in lines[2:] if line.strip()]
    if not rows:
        yield Segment(header, heading, number, _locator(block, first + 2, first + 2))
    wide = max(map(len, rows), default=0) > WIDE_ROW
    before = ""
    for offset, row in enumerate(rows):
        at = _locator(block, first + 2 + offset, first + 2 + offset)
        for own, text in _narrow(lines[0], row) or [(header, row)] if wide else [(header, row)]:
            yield Segment(text, heading, number, at, header=own, joint="\n" if own == before else "\n\n")
            before = own


def _narrow(header: str, row: str) -> list[tuple[str, str]]:
    """The header and the row of each cell that says something, beside the name of its row: as a table of two columns.

    Where cells are paragraphs, a row is too long for a passage, and nobody reads six of them side by side.
    """
    (of_names, *columns), (name, *cells) = cells_of(header), cells_of(row)
    placed = zip_longest(columns, cells, fillvalue="")
    return [(f"| {of_names} | {column} |\n| --- | --- |", f"| {name} | {cell} |") for column, cell in placed if cell]


def _locator(block: Block, first: int, last: int) -> Locator:
    return Locator(block.page, block.label or "", block.source_line(first), block.source_line(last))


async def _split_long(units: Sequence[Segment], count_tokens: CountTokens, target: int) -> tuple[Segment, ...]:
    """Units no longer than a passage: by sentences or lines, and by words where even those are too long."""
    found: list[Segment] = []
    for unit in units:
        if unit.tokens <= target:
            found.append(unit)
            continue
        pieces = [(piece, at) for sentence, at in _pieces(unit) for piece in _by_words(sentence, target)]
        counts = await count_tokens([piece for piece, _ in pieces])
        joints = [unit.joint] + ["\n" if "\n" in unit.text else " "] * (len(pieces) - 1)
        found.extend(
            replace(unit, text=piece, tokens=tokens, joint=joint, locator=at)
            for (piece, at), tokens, joint in zip(pieces, counts, joints, strict=True)
        )
    return tuple(found)


def _pieces(unit: Segment) -> Iterable[tuple[str, Locator]]:
    """A text of many lines by lines, each with its own number where that is known; any other by sentences."""
    if unit.text.count("\n") <= 2:
        return [(sentence, unit.locator) for sentence in sentences(unit.text)]
    lines = unit.text.split("\n")
    known = unit.lines if len(unit.lines) == len(lines) else ()
    places = [replace(unit.locator, first_line=at, last_line=at) for at in known] or [unit.locator] * len(lines)
    return [(line, at) for line, at in zip(lines, places, strict=True) if line.strip()]


def _by_words(text: str, target: int) -> Iterable[str]:
    """Cut what has no sentences (a log line, a blob) so that no piece can exceed the window by much."""
    longest = target * 4  # characters; four of them make a token of English, fewer of anything else
    while len(text) > longest:
        cut = text.rfind(" ", longest // 2, longest)
        cut = cut if cut > 0 else longest
        yield text[:cut]
        text = text[cut:].lstrip()
    if text:
        yield text


def _sections(units: Sequence[Segment]) -> Iterable[SectionSegments]:
    stretches: list[SectionSegments] = []
    for unit in units:
        last = stretches[-1] if stretches else None
        if last and last.heading == unit.heading and last.tokens + unit.tokens <= SECTION_TOKENS:
            stretches[-1] = SectionSegments(last.heading, (*last.units, unit))
        else:
            stretches.append(SectionSegments(unit.heading, (unit,)))
    merged: list[SectionSegments] = []
    for stretch in stretches:
        if merged and _belong_together(merged[-1], stretch):
            merged[-1] = _merge(merged[-1], stretch)
        else:
            merged.append(stretch)
    return merged


def _belong_together(one: SectionSegments, other: SectionSegments) -> bool:
    """Whether one of two neighbours is too small to stand alone, and they are siblings in the same block."""
    tiny = min(one.tokens, other.tokens) < TINY_TOKENS and one.tokens + other.tokens <= PASSAGE_TOKENS
    siblings = one.heading[:-1] == other.heading[:-1] and one.heading != other.heading
    return tiny and siblings and one.units[-1].block == other.units[0].block


def _merge(one: SectionSegments, other: SectionSegments) -> SectionSegments:
    shared = 0
    while shared < min(len(one.heading), len(other.heading)) and one.heading[shared] == other.heading[shared]:
        shared += 1
    return SectionSegments(one.heading[:shared], (*_with_headings(one, shared), *_with_headings(other, shared)))


def _with_headings(stretch: SectionSegments, shared: int) -> tuple[Segment, ...]:
    """The units with the headings that the merged section no longer has, as a line of their own."""
    lost = stretch.heading[shared:]
    if not lost:
        return stretch.units
    return (replace(stretch.units[0], lead=" › ".join(lost), joint="\n\n"), *stretch.units[1:])


def _pack(units: Sequence[Segment], target: int) -> Iterable[list[Segment]]:
    group: list[Segment] = []
    size = 0
    for unit in units:
        if group and (size + unit.tokens > target or unit.block != group[-1].block):
            yield group
            group, size = [], 0
        group.append(unit)
        size += unit.tokens
    if group:
        yield group


def _join(group: Sequence[Segment]) -> str:
    parts: list[str] = []
    header = ""
    for unit in group:
        if parts:
            parts.append(unit.joint)
        elif unit.introduction:
            parts.append(f"{unit.introduction}\n\n")
        if unit.lead:
            parts.append(f"{unit.lead}\n")
        if unit.header and unit.header != header:
            parts.append(f"{unit.header}\n")
        header = unit.header
        parts.append(unit.text)
    return "".join(parts)


def _span(group: Sequence[Segment]) -> Locator:
    first, last = group[0].locator, group[-1].locator
    return replace(first, last_line=last.last_line) if first.first_line is not None else first


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:32]
