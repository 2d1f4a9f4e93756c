"""Word-by-word translation of documents in other languages, and searches in their languages.

The features and the answer reader only know English. So the same dictionaries translate the question and the passages,
even if both are in the same other language. Quotes come from the original passage.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from adapters.reasoners.extractive.evidence.scoring import WeighedPassage
from adapters.reasoners.extractive.question.query_translation import (
    LANGUAGES,
    dictionary_of,
    foreign_words_of,
)
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, Investigate, SearchAction, SearchKnowledge, SearchSource
from core.model.knowledge import Passage
from core.model.languages import language_of
from core.model.passage_units import units
from core.model.text import content_words


def in_english(items: Sequence[Evidence]) -> list[Evidence]:
    """Return the evidence with its passages translated word by word. Those without a dictionary stay."""
    return [replace(item, hit=replace(item.hit, passage=_glossed(item.passage))) for item in items]


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
    """Return the scored passages with their original text and units."""
    items, done = {item.id: item for item in evidence}, list[WeighedPassage]()
    for one in weighed:
        item = items[one.evidence.id]
        if one.evidence == item:
            done.append(one)
            continue
        pairs = zip(units(one.evidence.passage.text), units(item.passage.text), strict=True)
        written = dict(reversed(list(pairs)))
        found = (replace(unit, evidence=item, unit=written[unit.unit]) for unit in one.units)
        done.append(replace(one, evidence=item, units=tuple(found)))
    return done


def in_their_words(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """Return searches for an English question in the other languages of found passages, at most once.

    Search the documents that the question names, or everything if nothing answers.
    """
    planned = len(inquiry.plan.queries) if isinstance(inquiry.plan, Investigate) else 1
    if len(inquiry.searches) > planned or language_of(inquiry.question) in LANGUAGES:
        return ()
    question = inquiry.standalone
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
