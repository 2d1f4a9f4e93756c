"""Moves in words, and which of them were made before: the same query is never run twice."""

from collections.abc import Sequence
from typing import assert_never

from core.model.inquiry import Inquiry, ListSources, ReadSection, SearchAction, SearchKnowledge, SearchSource


def unmade(inquiry: Inquiry, moves: Sequence[SearchAction]) -> tuple[SearchAction, ...]:
    """The moves that were not made before, each once."""
    made = {_fingerprint(search.move, inquiry) for search in inquiry.searches}
    fresh: dict[object, SearchAction] = {}
    for move in moves:
        if (fingerprint := _fingerprint(move, inquiry)) not in made:
            fresh.setdefault(fingerprint, move)
    return tuple(fresh.values())


def _fingerprint(move: SearchAction, inquiry: Inquiry) -> object:
    match move:
        case SearchKnowledge():
            everywhere = {move.knowledge_base} == inquiry.scope  # the only base by its name is all there is
            base = None if everywhere else move.knowledge_base
            return ("search", " ".join(move.query.casefold().split()), base)
        case SearchSource():
            return ("source", " ".join(move.query.casefold().split()), move.source.casefold())
        case ListSources():
            return "list"
        case ReadSection():
            return ("read", move.evidence)
        case _:
            assert_never(move)


def describe(move: SearchAction) -> str:
    """The move in a person's words."""
    match move:
        case SearchKnowledge() | SearchSource():
            return move.query
        case ListSources():
            return "what there is"
        case ReadSection():
            return f"the section around [{move.evidence}]"
        case _:
            assert_never(move)


def where(move: SearchAction) -> str:
    """The base or the source that a move looks in; empty when it looks in all that is visible."""
    match move:
        case SearchKnowledge():
            return move.knowledge_base or ""
        case SearchSource():
            return move.source
        case ListSources() | ReadSection():
            return ""
        case _:
            assert_never(move)
