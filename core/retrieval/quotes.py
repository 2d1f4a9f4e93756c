"""Which stretch of a passage is shown as its quote: always verbatim, at most two neighbouring sentences."""

import re
from collections.abc import Sequence

from core.evidence import Quote
from core.language import content_words, sentences
from core.retrieval.local_bm25 import coverage, scores

_TABLE_RULE = re.compile(r"[|:\- ]*-[|:\- ]*")
_LINK = re.compile(r"!?\[[^\[\]\n]{0,200}\]\([^()\n]{0,500}\)")
LONGEST = 300  # characters: three lines on a phone
_QUESTION_WEIGHT = 0.5  # beside a claim the question only breaks ties: the quote is there to bear the claim out


def choose_quote(passage_text: str, query: str, claim: str = "") -> Quote:
    """The sentence of the passage that says most of the claim and the question, with a neighbour that adds to it.

    Ranked by BM25 whose statistics are of this passage alone, so that a word which the whole passage is about decides
    nothing. A sentence that is too long is cut around what matches. ``score`` is the share in [0, 1] of the claim's
    (else the question's) words, weighted by how rare they are here, that the quote holds. Where nothing matches it is
    the passage's opening, with score 0; an empty passage has an empty quote.
    """
    spans, heads = _candidates(passage_text)
    if not spans:
        return Quote(_cut(passage_text.strip(), frozenset()), 0.0)
    words = [content_words(passage_text[start:end]) for start, end in spans]
    decisive = content_words(claim) or content_words(query)
    ranked = scores(words, decisive)
    if claim:
        ranked = [
            mine + _QUESTION_WEIGHT * asked
            for mine, asked in zip(ranked, scores(words, content_words(query)), strict=True)
        ]
    best = max(range(len(spans)), key=lambda n: (n not in heads, ranked[n], -n))
    first, last = _with_neighbour(best, spans, words, ranked, frozenset(decisive))
    text = passage_text[spans[first][0] : spans[last][1]]
    held = {word for n in range(first, last + 1) for word in words[n]}
    return Quote(_cut(text, frozenset(decisive)), round(coverage(words, decisive, held), 4))


def _candidates(text: str) -> tuple[list[tuple[int, int]], frozenset[int]]:
    """The sentences that have words; and which of them are a table's head: it repeats the question, never answers."""
    spans: list[tuple[int, int]] = []
    heads: set[int] = set()
    for start, end in _spans(text):
        if content_words(text[start:end]):
            spans.append((start, end))
        elif spans and _TABLE_RULE.fullmatch(text[start:end]):
            heads.add(len(spans) - 1)
    return spans, frozenset(heads)


def _spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence stands."""
    found: list[tuple[int, int]] = []
    at = 0
    for sentence in sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        found.append((start, at))
    return found


def _with_neighbour(
    best: int,
    spans: Sequence[tuple[int, int]],
    words: Sequence[tuple[str, ...]],
    ranked: Sequence[float],
    decisive: frozenset[str],
) -> tuple[int, int]:
    """The best sentence and the one beside it that holds wanted words it lacks, if both together are short enough."""
    missing = decisive - set(words[best])
    choices: list[tuple[float, int, int]] = []
    for first, last, other in ((best - 1, best, best - 1), (best, best + 1, best + 1)):
        fits = first >= 0 and last < len(spans) and spans[last][1] - spans[first][0] <= LONGEST
        if fits and missing & set(words[other]):
            choices.append((ranked[other], first, last))
    return max(choices)[1:] if choices else (best, best)


def _cut(text: str, decisive: frozenset[str]) -> str:
    """At most ``LONGEST`` characters of ``text``, whole words and links, from where most of the decisive words are."""
    if len(text) <= LONGEST:
        return text
    links = [found.span() for found in _LINK.finditer(text)]
    gaps = [n for n, character in enumerate(text) if character.isspace() and not _within(n, links)]
    starts = [0, *(n + 1 for n in gaps if n < len(text) - LONGEST // 2)]
    step = max(1, len(starts) // 40)  # of a very long line not every place is tried

    def matches(start: int) -> int:
        return len(decisive & set(content_words(text[start : start + LONGEST])))

    start = max(starts[::step], key=lambda place: (matches(place), -place))
    if start + LONGEST >= len(text):
        return text[start:].strip()
    end = max((n for n in gaps if start < n <= start + LONGEST), default=start + LONGEST)
    return text[start:end].strip()


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < place < end for start, end in spans)
