"""rank-bm25 over a handful of texts, where the statistics should be of just these.

BM25Plus, not BM25Okapi: among few texts Okapi's IDF of a word that stands in half of them is zero, and negative beyond.
"""

import math
from collections.abc import Collection, Sequence


def scores(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    """BM25 of each text (a sequence of words), 0 for one that shares no word with the query."""
    wanted = set(query)
    if not wanted or not any(texts):
        return [0.0] * len(texts)
    from rank_bm25 import BM25Plus  # brings numpy with it

    ranked = BM25Plus([list(text) for text in texts]).get_scores(sorted(wanted))
    # BM25Plus adds a constant for every query word that any text has: a text without a shared word is no match.
    return [float(score) if wanted & set(text) else 0.0 for score, text in zip(ranked, texts, strict=True)]


def coverage(texts: Sequence[Sequence[str]], query: Sequence[str], held: Collection[str]) -> float:
    """The share in [0, 1] of the query's words that are held, each weighted by its rarity among the texts."""
    wanted = set(query)
    weights = {word: math.log((len(texts) + 1) / (sum(word in text for text in texts) or 0.5)) for word in wanted}
    total = sum(weights.values())
    return sum(weights[word] for word in wanted if word in held) / total if total else 0.0
