"""Searches for the table that a question asks as a whole: its rest, its column, its title."""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.evidence.searches_made import ASKED_ABOUT
from adapters.reasoners.extractive.question.aggregation import aggregation_of, lists_rows
from adapters.reasoners.extractive.question.named_things import thing_picked
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, ReadSection, SearchAction, SearchKnowledge, SearchSource
from core.model.passage_units import Form, units
from core.model.text import content_words, words

_TABLES = 2  # whose sections are read to the end
_HISSES = re.compile(r"(?:s|x|z|ch|sh)$")


def rest_of_table(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """For a question that a whole table answers, its section: the table may go on in passages that were not found."""
    whole = aggregation_of(inquiry.standalone) is not None or lists_rows(inquiry.standalone)
    read = any(isinstance(made.action, ReadSection) for made in inquiry.searches)
    if not whole or read or len(inquiry.searches) >= ASKED_ABOUT:
        return ()
    sections: dict[str, int] = {}
    for item in near:
        if any(unit.form is Form.ROW for unit in units(item.passage.text)):
            sections.setdefault(item.passage.section, item.id)
    return tuple(ReadSection(evidence) for evidence in list(sections.values())[:_TABLES])


def other_table(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """For "the heaviest" where no table that was found has a column of weights, a search for such a column. Once."""
    asked = aggregation_of(inquiry.standalone)
    if asked is None or not asked.column or len(inquiry.searches) != 1:
        return ()
    heads = {word for item in near for unit in units(item.passage.text) if unit.head for word in words(unit.head[0])}
    if {word.casefold() for word in heads} & {word.casefold() for word in asked.column}:
        return ()
    hints = sorted(word for word in asked.column if word.isalpha())
    return (SearchKnowledge(f"{inquiry.standalone.rstrip('?. ')} {' '.join(hints)}"),)


def tables_to_look_for(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """What may bring the table that a question asks as a whole: its rest and its title, but before that its column."""
    rest, by_column = rest_of_table(inquiry, near), other_table(inquiry, near)
    return rest if by_column and not rest else (*rest, *table_by_title(inquiry, near))


def table_by_title(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """For "which site is the oldest" and "how many sites", the table that is called "Sites", where it was not found.

    It has hardly a word of such a question in its rows, and many another page has them all: it is looked for even where
    something seems to answer. Once.
    """
    asked = aggregation_of(inquiry.standalone)
    made = [search.action for search in inquiry.searches]
    if asked is None or len(made) >= ASKED_ABOUT or any(isinstance(action, SearchSource) for action in made):
        return ()
    picked = set(thing_picked(inquiry.standalone))
    named = next((word for word in words(inquiry.standalone) if set(content_words(word)) & picked), "")
    if not named or any(set(content_words(item.passage.title)) == set(content_words(named)) for item in near):
        return ()
    return (SearchSource(inquiry.standalone, _plural_of(named)),)


def _plural_of(word: str) -> str:
    """A noun as a table of many is titled by it: "site" and "sites" as "sites"."""
    if word.endswith("s") and not word.endswith("ss"):
        return word
    return f"{word[:-1]}ies" if re.search(r"[^aeiou]y$", word) else f"{word}{'es' if _HISSES.search(word) else 's'}"
