"""The table of rules: what speaks for or against a unit, whatever its features, added to its log odds.

``python -m research.ablation --rules`` leaves out each in turn and prints what that costs. A rule that does not make 3
of 1,000 more questions right than wrong on the sets for choosing is deleted, but for those marked "kept": what they
guard against is worse than its count.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.figures import contradicts, figures_in, in_range
from adapters.reasoners.extractive.evidence.scoring import STAMP, ScoredUnit
from adapters.reasoners.extractive.evidence.subjects import SubjectMatch
from adapters.reasoners.extractive.evidence.versions import states_only_version
from adapters.reasoners.extractive.question.answer_type import asks_of_document, lacks
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit
from core.model.text import content_words, words

_CODE = re.compile(r"[`{};=_]|\(\)|::|->")
_STOPPED = re.compile(r"[.!?:;)]\W*$")
_CELL_SAYS = re.compile(r"\w")  # a dash, a question mark or nothing says nothing
_GLUED = re.compile(r"[a-z).](?=[A-Z][a-z])")  # "OverviewIntro to …": a menu whose links touch
_MUCH_GLUED = 4
_MENU = 6  # words


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A unit beside its question; ``lacks_names``: its passage has none of the names and telling numbers asked for."""

    question: str
    one: ScoredUnit
    subject: SubjectMatch
    lacks_names: bool

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


def _is_debris(text: str) -> bool:
    """Whether it is a menu or a table that lost its cells: words that touch, or hardly a word without a capital."""
    glued = len(_GLUED.findall(text))
    if _CODE.search(text) or (glued < _MUCH_GLUED and _STOPPED.search(text)):
        return False
    said = words(text)
    capitals = sum(word[:1].isupper() for word in said)
    return glued > 1 or (len(said) >= _MENU and 2 * capitals > len(said))


def _has_other_figures(judged: JudgedUnit) -> bool:
    """Whether it has no figure of the question's, where that has any."""
    figures = figures_in(judged.question)
    passage, unit = judged.one.evidence.passage, judged.one.unit
    headless = unit.form is Form.ROW and not content_words(" ".join(unit.head))
    around = passage.text if headless else judged.placed
    return bool(figures) and not any(figure in around for figure in figures)


RULES: tuple[Rule, ...] = (
    Rule("an amount in the range", lambda it: in_range(it.question, it.text) is True, weights.IN_RANGE),
    Rule("an amount out of the range", lambda it: in_range(it.question, it.text) is False, weights.OUT_OF_RANGE),
    Rule("another number of the thing", lambda it: contradicts(it.question, it.placed), weights.OTHER_NUMBER),
    Rule("another thing beside it", lambda it: it.subject is SubjectMatch.OTHER, weights.OTHER_SUBJECT),
    Rule("a table of other names", lambda it: it.one.unit.form is Form.ROW and it.lacks_names, weights.EMPTY_CELL),
    Rule("the asked cell is empty", lambda it: is_asked_cell_empty(it.question, it.one.unit), weights.EMPTY_CELL),
    Rule("nothing of the kind", lambda it: lacks(it.question, it.one.text_with_context), weights.LACKS_KIND),
    Rule(
        "but a version's name",
        lambda it: states_only_version(it.question, it.one.evidence.passage.title, it.one.text_with_context),
        weights.ONLY_VERSION,
    ),
    Rule(
        "a stamp that is asked for",
        lambda it: asks_of_document(it.question) and bool(STAMP.match(it.text)),
        weights.STAMP_ASKED_FOR,
    ),
    Rule("other figures", _has_other_figures, weights.OTHER_FIGURE),
    Rule("a menu", lambda it: it.one.unit.form is Form.SENTENCE and _is_debris(it.text), weights.DEBRIS),
)
