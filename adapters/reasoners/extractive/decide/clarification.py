"""Readings of a question whose only noun is ambiguous in the evidence, and the reading that a person chose."""

import re
from collections.abc import Sequence
from dataclasses import replace

from adapters.reasoners.extractive.understand import PHRASES, word_sets
from core.model.evidence import Evidence, Grade
from core.model.inquiry import CheckpointKind, Inquiry, Investigate
from core.model.text import content_words, words

_UNDERSPECIFIED = PHRASES["UNDERSPECIFIED"]
_TOO = re.compile(r"^(?:the|our)\s+(?P<noun>[a-z]{4,})\s+(?:is|was|seems|are)\b", re.IGNORECASE)
_PLACE = re.compile(r"\s*\([^()]*\)\W*$")  # after a reading: the document it was found in
_QUOTED = re.compile(r"[“„«]\s?([^“”„«»]+?)\s?[”“»]")  # as suggestions name sections (core.service.follow_ups)
_NO_SENSE = word_sets("english")["no_sense"]


def noun_of(question: str) -> str:
    """Return the one bare noun that a question asks about: "timeout" in "How do I set the timeout?"."""
    if stated := _TOO.match(question.strip()):
        return stated["noun"].casefold()
    found = _UNDERSPECIFIED.match(question.strip())
    if found is None or not found["lead"]:
        return ""
    rest = words(found["rest"])
    return rest[0].casefold() if len(rest) == 1 and len(rest[0]) > 3 else ""


def readings(question: str, evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Return self-contained readings of a question whose only noun is ambiguous in the evidence. Empty otherwise."""
    noun = noun_of(question)
    if not noun:
        return ()
    senses = _senses(noun, evidence)
    if len(senses) < 2:
        return ()
    bare = re.compile(rf"\b(?:the|our|a)\s+{re.escape(noun)}\b", re.IGNORECASE)
    asked = question.strip().rstrip("?.! ")
    return tuple(f"{bare.sub(f'the {sense}', asked, count=1)} ({where})?" for sense, where in list(senses.items())[:4])


def chosen_reading(inquiry: Inquiry) -> tuple[str, tuple[str, ...]]:
    """Return the question in its own words, and the title that a chosen reading names, if one was chosen."""
    question = inquiry.standalone
    if CheckpointKind.CLARIFY in inquiry.settled:
        for title in dict.fromkeys(item.passage.title for item in inquiry.library):
            if question.endswith(place := f" ({title})?"):
                return f"{question.removesuffix(place)}?", (title,)
    return question, ()


def needs_of(inquiry: Inquiry) -> tuple[str, ...]:
    """Return the separate questions that an answer has to cover."""
    if isinstance(inquiry.plan, Investigate) and len(inquiry.plan.queries) > 1:
        return inquiry.plan.queries
    return (chosen_reading(inquiry)[0],)


def question_back(question: str) -> str:
    """Return the question which sense of the noun is meant."""
    noun = re.sub(r"(?<=[^aeiou])y$", "ie", noun_of(question))
    ending = "" if noun.endswith("s") else "es" if noun.endswith(("x", "ch", "sh")) else "s"
    return f"The documents mention several {noun}{ending}. Which one?"


def is_about_reading(inquiry: Inquiry, evidence: Evidence) -> bool:
    """Return whether a passage has a word that the chosen reading adds to the question."""
    own = set(content_words(_PLACE.sub("", inquiry.reading))) - set(content_words(inquiry.question))
    return not own or bool(own & set(content_words(evidence.passage.searchable)))


def _senses(noun: str, evidence: Sequence[Evidence]) -> dict[str, str]:
    """Return the noun with each word before it, and the document's title. One sense per section."""
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


def credit_offered(inquiry: Inquiry, item: Evidence, grade: Grade) -> Grade:
    """Raise the grade of a section that was offered: a chosen reading's, or one that the question quotes."""
    question, titles = chosen_reading(inquiry)
    heading = " ".join(item.passage.heading[-1:])
    named = frozenset(content_words(heading))
    chosen = item.passage.title in titles and bool(named) and named <= frozenset(content_words(question))
    quoted = {item.passage.title, heading} <= set(_QUOTED.findall(inquiry.question))
    return replace(grade, score=max(grade.score, inquiry.cutoff)) if chosen or quoted else grade
