"""Chunking of a document's segments into sections (parents) and passages (children).

Sections follow the headings. Tiny sections are merged under their common parent, and huge ones are split between
paragraphs. Passages fill the encoder's window without crossing a page, so that a citation's page is exact. A split
table repeats its header row, because a row without its header cannot be quoted. A passage that begins within a list,
table or listing repeats the introduction, if that ends in a colon.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from core.ingestion.segments import Segment, units_of
from core.model.document_content import ParsedDocument
from core.model.errors import DocumentRejected, NoText
from core.model.knowledge import Document, Locator, Passage
from core.model.text import sentences

PASSAGE_TOKENS = 180  # the default encoder reads 256; title and headings need room
SECTION_TOKENS = 1_400
TINY_TOKENS = 24
MOST_PASSAGES = 20_000  # of one document: some 3.6 million tokens
CUTTING_SECONDS = 120.0  # time limit for chunking

CountTokens = Callable[[Sequence[str]], Awaitable[Sequence[int]]]


@dataclass(frozen=True, slots=True)
class SectionSegments:
    """Units of one section."""

    heading: tuple[str, ...]
    units: tuple[Segment, ...]

    @property
    def tokens(self) -> int:
        """The length in the encoder's tokens."""
        return sum(unit.tokens for unit in self.units)


async def passages_of(
    parsed: ParsedDocument, document: Document, count_tokens: CountTokens, window: int
) -> tuple[Passage, ...]:
    """Return the passages of a document in reading order, with ids and sections.

    Raises NoText if there are none, and DocumentRejected if there are too many or chunking takes too long.
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
    units = await asyncio.to_thread(units_of, parsed)  # a file of some megabytes would block the event loop
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
    """Return a content hash. The same text in the same version of a document always has the same id."""
    return _digest(document, version, content, str(repeat))


def same_passage_in(version: str, passages: Sequence[Passage], document: str = "") -> dict[str, str]:
    """Map each passage's id to the id of the same content in another version, whose vector can be reused.

    ``document`` is the id of the document with that version, if it is another one.
    """
    seen: dict[str, int] = {}
    twins: dict[str, str] = {}
    for passage in passages:
        content = _digest(*passage.heading, passage.text)
        seen[content] = seen.get(content, -1) + 1
        twins[passage.id] = passage_id(document or passage.document, version, content, seen[content])
    return twins


async def _split_long(units: Sequence[Segment], count_tokens: CountTokens, target: int) -> tuple[Segment, ...]:
    """Split units that are longer than a passage by sentences or lines, and these by words if they are too long."""
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
    """Split text of more than three lines into lines, with their numbers if known, and other text into sentences."""
    if unit.text.count("\n") <= 2:
        return [(sentence, unit.locator) for sentence in sentences(unit.text)]
    lines = unit.text.split("\n")
    known = unit.lines if len(unit.lines) == len(lines) else ()
    places = [replace(unit.locator, first_line=at, last_line=at) for at in known] or [unit.locator] * len(lines)
    return [(line, at) for line, at in zip(lines, places, strict=True) if line.strip()]


def _by_words(text: str, target: int) -> Iterable[str]:
    """Cut what has no sentences (a log line, a blob) so that no piece can exceed the window by much."""
    longest = target * 4  # characters; about four make a token in English, fewer in other languages
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
    """Return whether two neighbours are siblings in the same block and one is too small for its own section."""
    tiny = min(one.tokens, other.tokens) < TINY_TOKENS and one.tokens + other.tokens <= PASSAGE_TOKENS
    siblings = one.heading[:-1] == other.heading[:-1] and one.heading != other.heading
    return tiny and siblings and one.units[-1].block == other.units[0].block


def _merge(one: SectionSegments, other: SectionSegments) -> SectionSegments:
    shared = 0
    while shared < min(len(one.heading), len(other.heading)) and one.heading[shared] == other.heading[shared]:
        shared += 1
    return SectionSegments(one.heading[:shared], (*_with_headings(one, shared), *_with_headings(other, shared)))


def _with_headings(stretch: SectionSegments, shared: int) -> tuple[Segment, ...]:
    """Return the units with the headings that the merged section no longer has, as a line of their own."""
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
