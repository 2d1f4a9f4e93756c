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


Near = Mapping[str, Mapping[str, float]]
"""For a stem, the stems of like meaning and how much they count for it, in (0, 1)."""
NOTHING_NEAR: Near = {}

_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s|^\s*(?:=+|-{3,}|\*{3,}|_{3,})\s*$")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_UNSEEN = 1.25  # a word that no text has, against the rarest one that some have
_BEFORE_MARKUP = re.compile(r"(?<=[.!?])\s+(?=[*_`]{1,2}[A-Z])")  # a sentence that opens with markup
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
    parts = (part for sentence in sentences(joined) for part in _BEFORE_MARKUP.split(sentence))
    return [Unit(part, Form.SENTENCE, number) for part in parts]


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


def coverage(
    wanted: Sequence[str], there: Iterable[str], rarity: Mapping[str, float], near: Near = NOTHING_NEAR
) -> float:
    """The share of the wanted stems that is there, in [0, 1], rare ones counting more.

    A stem that no text of the pool has is the rarest of all. One that is not there counts in part for a word near it.
    """
    have = set(there)
    unseen = _UNSEEN * max(rarity.values(), default=1.0)
    weights = {word: max(rarity.get(word, unseen), 0.1) for word in wanted}
    total = sum(weights.values())
    return sum(weight * _presence(word, have, near) for word, weight in weights.items()) / total if total else 0.0


def _presence(word: str, have: set[str], near: Near) -> float:
    if word in have:
        return 1.0
    kin = near.get(word)
    return max((share for other, share in kin.items() if other in have), default=0.0) if kin else 0.0


_FRAME = re.compile(
    r"\bhow (?:many|much|long|old|often|far|large|big|high|fast|tall|soon|late|early|quickly|come)\b"
    r"|\b\w+['’](?:m|ve|re|d|ll|t)\b|\b(?:somebody|someone|anybody|anyone|people|person|things?)\b",
    re.IGNORECASE,
)


def topic_words(question: str) -> tuple[str, ...]:
    """The stems that say what a question is about, without those that only say what kind of answer is wanted."""
    return content_words(_FRAME.sub(" ", question)) or content_words(question)


_COUNTED = r"(?:\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|several)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NUMBER = re.compile(r"\d")
_AMOUNT = re.compile(
    rf"\b{_COUNTED}\b|\b(?:twenty|thirty|sixty|hundred|thousand|million|once|twice|unlimited|none|double|no|any)\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"\b{_COUNTED}[ -](?:[a-z]+[ -])?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|nights?|quarters?)\b"
    r"|\b(?:at once|immediately|forever|the same day|next (?:working )?(?:day|morning))\b",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\b\d{1,2}[:.]\d{2}\b|\b\d{1,2} ?(?:am|pm)\b|\bnoon\b|\bmidnight\b|\bat any hour\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_DATE = re.compile(
    rf"\b(?:1[0-9]{{3}}|20[0-9]{{2}})\b|\b\d{{1,2}} {_MONTH}\b|\b{_MONTH} \d"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d{1,2}:\d{2}\b|\bnoon\b|\bmidnight\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(r"\b(?:every|each|daily|weekly|monthly|yearly|hourly|once|twice|times|per|after)\b", re.IGNORECASE)
_MONEY = re.compile(
    r"[€$£¥]\s?\d|\d\s?(?:€|eur\b|usd\b|gbp\b|euros?\b|dollars?\b|pounds?\b|percent\b|%)|\bfree\b", re.IGNORECASE
)
_NETWORK = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|https?://|\S+@\S+\.\S+")
_PERSON = re.compile(  # not a part of an organisation, nor a word that opens a sentence
    r"(?<![\w’'])(?!(?:The|Team|Head|Chief|Finance|Security|Customer|Company|Support|Sales|Product|Severity|In|On|At"
    r"|For|If|An|Our|Your|This|That|Every|Each|When|After|Before|No|Tell|Ask|Up|Above|Below)\b)"
    r"[A-Z][a-z][\w’'-]*(?: (?:[A-Z]\.|de|van|von|der|la))* [A-Z][a-z][\w-]*\b(?!['’]s)"
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
# What is asked, and what says it: each pattern with how well it fits. The first question that matches decides.
_EXPECTED: tuple[tuple[re.Pattern[str], tuple[tuple[re.Pattern[str], float], ...]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), expected)
    for asked, expected in (
        (r"\b(?:ip|mail|email|web) address|\burl\b", ((_NETWORK, 1.0),)),
        (r"\bweekday\b|\b(?:which|what) day\b(?! of the (?:month|year))", ((_WEEKDAY, 1.0), (_DATE, 0.6))),
        (r"\b(?:at )?(?:what|which) (?:hours?|time)\b|\bopening hours\b", ((_CLOCK, 1.0), (_DATE, 0.4))),
        (r"\bhow often\b", ((_OFTEN, 1.0), (_AMOUNT, 0.6))),
        (
            r"\bhow (?:long|soon|quickly|fast|late|early)\b|\bhow much (?:time|notice)\b|\buntil when\b|\bdeadline\b",
            ((_DURATION, 1.0), (_CLOCK, 0.8), (_DATE, 0.7), (_AMOUNT, 0.5)),
        ),
        (
            (
                r"\bhow much (?:money|extra|does|do|is|may|can|will)\b|\b(?:price|costs?|fee|budget|salary)\b"
                r"|\bget back\b|\bpaid per\b"
            ),
            ((_MONEY, 1.0), (_NUMBER, 0.8)),
        ),
        (r"\bhow (?:many|much|old|far|large|big|high|tall)\b", ((_AMOUNT, 1.0),)),
        (
            r"\b(?:limit|maximum|minimum|rate|percentage|number of|timeout|biggest|largest|most|least) ",
            ((_NUMBER, 1.0), (_AMOUNT, 0.7)),
        ),
        (r"\b(?:when|(?:what|which) (?:year|date|month))\b", ((_DATE, 1.0), (_DURATION, 0.6))),
        (r"\b(?:who|whom|whose)\b", ((_PERSON, 1.0), (_NAME, 0.7))),
        (r"\bwhere\b", ((_PLACE, 1.0), (_NAME, 0.6))),
        (r"\bwhy\b", ((_REASON, 1.0),)),
        (r"\bhow (?:do|can|should|to|would|must|is|are)\b|\bsteps?\b", ((_STEPS, 1.0),)),
    )
)


def fits(question: str, text: str) -> float:
    """How well a text holds the kind of thing that is asked for, in [0, 1]; 0.5 when nothing particular is."""
    for asked, expected in _EXPECTED:
        if asked.search(question):
            return next((value for pattern, value in expected if pattern.search(text)), 0.0)
    return 0.5
