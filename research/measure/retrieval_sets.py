"""The retrieval sets as the product would hold them: passages of our own chunker, vectors of our own encoder.

Vectors are cached by model and text under the system's temporary folder, so that a second run takes seconds.
"""

import hashlib
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adapters.encoders.text_encoder import SentenceTransformerEncoder
from core.ingestion.chunking import passages_of
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected
from core.model.knowledge import Document, Passage
from core.ports.index import Vectors

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
CACHE = Path(tempfile.gettempdir()) / "footnote-measure"
NAMES = (
    "anthropic_docs",
    "contextual_codebase",
    "cranfield",
    "docs_18f_handbook",
    "docs_prometheus",
    "hotpotqa_train100",
    "musique_train100",
    "scifact_train",
    "twowiki_200",
)


@dataclass(frozen=True, slots=True)
class Query:
    """A question, the grades of the documents that answer it, and documents that do not count."""

    id: str
    text: str
    relevant: dict[str, int]
    exclude: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RetrievalSet:
    """A BEIR-layout set."""

    name: str
    documents: dict[str, tuple[str, str]]  # id: (title, text)
    queries: tuple[Query, ...]


def load(name: str, limit: int | None = None) -> RetrievalSet:
    """Read a set; at most ``limit`` of its queries, evenly spread."""
    folder = DATA / name
    documents = {row["_id"]: (row.get("title") or "", row["text"]) for row in _lines(folder / "corpus.jsonl")}
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if int(float(grade)) > 0 and document in documents:
            grades.setdefault(query, {})[document] = int(float(grade))
    queries = [
        Query(row["_id"], row["text"], grades[row["_id"]], frozenset((row.get("metadata") or {}).get("exclude") or ()))
        for row in _lines(folder / "queries.jsonl")
        if row["_id"] in grades
    ]
    if limit and len(queries) > limit:
        queries = [queries[n * len(queries) // limit] for n in range(limit)]
    return RetrievalSet(name, documents, tuple(queries))


async def chunked(found: RetrievalSet, encoder: SentenceTransformerEncoder) -> list[Passage]:
    """Every document's passages, by the chunker that ingestion uses."""
    passages: list[Passage] = []
    for name, (title, text) in found.documents.items():
        document = Document(name, found.name, name, title, "1", "text/plain", 0)
        try:
            made = await passages_of(
                ParsedDocument(title, (Block(text),), "text/plain"), document, encoder.count_tokens, 256
            )
        except DocumentRejected:
            continue
        passages.extend(made)
    return passages


async def encoded(texts: Sequence[str], encoder: SentenceTransformerEncoder, *, kind: str) -> Vectors:
    """Vectors of passages or (``kind`` "query") queries, cached by text."""
    CACHE.mkdir(exist_ok=True)
    keys = [
        hashlib.sha256(f"{encoder.name}\x1f{kind}\x1f{text}".encode(errors="replace")).hexdigest() for text in texts
    ]
    store = CACHE / f"{hashlib.sha256(''.join(sorted(keys)).encode()).hexdigest()[:24]}.npz"
    if store.exists():
        kept = np.load(store)
        at = {key: row for row, key in enumerate(kept["keys"])}
        vectors: Vectors = kept["vectors"][[at[key] for key in keys]]
        return vectors
    vectors = await (encoder.encode_queries(texts) if kind == "query" else encoder.encode_passages(texts))
    np.savez(store, keys=np.array(keys), vectors=vectors)
    return vectors


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
