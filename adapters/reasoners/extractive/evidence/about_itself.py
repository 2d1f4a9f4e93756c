"""Documents asked for by their title: which documents there are about something."""

import re
from collections.abc import Iterable, Iterator

from adapters.reasoners.extractive.question.intent import split_question
from core.model.evidence import Evidence
from core.model.passage_units import units
from core.model.text import content_words

_FOUND = 0.15  # a score of the search from which its first was right for 9 of 12 such questions
_WORDS_OF_OURS = r"glossary|vocabulary|terminology|abbreviations|acronyms|jargon"
_ASKS_FOR_WORDS = re.compile(rf"\b(?:{_WORDS_OF_OURS}|slang|lingo)\b", re.IGNORECASE)
_GLOSSARY = re.compile(rf"\b(?:{_WORDS_OF_OURS}|words (?:we|and|you|used)|terms (?:we|used))\b", re.IGNORECASE)


def titled(question: str, evidence: Iterable[Evidence]) -> frozenset[int]:
    """Where it is asked which documents there are about something: the evidence below a title or heading that has it.

    They need not say a thing about it in any one sentence. So does what has all its words in one, a table that has them
    over its columns, a title that has most of them, and what the search puts first; of words of one's own, a glossary.
    """
    asked, listed = split_question(question), list(evidence)
    topic = set(content_words(asked.question)) if asked.lists_documents else set()
    if not topic:
        return frozenset()
    first = max((item.hit.score for item in listed), default=1.0)
    return frozenset(
        item.id
        for item in listed
        if any(topic <= told for told in _told(item))
        or _most(topic, item)
        or (item.hit.score == first >= _FOUND)
        or (_ASKS_FOR_WORDS.search(asked.question) and _is_glossary(item))
    )


def _is_glossary(item: Evidence) -> bool:
    return any(_GLOSSARY.search(said) for said in (item.passage.title, *item.passage.heading))


def _most(topic: set[str], item: Evidence) -> bool:
    """Whether a title has two of the words at least, and two thirds of them."""
    shared = topic & set(content_words(item.passage.title))
    return len(shared) > 1 and 3 * len(shared) >= 2 * len(topic)


def _told(item: Evidence) -> Iterator[set[str]]:
    """The words over a passage and over its tables, and those of each of its sentences and rows."""
    listed = units(item.passage.text)
    heads = dict.fromkeys(unit.head[0] for unit in listed if unit.head)
    yield set(content_words(" ".join((item.passage.title, *item.passage.heading, *heads))))
    yield from (set(content_words(unit.text)) for unit in listed)
