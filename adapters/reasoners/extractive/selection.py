"""Parts a passage into quotable units and says how well each meets a question.

A unit is verbatim but for line wrapping: a sentence, a list item, a table row with its header. How units become an
answer is ``composing``'s.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from core.language import content_words, sentences


class Form(Enum):
    """How a unit stands on the page."""

    SENTENCE = auto()
    ITEM = auto()
    ROW = auto()
    CODE = auto()


@dataclass(frozen=True, slots=True)
class Unit:
    """A quotable stretch. ``block`` numbers its paragraph, list or table; ``head`` is a table's header."""

    text: str
    form: Form
    block: int
    head: tuple[str, ...] = ()


_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s|^\s*(?:=+|-{3,}|\*{3,}|_{3,})\s*$")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")


def units(text: str) -> tuple[Unit, ...]:
    """All quotable units of a passage, in reading order. Headings are context, not content, and are left out."""
    found: list[Unit] = []
    for number, block in enumerate(_blocks(text)):
        found.extend(_block_units(block, number))
    return tuple(found)


def _blocks(text: str) -> list[list[str]]:
    """Runs of lines that belong together: a paragraph, a list, a table, a fenced block."""
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            if fenced:
                blocks.append([line])
            else:
                blocks[-1].append(line)
                blocks.append([])
        elif fenced:
            blocks[-1].append(line)
        elif not line.strip() or (_HEADING.match(line) and not _table_line(line)):
            blocks.append([])
        else:
            kind_changes = blocks[-1] and _table_line(line) != _table_line(blocks[-1][-1])
            if kind_changes:
                blocks.append([])
            blocks[-1].append(line)
    return [block for block in blocks if block]


def _table_line(line: str) -> bool:
    return line.count("|") >= 2


def _block_units(block: list[str], number: int) -> list[Unit]:
    if _FENCE.match(block[0]):
        return [Unit("\n".join(block), Form.CODE, number)]
    if all(_table_line(line) for line in block):
        return _rows(block, number)
    found: list[Unit] = []
    prose: list[str] = []
    item: list[str] = []
    for line in block:
        if _ITEM.match(line):
            found.extend(_flushed(prose, item, number))
            prose, item = [], [line]
        elif item:
            item.append(line)
        else:
            prose.append(line)
    found.extend(_flushed(prose, item, number))
    return found


def _flushed(prose: list[str], item: list[str], number: int) -> list[Unit]:
    if item:
        return [Unit(" ".join(part.strip() for part in item), Form.ITEM, number)]
    joined = " ".join(part.strip() for part in prose)
    return [Unit(sentence, Form.SENTENCE, number) for sentence in sentences(joined)]


def _rows(block: list[str], number: int) -> list[Unit]:
    lines = [line.strip() for line in block]
    if len(lines) > 1 and _RULE.match(lines[1]):
        head = (lines[0], lines[1])
        return [Unit(line, Form.ROW, number, head) for line in lines[2:] if not _RULE.match(line)]
    return [Unit(line, Form.ROW, number) for line in lines if not _RULE.match(line)]


def inverse_frequency(texts: Iterable[str]) -> Mapping[str, float]:
    """How rare each stem is among these texts: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, BM25's, never negative."""
    bags = [set(content_words(text)) for text in texts]
    counts = Counter(word for bag in bags for word in bag)
    size = len(bags)
    return {word: math.log(1 + (size - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def coverage(wanted: Sequence[str], there: Iterable[str], rarity: Mapping[str, float]) -> float:
    """The share of the wanted stems that is there, in [0, 1], rare ones counting more.

    A stem that no text of the pool has is the rarest of all.
    """
    have = set(there)
    unseen = max(rarity.values(), default=1.0)
    weights = {word: max(rarity.get(word, unseen), 0.1) for word in wanted}
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if word in have) / total if total else 0.0


_NUMBER = re.compile(r"\d")
_DATE = re.compile(
    r"\b(?:1[0-9]{3}|20[0-9]{2})\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d{1,2}:\d{2}\b|\b(?:hours?|days?|weeks?|months?|years?"
    r"|minutes?|noon|midnight)\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|sixty|hundred|thousand"
    r"|million|"
    r"once|twice|unlimited|none|half|double)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[^.!?\s] )[A-Z][a-z]+")
_STEPS = re.compile(
    r"\b(?:click|select|open|run|go to|choose|press|use|set|add|create|call|send|install|enter|type|first|then"
    r"|step|by \w+ing)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|caused?|reason|therefore|in order|as a result|to (?:avoid|prevent|ensure"
    r"|allow|keep))\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|on|near|under|from|to|inside|within)\s+(?:the\s+)?[A-Z#/`*]")
_EXPECTED: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), expected)
    for asked, expected in (
        (r"\bhow (?:many|much|long|old|often|far|large|big|high|fast|tall|soon|late|early|quickly)\b", _AMOUNT),
        (r"\b(?:price|costs?|limit|maximum|minimum|rate|percentage|number of|timeout|budget|fee)\b", _NUMBER),
        (r"\b(?:when|what (?:year|date|day|time|month)|which (?:year|date|day|month)|deadline)\b", _DATE),
        (r"\b(?:who|whom|whose)\b", _NAME),
        (r"\bwhere\b", _PLACE),
        (r"\bwhy\b", _REASON),
        (r"\bhow (?:do|can|should|to|would|must|is|are)\b|\bsteps?\b", _STEPS),
    )
)


def fits(question: str, text: str) -> float:
    """Whether a text holds the kind of thing that is asked for: 1 yes, 0 no, 0.5 when nothing particular is."""
    for asked, expected in _EXPECTED:
        if asked.search(question):
            return 1.0 if expected.search(text) else 0.0
    return 0.5
