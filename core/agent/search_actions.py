"""Moves in words, and which of them were made before: the same query is never run twice."""

from collections.abc import Sequence
from typing import assert_never

from core.model.inquiry import Inquiry, ListSources, ReadSection, SearchAction, SearchKnowledge, SearchSource


def new_actions(inquiry: Inquiry, actions: Sequence[SearchAction]) -> tuple[SearchAction, ...]:
    """The actions that were not carried out before, each once."""
    made = {_fingerprint(search.action, inquiry) for search in inquiry.searches}
    fresh: dict[object, SearchAction] = {}
    for action in actions:
        if (fingerprint := _fingerprint(action, inquiry)) not in made:
            fresh.setdefault(fingerprint, action)
    return tuple(fresh.values())


def _fingerprint(action: SearchAction, inquiry: Inquiry) -> object:
    match action:
        case SearchKnowledge():
            everywhere = {action.knowledge_base} == inquiry.scope  # the only base by its name is all there is
            base = None if everywhere else action.knowledge_base
            return ("search", " ".join(action.query.casefold().split()), base)
        case SearchSource():
            return ("source", " ".join(action.query.casefold().split()), action.source.casefold())
        case ListSources():
            return "list"
        case ReadSection():
            return ("read", action.evidence)
        case _:
            assert_never(action)


def describe(action: SearchAction) -> str:
    """The action in a person's words."""
    match action:
        case SearchKnowledge() | SearchSource():
            return action.query
        case ListSources():
            return "what there is"
        case ReadSection():
            return f"the section around [{action.evidence}]"
        case _:
            assert_never(action)


def where(action: SearchAction) -> str:
    """The base or the source that an action looks in; empty when it looks in all that is visible."""
    match action:
        case SearchKnowledge():
            return action.knowledge_base or ""
        case SearchSource():
            return action.source
        case ListSources() | ReadSection():
            return ""
        case _:
            assert_never(action)
