"""The version that a question names: "the limit in v2", "the excess under the 2023 terms", "the 2025 price".

What is asked of a version stands in its document without the version's name, which its title or its head says once. So
a passage of that version is compared with the question without the name, and any other one counts less.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.answer_odds import doubted
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from adapters.reasoners.extractive.evidence.versions import HEAD, NUMBERED, YEAR
from core.model.evidence import Evidence
from core.model.knowledge import Passage
from core.model.text import content_words

_NUMBER = re.compile(r"(?<![\d.])\d+(?:\.\d+)*(?!\d)")
_LEADING = r"(?:\b(?:in|of|under|by|for|with|on|from|according to)(?: the)? )?(?:\b(?:old|new|current) )?"
_KINDS = "terms|edition|conditions|rules|version|contract|policy|list|prices"
_NAMES_VERSION = re.compile(
    rf"{_LEADING}\b(?:version|v|release|edition|revision)\.? ?(\d+(?:\.\d+)*)\b"
    rf"|{_LEADING}(?:\blast year,? (?:i\.e\. |that is )?)?\(?\b((?:19|20)\d\d)\b\)?(?: (?:{_KINDS})\b)?"
    r"|(?<=[a-z]) (\d+\.\d+(?:\.\d+)*)\b",
    re.IGNORECASE,
)
_BEFORE_MARK = re.compile(r" (?=[?,.;:])")


@dataclass(frozen=True, slots=True)
class NamedVersion:
    """The number or year of a version that a question names, and the question without it."""

    number: str
    bare_question: str

    def is_of(self, passage: Passage) -> bool:
        """Whether a passage stands in this version: by its title, its headings, its own head, or the year it states."""
        head = passage.text[:HEAD] if passage.ordinal == 0 else ""
        above = " ".join((passage.title, *passage.heading))
        of_year = bool(YEAR.fullmatch(self.number)) and passage.dated[:4] == self.number
        return of_year or self.number in {*_NUMBER.findall(above), *NUMBERED.findall(head)}

    def holds(self, one: ScoredUnit) -> bool:
        """Whether a unit stands in this version."""
        return self.is_of(one.evidence.passage)

    def doubt_others(self, units: Sequence[ScoredUnit]) -> list[ScoredUnit]:
        """What stands elsewhere, doubted where it does not name this version itself: "in 2025 it was £9"."""
        return [one if self._tells_of(one) else doubted(one, weights.OTHER_NUMBER) for one in units]

    def _tells_of(self, one: ScoredUnit) -> bool:
        return self.holds(one) or self.number in _NUMBER.findall(one.text_with_context)


def version_named(question: str, pool: Sequence[Evidence]) -> NamedVersion | None:
    """The one version that a question names, where something was found of it.

    Where a table has it in a cell it is a row that is meant: "when did 4.0 come out".
    """
    found = list(_NAMES_VERSION.finditer(question))
    if len(found) != 1:
        return None
    (name,) = found
    number = next(group for group in name.groups() if group)
    bare = " ".join(f"{question[: name.start()]} {question[name.end() :]}".split())
    version, cell = NamedVersion(number, _BEFORE_MARK.sub("", bare)), re.compile(rf"\| *{re.escape(number)} *\|")
    if not content_words(bare) or any(cell.search(item.passage.text) for item in pool):
        return None
    return version if any(version.is_of(item.passage) for item in pool) else None
