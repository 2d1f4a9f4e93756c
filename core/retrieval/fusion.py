"""How the scores of the two legs become one."""

from collections.abc import Callable, Sequence

from core.evidence import Hit
from core.ports import Legs

Fusion = Callable[[Legs], Sequence[Hit]]


def fuse(legs: Legs) -> tuple[Hit, ...]:
    """All hits of both legs, best first."""
    best = max((score for _, score in legs.bm25), default=0.0) or 1.0
    dense = {passage.id: score for passage, score in legs.dense}
    bm25 = {passage.id: score for passage, score in legs.bm25}
    passages = {passage.id: passage for passage, _ in (*legs.dense, *legs.bm25)}
    hits = [
        Hit(
            passage,
            score=0.5 * max(0.0, dense.get(name, 0.0)) + 0.5 * bm25.get(name, 0.0) / best,
            dense=dense.get(name),
            bm25=bm25.get(name),
        )
        for name, passage in passages.items()
    ]
    return tuple(sorted(hits, key=lambda hit: -hit.score))
