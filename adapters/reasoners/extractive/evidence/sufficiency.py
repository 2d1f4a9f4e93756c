"""Whether graded evidence covers the question, what is missing, and which search may find it.

Names that the best passages bring up and the question does not have are bridges to what one search cannot reach; the
searches over them carry the part of the question that their passage leaves open. They are made only where documents
are known by the names they are about: elsewhere they brought nothing (research/measure/multihop.py counts it).
"""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.names_asked import is_layered, known_by_name, open_names
from adapters.reasoners.extractive.evidence.scoring import rarity_of
from adapters.reasoners.extractive.evidence.word_coverage import coverage, word_weights
from adapters.reasoners.extractive.question.aggregation import aggregation_of, lists_rows
from adapters.reasoners.extractive.question.names import names
from core.model.answer import Outcome
from core.model.conversation import Thread
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, Investigate, ReadSection, SearchAction, SearchKnowledge, SearchSource
from core.model.passage_units import Form, units
from core.model.text import content_words, words

_BRIDGES = 4  # searches that one decision proposes at most
_FOLLOWED = 2  # names
_LOOK_AT = 4  # best passages whose names are followed
_LETTER = re.compile(r"[^\W\d_]")
_CALENDAR = re.compile(
    r"^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)\b|^(?:19|20)\d\d$",
    re.IGNORECASE,
)


def next_actions(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[str, tuple[SearchAction, ...]]:
    """What is missing in a person's words, and the searches that may find it; nothing missing, no actions.

    It searches on once.
    """
    question = inquiry.standalone
    planned = len(planned_queries(inquiry)) or 1
    first_time = len(inquiry.searches) <= planned
    leads = is_layered(question) and known_by_name(question, inquiry.library)
    if not relevant:
        return f"anything that answers “{question}”", bridges(inquiry) if first_time and leads else ()
    if len(inquiry.searches) > planned + 1:
        return "", ()
    followed = _search_for_names(inquiry, relevant)
    named = open_names(question, relevant[:2], inquiry.question)
    if not first_time or _one_covers(question, relevant, inquiry):
        actions = followed
    else:
        actions = tuple(dict.fromkeys((*_about(inquiry, named), *followed, *(bridges(inquiry) if leads else ()))))
    actions = actions[:_BRIDGES]
    return (", ".join(named) or "the rest of the question", actions) if actions else ("", ())


def _search_for_names(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """Searches for the names of the question that the best passages do not have."""
    question = inquiry.standalone
    wanted = {name: _phrase(question, name) for name in _unmentioned_names(question, relevant[:3])}
    later = [made for made in searches_tried(inquiry) if made != frozenset(content_words(question))]
    fresh = [query for name, query in wanted.items() if not any(set(content_words(name)) <= made for made in later)]
    return tuple(SearchKnowledge(query) for query in dict.fromkeys(fresh[:_FOLLOWED]))


def _unmentioned_names(question: str, evidence: Sequence[Evidence]) -> list[str]:
    """Names of the question that none of these passages has in the same case: "Depot", where all speak of depots."""
    texts = [item.passage.searchable for item in evidence]
    return [name for name in names(question) if leads_on(name) and not any(mentions(text, name) for text in texts)]


def _phrase(question: str, name: str) -> str:
    """The name with the word after it: "Depot plan"."""
    after = question.split(name, 1)[-1].split()
    return f"{name} {after[0].strip('?.,!')}" if after and content_words(after[0]) else name


def as_corrected(inquiry: Inquiry, asked: Sequence[str], meant: Sequence[str]) -> tuple[SearchAction, ...]:
    """Searches for the needs in which slips were put right, as they are meant; none that was made before.

    What is misspelt finds only what is like the rest of the question. What that finds may put right another slip; but
    before a person would be asked about the next search, it is enough.
    """
    if len(inquiry.searches) >= ASKED_ABOUT:
        return ()
    pairs = zip(asked, meant, strict=True)
    searches = [SearchKnowledge(read) for need, read in pairs if need != read.replace("'", "") and need != read]
    made = [search.action for search in inquiry.searches]
    return tuple(search for search in searches if search not in made)


def _about(inquiry: Inquiry, named: Sequence[str]) -> tuple[SearchAction, ...]:
    """One search for what is named and not covered."""
    query = " ".join(named)
    return (SearchKnowledge(query),) if query and frozenset(content_words(query)) not in searches_tried(inquiry) else ()


def _one_covers(question: str, relevant: Sequence[Evidence], inquiry: Inquiry) -> bool:
    wanted = word_weights(content_words(question), rarity_of(tuple(inquiry.library)))
    return any(
        coverage(wanted, content_words(item.passage.searchable)) >= weights.COVERING_PASSAGE for item in relevant
    )


def bridges(inquiry: Inquiry) -> tuple[SearchAction, ...]:
    """Searches for what the best passages name and the question does not, best passage first; none made before."""
    question = inquiry.standalone
    known = frozenset(content_words(question))
    done = searches_tried(inquiry)
    found: dict[frozenset[str], SearchKnowledge] = {}
    best = sorted(inquiry.library, key=lambda item: (-item.hit.score, item.id))
    for item in best[:_LOOK_AT]:
        for name in dict.fromkeys(name for unit in units(item.passage.text) for name in names(unit.text)):
            stems = frozenset(content_words(name))
            if not leads_on(name) or not stems or stems <= known or stems in found:
                continue
            query = f"{name} {_open_part(question, item)}".strip()
            if frozenset(content_words(query)) not in done:
                found[stems] = SearchKnowledge(query)
    return tuple(found.values())[:_BRIDGES]


def _open_part(question: str, item: Evidence) -> str:
    """What the question asks beyond what this passage says."""
    there = set(content_words(item.passage.searchable))
    return " ".join(word for word in words(question) if (found := content_words(word)) and not set(found) & there)


ASKED_ABOUT = 3  # searches, after which a person chooses whether to go on


def planned_queries(inquiry: Inquiry) -> tuple[str, ...]:
    """The searches that the question was planned with, one for each of its needs."""
    return inquiry.plan.queries if isinstance(inquiry.plan, Investigate) else ()


def searches_tried(inquiry: Inquiry) -> set[frozenset[str]]:
    """The searches already made, as sets of stems."""
    made = [search.action for search in inquiry.searches]
    return {
        frozenset(content_words(action.query)) for action in made if isinstance(action, SearchKnowledge | SearchSource)
    }


_TABLES = 2  # whose sections are read to the end


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


def in_the_same_source(inquiry: Inquiry, thread: Thread) -> tuple[SearchAction, ...]:
    """For a question that leaned on the thread, a search in the source that the last answer quoted first.

    Only once, and only where the question was put in other words for it, or says hardly anything of its own ("who do I
    ask?"): a new topic is not bent towards the old one. It is searched for behind the question before it, since what
    was put in may be the wrong thing.
    """
    plan = inquiry.plan if isinstance(inquiry.plan, Investigate) else None
    sources = leant_on(inquiry, thread) or (plan.leans_on if plan else ())
    query = f"{plan.follows.question} {inquiry.question}" if plan and plan.follows else inquiry.standalone
    return (SearchSource(query, sources[0]),) if sources and len(inquiry.searches) == 1 else ()


def leant_on(inquiry: Inquiry, thread: Thread) -> tuple[str, ...]:
    """The titles that the last answer quoted, where the question was put in other words for the thread."""
    leans = isinstance(inquiry.plan, Investigate) and inquiry.plan.resolved_from_thread
    answered = thread.last is not None and thread.last.outcome is Outcome.ANSWERED
    return tuple(one.title for one in thread.last.citations) if leans and answered and thread.last else ()


def leads_on(name: str) -> bool:
    """Whether something may be known under this name: not a date, a number or initials."""
    return len(name) > 2 and _LETTER.search(name) is not None and not _CALENDAR.match(name)


def mentions(text: str, name: str) -> bool:
    """Whether the name stands in the text as whole words; one word alone in the same case: "Depot" is not a depot."""
    whole = " " in name
    there = name.casefold() in text.casefold() if whole else name in text
    fold = re.IGNORECASE if whole else re.NOFLAG
    # Hardly a text has the name at all, and a pattern takes long to make.
    return there and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, fold) is not None
