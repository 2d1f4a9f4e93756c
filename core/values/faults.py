"""Finds the hard facts of a claim that do not follow from the evidence."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise, product

from core.model.languages import language_of
from core.model.text import content_words, sentences
from core.values.arithmetic import MEASURED, Operands, follows, named_steps, rounds_to, same
from core.values.dates import Scan
from core.values.names import (
    Vocabulary,
    knows_code,
    knows_initials,
    knows_name,
    knows_version,
    read_codes,
    read_names,
    vocabulary_of,
)
from core.values.reading import read_figures
from core.values.units import Kind, Value

MOST_ROWS = 12  # longest list whose rows a claim may count
MOST_JOINED = 5  # values of a sentence or column; pairs from more values give almost any number
MOST_SHARED = 3  # the same for percentages, which match more easily because they are rounded
_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s")
_RULE = re.compile(r"[|:\- ]*-[|:\- ]*")
_AND = re.compile(r",?\s(?:and|or|und|oder|sowie|et|ou|y|e|o|u)\s", re.IGNORECASE)
_EVERY_DAY = re.compile(
    r"(?i)\b(?:every day|(?:on )?weekdays|seven days a week|täglich|jeden tag|werktags|tous les jours|todos los días)\b"
)
_NEXT_MONTH = re.compile(r"(?i)\b(?:following|next) month|folgemonat|folgenden monats|mois suivant|mes siguiente")
_ORDINAL = re.compile(r"(?i)(?:\bd[ií]a |\b)(\d{1,2})(?:(?:st|nd|rd|th|er|º|\.)(?=\W)|(?= del mes))")
_TO = re.compile(r"\s*(?:-|–|to|through|until|bis|au|à|a|al|hasta)\s*")
_RUN = re.compile(r"(?:[A-Z][^\W\d_]+\s+(?:(?:of|and|the|de|du|der|des|del|y|et|und)\s+)?){1,5}[A-Z][^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """A value of a claim that the evidence does not have, and the reason in plain English."""

    text: str
    kind: Kind
    reason: str


@lru_cache(maxsize=2_048)
def values_in(text: str, language: str = "") -> tuple[Value, ...]:
    """Return the values of a text in order. ``language`` is en, de, fr or es; empty: it is guessed."""
    page = Scan(text, language)
    names = list(read_names(page))
    figures = _read_figures(page)
    names = [name for name in names if not any(one.start < name.end and name.start < one.end for one in figures)]
    return tuple(sorted((*figures, *names), key=lambda value: value.start))


def _read_figures(page: Scan) -> list[Value]:
    return sorted((*read_codes(page), *read_figures(page)), key=lambda value: value.start)


def value_faults(
    claim: str, evidence: Sequence[str], question: str = "", *, words: Sequence[str] = (), language: str = ""
) -> tuple[Fault, ...]:
    """Return every hard fact of a claim that does not follow from the evidence.

    Args:
        claim: a sentence or a list item of an answer.
        evidence: the texts of passages with their titles.
        question: a value that the question states is not a fault.
        words: the words of the evidence that the claim rests on; may be empty.
        language: of the claim; guessed if empty.

    A value follows if a text has it, after normalisation, or if one step of arithmetic leads to it: a sum, a
    difference, a product, a share, rounding, a date and a duration, a weekday, a count of rows. A value that needs two
    steps is a fault. Values swapped between two rows are no fault here; the verifier finds those.
    """
    texts = (*evidence, *words)
    claimed = values_in(claim, language)
    if not claimed:
        return ()
    known = [value for text in texts for value in _parse(text).values]
    asked = [value for value in values_in(question) if value.kind is not Kind.NAME]
    about = frozenset(content_words(f"{claim} {question}"))
    check = _Check(claim, claimed, texts, known, asked, tuple(words), question, language or language_of(claim), about)
    return tuple(fault for fault in map(check.fault_of, claimed) if fault)


def exchanged_values(claim: str, words: str, evidence: Sequence[str], question: str = "") -> tuple[Fault, ...]:
    """Return the claim's values that are elsewhere in the evidence, while the words it rests on have different ones.

    Reports a value only if the words have none of the claim's values of its kind and unit, and have another one. The
    words may be a partial quote.
    """
    if not (there := values_in(words)):
        return ()
    claimed = values_in(claim)
    missing = value_faults(claim, [words], question, words=[words])
    texts = [fault.text for fault in missing]
    wrong: list[Fault] = []
    for value in claimed:
        alike = [one for one in claimed if _is_alike(one, value)]
        missed = all(one.text in texts for one in [value, *alike]) and any(_is_alike(one, value) for one in there)
        if missed and _is_elsewhere(value, evidence):
            wrong.append(Fault(value.text, value.kind, f'the words it rests on do not have "{value.text}"'))
    return tuple(wrong)


def _is_elsewhere(value: Value, evidence: Sequence[str]) -> bool:
    if value.kind in {Kind.NAME, Kind.CODE, Kind.VERSION}:
        return any(value.key.casefold() in text.casefold() for text in evidence)
    return any(same(value, known) for text in evidence for known in _parse(text).values)


def _is_alike(one: Value, other: Value) -> bool:
    if one.kind in MEASURED and other.kind in MEASURED:
        return one.unit == other.unit or (not (one.unit and other.unit) and not (one.counts or other.counts))
    return one.kind is other.kind


_CALENDAR = frozenset({Kind.DATE, Kind.TIME})
_JOINED = MEASURED | _CALENDAR
_Groups = tuple[tuple[Value, ...], ...]
_Cells = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """Two neighbouring sentences, or a table row, with their values and the stems of their words."""

    values: tuple[Value, ...]
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The values of a passage by sentence, row and column, and the lengths of its lists."""

    values: tuple[Value, ...]
    lines: tuple[_Line, ...]
    blocks: _Groups
    counts: frozenset[int]
    cells: _Cells
    english: bool


@lru_cache(maxsize=1_024)
def _parse(text: str) -> _Parsed:
    values = _read_figures(Scan(text, ""))  # names and codes are searched in the text itself
    lines: list[_Line] = []
    at, before = 0, ""
    for sentence in sentences(text):
        start = text.find(sentence, at)
        at = start + len(sentence)
        begin = start - len(before) - 1 if before else start
        inside = [one for one in values if begin <= one.start < at and one.kind in _JOINED and not one.loose]
        if inside:
            lines.append(_Line(tuple(_distinct(inside)), frozenset(content_words(f"{before} {sentence}"))))
        before = "" if sentence.startswith("|") else sentence
    return _Parsed(tuple(values), tuple(lines), *_blocks(text, values), language_of(text) == "en")


def _blocks(text: str, values: Sequence[Value]) -> tuple[_Groups, frozenset[int], _Cells]:
    """Return the values by column or list, the number of rows of each list, and the cells that several rows share."""
    columns: dict[tuple[int, int], list[Value]] = {}
    cells: dict[tuple[int, int], Counter[str]] = {}
    rows: Counter[int] = Counter()
    block, start, inside = 0, 0, False
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        form = "row" if line.lstrip().startswith("|") else "item" if _ITEM.match(line) else ""
        if not form and not (inside and line.startswith((" ", "\t"))):
            block, inside = block + 1, False
        elif form == "row" and _RULE.fullmatch(line.strip()):
            rows[block] = 0  # the rows above are the header
        elif form:
            rows[block] += 1
            inside = True
            edges = [start + at for at, mark in enumerate(line) if mark == "|"] if form == "row" else []
            for value in values:
                if start <= value.start < end:
                    columns.setdefault((block, sum(edge < value.start for edge in edges)), []).append(value)
            for at, cell in enumerate(line.strip().strip("|").split("|") if edges else []):
                cells.setdefault((block, at), Counter())[cell.strip().casefold()] += 1
        start = end
    counts = frozenset(count for count in (*rows.values(), *_series(text)) if 2 <= count <= MOST_ROWS)
    shared = tuple((cell, n) for column in cells.values() for cell, n in column.items() if 2 <= n <= MOST_ROWS and cell)
    return tuple(map(tuple, columns.values())), counts, shared


@dataclass(frozen=True, slots=True)
class _Check:
    claim: str
    claimed: Sequence[Value]
    texts: Sequence[str]
    known: Sequence[Value]
    asked: Sequence[Value]
    words: tuple[str, ...]
    question: str
    language: str
    about: frozenset[str]

    def fault_of(self, value: Value) -> Fault | None:
        """Return the fault of one value, if it has one."""
        if value.kind is Kind.NAME:
            has = self._knows_name(value)
        elif value.kind in {Kind.CODE, Kind.VERSION}:
            look = knows_code if value.kind is Kind.CODE else knows_version
            has = any(look(text, value.key) for text in self._vocabularies())
        else:
            has = value.loose or self._has_figure(value) or self._follows(value)
        if has and value.kind is not Kind.WEEKDAY:
            return None
        if value.kind is Kind.WEEKDAY and (day := self._date_beside(value)):
            return None if follows(value, Operands(singles=[day])) else Fault(
                value.text, value.kind, f'"{day.text}" is not a {value.text}'
            )  # fmt: skip
        if has:
            return None
        return Fault(value.text, value.kind, self._reason(value))

    def _vocabularies(self) -> Iterator[Vocabulary]:
        return map(vocabulary_of, (*self.texts, self.question))

    def _knows_name(self, value: Value) -> bool:
        known = list(self._vocabularies())
        if any(knows_name(text, value.key) for text in known):
            return True
        if self.language == "de" and any(knows_name(text, word) for word in value.key.split() for text in known):
            return True  # German nouns are capitalised: "Tarif Fleet"
        if value.key.isupper() and re.search(r"\w\s\($", self.claim[: value.start]):
            return True  # the claim itself spells out the abbreviation
        if " " not in value.key and any(language_of(text) != self.language for text in self.texts):
            return True  # names differ between languages: MwSt., TVA and VAT; Londres and London
        runs = (run.group() for run in _RUN.finditer(self.claim) if run.start() <= value.start < run.end())
        return any(knows_initials(text, run) for run in runs for text in known)

    def _has_figure(self, value: Value) -> bool:
        if any(same(value, known) or rounds_to(value, known) for known in (*self.known, *self.asked)):
            return True
        if "." in value.text and any(knows_version(text, value.text) for text in self._vocabularies()):
            return True
        if value.kind is Kind.NUMBER and value.numbers[0].denominator == 1:
            return any(
                knows_code(text, str(value.numbers[0])) and _in_code(text, value) for text in self._vocabularies()
            )
        if value.kind is Kind.DATE:
            return self._has_date_apart(value) or self._has_day_of_next_month(value)
        if value.kind is Kind.WEEKDAY:
            return any(_EVERY_DAY.search(text) or _between(text, value) for text in self.texts)
        return False

    def _has_date_apart(self, value: Value) -> bool:
        """Return whether the texts have the day, and the year elsewhere, such as in a title."""
        years = {one.dates[0][0] for one in (*self.known, *self.asked) if one.dates}
        return any(
            same(Value(Kind.DATE, "", 0, 0, dates=((None, month, day),)), known)
            for year, month, day in value.dates
            if year in years and month
            for known in (*self.known, *self.asked)
            if any(reading[0] in {None, year} for reading in known.dates)
        )

    def _has_day_of_next_month(self, value: Value) -> bool:
        """Return whether a text has this day in "the following month", a month that the claim names."""
        days = {str(day) for _, _, day in value.dates if day}
        texts = (text for text in self.texts if _NEXT_MONTH.search(text))
        return any(day in days for text in texts for day in _ORDINAL.findall(text))

    def _follows(self, value: Value) -> bool:
        others = [one for one in self.claimed if one is not value and one.kind in MEASURED]
        return follows(value, self._operands(value)) or named_steps(value, others)

    def _operands(self, value: Value) -> Operands:
        """Return the operands: values named by the claim, its words or the question, and values of one sentence."""
        parsed = [_parse(text) for text in self.texts]
        chosen = [[line for line in text.lines if self._concerns(line, text.english)] for text in parsed]
        lines = [line.values for one in chosen for line in one]
        columns = [
            [one for one in block if any(one in line.values for line in near)]
            for text, near in zip(parsed, chosen, strict=True)
            for block in text.blocks
        ]
        known = _distinct(one for line in lines for one in line)
        others = [one for one in self.claimed if one is not value and one.kind in _JOINED]
        matches = [(one, [other for other in self.known if same(one, other)]) for one in others]
        named = [one for one, found in matches if found]
        meant = _distinct(other for one, found in matches for other in found if other.unit != one.unit)
        asked = [one for one in (*self.asked, *others) if one not in named and one.kind in _JOINED]
        relied = [one for text in self.words for one in _parse(text).values if one.kind in _JOINED]
        near = [*_distinct(relied), *named, *meant]
        pairs = [*combinations(near, 2), *product(near, asked)]
        if not self.words and sum(_may_make(one, value) for one in named) < 2:
            pairs += product(_distinct([*named, *asked]), [one for one in known if _may_make(one, value)])
            most = MOST_SHARED if value.kind is Kind.PERCENT else MOST_JOINED
            pairs += [pair for group in (*lines, *columns) if len(group) <= most for pair in combinations(group, 2)]
        sums = [relied, others, *lines, *(block for text in parsed for block in text.blocks)]
        counts = {count for text in parsed for count in text.counts}
        counts |= {count for text in parsed for cell, count in text.cells if cell in self.claim.casefold()}
        return Operands(pairs, sums, [*near, *asked], frozenset(counts | _series(self.claim, least=0)))

    def _concerns(self, line: "_Line", english: bool) -> bool:
        """Return whether a sentence of the documents shares a content word with the claim or the question."""
        return not english or self.language != "en" or not self.about.isdisjoint(line.stems)

    def _date_beside(self, value: Value) -> Value | None:
        """Return the full date that the claim gives right after or before a weekday."""
        for one in self.claimed:
            if one.kind is Kind.DATE and len(one.dates) == 1 and None not in one.dates[0]:
                gap = self.claim[min(value.end, one.end) : max(value.start, one.start)]
                if len(gap) <= 6 and not re.search(r"\d", gap):
                    return one
        return None

    def _reason(self, value: Value) -> str:
        if (
            value.kind in MEASURED
            and value.unit
            and any(set(value.numbers) & set(one.numbers) for one in self.known if one.kind in MEASURED)
        ):
            return f'the documents have "{value.text}" with another unit'
        if value.kind in MEASURED and len(self.claimed) > 1:
            return f'the documents do not have "{value.text}", and it does not follow from their values'
        return f'the documents do not have "{value.text}"'


def _distinct(values: Iterable[Value]) -> list[Value]:
    return list({(one.kind, one.numbers, one.unit, one.factor, one.dates): one for one in values}.values())


def _may_make(known: Value, value: Value) -> bool:
    """Return whether a known value is of a kind that can be an operand for ``value``."""
    if value.kind in _CALENDAR:
        return known.kind is Kind.DURATION
    share = known.kind is Kind.PERCENT and value.kind in {Kind.MONEY, Kind.QUANTITY}
    return share or (
        bool(value.unit) and (known.unit == value.unit or (value.kind is Kind.DURATION and known.kind in _CALENDAR))
    )


def _in_code(text: Vocabulary, value: Value) -> bool:
    """Return whether the text has the number within a code or name: 4012 of ERR-4012, 8080 of localhost:8080."""
    return bool(re.search(rf"[a-z][-_:#/ ]?{value.numbers[0]}(?!\w|[.,]\d)", text.text))


def _between(text: str, value: Value) -> bool:
    """Return whether a text has a range of weekdays around this one: Monday to Friday."""
    days = [one for one in _parse(text).values if one.kind is Kind.WEEKDAY]
    return any(
        (int(value.key) - int(one.key)) % 7 <= (int(other.key) - int(one.key)) % 7
        for one, other in pairwise(days)
        if _TO.fullmatch(text[one.end : other.start])
    )


def _series(text: str, least: int = 1) -> set[int]:
    """Return the lengths of the enumerations with at least ``least`` commas: 3 for "Oslo, Turku and Malmö"."""
    pieces = (_AND.split(part)[:-1] for part in re.split(r"[;:.\n]", text))
    return {piece.count(",") + 2 for found in pieces for piece in found if piece.count(",") >= least}
