"""Whether graded evidence covers the question, what is missing, and which search may find it.

A part of a question that no good passage mentions is missing; names that the best passages bring up and the question
does not have are bridges to it.
"""

import re
from collections.abc import Iterable, Sequence

from adapters.reasoners.extractive.phrases import names
from core.evidence import Evidence
from core.inquiry import Inquiry, SearchKnowledge, SearchSource
from core.language import content_words, stem, words

_BRIDGES = 3  # proposals in one decision
_LOOK_AT = 4  # best passages whose names are followed


def uncovered(question: str, evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """The question's content words, as they stand in it, that no passage has."""
    there = {word for item in evidence for word in content_words(item.passage.searchable)}
    lacking = [word for word in words(question) if content_words(word) and not set(content_words(word)) & there]
    return tuple(dict.fromkeys(lacking))


def tried(inquiry: Inquiry) -> set[frozenset[str]]:
    """The searches already made, as sets of stems."""
    made = [search.move for search in inquiry.searches]
    return {frozenset(content_words(move.query)) for move in made if isinstance(move, SearchKnowledge | SearchSource)}


def bridges(inquiry: Inquiry, evidence: Sequence[Evidence]) -> tuple[SearchKnowledge, ...]:
    """Searches for what the best passages name and the question does not, best passage first; none made before."""
    question = inquiry.standalone
    known = frozenset(content_words(question))
    done = tried(inquiry)
    titles = {frozenset(content_words(item.passage.title)) for item in inquiry.library}
    found: dict[frozenset[str], SearchKnowledge] = {}
    for item in evidence[:_LOOK_AT]:
        for name in names(item.passage.text):
            stems = frozenset(content_words(name))
            if not stems or stems <= known or stems in titles or not _linkable(name):
                continue
            query = f"{name} {_need(question, item)}".strip()
            key = frozenset(content_words(query))
            if key not in done and stems not in done:
                found.setdefault(stems, SearchKnowledge(query))
    return tuple(found.values())[:_BRIDGES]


def _linkable(name: str) -> bool:
    return len(name) > 3 and not re.fullmatch(r"[\d\s]+", name)  # noqa: PLR2004


def _need(question: str, item: Evidence) -> str:
    """What the question asks beyond what this passage says."""
    there = set(content_words(item.passage.searchable))
    return " ".join(word for word in words(question) if content_words(word) and stem(word) not in there)


def readings(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Self-contained readings of a question whose one noun has several meanings in strong evidence; else none."""
    found = re.match(
        r"^(?P<lead>(?:what(?:'s| is| are)|how (?:do|can|should) (?:i|we|you) (?:configure|set|change|increase|raise|adjust)|"
        r"where (?:do|can) (?:i|we) (?:set|change|configure|find)|how (?:long|high|big|large) is)\s+(?:the|our|a)\s+)(?P<noun>[a-z]+)\s*\?*$",
        question.strip(),
        re.IGNORECASE,
    )
    if found is None:
        return ()
    noun = found["noun"]
    senses = _senses(noun, evidence)
    if len(senses) < 2:  # noqa: PLR2004
        return ()
    return tuple(f"{found['lead']}{sense} ({where})?" for sense, where in list(senses.items())[:4])


def _senses(noun: str, evidence: Sequence[Evidence]) -> dict[str, str]:
    """The noun with each word that stands before it, and where; one sense for each section."""
    pattern = re.compile(rf"\b([a-z][a-z-]{{2,}})[ -]{re.escape(noun)}s?\b", re.IGNORECASE)
    senses: dict[str, str] = {}
    taken: set[str] = set()
    for item in evidence:
        place = item.passage.section
        for match in pattern.finditer(" ".join((*item.passage.heading, item.passage.text))):
            modifier = match.group(1).casefold()
            if place in taken or not content_words(modifier) or modifier in {"default", "same", "new", "longer", "shorter", "current", "maximum", "minimum"}:
                continue
            sense = f"{modifier} {noun}"
            if sense not in senses:
                senses[sense] = item.passage.title
                taken.add(place)
    return senses
