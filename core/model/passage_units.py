"""Splits a passage into self-contained units: a sentence, a list item, a table row with its header, a code block.

A unit is verbatim except for line wrapping. The index stores vectors of ``texts_of_units`` next to those of the
passages. The reasoner decides which unit answers a question and how to quote it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise, takewhile, zip_longest

from core.model.knowledge import Passage
from core.model.markdown_lines import FENCE, LIST_ITEM, cells_of, fenced_runs, first_piece, is_table_rule
from core.model.text import sentences

MOST_UNITS = 60  # units of a passage that get vectors
UNIT_CHARACTERS = 400  # of a unit with its context; a sentence encoder gains nothing from more


class Form(Enum):
    """Forms of a unit."""

    SENTENCE = auto()
    ITEM = auto()
    ROW = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable unit. ``block`` is the number of its paragraph, list or table; ``head`` is a table's header.

    ``under`` is the line above it within the passage: a small heading, or words that introduce a list and end in a
    colon.
    """

    text: str
    form: Form
    block: int
    head: tuple[str, ...] = ()
    under: str = ""


_HEADING = re.compile(r"^\s{0,3}#{1,6}\s|^\s*(?:=+|-{3,}|\*{3,}|_{3,})\s*$")
_BEFORE_MARKUP = re.compile(r"(?<=[.!?])\s+(?=[*_`]{1,2}[A-Z])|(?<=[?]\*\*)\s+")  # a sentence that begins with markup
_STOPPED = re.compile(r"[.!,;:…)\]>|=({\[][*_\"”’]*\s*$|[.!?]\s")
_SAYS_MORE = re.compile(r"\w: +\S|^\s*[\[({#*]")
_CODED = re.compile(r"[{}();=\[\],]\s*$|^\s*(?://|/\*|\*|#\[|@\w|\}|\))|^\s+\S.*[=(]")
_NUMBERED_HEADING = re.compile(r"\d{1,3}\.\s+[A-Z](?:[\w'’,-]+\s?){1,6}$")  # "6. Insurance" over its paragraph
_HEADING_WORDS = 12
_NAME_WORDS = 2  # of a lower-case heading: "make build"
_ENTRY_WORDS = 20
_ENTRY = re.compile(r"^(?:\*\*[^*]+\*\*:?|__[^_]+__:?|[^.!?]+\?|Q:.*\?)$")
_ASKED = re.compile(  # "Q: A box was stolen. What now? A: The customer reports it."
    r"^(?P<asked>(?:Q|Question|F|Frage)\d*\s?[:.)]\s.*?)(?<!\s)\s+(?P<told>(?:A|Answer|Antwort)\d*\s?[:.)]\s.*)$",
    re.DOTALL,
)
# "**9. Behaviour.** Quiet hours …": a heading at the start of its paragraph. Not "**Mid** is 22 May to 3 July".
_RUN_IN = re.compile(
    r"^(?P<mark>\*\*|__)(?P<heading>(?=[^*_]*[^\W\d_])[^*_:]+?)(?:\.|(?<=\)))(?P=mark)\s+(?P<told>(?=\W*[A-Z\d])\S.*)$",
    re.DOTALL,
)
_RUN_IN_WORDS = 7
_COLUMNS = re.compile(r"\S {3,}\S|\S\t+\S")
_SENTENCE_END = re.compile(r"[.!?,;:][*_\"”’)]*\s*$")
# No heading ends like this: the sentence continues below.
_GOES_ON = re.compile(
    r"\b(?:an?|the|our|your|their|its|this|these|and|or|but|of|by|from|with|into|than|that|which|is|are|was|were|be|has"
    r"|have|had|can|must|should|will)$",
    re.IGNORECASE,
)
_WRAPPED = 160  # characters; if a line is longer, the text is not wrapped and each line is a paragraph
_MARGIN = 0.75  # of a paragraph's longest line: wrapped lines end near this margin, headings well before it


@lru_cache(maxsize=1024)
def units(text: str) -> tuple[Unit, ...]:
    """Return all quotable units of a passage, in reading order. Headings are only context and are left out."""
    found: list[Unit] = []
    number = 0
    standing = ""  # a question or term in its own paragraph, answered or explained by the next ones
    parts = [(under, part) for block in _blocks(text) for under, part in _parts(block)]
    for (under, part), (_, after) in zip_longest(parts, parts[1:], fillvalue=("", [])):
        own = _block_units(part, number)
        if len(own) == 1 and (_opens_entry(own[0].text) or _heads_block(part, after)):
            standing = own[0].text
            continue
        lead = under or _lead_in(found, part) or standing
        found.extend(replace(unit, under=unit.under or lead) for unit in own)
        number += 1
    if not found and standing:
        found.append(Unit(standing, Form.SENTENCE, 0))
    return tuple(found)


def heading_over(quoted: Iterable[Unit]) -> str:
    """Return the small heading that all these units are under; empty for none or several."""
    within = {unit.under for unit in quoted}
    small = within.pop() if len(within) == 1 else ""
    return "" if small.rstrip("*_ ").endswith(":") else small.strip("*_# ")


def _opens_entry(text: str) -> bool:
    """Return whether a paragraph is only a question or a bold term: "**Do I have to clean the panels?**"."""
    return bool(_ENTRY.match(text)) and len(text.split()) <= _ENTRY_WORDS


def _heads_block(part: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether a line is only the heading of the table or code below it, from a small merged section."""
    heads = len(part) == 1 and not LIST_ITEM.match(part[0]) and not _SENTENCE_END.search(part[0])
    return (
        heads
        and len(part[0].split()) <= _HEADING_WORDS
        and bool(after)
        and bool(FENCE.match(after[0]) or _table_line(after[0]))
    )


def _lead_in(found: Sequence[Unit], part: Sequence[str]) -> str:
    """Return the words ending in a colon right before a list, table or code; for an item, before its nested list."""
    if not found or not found[-1].text.rstrip("*_ ").endswith(":"):
        return ""
    if found[-1].form is Form.ITEM:
        return LIST_ITEM.sub("", found[-1].text) if part[0].startswith(" ") and LIST_ITEM.match(part[0]) else ""
    is_led_to = LIST_ITEM.match(part[0]) or FENCE.match(part[0]) or _table_line(part[0])
    return found[-1].text if found[-1].form is Form.SENTENCE and is_led_to else ""


def _parts(block: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a block, split at standalone lines: small headings, or each line of a plain list."""
    coded = sum(bool(_CODED.search(line)) for line in block)
    if FENCE.match(block[0]) or _table_line(block[0]) or 2 * coded > len(block):
        yield "", block
        return
    width = max(map(len, block))
    within = list(_within_items(block))
    alone = [
        not inner and _stands_alone(line, after, width)
        for line, after, inner in zip(block, [*block[1:], ""], within, strict=True)
    ]
    under, part = "", list[str]()
    for at, line in enumerate(block):
        if not alone[at]:
            apart = width > _WRAPPED and not LIST_ITEM.match(line) and not _goes_on(part[-1], line) if part else False
            if apart or (part and _leads_to_list(part, line)):
                yield under, part
                part = []
            part.append(line)
            continue
        if part:
            yield under, part
        part = []
        heads = not alone[at + 1] and not _SAYS_MORE.search(line)
        under = line.strip() if heads else ""
        if not heads:
            yield "", [line]
    if part:
        yield under, part


def _leads_to_list(part: Sequence[str], line: str) -> bool:
    """Return whether a list begins right below its introduction, without a blank line."""
    return bool(LIST_ITEM.match(line)) and not LIST_ITEM.match(part[0]) and part[-1].rstrip("*_ ").endswith(":")


def _within_items(block: Sequence[str]) -> Iterator[bool]:
    """Yield for each line whether it continues the list item above it, by indentation."""
    inside = False
    for line in block:
        opens = bool(LIST_ITEM.match(line))
        inside = opens or (inside and line.startswith(" "))
        yield inside and not opens


def _goes_on(line: str, following: str) -> bool:
    """Return whether a sentence continues on the following line."""
    opens = following.lstrip(' *_`"“‘([')[:1]
    return not _SENTENCE_END.search(line) and (opens.islower() or bool(_GOES_ON.search(line)))


def _stands_alone(line: str, following: str, width: int) -> bool:
    """Return whether a prose line was ended on purpose, because the next word would have fit on it."""
    piece = first_piece(following)
    numbered = _NUMBERED_HEADING.match(line) and not (LIST_ITEM.match(following) or following.startswith(" "))
    if not piece or (LIST_ITEM.match(line) and not numbered):
        return False
    if not line.startswith(" ") and (LIST_ITEM.match(following) or following.startswith("  ")):
        return len(line.split()) <= _HEADING_WORDS and not _SENTENCE_END.search(line)
    fitted = len(line.rstrip()) + 1 + len(piece) <= _MARGIN * width
    stopped = _STOPPED.search(line.partition(" ")[2] if numbered else line)
    said = line.split()
    rest = line[:1].islower() and len(said) > _NAME_WORDS  # the end of the sentence above
    return fitted and len(said) <= _HEADING_WORDS and not (stopped or rest or _goes_on(line, following))


def _blocks(text: str) -> list[list[str]]:
    """Return lines in groups: a paragraph, a list, a table, a fenced block."""
    blocks: list[list[str]] = []
    for fenced, lines in fenced_runs(_with_whole_fences(text.splitlines())):
        blocks.extend([lines, []] if fenced else _prose_blocks(lines))
    return [block for block in blocks if block]


def _with_whole_fences(lines: list[str]) -> list[str]:
    """Return the lines, with the missing fence added if the passage begins or ends within a code block."""
    marks = [line.strip() for line in lines if FENCE.match(line)]
    if len(marks) % 2 == 0:
        return lines
    began_before = marks[0].strip("`~") == "" and not FENCE.match(lines[0])
    return [marks[0], *lines] if began_before else [*lines, marks[-1].rstrip(marks[-1].lstrip("`~"))]


def _prose_blocks(lines: Sequence[str]) -> list[list[str]]:
    blocks: list[list[str]] = [[]]
    for line in lines:
        if not line.strip() or (_HEADING.match(line) and not _table_line(line)):
            blocks.append([])
        else:
            kind_changes = blocks[-1] and _table_line(line) != _table_line(blocks[-1][-1])
            if kind_changes:
                blocks.append([])
            blocks[-1].append(line)
    return blocks


def _table_line(line: str) -> bool:
    return line.count("|") >= 2


def _block_units(block: list[str], number: int) -> list[Unit]:
    if FENCE.match(block[0]):
        return [Unit("\n".join(block), Form.CODE, number)]
    if all(_table_line(line) for line in block):
        return _rows(block, number)
    if _is_aligned(block):
        return [Unit(line.strip(), Form.ITEM, number) for line in block]
    found: list[Unit] = []
    prose: list[str] = []
    item: list[str] = []
    for line in block:
        if LIST_ITEM.match(line):
            found.extend(_flush(prose, item, number))
            prose, item = [], [line]
        elif item:
            item.append(line)
        else:
            prose.append(line)
    found.extend(_flush(prose, item, number))
    return _below_their_items(block, found)


def _below_their_items(block: Sequence[str], found: Sequence[Unit]) -> list[Unit]:
    """Return the units, with each nested item under the words of its parent item: "Three weeks ahead:", "Phones"."""
    indents = iter([len(line) - len(line.lstrip()) for line in block if LIST_ITEM.match(line)])
    above: list[tuple[int, str]] = []
    placed: list[Unit] = []
    for unit in found:
        if unit.form is not Form.ITEM:
            placed.append(unit)
            continue
        indent = next(indents)
        above = [(other, heading) for other, heading in above if other < indent]
        placed.append(replace(unit, under=above[-1][1]) if above and above[-1][1] else unit)
        above.append((indent, _item_heading(unit.text)))
    return placed


def _item_heading(text: str) -> str:
    """Return the words of an item that is only a heading for its nested items; otherwise empty."""
    words = LIST_ITEM.sub("", text)
    heads = words.rstrip("*_ ").endswith(":") or not _SENTENCE_END.search(words)
    return words if heads and len(words.split()) <= _HEADING_WORDS else ""


def _is_aligned(block: list[str]) -> bool:
    """Return whether the lines are columns aligned by spaces, such as codes and their meanings."""
    return len(block) > 2 and all(_COLUMNS.search(line) for line in block)


def _flush(prose: list[str], item: list[str], number: int) -> list[Unit]:
    if item:
        return [Unit(" ".join(part.strip() for part in item), Form.ITEM, number)]
    joined = " ".join(part.strip() for part in prose)
    if found := _ASKED.match(joined):
        return [Unit(part, Form.SENTENCE, number, under=found["asked"]) for part in sentences(found["told"])]
    if (found := _RUN_IN.match(joined)) and len(found["heading"].split()) <= _RUN_IN_WORDS:
        return [replace(unit, under=found["heading"]) for unit in _flush([found["told"]], [], number)]
    parts = (part for sentence in sentences(joined) for part in _BEFORE_MARKUP.split(sentence))
    listed = list(parts)
    if len(listed) > 1 and _ENTRY.match(listed[0]):
        return [Unit(part, Form.SENTENCE, number, under=listed[0]) for part in listed[1:]]
    return [Unit(part, Form.SENTENCE, number) for part in listed]


def _rows(block: list[str], number: int) -> list[Unit]:
    lines = [line.strip() for line in block]
    if len(lines) > 1 and is_table_rule(lines[1]):
        head = (lines[0], lines[1])
        return [Unit(line, Form.ROW, number, head) for line in lines[2:] if not is_table_rule(line)]
    return [Unit(line, Form.ROW, number) for line in lines if not is_table_rule(line)]


_LOOKS_BACK = re.compile(
    r"^(?:they|it|its|this|these|those|that|he|she|his|her|their|both|such|then|otherwise|after that|the same|either"
    r"|so|also|however|instead|yes|no)\b",
    re.IGNORECASE,
)


def looks_back(unit: Unit) -> bool:
    """Return whether a sentence begins with a word that only the previous sentence explains: "They arrive …"."""
    return unit.form is Form.SENTENCE and bool(_LOOKS_BACK.match(unit.text))


_ITEMS_LED, _ROWS_LED = 15, 10
_NAMES_ANEW = re.compile(r"\b(?:these|such) [a-z]", re.IGNORECASE)  # "we pay £30 towards these lessons"


def befores(everything: Sequence[Unit]) -> dict[Unit, Unit]:
    """Return the previous sentence for each sentence that depends on it, if both are in the same paragraph."""
    return {
        unit: before
        for before, unit in pairwise(everything)
        if before.block == unit.block and (looks_back(unit) or _speaks_of_the_same(unit))
    }


def _speaks_of_the_same(unit: Unit) -> bool:
    return unit.form is Form.SENTENCE and bool(_NAMES_ANEW.search(unit.text))


@lru_cache(maxsize=1024)
def announced(text: str) -> Mapping[Unit, tuple[Unit, ...]]:
    """Return for each sentence or item ending in a colon the list, small table or code block that it introduces.

    Leaves out those that are too long to quote as a whole.
    """
    everything = units(text)
    found: dict[Unit, tuple[Unit, ...]] = {}
    for at, unit in enumerate(everything[:-1]):
        led = tuple(_led_by(unit, everything[at + 1 :]))
        if led and len(led) <= (_ROWS_LED if led[0].form is Form.ROW else _ITEMS_LED):
            found[unit] = led
    return found


def _led_by(unit: Unit, after: Sequence[Unit]) -> Iterator[Unit]:
    if unit.form not in {Form.SENTENCE, Form.ITEM} or not unit.text.rstrip("*_ ").endswith(":"):
        return iter(())
    lead = LIST_ITEM.sub("", unit.text) if unit.form is Form.ITEM else unit.text
    if after[0].under != lead or after[0].form is Form.SENTENCE:
        return iter(())
    whole = (one for one in after if one.block == after[0].block)
    return takewhile(lambda one: one.under == lead, whole) if unit.form is Form.ITEM else whole


def in_context(passage: Passage, unit: Unit, before: Unit | None = None) -> str:
    """Return a unit with its context from the page above it: the text that its vector is made of.

    A row has its column names, a sentence that refers back follows the previous one, and a sentence that introduces a
    list is followed by the list.
    """
    place = [*passage.heading[-1:], *([unit.under] if unit.under else ())]
    where = ", ".join(dict.fromkeys((passage.title, *place)))
    said = f"{before.text} {unit.text}" if before else unit.text
    if led := announced(passage.text).get(unit):
        said = f"{said} {text_of_list(led)}"
    if unit.form is Form.ROW:
        cells, names = (cells_of(line) for line in (unit.text, unit.head[0] if unit.head else ""))
        pairs = zip_longest(names[: len(cells)], cells, fillvalue="")
        said = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    return f"{where}: {said}"


def text_of_list(led: Iterable[Unit]) -> str:
    """Return items without bullets, or a code block without fences, as one text."""
    lines = (line for unit in led for line in unit.text.splitlines() if not FENCE.match(line))
    return "; ".join(LIST_ITEM.sub("", line) for line in lines)


def texts_of_units(passage: Passage) -> tuple[str, ...]:
    """Return the units of a passage with their context, in reading order, as the input of their vectors.

    At most ``MOST_UNITS``. A passage usually has five; rows of a long table are found by their passage and their words.
    """
    everything = units(passage.text)
    before = befores(everything)
    return tuple(in_context(passage, unit, before.get(unit))[:UNIT_CHARACTERS] for unit in everything[:MOST_UNITS])
