"""Questions for what is not so: "what is not covered", "who isn't allowed", "which event is missing".

A sentence that denies something answers such a question sooner than one that has the same words and denies nothing:
the list of what is covered, beside the line of what is not. (Of three companies' 39 such questions one more was right
and two fewer wrong, and none was lost.)
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from adapters.reasoners.extractive.evidence.answer_odds import with_odds
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage
from core.model.passage_units import Form

_ASKS = re.compile(
    r"^(?:and |so |but |then )*(?:what|which|who|whom|whose|where|when|how many|for what|in which|list|name|all)\b"
    r".*(?:\b(?:not|never|without|except|excluded?|missing|lacks?|forbidden|prohibited|banned)\b|n['’]t\b"
    r"|\b(?:is|are|was|were|do|does|did|ca|wo|have|has)nt\b)",
    re.IGNORECASE,
)
# What is not so only sets the scene: "what do I do when the printer does not start", "of somebody who does not pay".
_SETS_SCENE = re.compile(
    r"\bif\b|\bwhy\b|\(not\b|(?<=\w )(?:when|once|after|because|since|while|who|that|which|where)\b"
    r"(?=(?: [\w-]+){0,6}? ?(?:\bnot\b|\bnever\b|n['’]t\b|\bwithout\b))|\bnot only\b",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:no|not|none|nobody|nothing|never|neither|nor|without|except|apart from|excluded?|exclud(?:es|ing)|exempt"
    r"|free|unless|missing|lacks?|cannot|forbidden|prohibited|banned|only|refused?|closed)\b|n['’]t\b",
    re.IGNORECASE,
)
_DENIED, _OTHERS = 1.0, -1.0  # added to the logarithm of the odds


def judge_denials(question: str, weighed: Sequence[WeighedPassage]) -> list[WeighedPassage]:
    """With the odds of what denies something raised and of the rest lowered, where it is asked for what is not so."""
    if not _ASKS.search(question) or _SETS_SCENE.search(question):
        return list(weighed)
    return [replace(one, units=tuple(sorted(map(_judged, one.units), key=lambda unit: -unit.worth))) for one in weighed]


def _judged(one: ScoredUnit) -> ScoredUnit:
    if one.unit.form is Form.ROW:
        return one  # a cell says it in its own way: "no", a dash, nothing
    return with_odds(one, one.odds + (_DENIED if _DENIES.search(one.unit.text) else _OTHERS))
