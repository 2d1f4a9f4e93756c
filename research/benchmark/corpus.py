"""The corpus of a benchmark: texts with vectors, made batch by batch, and its way into an index.

It goes in below ingestion, as passages with their vectors, because a hundred thousand passages would be encoded for
half an hour. What ingestion costs is measured on its own.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.container import Footnote
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.ports.index import Encoder, PassageVectors, Scope, SentenceVectors
from research.benchmark.texts import Texts
from research.benchmark.vectors import Cloud, cloud_of

if TYPE_CHECKING:
    from core.ports.index import Vectors

BASES = ("bench-0", "bench-1", "bench-2", "bench-3")
SCOPE = Scope(frozenset(BASES[1:3]))  # half of the passages
SENTENCES = 5  # of a passage: 4.0 to 5.0 on four sets of real pages
PER_DOCUMENT = 50
PER_SECTION = 5
BATCH = 1_000
ENCODED = 2_000  # sentences, at most; and one for every five passages
QUERIES = 200


@dataclass(frozen=True, slots=True)
class Corpus:
    """So many passages, and questions with their vectors."""

    size: int
    texts: Texts
    cloud: Cloud
    questions: Sequence[str]
    asked: "Vectors"  # (questions, dimension)

    def batches(self) -> Iterator[tuple[list[Passage], "Vectors"]]:
        """All passages in batches, in reading order."""
        for number, vectors in enumerate(self.cloud.batches(self.size, BATCH)):
            start = number * BATCH
            yield [self.passage(n) for n in range(start, start + len(vectors))], vectors

    def passage(self, number: int) -> Passage:
        """Return the passage of this number; its names are as long as the product's."""
        document, within = divmod(number, PER_DOCUMENT)
        return Passage(
            id=f"{number:032x}",
            knowledge_base=base_of(number),
            document=f"{document:024x}",
            version=f"{document:016x}",
            section=f"{number // PER_SECTION:024x}",
            ordinal=within,
            title=f"Document {document}",
            text=self.texts.passage(number),
            heading=("A part", f"Section {within // PER_SECTION}"),
            source=f"folder/document-{document}.md",
            dated="2026-01-01",
        )


def base_of(number: int) -> str:
    """Return the base of a passage."""
    return BASES[number // PER_DOCUMENT % len(BASES)]


async def corpus_of(texts: Texts, size: int, encoder: Encoder) -> Corpus:
    """Return the corpus of these texts; some of its sentences and all questions are encoded now."""
    questions = texts.some_questions(QUERIES)
    real = await encoder.encode_passages(texts.some_sentences(min(ENCODED, size // 5)))
    cloud = await asyncio.to_thread(cloud_of, real)
    return Corpus(size, texts, cloud, questions, await encoder.encode_queries(questions))


async def fill(footnote: Footnote, corpus: Corpus) -> None:
    """Put it in and publish it."""
    for base in BASES:
        await footnote.catalog.save_base(KnowledgeBase(base))
    batches = corpus.batches()
    while (batch := await asyncio.to_thread(next, batches, None)) is not None:
        passages, vectors = batch
        await footnote.index.add(passages, [_with_sentences(vector) for vector in vectors])
        for first in passages[::PER_DOCUMENT]:
            await footnote.catalog.publish(_document(first))


def _with_sentences(vector: "Vectors") -> PassageVectors:
    """As many sentences as real passages have, all alike: what they cost does not depend on what they say."""
    import numpy as np

    texts = [str(number) for number in range(SENTENCES)]
    return PassageVectors(vector, SentenceVectors.of(texts, np.tile(vector, (SENTENCES, 1))))


def _document(first: Passage) -> Document:
    return Document(
        first.document,
        first.knowledge_base,
        first.source,
        first.title,
        first.version,
        "text/markdown",
        PER_DOCUMENT,
    )
