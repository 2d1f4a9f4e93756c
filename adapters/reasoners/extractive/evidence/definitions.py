"""What a thing is, or is for: the entry of a glossary, what is called so, or what its own document says first.

Such a question has no word but the thing's name, which every sentence about it has. What defines it stands where its
name is an entry, or in the document that is called by it; beside that, a block of code tells nobody what a thing is.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage, says_something
from core.model.evidence import Evidence
from core.model.knowledge import Passage
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit, units
from core.model.text import STOPWORDS, content_words, stem, words

_STATED, _NOT_STATED = math.log(0.8 / 0.2), math.log(0.1 / 0.9)  # odds: as good as certain, and not evidence
_AHEAD = 0.1  # of whatever else has the name
_THING = r"(?:an? |the |our )?(?P<term>.+?)"
_ASKS = tuple(
    re.compile(rf"^\W*(?:so |and )?{asked}\W*$", re.IGNORECASE)
    for asked in (
        rf"what do(?:es)? {_THING} (?:mean|stand for)",
        rf"(?:what(?:['’]s| is| are)|define) {_THING}(?: (?:used |good |there |here )?for)?",
    )
)
# "what does exit code 7 of ovtool mean"
_ASKS_CODE = re.compile(
    r"^\W*what(?:['’]s| is| does| do) (?:an? |the |our )?(?:\w+ )?"
    r"(?P<kind>code|error|fault|status|alarm) (?P<term>[A-Z]{0,3}-?\d+)"
    r"(?: (?:of|in|on|from) [\w ]+?)?(?: mean| stand for)?(?: (?:of|in|on|from) [\w ]+?)?\W*$",
    re.IGNORECASE,
)
_LONGEST = 3  # words of a term
_ENTRY = re.compile(
    r"^[\W_]*(?P<term>[^:–—=]{2,60}?)[*_`\"”]*\s*(?::|–|—|=| - )[*_\s]+(?P<told>[^\W\d_].*)$", re.DOTALL
)
_CALLED = re.compile(r"\b(?:called|known as|named)[\s:]+(?:the |an? )?[*_\"“„`]*(?P<term>[^*_\"”“`.,;:()]+)")
_TOLD = 3  # words that carry meaning: "Plus: £6" is a price
_PAIR = 2  # cells


@dataclass(frozen=True, slots=True)
class Definition:
    """A term that a question asks the meaning of, by its stems."""

    term: tuple[str, ...]
    kind: str = ""  # of a code: its entry begins with it, in a list or a sentence, where such codes are listed

    def is_given_by(self, item: Evidence, unit: Unit) -> bool:
        """Whether a unit is the term's entry, says what is called so, or opens the document of that name."""
        if self.kind:
            above = " ".join((item.passage.title, *item.passage.heading, *unit.head[:1], unit.under))
            return bool(_entry_of(self.term[0]).search(unit.text)) and self.kind in content_words(above)
        return self._is_entry(unit) or self._is_called(unit) or self._opens(item.passage, unit)

    def _is_entry(self, unit: Unit) -> bool:
        if unit.form is Form.CODE:
            return False
        if unit.form is Form.ROW:
            cells = cells_of(unit.text)
            return len(cells) == _PAIR and self._is_term(cells[0])
        if unit.text.startswith(":"):
            return self._is_term(unit.under)
        found = _ENTRY.match(unit.text)
        return bool(found and self._is_term(found["term"]) and len(content_words(found["told"])) >= _TOLD)

    def _is_called(self, unit: Unit) -> bool:
        return any(self._is_term(found["term"]) for found in _CALLED.finditer(unit.text))

    def _opens(self, passage: Passage, unit: Unit) -> bool:
        own = self._is_term(passage.title) or self._is_term(PurePosixPath(passage.source).stem)
        return own and passage.ordinal == 0 and unit == _first_sentence(passage)

    def _is_term(self, text: str) -> bool:
        return content_words(text.replace("_", " ")) == self.term


def _entry_of(code: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^\W*|[;,] `?){re.escape(code)}\b(?=\W+[^\W\d_])", re.IGNORECASE)


def _first_sentence(passage: Passage) -> Unit | None:
    prose = (unit for unit in units(passage.text) if unit.form is Form.SENTENCE and says_something(unit))
    return next((unit for unit in prose if len(content_words(unit.text)) > _TOLD), None)


def definition_asked(question: str) -> Definition | None:
    """The term whose meaning is asked for; None where more is asked than that."""
    if code := _ASKS_CODE.match(question):
        return Definition(content_words(code["term"]), stem(code["kind"]))
    found = next(filter(None, (asks.match(question) for asks in _ASKS)), None)
    said = words(found["term"]) if found else ()
    if not 0 < len(said) <= _LONGEST or any(word.casefold() in STOPWORDS for word in said):
        return None
    return Definition(content_words(" ".join(said)))


def judge(question: str, weighed: Sequence[WeighedPassage]) -> list[WeighedPassage]:
    """What defines the term that is asked for comes before all else that has its name, and is no code beside it."""
    asked = definition_asked(question)
    if asked is None or not any(asked.is_given_by(one.evidence, one.unit) for found in weighed for one in found.units):
        return list(weighed)
    best = max(
        (one.odds for passage in weighed for one in passage.units if one.unit.form is not Form.CODE), default=0.0
    )

    def judged(one: ScoredUnit) -> ScoredUnit:
        if one.unit.form is Form.CODE:
            return with_odds(one, min(one.odds, _NOT_STATED))
        given = asked.is_given_by(one.evidence, one.unit)
        return with_odds(one, max(best + _AHEAD, _STATED)) if given else one

    found = []
    for passage in weighed:
        ordered = sorted(map(judged, passage.units), key=lambda one: -one.odds)
        found.append(replace(passage, units=tuple(ordered)))
    return found
