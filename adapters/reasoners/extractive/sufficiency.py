"""Whether graded evidence covers the question, what is missing, and which search may find it.

Names that the best passages bring up and the question does not have are bridges to what one search cannot reach; the
searches over them carry the part of the question that their passage leaves open.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from adapters.reasoners.extractive.grading import CUTOFF, rarity_of
from adapters.reasoners.extractive.phrases import names
from adapters.reasoners.extractive.selection import coverage
from core.evidence import Evidence, Grade
from core.inquiry import Inquiry, Move, SearchKnowledge, SearchSource
from core.language import content_words, words

_BRIDGES = 4  # searches that one decision proposes at most
_LOOK_AT = 4  # best passages whose names are followed
_COVERED = 0.85  # of the question by one passage: nothing is left to bridge to
_ROUNDS = 2  # of bridging, so that no question searches for ever


def next_moves(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[str, tuple[Move, ...]]:
    """What is missing in a person's words, and the searches that may find it; nothing missing, no moves."""
    question = inquiry.standalone
    best = sorted(inquiry.library, key=lambda item: (-item.hit.score, item.id))
    if relevant and _one_covers(question, relevant, inquiry):
        return "", ()
    lacking = uncovered(question, relevant)
    moves: tuple[Move, ...] = ()
    rounds = _rounds(inquiry)
    if rounds == 0 or (lacking and rounds < _ROUNDS):
        moves = bridges(inquiry, best) or keywords(inquiry)
    if not relevant:
        return f"anything that answers “{question}”", moves
    if not lacking and not moves:
        return "", ()
    return ", ".join(lacking), moves


def _rounds(inquiry: Inquiry) -> int:
    """How many decisions have searched on: the searches after the plan's own, in batches."""
    planned = len(getattr(inquiry.plan, "queries", ())) or 1
    extra = max(0, len(inquiry.searches) - planned)
    return -(-extra // _BRIDGES)


def _one_covers(question: str, relevant: Sequence[Evidence], inquiry: Inquiry) -> bool:
    rarity = rarity_of(tuple(inquiry.library))
    wanted = content_words(question)
    return any(coverage(wanted, content_words(item.passage.searchable), rarity) >= _COVERED for item in relevant)


def uncovered(question: str, evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """The question's content words, as they stand in it, that no passage has."""
    there = {word for item in evidence for word in content_words(item.passage.searchable)}
    lacking = [word for word in words(question) if (found := content_words(word)) and not set(found) & there]
    return tuple(dict.fromkeys(lacking))


def tried(inquiry: Inquiry) -> set[frozenset[str]]:
    """The searches already made, as sets of stems."""
    made = [search.move for search in inquiry.searches]
    return {frozenset(content_words(move.query)) for move in made if isinstance(move, SearchKnowledge | SearchSource)}


def keywords(inquiry: Inquiry) -> tuple[Move, ...]:
    """The question's content words alone, when they were not searched yet: a sentence's padding may have misled."""
    bare = " ".join(word for word in words(inquiry.standalone) if content_words(word))
    made = {search.move.query.casefold() for search in inquiry.searches if isinstance(search.move, SearchKnowledge)}
    return (SearchKnowledge(bare),) if bare and bare.casefold() not in made else ()


def bridges(inquiry: Inquiry, evidence: Sequence[Evidence]) -> tuple[Move, ...]:
    """Searches for what the best passages name and the question does not, best passage first; none made before."""
    question = inquiry.standalone
    known = frozenset(content_words(question))
    done = tried(inquiry)
    found: dict[frozenset[str], SearchKnowledge] = {}
    for item in evidence[:_LOOK_AT]:
        for name in names(item.passage.text):
            stems = frozenset(content_words(name))
            if not stems or stems <= known or len(name) < 4 or stems in found:  # noqa: PLR2004 - initials lead nowhere
                continue
            query = f"{name} {_open_part(question, item)}".strip()
            if frozenset(content_words(query)) not in done:
                found[stems] = SearchKnowledge(query)
    return tuple(found.values())[:_BRIDGES]


def _open_part(question: str, item: Evidence) -> str:
    """What the question asks beyond what this passage says."""
    there = set(content_words(item.passage.searchable))
    return " ".join(word for word in words(question) if (found := content_words(word)) and not set(found) & there)


def credited(inquiry: Inquiry, item: Evidence, grade: Grade) -> Grade:
    """A passage that a good one names is a link of a chain: it counts although the question's words are not in it."""
    if grade.score >= CUTOFF or not inquiry.searches or item.query in getattr(inquiry.plan, "queries", ()):
        return grade
    title = frozenset(content_words(item.passage.title))
    if not title:
        return grade
    for good in inquiry.library.relevant(CUTOFF):
        if good.id != item.id and title <= frozenset(content_words(good.passage.text)) and item.passage.title in good.passage.text:
            return replace(grade, score=CUTOFF)
    return grade


_UNDERSPECIFIED = re.compile(
    r"^(?P<lead>(?:what(?:'s|’s| is| are)|how (?:do|can|should|would) (?:i|we|you) (?:configure|set|change|increase|raise|adjust|"
    r"extend|set up|control)|where (?:do|can) (?:i|we|you) (?:set|change|configure|find)|how (?:long|high|big|large) (?:is|are)|"
    r"can (?:i|we) (?:change|raise|increase|configure|set))\s+(?:the|our|a)\s+)?(?P<rest>.*?)\s*[?.!]*$",
    re.IGNORECASE,
)
_VAGUE_NOUN = re.compile(r"\b(?:the|our)\s+(?P<noun>[a-z]{4,})\b", re.IGNORECASE)
_NO_SENSE = frozenset(
    """default same new longer shorter current maximum minimum first second next last other another own each every one
    two three four single different total overall full whole""".split()
)


def noun_of(question: str) -> str:
    """The one bare noun that a question asks about, or nothing: "timeout" in "How do I configure the timeout?"."""
    found = _UNDERSPECIFIED.match(question.strip())
    if found is None or not found["lead"]:
        return ""
    rest = words(found["rest"])
    return rest[0].casefold() if len(rest) == 1 and len(rest[0]) > 3 else ""  # noqa: PLR2004


def readings(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Self-contained readings of a question whose one noun has several meanings in strong evidence; else none."""
    noun = noun_of(question)
    if not noun:
        return ()
    senses = _senses(noun, evidence)
    if len(senses) < 2:  # noqa: PLR2004
        return ()
    asked = question.strip().rstrip("?.! ")
    stem = re.sub(rf"\b(?:the|our|a)\s+{re.escape(noun)}$", "the", asked, flags=re.IGNORECASE)
    return tuple(f"{stem} {sense} ({where})?" for sense, where in list(senses.items())[:4])


def _senses(noun: str, evidence: Sequence[Evidence]) -> dict[str, str]:
    """The noun with each word that stands before it, and where; one sense for each section."""
    singular = re.escape(noun.removesuffix("s"))
    pattern = re.compile(rf"\b([a-z][a-z-]{{2,}})[ -]({singular}s?)\b", re.IGNORECASE)
    senses: dict[str, str] = {}
    sections: set[str] = set()
    for item in evidence:
        passage = item.passage
        text = "\n".join((*passage.heading, passage.text))
        for match in pattern.finditer(text):
            modifier = match.group(1).casefold()
            sense = f"{modifier} {noun}"
            if passage.section in sections or modifier in _NO_SENSE or not content_words(modifier) or sense in senses:
                continue
            senses[sense] = passage.title
            sections.add(passage.section)
    return senses
