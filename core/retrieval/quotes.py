"""Which stretches of a passage are shown as its quote: always verbatim, one for each sentence that it is cited for."""

import math
import re
from collections.abc import Collection, Sequence

from core.model.evidence import Quote
from core.model.markdown_lines import is_table_rule
from core.model.text import content_words, sentences, words


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
    """Return the share in [0, 1] of the query's words that are held, each weighted by its rarity among the texts."""
    wanted = set(query)
    weights = {word: math.log((len(texts) + 1) / (sum(word in text for text in texts) or 0.5)) for word in wanted}
    total = sum(weights.values())
    return sum(weights[word] for word in wanted if word in held) / total if total else 0.0


_LINK = re.compile(r"!?\[[^\[\]\n]{0,200}\]\([^()\n]{0,500}\)")
LONGEST = 300  # characters: three lines on a phone
LONGEST_VERBATIM = 600  # of a sentence that an answer repeats
MOST = 1_500  # of all that one passage is cited for
_QUESTION_WEIGHT = 0.5  # beside a claim the question only breaks ties: the quote is there to bear the claim out


def choose_quote(passage_text: str, query: str, claim: str = "") -> Quote:
    """Return the sentence that says most of the claim and the question, with a neighbour that adds to it.

    Ranked by BM25 whose statistics are of this passage alone, so that a word which the whole passage is about decides
    nothing. A sentence that is too long is cut around what matches. ``score`` is the share in [0, 1] of the claim's
    (else the question's) words, weighted by how rare they are here, that the quote holds. Where nothing matches it is
    the passage's opening, with score 0; an empty passage has an empty quote.
    """
    spans, heads = _candidates(passage_text)
    if not spans:
        return Quote(_shorten(passage_text.strip(), frozenset()), 0.0)
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
    text = passage_text[spans[first][0] : spans[last][1]]
    held = {word for n in range(first, last + 1) for word in bags[n]}
    return Quote(_shorten(text, frozenset(decisive)), round(coverage(bags, decisive, held), 4))


def quote_for(passage_text: str, query: str, claims: Sequence[str] = ()) -> str:
    """Return what a passage is cited for, in its own words and order: the very sentence behind each claim.

    A claim that is in the passage word for word is shown whole; for another it is what ``choose_quote`` finds.
    Stretches that do not touch are parted by an ellipsis. At most ``MOST`` characters, the first claims first.
    """
    stretches: list[tuple[int, int]] = []
    for claim in dict.fromkeys(claims) or ("",):
        found = _verbatim(claim, passage_text) or _locate(choose_quote(passage_text, query, claim).text, passage_text)
        if sum(end - start for start, end in stretches) + found[1] - found[0] <= MOST:
            stretches.append(found)
    return _join_stretches(passage_text, stretches)


def _verbatim(claim: str, text: str) -> tuple[int, int] | None:
    """Return where the sentence is that has this claim word for word, if one has and it is not overlong."""
    said = _running_text(claim)
    spans = (span for span in _spans(text) if said.strip() and said in _running_text(text[slice(*span)]))
    return next((span for span in spans if span[1] - span[0] <= LONGEST_VERBATIM), None)


def _running_text(text: str) -> str:
    return f" {' '.join(words(text)).casefold()} "


def _locate(quote: str, text: str) -> tuple[int, int]:
    start = text.index(quote)
    return start, start + len(quote)


def _join_stretches(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    """Return the stretches in the order of the text; those that touch or overlap become one."""
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
    """Return the sentences that have words, and which are a table's head: that repeats the question."""
    spans: list[tuple[int, int]] = []
    heads: set[int] = set()
    for start, end in _spans(text):
        if content_words(text[start:end]):
            spans.append((start, end))
        elif spans and is_table_rule(text[start:end]):
            heads.add(len(spans) - 1)
    return spans, frozenset(heads)


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where each sentence is."""
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
    """Return the best sentence and a neighbour with wanted words that it lacks, if both are short enough."""
    missing = decisive - set(bags[best])
    choices: list[tuple[float, int, int]] = []
    for first, last, other in ((best - 1, best, best - 1), (best, best + 1, best + 1)):
        fits = first >= 0 and last < len(spans) and spans[last][1] - spans[first][0] <= LONGEST
        if fits and missing & set(bags[other]):
            choices.append((ranked[other], first, last))
    return max(choices)[1:] if choices else (best, best)


def _shorten(text: str, decisive: frozenset[str]) -> str:
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
