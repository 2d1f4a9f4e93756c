"""Selection of a passage's quote: verbatim stretches, one for each sentence that cites the passage."""

import math
import re
from collections.abc import Collection, Sequence

from core.model.markdown_lines import is_table_rule
from core.model.text import content_words, sentences, words


def scores(texts: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text (a sequence of words), 0 if it shares no word with the query."""
    wanted = set(query)
    if not wanted or not any(texts):
        return [0.0] * len(texts)
    from rank_bm25 import BM25Plus  # imports numpy

    ranked = BM25Plus([list(text) for text in texts]).get_scores(sorted(wanted))
    # BM25Plus adds a constant for every query word that any text has, also to texts without a shared word.
    return [float(score) if wanted & set(text) else 0.0 for score, text in zip(ranked, texts, strict=True)]


def coverage(texts: Sequence[Sequence[str]], query: Sequence[str], held: Collection[str]) -> float:
    """Return the share in [0, 1] of the query's words in ``held``, weighted by their rarity among the texts."""
    wanted = set(query)
    weights = {word: math.log((len(texts) + 1) / (sum(word in text for text in texts) or 0.5)) for word in wanted}
    total = sum(weights.values())
    return sum(weights[word] for word in wanted if word in held) / total if total else 0.0


_LINK = re.compile(r"!?\[[^\[\]\n]{0,200}\]\([^()\n]{0,500}\)")
LONGEST = 300  # characters: three lines on a phone
LONGEST_VERBATIM = 600  # characters of a sentence that an answer repeats
MOST = 1_500  # characters of all stretches of one passage
_QUESTION_WEIGHT = 0.5  # next to a claim, the question only breaks ties: the quote has to support the claim


def choose_quote(passage_text: str, query: str, claim: str = "") -> str:
    """Return the sentence that best matches the claim and the question, with a neighbour that adds to it.

    Rank with BM25 statistics of this passage alone, so that words that occur throughout it count little. Cut a long
    sentence around the matching words. If nothing matches, return the passage's opening. An empty passage has an empty
    quote.
    """
    spans, heads = _candidates(passage_text)
    if not spans:
        return _shorten(passage_text.strip(), frozenset())
    bags = [content_words(passage_text[start:end]) for start, end in spans]
    decisive = content_words(claim) or content_words(query)
    ranked = scores(bags, decisive)
    if claim:
        ranked = [
            mine + _QUESTION_WEIGHT * asked
            for mine, asked in zip(ranked, scores(bags, content_words(query)), strict=True)
        ]
    best = max(range(len(spans)), key=lambda n: (n not in heads, ranked[n], -n))
    first, last = _with_neighbour(best, spans, bags, ranked, frozenset(decisive))
    return _shorten(passage_text[spans[first][0] : spans[last][1]], frozenset(decisive))


def quote_for(passage_text: str, query: str, claims: Sequence[str] = ()) -> str:
    """Return the verbatim sentences that support the claims, in the passage's order.

    A claim that is in the passage word for word is quoted whole. For other claims use ``choose_quote``. Put an ellipsis
    between stretches that do not touch. Return at most ``MOST`` characters, for the first claims first.
    """
    stretches: list[tuple[int, int]] = []
    for claim in dict.fromkeys(claims) or ("",):
        found = _verbatim(claim, passage_text) or _locate(choose_quote(passage_text, query, claim), passage_text)
        if sum(end - start for start, end in stretches) + found[1] - found[0] <= MOST:
            stretches.append(found)
    return _join_stretches(passage_text, stretches)


def _verbatim(claim: str, text: str) -> tuple[int, int] | None:
    """Return the span of the sentence that has this claim word for word, unless it is too long."""
    said = _running_text(claim)
    spans = (span for span in _spans(text) if said.strip() and said in _running_text(text[slice(*span)]))
    return next((span for span in spans if span[1] - span[0] <= LONGEST_VERBATIM), None)


def _running_text(text: str) -> str:
    return f" {' '.join(words(text)).casefold()} "


def _locate(quote: str, text: str) -> tuple[int, int]:
    start = text.index(quote)
    return start, start + len(quote)


def _join_stretches(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    """Return the stretches in the order of the text, and merge those that touch or overlap."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    said = ""
    for at, (start, end) in enumerate(merged):
        gap = ("\n…\n" if "\n" in text[merged[at - 1][1] : start] else " … ") if at else ""
        said += gap + text[start:end]
    return said


def _candidates(text: str) -> tuple[list[tuple[int, int]], frozenset[int]]:
    """Return the spans of sentences with words, and the indexes of table headers, which only repeat the question."""
    spans: list[tuple[int, int]] = []
    heads: set[int] = set()
    for start, end in _spans(text):
        if content_words(text[start:end]):
            spans.append((start, end))
        elif spans and is_table_rule(text[start:end]):
            heads.add(len(spans) - 1)
    return spans, frozenset(heads)


def _spans(text: str) -> list[tuple[int, int]]:
    """Return the span of each sentence."""
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
    bags: Sequence[tuple[str, ...]],
    ranked: Sequence[float],
    decisive: frozenset[str],
) -> tuple[int, int]:
    """Return the best sentence with a neighbour that adds decisive words, if both together are short enough."""
    missing = decisive - set(bags[best])
    choices: list[tuple[float, int, int]] = []
    for first, last, other in ((best - 1, best, best - 1), (best, best + 1, best + 1)):
        fits = first >= 0 and last < len(spans) and spans[last][1] - spans[first][0] <= LONGEST
        if fits and missing & set(bags[other]):
            choices.append((ranked[other], first, last))
    return max(choices)[1:] if choices else (best, best)


def _shorten(text: str, decisive: frozenset[str]) -> str:
    """Return at most ``LONGEST`` characters with the most decisive words, without cutting words or links."""
    if len(text) <= LONGEST:
        return text
    links = [found.span() for found in _LINK.finditer(text)]
    gaps = [n for n, character in enumerate(text) if character.isspace() and not _within(n, links)]
    starts = [0, *(n + 1 for n in gaps if n < len(text) - LONGEST // 2)]
    step = max(1, len(starts) // 40)  # try only some places of a very long line

    def matches(start: int) -> int:
        return len(decisive & set(content_words(text[start : start + LONGEST])))

    start = max(starts[::step], key=lambda place: (matches(place), -place))
    if start + LONGEST >= len(text):
        return text[start:].strip()
    end = max((n for n in gaps if start < n <= start + LONGEST), default=start + LONGEST)
    return text[start:end].strip()


def _within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < place < end for start, end in spans)
