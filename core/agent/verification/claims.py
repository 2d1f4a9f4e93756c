"""Parts of a draft: statements, leads, code, and statements about what the documents cover.

Every statement is a claim, even a short one: "No, it does not.", a list item of two words, a table row. Only
verification decides that a sentence states nothing. Code must be in a document verbatim.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from core.model.answer import Claim
from core.model.markdown_lines import FENCE, fenced_runs, is_table_rule, without_links
from core.model.text import cited_ids, content_words, sentences, without_markers

FEWEST_WORDS = 3
_DECORATION = re.compile(r"[*_`>#|~]+|^\s*(?:[-•]|\d+[.)])\s+", re.MULTILINE)
_SAYING = (
    r"(?:explicitly |directly |clearly |actually )?(?:say|state|mention|specif|contain|give|provid|includ|tell|name"
    r"|list|describ|cover|answer|indicat|discuss|address|explain|show|defin|have\b|refer|offer|speak|note)"
)
_OPENING = r"^\W*(?:(?:unfortunately|however|sorry|but|yet|still)\W+){0,2}"
_THE_SOURCES = (
    r"(?:(?:the|these|those|our|provided|given|available|retrieved|any|none|of) ){0,4}"
    r"(?:documents?|sources?|passages?|evidence|context|information|texts?|knowledge bases?)"
    r"(?: (?:here|above|below|provided|given|available|i (?:have|found)|at hand)){0,2}"
)
# "The documents do not say", "I could not find", "no source mentions".
_ABSENCE = re.compile(
    rf"{_OPENING}(?:{_THE_SOURCES} (?:(?:do|does|did) ?n[o'’]t|never|cannot) {_SAYING}"
    rf"|{_THE_SOURCES} (?:have|has|had|say|says|contains?|gives?|mentions?|shows?) (?:no\b|nothing\b)"
    rf"|{_THE_SOURCES} (?:is|are) silent\b|none of {_THE_SOURCES} {_SAYING}"
    r"|i (?:could|can|did|do|have|was|am)(?: ?n[o'’]t|not| not|n['’]t| unable to)"
    r" (?:find|found|say|tell|see|answer|locate|determine|have|know)"
    r"|i found (?:no\b|nothing\b)|i(?:'m| am) (?:sorry|afraid|unable)\b"
    rf"|no (?:document|source|passage|information|evidence)s? (?:here )?{_SAYING}"
    r"|nothing (?:in|about|on) (?:the|this|these|that)\b|not (?:in|from) the documents\W*$)",
    re.IGNORECASE,
)
# "The document provides information about X, but does not mention Y": the first half only introduces the second.
_ABSENCE_AFTER_ALL = re.compile(
    rf"{_OPENING}{_THE_SOURCES} (?:\w+ (?:information|details|guidance) (?:about|on|for)|mention|discuss|describ|cover"
    r"|refer|talk)\w* [^.;:\d]*?\b(?:but|and|yet|however)\b,? (?:(?:it|they) )?"
    rf"(?:(?:do|does|did) ?n[o'’]t|never) {_SAYING}[^.;:]*$",
    re.IGNORECASE,
)
# A sentence that goes on after such words may state anything.
_GOES_ON = re.compile(r"(?i)[;:–—]|\.\s|,?\s\b(?:but|however|although|though|yet|instead|usually|typically|normally)\b")
_YES_NO = re.compile(r"(?i)\b(?:yes|no|not|never|none|neither|\w+n['’]t)\b")
_CHOICE = re.compile(r"(?i)\bor\b|\boder\b|\bou\b|\b(?:which|whose|either|both)\b")
_LIST_NUMBER = re.compile(r"^\s*\d+[.)](?=\s|$)")
_AFTER_NO = re.compile(r"(?<=^No\.)\s+(?=[^\W\d])")  # "No." is also the abbreviation of number
_EXACT = re.compile(r"[\W_]+")
_BOLD_LINE = re.compile(r"^\s*(?:\*\*|__)[^*_\n]{1,120}(?:\*\*|__):?\s*$")


class UnitKind(StrEnum):
    """Kind of a piece of a draft."""

    STATEMENT = "statement"
    LEAD = "lead"  # a heading, a table's header, a question or a line that introduces the next ones
    COVERAGE = "coverage"  # says that the documents do not say something
    CODE = "code"  # a whole fenced block


@dataclass(frozen=True, slots=True)
class DraftUnit:
    """A verbatim piece of a draft and its start position.

    ``evidence`` has the ids that it cites. Without any, it has those of the next marker in its paragraph or list.
    """

    kind: UnitKind
    text: str
    start: int = 0
    evidence: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """Position after the last character."""
        return self.start + len(self.text)

    @property
    def is_short(self) -> bool:
        """Whether it cites nothing and is too short to be told from courtesy or a transition."""
        return not cited_ids(self.text) and len(content_words(without_markers(self.text))) < FEWEST_WORDS


def units_in(draft: str) -> tuple[DraftUnit, ...]:
    """Return all pieces of a draft that have a word, in order. A marker after a full stop belongs to that sentence."""
    found: list[DraftUnit] = []
    position = 0
    for fenced, lines in fenced_runs(draft.splitlines()):
        for unit in [DraftUnit(UnitKind.CODE, "\n".join(lines))] if fenced else _prose_units(lines):
            start = max(draft.find(unit.text, position), 0)
            position = start + len(unit.text)
            found.append(replace(unit, start=start, evidence=cited_ids(unit.text)))
    return _with_covering_marks(draft, found)


def _with_covering_marks(draft: str, units: Sequence[DraftUnit]) -> tuple[DraftUnit, ...]:
    """Give units without markers those of the next cited unit in their block, or of the last one before them."""
    covered: list[DraftUnit] = []
    for block in _blocks(draft, units):
        marks = [unit.evidence for unit in block]
        for at, unit in enumerate(block):
            before = next(filter(None, reversed(marks[:at])), ())
            covered.append(replace(unit, evidence=next(filter(None, marks[at:]), before)))
    return tuple(covered)


def _blocks(draft: str, units: Sequence[DraftUnit]) -> list[list[DraftUnit]]:
    """Group units into paragraphs and lists. A line that introduces a list joins it, even across a blank line."""
    blocks: list[list[DraftUnit]] = []
    for unit in units:
        last = blocks[-1][-1] if blocks else None
        joined = last is not None and (
            "\n\n" not in draft[last.end : unit.start] or without_markers(last.text).rstrip("*_ ").endswith(":")
        )
        if joined:
            blocks[-1].append(unit)
        else:
            blocks.append([unit])
    return blocks


def _prose_units(lines: Sequence[str]) -> Iterator[DraftUnit]:
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not _is_lead(line, below):
            yield from (DraftUnit(_kind(text), text) for text in _pieces(line) if _has_words(text))
        elif _has_words(line):
            yield DraftUnit(UnitKind.LEAD, line.strip())


def claims_in(draft: str) -> tuple[Claim, ...]:
    """Return the statements in order, except short ones, each with the evidence that it cites."""
    return tuple(
        Claim(unit.text, unit.evidence)
        for unit in units_in(draft)
        if unit.kind is UnitKind.STATEMENT and not unit.is_short
    )


def says_nothing(draft: str, question: str = "") -> bool:
    """Return whether a draft only says that the documents say nothing, or only repeats the question."""
    units = units_in(draft)
    stated = [
        unit for unit in units if unit.kind is not UnitKind.LEAD and not unit.is_short and not _repeats(unit, question)
    ]
    echoes = any(_asks(unit) or _repeats(unit, question) for unit in units)
    return all(_is_absence(unit.text) for unit in stated) if stated else echoes


def _asks(unit: DraftUnit) -> bool:
    return without_markers(unit.text).rstrip("*_ ").endswith("?")


def _repeats(unit: DraftUnit, question: str) -> bool:
    """Return whether a short unit only repeats words of the question, as a heading does. Yes, no and choices don't."""
    said = content_words(without_markers(unit.text))
    if _CHOICE.search(question):
        return False
    return 0 < len(said) < FEWEST_WORDS and set(said) <= set(content_words(question)) and not _YES_NO.search(unit.text)


def _is_lead(line: str, below: str) -> bool:
    """Return whether a line only introduces the next ones: "From *Refund policy*, section 4. Annual plans:"."""
    if cited_ids(line):
        return False
    is_header = "|" in line and is_table_rule(below) and not is_table_rule(line)
    leads = line.lstrip().startswith("#") or line.rstrip("*_ ").endswith(":")
    return leads or is_header or bool(_BOLD_LINE.match(line))


def _pieces(line: str) -> list[str]:
    """Split a line into sentences. A table row stays whole, and a "No." before a sentence is a sentence."""
    if line.lstrip().startswith("|") and line.count("|") > 1:
        return [line.strip()]
    return [part for piece in _with_their_markers(line) for part in _AFTER_NO.split(piece, maxsplit=1)]


def _kind(text: str) -> UnitKind:
    if _is_absence(text):
        return UnitKind.COVERAGE
    return UnitKind.LEAD if without_markers(text).strip().rstrip("*_ ").endswith("?") else UnitKind.STATEMENT


def _is_absence(text: str) -> bool:
    prose = _DECORATION.sub(" ", without_markers(text)).strip().rstrip(" .;:")
    return bool(_ABSENCE_AFTER_ALL.match(prose)) or (bool(_ABSENCE.match(prose)) and not _GOES_ON.search(prose))


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, _LIST_NUMBER.sub("", without_markers(text))))


def code_stands(block: str, texts: Iterable[str]) -> bool:
    """Return whether one of the texts has every line of a fenced block, ignoring white space."""
    lines = ["".join(line.split()) for line in block.splitlines() if not FENCE.match(line)]
    known = ["".join(text.split()) for text in texts]
    return any(all(line in text for line in lines) for text in known)


def verbatim_in(claim: str, texts: Sequence[str]) -> int | None:
    """Return the index of the first text with the claim's words in exactly this order, or None.

    Ignore punctuation and link targets: a quote has only the link's words.
    """
    said = _plain(without_markers(claim))
    return next((at for at, text in enumerate(texts) if said.strip() and said in _plain(text)), None)


def _with_their_markers(line: str) -> list[str]:
    """Return the sentences of a line, each with the markers that follow its full stop."""
    pieces: list[str] = []
    position = 0
    for sentence in sentences(line):
        start = line.index(sentence, position)
        position = start + len(sentence)
        alone = not without_markers(sentence).strip(" .;,")
        leading = re.match(r"(?:\s*\[[\d,\s]+\])+", sentence)
        if pieces and (alone or leading):
            end = position if alone else start + (leading.end() if leading else 0)
            begin = line.rindex(pieces[-1], 0, start)
            pieces[-1] = line[begin:end]
            rest = "" if alone else line[end:position].strip()
            if rest:
                pieces.append(rest)
        else:
            pieces.append(sentence)
    return pieces


def _plain(text: str) -> str:
    return f" {_EXACT.sub(' ', _DECORATION.sub(' ', without_links(text))).strip().casefold()} "
