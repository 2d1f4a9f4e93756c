"""The searches of an inquiry so far, as those look at them who propose more."""

from core.model.inquiry import Inquiry, Investigate, SearchKnowledge, SearchSource
from core.model.text import content_words

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
