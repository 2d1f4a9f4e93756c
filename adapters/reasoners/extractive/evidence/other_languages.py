"""Documents in another language than English among English ones: read word by word, and searched in their own words.

What is counted of a sentence, and the reader of answers, know English. So a question and the passages that are in
another language than it are brought to English, by the same dictionaries, and what is quoted is the passage itself.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from adapters.reasoners.extractive.evidence.scoring import WeighedPassage
from adapters.reasoners.extractive.evidence.units import units
from adapters.reasoners.extractive.question.query_translation import (
    LANGUAGES,
    dictionary_of,
    english_of,
    foreign_words_of,
)
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, Investigate, SearchAction, SearchKnowledge, SearchSource
from core.model.knowledge import Passage
from core.model.languages import language_of
from core.model.text import content_words


def parts_by_language(question: str, evidence: Sequence[Evidence]) -> list[list[Evidence]]:
    """What is in the question's own language, and what is not; all together for a question in English."""
    others = _in_others(question, evidence)
    own = [item for item in evidence if item not in others]
    return [part for part in (own, others) if part]


def _in_others(question: str, evidence: Sequence[Evidence]) -> list[Evidence]:
    language = language_of(question)
    return [item for item in evidence if language in LANGUAGES and language_of(item.passage.text) != language]


def read_by(inquiry: Inquiry) -> Sequence[Evidence]:
    """What was found by whose words the question is read: by what answers it, where it is not in English.

    Where nothing does, by what is in another language than it.
    """
    found = tuple(inquiry.library)
    if language_of(inquiry.standalone) not in LANGUAGES:
        return found
    return inquiry.library.relevant(inquiry.cutoff)[:1] or _in_others(inquiry.standalone, found) or found


def in_english(item: Evidence) -> Evidence:
    """The evidence with its passage word by word in English; as it is where its language has no dictionary."""
    return replace(item, hit=replace(item.hit, passage=_glossed(item.passage)))


@lru_cache(maxsize=1024)
def _glossed(passage: Passage) -> Passage:
    language = language_of(passage.text)
    if language not in LANGUAGES:
        return passage
    dictionary = dictionary_of(language)
    glossed = replace(
        passage, text=dictionary.gloss(passage.text), heading=tuple(map(dictionary.gloss, passage.heading))
    )
    return glossed if len(units(glossed.text)) == len(units(passage.text)) else passage


def as_written(weighed: Sequence[WeighedPassage], evidence: Sequence[Evidence]) -> list[WeighedPassage]:
    """What was weighed in English, with its passages and units as they stand in the document."""
    written = {item.id: item for item in evidence}
    return [_as_written(one, written[one.evidence.id]) for one in weighed]


def _as_written(weighed: WeighedPassage, item: Evidence) -> WeighedPassage:
    if weighed.evidence == item:
        return weighed
    pairs = zip(units(weighed.evidence.passage.text), units(item.passage.text), strict=True)
    written = dict(reversed(list(pairs)))
    found = (replace(one, evidence=item, unit=written[one.unit]) for one in weighed.units)
    return replace(weighed, evidence=item, units=tuple(found))


def in_their_words(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """Searches in the languages of what was found besides: in the document that is named, or where nothing answers.

    A question in such a language, that what is in it does not answer, is searched for in English. Once.
    """
    planned = len(inquiry.plan.queries) if isinstance(inquiry.plan, Investigate) else 1
    if len(inquiry.searches) > planned:
        return ()
    question = inquiry.standalone
    if language_of(inquiry.question) in LANGUAGES:
        return () if relevant else (SearchKnowledge(english_of(question)),)
    found = (*(item.passage for item in inquiry.library), *(hit.passage for hit in inquiry.library.further))
    foreign = [one for one in found if language_of(one.text) in LANGUAGES]
    asked = set(content_words(question))
    named = {one.title: language_of(one.text) for one in foreign if asked & set(content_words(one.title))}
    if named:
        return tuple(
            SearchSource(foreign_words_of(question, language) or question, title) for title, language in named.items()
        )
    languages = dict.fromkeys(language_of(one.text) for one in foreign) if not relevant else ()
    return tuple(SearchKnowledge(words) for one in languages if (words := foreign_words_of(question, one)))
