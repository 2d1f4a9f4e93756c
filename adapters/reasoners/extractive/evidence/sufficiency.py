"""Whether graded evidence covers the question, what is missing, and which search may find it.

Names that the best passages bring up and the question does not have are bridges to what one search cannot reach; the
searches over them carry the part of the question that their passage leaves open. They are made only where documents
are known by the names they are about: elsewhere they brought nothing (research/measure/multihop.py counts it).
"""

from collections.abc import Sequence

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.layered import is_layered, known_by_name
from adapters.reasoners.extractive.evidence.name_trail import TrailStep, leads_on, mentions, trail
from adapters.reasoners.extractive.evidence.open_names import open_names
from adapters.reasoners.extractive.evidence.scoring import Words, rarity_of, scored_by_words
from adapters.reasoners.extractive.evidence.searches_made import ASKED_ABOUT, planned_queries, searches_tried
from adapters.reasoners.extractive.evidence.word_coverage import coverage, word_weights
from adapters.reasoners.extractive.question.phrases import names, word_list
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry, SearchAction, SearchKnowledge
from core.model.passage_units import units
from core.model.text import content_words, words

_BRIDGES = 4  # searches that one decision proposes at most
_RELATION = 6  # words
_FOLLOWED = 2  # names at a trail's end
_LOOK_AT = 4  # best passages whose names are followed
_CALENDAR = word_list(
    """
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday see note settings
    """
)


def next_actions(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[str, tuple[SearchAction, ...]]:
    """What is missing in a person's words, and the searches that may find it; nothing missing, no actions.

    It searches on once, and once more only where a single search brought the trail a step further.
    """
    question = inquiry.standalone
    planned = len(planned_queries(inquiry)) or 1
    first_time = len(inquiry.searches) <= planned
    leads = is_layered(question) and known_by_name(question, inquiry.library)
    if not relevant:
        return f"anything that answers “{question}”", bridges(inquiry) if first_time and leads else ()
    if len(inquiry.searches) > planned + 1:
        return "", ()
    followed = _follow_name_trail(inquiry, relevant)
    named = open_names(question, relevant[:2], inquiry.question)
    if not first_time or _one_covers(question, relevant, inquiry):
        actions = followed
    else:
        actions = tuple(dict.fromkeys((*_about(inquiry, named), *followed, *(bridges(inquiry) if leads else ()))))
    actions = actions[:_BRIDGES]
    return (", ".join(named) or "the rest of the question", actions) if actions else ("", ())


def _follow_name_trail(inquiry: Inquiry, relevant: Sequence[Evidence]) -> tuple[SearchAction, ...]:
    """Searches for the names in which the trail from the best passages ends without what is asked for."""
    question = inquiry.standalone
    rarity = rarity_of(tuple(inquiry.library))
    asked = Words(question, rarity)
    first = [TrailStep(item, one.unit) for item in relevant[:2] for one in scored_by_words(asked, item)[:2]]
    pool = [TrailStep(item, unit) for item in inquiry.library.items_found() for unit in units(item.passage.text)]
    found = trail(question, first, pool)
    wanted = {name: _phrase(question, name) for name in _unmentioned_names(question, relevant[:3])}
    wanted.update((name, f"{name} {_relation(question, first)}".strip()) for name in found.lacking)
    wanted.update((name, f"{name} {_open_part(question, relevant[0])}".strip()) for name in found.open_names)
    later = [made for made in searches_tried(inquiry) if made != frozenset(content_words(question))]
    fresh = [query for name, query in wanted.items() if not any(set(content_words(name)) <= made for made in later)]
    return tuple(SearchKnowledge(query) for query in dict.fromkeys(fresh[:_FOLLOWED]))


def _relation(question: str, first: Sequence[TrailStep]) -> str:
    """What the best quote says beyond the question: "the lead of the team that owns it" of a service."""
    known = set(content_words(question))
    said = words(first[0].unit.text) if first else ()
    return " ".join([word for word in said if (found := content_words(word)) and not set(found) & known][:_RELATION])


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
            if not _leads_on(name) or not stems or stems <= known or stems in found:
                continue
            query = f"{name} {_open_part(question, item)}".strip()
            if frozenset(content_words(query)) not in done:
                found[stems] = SearchKnowledge(query)
    return tuple(found.values())[:_BRIDGES]


def _leads_on(name: str) -> bool:
    """Whether something may be known under this name: not initials, not a date."""
    return len(name) > 3 and not {part.casefold() for part in name.split()} & _CALENDAR


def _open_part(question: str, item: Evidence) -> str:
    """What the question asks beyond what this passage says."""
    there = set(content_words(item.passage.searchable))
    return " ".join(word for word in words(question) if (found := content_words(word)) and not set(found) & there)
