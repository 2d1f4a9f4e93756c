"""The table of rules: what speaks for or against a unit, whatever its features, added to its log odds.

``python -m research.ablation --rules`` leaves out each in turn and prints what that costs. A rule that does not make 3
of 1,000 more questions right than wrong on the sets for choosing is deleted, but for those marked "kept": what they
guard against is worse than its count.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.figures import contradicts, in_range
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from adapters.reasoners.extractive.evidence.subjects import SubjectMatch
from adapters.reasoners.extractive.question.answer_type import lacks
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit
from core.model.text import content_words

_CELL_SAYS = re.compile(r"\w")  # a dash, a question mark or nothing says nothing


_KEPT = "kept: changes no verdict of 333 questions"


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A unit beside its question, and whether it is of the thing that is named."""

    question: str
    one: ScoredUnit
    subject: SubjectMatch

    @property
    def text(self) -> str:
        """The unit's own words."""
        return self.one.unit.text

    @property
    def placed(self) -> str:
        """The unit below its title, its last heading and its small heading."""
        passage = self.one.evidence.passage
        return " ".join((passage.title, *passage.heading[-1:], self.one.unit.under, self.text))


@dataclass(frozen=True, slots=True)
class Rule:
    """Where it ``applies``, ``adjust`` is added to the unit's log odds. ``effect`` is as measured."""

    name: str
    applies: Callable[[JudgedUnit], bool]
    adjust: float
    effect: str = ""


def adjusted(judged: JudgedUnit) -> float:
    """What all rules together add to a unit's log odds."""
    return sum(rule.adjust for rule in RULES if rule.applies(judged))


def is_asked_cell_empty(need: str, unit: Unit) -> bool:
    """Whether the row has nothing in the column that the question names: a capacity, for a machine without one."""
    if unit.form is not Form.ROW or not unit.head:
        return False
    wanted = set(content_words(need))
    for name, cell in zip(cells_of(unit.head[0]), cells_of(unit.text), strict=False):
        named = set(content_words(name))
        if not _CELL_SAYS.search(cell) and 2 * len(named & wanted) >= len(named) > 0:
            return True
    return False


RULES: tuple[Rule, ...] = (
    Rule("an amount in the range", lambda it: in_range(it.question, it.text) is True, weights.IN_RANGE, _KEPT),
    Rule("an amount out of the range", lambda it: in_range(it.question, it.text) is False, weights.OUT_OF_RANGE, _KEPT),
    Rule("another number of the thing", lambda it: contradicts(it.question, it.placed), weights.OTHER_NUMBER, _KEPT),
    Rule(
        "another thing beside it",
        lambda it: it.subject is SubjectMatch.OTHER,
        weights.OTHER_SUBJECT,
        "+3 right and -3 wrong of 1,000",
    ),
    Rule(
        "the asked cell is empty", lambda it: is_asked_cell_empty(it.question, it.one.unit), weights.EMPTY_CELL, _KEPT
    ),
    Rule("nothing of the kind", lambda it: lacks(it.question, it.one.text_with_context), weights.LACKS_KIND, _KEPT),
)
