"""Scoring of units for one question by words, sentence vectors and reader.

Computations over passages run in a worker thread, so that a long question does not block others.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

from cachetools import LRUCache

from adapters.reasoners.extractive.candidates import WeighedPassage, Words, as_written, in_english, rarity_of
from adapters.reasoners.extractive.decide.sufficiency import is_layered, known_by_name
from adapters.reasoners.extractive.rules import adjusted
from adapters.reasoners.extractive.score import answer_odds
from adapters.reasoners.extractive.score.reading import ALONE, AnswerReader, Leaning, is_timeout, lean, read_best
from adapters.reasoners.extractive.understand.query_translation import english_of, is_language_of
from adapters.reasoners.extractive.understand.spelling import (
    NO_LEXICON,
    correct_spelling,
    english,
    lexicon_for,
    spell_out,
    unknown_words,
    vocabulary_of,
)
from core.model.budget import Meter
from core.model.errors import Unavailable, first_of_ours
from core.model.evidence import Evidence
from core.model.knowledge import Passage
from core.model.passage_units import UNIT_CHARACTERS, Unit, befores, in_context, texts_of_units, units
from core.ports.index import Encoder, PassageVectors, digest_of

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
SENTENCES = 96  # compared in one call: enough for two searches
SECONDS = 10.0  # without a question's own deadline; then use words alone
SHARE = 0.5  # of a question's remaining time; then use words alone and say so
BUSY = (
    "I had no time to compare every sentence with your question, so this rests on words alone. Please ask again later."
)
_KNOWN_SECONDS = 2.0  # for stored vectors from the index; then encode
_SENTENCES_AT_ONCE = 16  # encoded and cached per batch, so that a retry after a timeout finds finished batches
_KNOWN = 6_000  # sentences in the cache, 1.5 kB each


class KnownVectors(Protocol):
    """Store of the vectors of passages and their sentences, such as an index."""

    async def known_vectors(self, passage_ids: Sequence[str]) -> Mapping[str, PassageVectors]:
        """Return the vectors of the passages that are stored. Raises StoreUnavailable."""


class Similarity:
    """Cosine similarity of few, short texts, with a timeout."""

    def __init__(self, encoder: Encoder, known: KnownVectors | None = None, seconds: float = SECONDS) -> None:
        """Use this encoder's vectors, with a timeout in seconds. Vectors in ``known`` need no encoding."""
        self._encoder = encoder
        self._known = known
        self._seconds = seconds
        self._sentences: LRUCache[str, Vectors] = LRUCache(_KNOWN)

    async def of_sentences(self, text: str, sentences: Sequence[str], meter: Meter | None = None) -> list[float]:
        """Return the cosine of each sentence with the text. 0 beyond the limit or if the encoder fails.

        The question of ``meter`` gets a notice if its time did not suffice.
        """
        few = [sentence[:UNIT_CHARACTERS] for sentence in sentences[:SENTENCES]]
        if not few:
            return []
        try:
            async with asyncio.timeout(_patience(meter, self._seconds)):
                queries, vectors = await asyncio.gather(self._encoder.encode_queries([text]), self._vectors(few))
        except (TimeoutError, Unavailable) as error:
            _notice_if_late(error, meter)
            return [0.0] * len(sentences)
        cosines = [float(value) for value in vectors @ queries[0]]
        return cosines + [0.0] * (len(sentences) - len(few))

    async def of_units(
        self, question: str, placed: Sequence[tuple[Passage, Unit]], meter: Meter | None = None
    ) -> list[float]:
        """Return the cosine of each unit, in its context, with the question. 0 beyond the limit."""
        before = {passage.id: befores(units(passage.text)) for passage, _ in placed}
        texts = [in_context(passage, unit, before[passage.id].get(unit))[:UNIT_CHARACTERS] for passage, unit in placed]
        await self._remember([passage for passage, _ in placed], {*texts} - {*self._sentences})
        return await self.of_sentences(question, texts, meter)

    async def _remember(self, passages: Iterable[Passage], wanted: Collection[str]) -> None:
        """Cache the stored vectors of these texts.

        Skip passages whose stored text differs: one in another language is scored by its translation.
        """
        kept_there = {passage.id: passage for passage in passages if passage.knowledge_base}  # no attached file
        if self._known is None or not wanted or not kept_there:
            return
        try:
            async with asyncio.timeout(_KNOWN_SECONDS):
                kept = await self._known.known_vectors(list(kept_there))
        except (TimeoutError, Unavailable):
            return  # encode them instead
        for name, vectors in kept.items():
            texts = texts_of_units(kept_there[name])
            if vectors.sentences.digest == digest_of(texts):
                rows = vectors.sentences.as_vectors(self._encoder.dimension)
                # Copy, because a row view would keep all vectors of its passage. Only the first vectors may be stored.
                told = zip(texts, rows, strict=False)
                self._sentences.update((text, row.copy()) for text, row in told if text in wanted)

    async def slips_among(self, unknown: Sequence[str], meter: Meter | None = None) -> list[str]:
        """Return the words that are not common in the language: the encoder splits them into several tokens.

        Return all of them if the encoder fails.
        """
        if not unknown:
            return []
        try:
            async with asyncio.timeout(_patience(meter, self._seconds)):
                pieces = await self._encoder.count_tokens(unknown)
        except (TimeoutError, Unavailable) as error:
            _notice_if_late(error, meter)
            return list(unknown)
        return [word for word, count in zip(unknown, pieces, strict=True) if count > 1]

    async def _vectors(self, listed: Sequence[str]) -> "Vectors":
        """Return the vectors of sentences, with shape (n, dimension). Most are in the cache."""
        import numpy as np

        # Keep references: concurrent calls may evict entries from the cache.
        found = {text: self._sentences[text] for text in listed if text in self._sentences}
        # Batch by length, since a batch is padded to its longest text. Longest first, so that the last batches are
        # short and all cores finish together.
        fresh = sorted({text for text in listed if text not in found}, key=lambda text: (-len(text), text))

        async def encode(some: Sequence[str]) -> None:
            encoded = dict(zip(some, await self._encoder.encode_passages(some), strict=True))
            found.update(encoded)
            self._sentences.update(encoded)

        try:
            async with asyncio.TaskGroup() as group:  # concurrently: the encoder limits the number of cores
                for start in range(0, len(fresh), _SENTENCES_AT_ONCE):
                    group.create_task(encode(fresh[start : start + _SENTENCES_AT_ONCE]))
        except BaseExceptionGroup as failures:
            raise first_of_ours(failures) from None
        return np.stack([found[text] for text in listed])


class Weigher:
    """Scorer of units by their log odds to answer."""

    def __init__(self, encoder: Encoder, reader: AnswerReader | None, known: KnownVectors | None) -> None:
        """Encode sentences with this encoder, except those with ``known`` vectors."""
        self._similarity = Similarity(encoder, known)
        self._reader = reader
        # One thread: several would compete with the event loop for the GIL and be no faster.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="weighing")

    async def off_loop(
        self, compute: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs
    ) -> _Result:
        """Run a function in the worker thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: compute(*given, **named))

    async def weigh(
        self,
        need: str,
        evidence: Sequence[Evidence],
        pool: Sequence[Evidence],
        leaning: Leaning = ALONE,
        meter: Meter | None = None,
    ) -> list[WeighedPassage]:
        """Return these passages with their units scored for a need. The pool gives the rarity of words.

        ``leaning`` is its context from the thread. All texts are scored in English. With a
        ``meter``, wait for slow models as long as its question's time allows.
        """
        question = await self.in_words_of(need, pool, meter)
        written = evidence
        evidence = await self.off_loop(in_english, evidence)
        pool = await self.off_loop(in_english, pool)
        wanted = {item.id for item in evidence}
        # Compare units with everything that this question found.
        found = (*evidence, *(item for item in pool if item.query and item.id not in wanted))
        asked = Words(question, rarity_of(pool))
        weighable = await self._weighable(asked, found, meter, corrected=question != need)
        layered = is_layered(question) and known_by_name(question, pool)
        reader = None if layered else self._reader  # a unit on the way to an answer does not answer
        some = weighable if reader else weighable[: len(evidence)]
        weighed = await self.off_loop(answer_odds.weigh_units, asked, pool, weighable, some, layered=layered)
        if reader:  # read from all found units, also those of earlier searches
            weighed = (await self._read(reader, question, weighed, leaning.typed, meter))[: len(evidence)]
        weighed = await self.off_loop(adjusted, question, lean(weighed, leaning.titles), pool)
        return as_written(weighed, written)

    async def _read(
        self,
        reader: AnswerReader,
        question: str,
        weighed: Sequence[WeighedPassage],
        typed: str,
        meter: Meter | None,
    ) -> list[WeighedPassage]:
        """Return the passages after reading; unchanged, with a notice, if the time does not suffice."""
        try:
            async with asyncio.timeout(_patience(meter, SECONDS)):
                return await read_best(reader, question, weighed, typed)
        except TimeoutError as error:
            _notice_if_late(error, meter)
            return list(weighed)

    async def _weighable(
        self, asked: Words, found: Sequence[Evidence], meter: Meter | None, *, corrected: bool
    ) -> list[WeighedPassage]:
        """Return the most promising units of each passage by its words, with their cosines."""
        promising = await self.off_loop(answer_odds.promising_in, asked, found)
        placed = [(one.evidence.passage, one.unit) for listed in promising for one in listed]
        cosines = iter(await self._similarity.of_units(asked.question, placed, meter))
        weighable: list[WeighedPassage] = []
        for item, listed in zip(found, promising, strict=True):
            near = tuple(replace(one, cosine=next(cosines)) for one in listed)
            nearest = max((one.cosine for one in near), default=0.0)
            whole = nearest if item.hit.dense is None or corrected else item.hit.dense
            weighable.append(WeighedPassage(item, asked, near, whole))
        return weighable

    async def in_words_of(self, question: str, pool: Sequence[Evidence], meter: Meter | None = None) -> str:
        """Translate a question to English, after spelling correction with the words of passages in its language."""
        lexicon = await asyncio.to_thread(english)
        if not is_language_of(question, [item.passage.text for item in pool]):
            return english_of(question, lexicon)
        return english_of(await self._without_slips(question, pool, meter), lexicon)

    async def _without_slips(self, question: str, pool: Sequence[Evidence], meter: Meter | None) -> str:
        texts = [item.passage.searchable for item in pool]
        vocabulary = vocabulary_of(texts)
        words = lexicon_for(question)
        question = spell_out(question, texts, words)
        slips = [word for word in unknown_words(question, vocabulary) if not words.knows(word)]
        if words is NO_LEXICON:
            slips = await self._similarity.slips_among(slips, meter)
        return correct_spelling(question, vocabulary, slips, words) if slips else question


def _patience(meter: Meter | None, otherwise: float) -> float:
    return otherwise if meter is None else meter.remaining_seconds * SHARE


def _notice_if_late(error: Exception, meter: Meter | None) -> None:
    if meter is not None and is_timeout(error):
        meter.notice(BUSY)


if TYPE_CHECKING:
    from core.ports.index import Vectors
