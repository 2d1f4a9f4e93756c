"""What the units of some passages are worth for one question: words, meaning and reader together.

What computes over passages runs in a thread of its own, so that a long question keeps nobody else waiting.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from adapters.reasoners.extractive.evidence import answer_odds, other_languages
from adapters.reasoners.extractive.evidence.reading import ALONE, AnswerReader, Leaning, lean, read_best
from adapters.reasoners.extractive.evidence.rules import adjusted
from adapters.reasoners.extractive.evidence.scoring import WeighedPassage, Words, rarity_of
from adapters.reasoners.extractive.evidence.similarity import KnownVectors, Similarity
from adapters.reasoners.extractive.evidence.sufficiency import is_layered, known_by_name
from adapters.reasoners.extractive.question.query_translation import english_of, is_language_of
from adapters.reasoners.extractive.question.spelling import (
    NoLexicon,
    correct_spelling,
    english,
    lexicon_for,
    spell_out,
    unknown_words,
    vocabulary_of,
)
from core.model.evidence import Evidence
from core.ports.index import Encoder

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Weigher:
    """Weighs the units of passages by their log odds to answer."""

    def __init__(self, encoder: Encoder, reader: AnswerReader | None, known: KnownVectors | None) -> None:
        """Compare sentences with this encoder, but for those whose vectors are ``known``."""
        self._similarity = Similarity(encoder, known)
        self._reader = reader
        # One thread: several would compete with the loop for the interpreter and be no faster.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="weighing")

    async def off_loop(
        self, compute: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs
    ) -> _Result:
        """Compute in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: compute(*given, **named))

    async def weigh(
        self, need: str, evidence: Sequence[Evidence], pool: Sequence[Evidence], leaning: Leaning = ALONE
    ) -> list[WeighedPassage]:
        """Return the units of these passages by their odds for a need; the pool tells how rare a word is.

        ``leaning`` is what it leans on in its thread. All is weighed in English.
        """
        question = await self.in_words_of(need, pool)
        written = evidence
        evidence = await self.off_loop(_in_english, evidence)
        pool = await self.off_loop(_in_english, pool)
        wanted = {item.id for item in evidence}
        # Whether a unit stands out shows only beside everything that this question found.
        found = (*evidence, *(item for item in pool if item.query and item.id not in wanted))
        asked = Words(question, rarity_of(pool))
        weighable = await self._weighable(asked, found, corrected=question != need)
        layered = is_layered(question) and known_by_name(question, pool)
        reader = None if layered else self._reader  # what is on the way to an answer does not answer
        some = weighable if reader else weighable[: len(evidence)]
        weighed = await self.off_loop(answer_odds.weigh_units, asked, pool, weighable, some, layered=layered)
        if reader:  # of everything that was found: a later search reads what comes before the least likely of a former
            weighed = (await read_best(reader, question, weighed, leaning.typed))[: len(evidence)]
        weighed = await self.off_loop(adjusted, question, lean(weighed, leaning.titles), pool)
        return other_languages.as_written(weighed, written)

    async def _weighable(
        self, asked: Words, found: Sequence[Evidence], *, corrected: bool
    ) -> list[answer_odds.Weighable]:
        """Return the most promising units of each passage by its words, with their cosines."""
        promising = await self.off_loop(answer_odds.promising_in, asked, found)
        placed = [(one.evidence.passage, one.unit) for listed in promising for one in listed]
        cosines = iter(await self._similarity.of_units(asked.question, placed))
        weighable: list[answer_odds.Weighable] = []
        for item, listed in zip(found, promising, strict=True):
            near = [next(cosines) for _ in listed]
            whole = max(near, default=0.0) if item.hit.dense is None or corrected else item.hit.dense
            weighable.append(answer_odds.Weighable(item, listed, near, whole))
        return weighable

    async def in_words_of(self, question: str, pool: Sequence[Evidence]) -> str:
        """Put a question in English, with its slips put right by the words of passages in its language."""
        lexicon = await asyncio.to_thread(english)
        if not is_language_of(question, [item.passage.text for item in pool]):
            return english_of(question, lexicon)
        return english_of(await self._without_slips(question, pool), lexicon)

    async def _without_slips(self, question: str, pool: Sequence[Evidence]) -> str:
        texts = [item.passage.searchable for item in pool]
        vocabulary = vocabulary_of(texts)
        words = await lexicon_for(question)
        question = spell_out(question, texts, words)
        slips = [word for word in unknown_words(question, vocabulary) if not words.knows(word)]
        if isinstance(words, NoLexicon):
            slips = await self._similarity.slips_among(slips)
        return correct_spelling(question, vocabulary, slips, words) if slips else question


def _in_english(items: Sequence[Evidence]) -> list[Evidence]:
    return [other_languages.in_english(item) for item in items]
