"""Earlier turns of a long thread that bear on what is asked now."""

from collections.abc import Sequence

from core.model.conversation import Turn
from core.model.text import content_words
from core.retrieval.bm25 import coverage, scores

FLOOR = 0.34  # of the question's words, by rarity: one shared word of three, unless it is in every turn


def recall_turns(turns: Sequence[Turn], question: str, limit: int) -> tuple[Turn, ...]:
    """At most ``limit`` turns that share enough with the question, in the order they happened; none if none does."""
    texts = [content_words(f"{turn.rewritten or turn.question} {turn.answer}") for turn in turns]
    asked = content_words(question)
    ranked = scores(texts, asked)
    near = [n for n in range(len(turns)) if ranked[n] > 0 and coverage(texts, asked, set(texts[n])) >= FLOOR]
    best = sorted(near, key=lambda n: (-ranked[n], -n))[: max(0, limit)]
    return tuple(turns[n] for n in sorted(best))
