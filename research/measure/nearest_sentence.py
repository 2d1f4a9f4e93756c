"""What the nearest sentence brings a search: where the first passage stands that answers, with and without it.

Question folders are brought in by the product; each question that opens a conversation and has an answer is searched
for once, and both legs are fused with the nearest sentence at several weights (0: the legs alone). Printed: the mean of
the reciprocal ranks, and how often the passage is among the first 3, 8 and 16.

    python -m research.measure.nearest_sentence research/questions/unseen_9 research/questions/unseen_6
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.ports.index import DenseAndBm25Hits, Scope
from core.retrieval import fusion
from core.retrieval.hybrid import POOL
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset, read
from research.measure.sentences import holds_gold, questions_of

WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
DEPTHS = (3, 8, 16)
Asked = tuple[str, DenseAndBm25Hits, frozenset[str]]  # a question, what was found, ids of the passages that answer


async def main() -> None:
    """Print the table of each folder."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", nargs="+", type=Path)
    options.add_argument("--vectors", type=Path, help="keep the passages' vectors here for another run")
    given = options.parse_args()
    for folder in given.folder:
        dataset = read(folder, None)
        asked = await search_all(dataset, given.vectors)
        print(f"\n{dataset.name}: {len(asked)} questions whose passage is among what both legs found")
        print(f"{'weight':>8}{'MRR':>8}" + "".join(f"{f'in {depth}':>8}" for depth in DEPTHS))
        for weight in WEIGHTS:
            ranks = np.array([rank_of(one, weight) for one in asked])
            shares = "".join(f"{(ranks <= depth).mean():8.3f}" for depth in DEPTHS)
            print(f"{weight:8.1f}{(1 / ranks).mean():8.3f}{shares}")


async def search_all(dataset: Dataset, vectors: Path | None) -> Sequence[Asked]:
    """Every question with both legs' answers."""
    asked: list[Asked] = []
    async with open_temporary(Settings()) as footnote:
        await fill(footnote, dataset, vectors)
        scope = Scope(frozenset({dataset.name}))
        sources = {one.id: one.source for one in await footnote.catalog.documents(scope.bases)}
        for question in questions_of(dataset):
            if question.follows or question.unanswerable:
                continue
            (vector,) = await footnote.encoder.encode_queries([question.text])
            legs = await footnote.index.search(question.text, vector, scope, POOL)
            hits = fusion.fuse(question.text, legs, POOL)
            gold = frozenset(hit.passage.id for hit in hits if holds_gold(question, hit, sources))
            if gold:
                asked.append((question.text, legs, gold))
    return asked


def rank_of(asked: Asked, weight: float) -> int:
    """Return the rank, from 1, of the first passage that answers."""
    question, legs, gold = asked
    kept, fusion.SENTENCE_WEIGHT = fusion.SENTENCE_WEIGHT, weight
    try:
        ids = [hit.passage.id for hit in fusion.fuse(question, legs, POOL)]
    finally:
        fusion.SENTENCE_WEIGHT = kept
    return next(rank for rank, name in enumerate(ids, 1) if name in gold)


if __name__ == "__main__":
    asyncio.run(main())
