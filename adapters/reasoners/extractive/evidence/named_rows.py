"""Rows beside the one that a question names: "is Teodor Wexley in Leeds?" asks nothing of whoever is in Leeds.

The reader takes each of them for an answer, since it has all of the question but the name.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.name_trail import mentions
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from adapters.reasoners.extractive.question.aggregation import aggregation_of
from core.model.markdown_lines import cells_of
from core.model.passage_units import Form, Unit

_YES_NO = re.compile(
    r"^(?:so |and |but )?(?:is|are|was|were|does|do|did|has|have|had|can|may|must|will|should)\b", re.IGNORECASE
)
_OTHERS = re.compile(
    r"\b(?:else|other|others|another|same|both|like|as|than|or|besides|except|anyone|somebody|any)\b", re.IGNORECASE
)
_OF_ANOTHER = -4.0  # added to the logarithm of the odds


def doubt_neighbours(question: str, weighed: Sequence[WeighedPassage]) -> list[WeighedPassage]:
    """With the rows doubted that stand beside the one which a yes/no question names; the rest stays."""
    if not _asks_of_one(question):
        return list(weighed)
    rows = [one for passage in weighed for one in passage.units if one.unit.form is Form.ROW and one.unit.head]
    named = {one.unit.head: key for one in rows if mentions(question, key := _key_of(one.unit))}
    return [replace(passage, units=_doubted(passage.units, named)) for passage in weighed] if named else list(weighed)


def is_named(question: str, row: Unit) -> bool:
    """Whether it is the row that a yes/no question names: what is asked of it stands in it, or does not."""
    return row.form is Form.ROW and _asks_of_one(question) and mentions(question, _key_of(row))


def _asks_of_one(question: str) -> bool:
    return bool(_YES_NO.match(question)) and not (_OTHERS.search(question) or aggregation_of(question))


def _doubted(units: Sequence[ScoredUnit], named: dict[tuple[str, ...], str]) -> tuple[ScoredUnit, ...]:
    done = (one if _may_answer(one, named) else with_odds(one, one.odds + _OF_ANOTHER) for one in units)
    return tuple(sorted(done, key=lambda one: -one.odds))


def _may_answer(one: ScoredUnit, named: dict[tuple[str, ...], str]) -> bool:
    key = named.get(one.unit.head, "") if one.unit.form is Form.ROW else ""
    return not key or mentions(one.unit.text, key)


def _key_of(row: Unit) -> str:
    """What a row's first cell names, two words at least: one alone may be an ordinary word."""
    key = cells_of(row.text)[0].strip("*_` ")
    return key if " " in key else "\0"
