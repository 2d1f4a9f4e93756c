"""Decision whether graded evidence covers the question, what is missing, and which search may find it.

Multi-hop questions need bridges: names in the best passages that the question does not have. A bridge search has such a
name and the part of the question that its passage leaves open. Bridges are only used if documents have names as titles,
because elsewhere they found nothing (research/measure/multihop.py).
"""

import re
from collections.abc import Iterable, Sequence

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.candidates import coverage, rarity_of, word_weights
from adapters.reasoners.extractive.decide.clarification import needs_of, question_back, readings
from adapters.reasoners.extractive.score.answer_odds import NEAR
from adapters.reasoners.extractive.tables.aggregation import aggregation_of, lists_rows
from adapters.reasoners.extractive.understand import PHRASES
from adapters.reasoners.extractive.understand.names import names
from adapters.reasoners.extractive.understand.query_translation import note_of_translation
from core.model.evidence import Evidence
from core.model.inquiry import (
    AskBack,
    Decision,
    Inquiry,
    Insufficient,
    Investigate,
    ReadSection,
    SearchAction,
    SearchKnowledge,
    SearchSource,
    Sufficient,
)
from core.model.languages import language_of
from core.model.passage_units import Form, units
from core.model.text import content_words, words

_BRIDGES = 4  # most searches that one decision proposes
_LOOK_AT = 4  # best passages whose names are followed
_LETTER = re.compile(r"[^\W\d_]")
_CALENDAR = PHRASES["CALENDAR"]


def decide(inquiry: Inquiry, read: Inquiry) -> Decision:
    """Ask which reading is meant, search again, or accept. ``read`` is the inquiry after translation and correction."""
    decision = _decide_as_read(read)
    again = as_corrected(inquiry, needs_of(inquiry), needs_of(read))
    language = language_of(inquiry.standalone)
    relevant = inquiry.library.relevant(inquiry.cutoff)
    if language != "en" and any(language_of(item.passage.text) == language for item in relevant):
        again = ()  # documents in the question's language answer it
    if not again or isinstance(decision, AskBack):
        return decision
    others = decision.actions if isinstance(decision, Insufficient) else ()
    translated = note_of_translation(inquiry.standalone, read.standalone)
    missing = "the question in English" if translated else "what is probably meant by the misspelt words"
    return Insufficient(missing, (*again, *others))


def _decide_as_read(inquiry: Inquiry) -> Decision:
    relevant = inquiry.library.relevant(inquiry.cutoff)
    if not inquiry.refining and (options := readings(inquiry.standalone, tuple(inquiry.library))):
        return AskBack(question_back(inquiry.standalone), options, "several readings")
    for missing, actions in (("the rest of the table", rest_of_table(inquiry, inquiry.library.relevant(NEAR))),):
        if actions:
            return Insufficient(missing, actions)
    missing, actions = next_actions(inquiry, relevant)
    if missing or actions:
        return Insufficient(missing, actions)
    return Sufficient("the best passages cover the question")


def next_actions(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[str, tuple[SearchAction, ...]]:
    """Return what is missing, in words for a person, and searches that may find it. Empty if nothing is.

    Only one further round of searches is proposed.
    """
    question = inquiry.standalone
    leads = is_first_round(inquiry) and is_layered(question) and known_by_name(question, inquiry.library)
    if not relevant:
        return f"anything that answers “{question}”", bridges(inquiry) if leads else ()
    actions = bridges(inquiry) if leads and not _one_covers(question, relevant, inquiry) else ()
    return "the rest of the question" if actions else "", actions


def as_corrected(inquiry: Inquiry, asked: Sequence[str], meant: Sequence[str]) -> tuple[SearchAction, ...]:
    """Return new searches for needs whose spelling was corrected.

    A misspelt word does not help a search, but the results of the first search can correct it. Stop before the
    number of searches at which a person would be asked.
    """
    if len(inquiry.searches) >= ASKED_ABOUT:
        return ()
    pairs = zip(asked, meant, strict=True)
    searches = [SearchKnowledge(read) for need, read in pairs if need != read.replace("'", "") and need != read]
    made = [search.action for search in inquiry.searches]
    return tuple(search for search in searches if search not in made)


def _one_covers(question: str, relevant: Sequence[Evidence], inquiry: Inquiry) -> bool:
    wanted = word_weights(content_words(question), rarity_of(tuple(inquiry.library)))
    return any(
        coverage(wanted, content_words(item.passage.searchable)) >= weights.COVERING_PASSAGE for item in relevant
    )


def bridges(inquiry: Inquiry) -> tuple[SearchAction, ...]:
    """Return searches for names in the best passages that the question does not have, best passage first."""
    question = inquiry.standalone
    known = frozenset(content_words(question))
    done = searches_tried(inquiry)
    found: dict[frozenset[str], SearchKnowledge] = {}
    best = sorted(inquiry.library, key=lambda item: (-item.hit.score, item.id))
    for item in best[:_LOOK_AT]:
        for name in dict.fromkeys(name for unit in units(item.passage.text) for name in names(unit.text)):
            stems = frozenset(content_words(name))
            leads_on = len(name) > 2 and _LETTER.search(name) and not _CALENDAR.match(name)  # no date or initials
            if not leads_on or not stems or stems <= known or stems in found:
                continue
            query = " ".join((name, *uncovered_words(question, [item])))
            if frozenset(content_words(query)) not in done:
                found[stems] = SearchKnowledge(query)
    return tuple(found.values())[:_BRIDGES]


ASKED_ABOUT = 3  # searches, after which a person chooses whether to go on


def is_first_round(inquiry: Inquiry) -> bool:
    """Return whether only the planned searches were made."""
    planned = inquiry.plan.queries if isinstance(inquiry.plan, Investigate) else ()
    return len(inquiry.searches) <= (len(planned) or 1)


def searches_tried(inquiry: Inquiry) -> set[frozenset[str]]:
    """Return the searches already made, as sets of stems."""
    made = [search.action for search in inquiry.searches]
    return {
        frozenset(content_words(action.query)) for action in made if isinstance(action, SearchKnowledge | SearchSource)
    }


_TABLES = 2  # most tables to read in full


def rest_of_table(inquiry: Inquiry, near: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """Return actions to read the sections of tables, if a whole table answers. Other passages may have more rows."""
    whole = aggregation_of(inquiry.standalone) is not None or lists_rows(inquiry.standalone)
    read = any(isinstance(made.action, ReadSection) for made in inquiry.searches)
    if not whole or read or len(inquiry.searches) >= ASKED_ABOUT:
        return ()
    sections: dict[str, int] = {}
    for item in near:
        if any(unit.form is Form.ROW for unit in units(item.passage.text)):
            sections.setdefault(item.passage.section, item.id)
    return tuple(ReadSection(evidence) for evidence in list(sections.values())[:_TABLES])


def uncovered_words(question: str, evidence: Iterable[Evidence]) -> tuple[str, ...]:
    """Return the question's content words that no passage has, as written."""
    there = {word for item in evidence for word in content_words(item.passage.searchable)}
    lacking = [word for word in words(question) if (found := content_words(word)) and not set(found) & there]
    return tuple(dict.fromkeys(lacking))


_BESIDE = re.compile(r" \(|, ")  # start of a title's disambiguation: "(film)", ", Ohio"
_SHORTEST = 3  # letters of a title that may be a name
# A multi-hop question, or one about several things at once.
_LAYERED = PHRASES["LAYERED"]


def is_layered(question: str) -> bool:
    """Return whether this is a multi-hop question: something else has to be found first."""
    return bool(_LAYERED.search(question)) or len([name for name in names(question) if not name.isupper()]) > 1


def known_by_name(question: str, evidence: Iterable[Evidence]) -> bool:
    """Return whether the question names a found document by its title, written as a name.

    Names only lead to documents if titles name what the documents are about. Titles of a manual say what a page is
    for, so searches for names find more of the same there.
    """
    asked = [_without_s(word) for word in words(question)]
    titles = dict.fromkeys(_BESIDE.split(item.passage.title)[0] for item in evidence)
    return any(_stands_in(asked, [_without_s(word) for word in words(title)]) for title in titles)


def _stands_in(asked: Sequence[str], title: Sequence[str]) -> bool:
    """Return whether the question has these words in a row, one of them capitalised and not first in the question."""
    size = len(title)
    if sum(map(len, title)) < _SHORTEST:
        return False
    wanted = [word.casefold() for word in title]
    return any(
        [word.casefold() for word in asked[at : at + size]] == wanted
        and any(word[0].isupper() for word in asked[max(at, 1) : at + size])
        for at in range(len(asked) - size + 1)
    )


def _without_s(word: str) -> str:
    return re.sub(r"['’]s$", "", word, flags=re.IGNORECASE)
