"""Passages and questions to search with: any number of them, the same ones each time, made as they are needed.

A passage is three to six sentences of one source. The sources are the corpora of a folder of data sets in BEIR's
layout, and the questions their own ones of 6 to 14 words; then words are as frequent as people use them. Without such a
folder it is the sample documents, which know few words, so that every sentence gets some invented ones, as frequent as
Zipf's law has them, and so does every question.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from core.model.errors import ConfigurationError
from core.model.text import sentences

SAMPLES = Path(__file__).parents[2] / "bot" / "samples"
INVENTED = 50_000  # words
PER_SENTENCE = 6  # invented words
SENTENCES = (3, 6)  # of a passage
ASKED = (6, 14)  # words of a question
LONGEST = 60  # words of a sentence; longer ones are tables
_SEED = 7
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


@dataclass(frozen=True, slots=True)
class Texts:
    """Where passages and questions come from."""

    sources: Sequence[Sequence[str]]  # the sentences of each
    questions: Sequence[str]
    told: str

    def passage(self, number: int) -> str:
        """Return the passage of this number."""
        draw = random.Random(_SEED + number)
        return f"Record {number}. " + " ".join(draw.choices(draw.choice(self.sources), k=draw.randint(*SENTENCES)))

    def some_questions(self, count: int) -> list[str]:
        """Return that many questions; each at most once as long as there are enough."""
        draw = random.Random(_SEED)
        once = draw.sample(list(self.questions), min(count, len(self.questions)))
        return [*once, *draw.choices(self.questions, k=count - len(once))]

    def some_sentences(self, count: int) -> list[str]:
        """Return that many sentences or all there are, each once."""
        every = list(dict.fromkeys(sentence for source in self.sources for sentence in source))
        return random.Random(_SEED).sample(every, min(count, len(every)))


def texts_of(folder: Path | None) -> Texts:
    """Return the texts below this folder, or of the samples. Raises ConfigurationError if there are none."""
    return _of_samples() if folder is None else _of_sets(folder)


def _of_sets(folder: Path) -> Texts:
    corpora = sorted(path for path in folder.rglob("corpus.jsonl") if (path.parent / "queries.jsonl").is_file())
    sources = [found for path in corpora for row in _rows(path) if (found := _sentences(row["text"]))]
    lengths = range(ASKED[0], ASKED[1] + 1)
    asked = [row["text"] for path in corpora for row in _rows(path.parent / "queries.jsonl")]
    questions = [text for text in asked if len(text.split()) in lengths]
    if not sources or not questions:
        raise ConfigurationError(
            f"There is no corpus.jsonl with its queries.jsonl below {folder}.", remedy="Name a folder with data sets."
        )
    return Texts(sources, questions, f"sentences and questions of {len(corpora)} data sets in {folder.name}")


def _of_samples() -> Texts:
    draw = random.Random(_SEED)
    files = sorted((SAMPLES / "documents").rglob("*.md"))
    sources = [
        [f"{sentence} {' '.join(_invent_words(draw, PER_SENTENCE))}." for sentence in found]
        for path in files
        if (found := _sentences(path.read_text(encoding="utf-8")))
    ]
    asked = [row["text"] for row in _rows(SAMPLES / "eval" / "queries.jsonl")]
    questions = [f"{text} {' '.join(_invent_words(draw, 2))}" for text in asked for _ in range(4)]
    return Texts(sources, questions, f"the samples' sentences and {INVENTED:,} invented words by Zipf's law")


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if 4 <= len(sentence.split()) <= LONGEST]


def _invent_words(draw: random.Random, count: int) -> list[str]:
    return draw.choices(range_of_words(), cum_weights=_weights(), k=count)


@lru_cache(maxsize=1)
def range_of_words() -> list[str]:
    """Return the invented words, the most frequent first."""
    draw = random.Random(_SEED)
    words: dict[str, None] = {}
    while len(words) < INVENTED:
        words["".join(draw.choice(_CONSONANTS) + draw.choice(_VOWELS) for _ in range(draw.randint(2, 4)))] = None
    return list(words)


@lru_cache(maxsize=1)
def _weights() -> list[float]:
    return list(accumulate(1 / rank for rank in range(1, INVENTED + 1)))


def _rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
