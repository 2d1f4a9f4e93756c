"""Strict verification without a model: a claim holds if one sentence of its evidence has nearly the same words.

There is no entailment model. Other true claims count as unsupported, and a quote replaces them. That is better than to
call a false claim supported.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.understand import PHRASES, word_sets, word_table
from core.model.answer import Claim, ClaimVerdict, Support
from core.model.knowledge import Passage
from core.model.markdown_lines import LIST_ITEM, is_table_rule
from core.model.text import content_words, sentences, words
from core.values import value_faults

_MARK = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_DRESS = re.compile(r"[*_`>#|~\\]+|!?\[([^\]]*)\]\([^)]*\)|<[^>]{1,80}>")
_BEGINS_WITH_PRONOUN = re.compile(
    r"(?i)^\W*(?:it|its|this|that|these|those|they|their|he|she|both|each|then|there|such|on return|afterwards"
    r"|otherwise|after that|if so|in that case)\b"
)
_NEGATION = PHRASES["NEGATION"]
_SIDES = tuple((frozenset(one.split()), frozenset(other.split())) for one, other in word_table("opposites"))
# "According to the documents, …", "the policy states that …"
_ABOUT_SOURCES = word_sets("english")["about_sources"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict on a claim, its confidence in [0, 1], the nearest sentence, and the fault."""

    support: Support
    confidence: float
    sentence: str = ""
    fault: str = ""


def plain(text: str) -> str:
    """Return the case-folded text without markers, Markdown and line breaks, to compare texts verbatim."""
    bare = _MARK.sub(" ", text)
    bare = "\n".join(LIST_ITEM.sub(" ", line) for line in bare.splitlines() if not is_table_rule(line))
    bare = _DRESS.sub(lambda found: f" {found.group(1) or ''} " if found.group(1) else " ", bare)
    return " ".join(re.sub(r"\s+([.,;:!?])", r"\1", bare.replace("…", " ")).split()).casefold()


def verbatim(claim: str, evidence: Iterable[str]) -> bool:
    """Return whether one of the texts has every line of the claim, ignoring white space and Markdown."""
    texts = [plain(text) for text in evidence]
    lines = [line for line in (plain(part) for part in claim.splitlines()) if line]
    whole = plain(claim)
    if not whole:
        return False
    return any(whole in text or all(line in text for line in lines) for text in texts)


def verdict_on(claim: Claim, passages: Sequence[Passage], question: str) -> ClaimVerdict:
    """Return the verdict on a claim. A verbatim claim holds, and others are compared by words."""
    if verbatim(claim.text, [passage.text for passage in passages]):
        return ClaimVerdict(claim, Support.SUPPORTED, by_words=True)
    judged = judge_claim(claim.text, passages, question)
    return ClaimVerdict(claim, judged.support, judged.confidence, judged.sentence, judged.fault, by_words=True)


def judge_claim(claim: str, passages: Sequence[Passage], question: str = "") -> Judgement:
    """Return the verdict on one claim. Words that only the question has are neither a fault nor support."""
    said = _MARK.sub("", claim)
    wanted = set(content_words(said)) - _ABOUT_SOURCES
    candidates = [(one, len(wanted & known) / (len(wanted) or 1)) for one, known in _sentences_with_context(passages)]
    if not candidates or not wanted:
        return Judgement(Support.UNSUPPORTED, 1.0)
    best, share = max(candidates, key=lambda one: one[1])
    if faults := value_faults(said, [f"{one.searchable} {one.dated}" for one in passages], question):
        support = Support.CONTRADICTED if share >= weights.ALIGNED else Support.UNSUPPORTED
        return Judgement(support, 1.0, best, faults[0].reason)
    if share < weights.SAID:
        return Judgement(Support.UNSUPPORTED, 1.0 - share / 2, best)
    near = [sentence for sentence, other in candidates if other >= share - 0.1]
    if all(_is_negated(said, sentence) for sentence in near):
        return Judgement(Support.CONTRADICTED, share, best, "the documents say the opposite")
    fault = _says_it_of_something_else(said, wanted, best, passages, question)
    return Judgement(Support.UNSUPPORTED if fault else Support.SUPPORTED, share, best, fault)


def _says_it_of_something_else(
    said: str, wanted: set[str], best: str, passages: Sequence[Passage], question: str
) -> str:
    """Return why a fact is about something else: a name, a number, or a word that only the question has."""
    everywhere = {word for one in passages for word in content_words(one.searchable)}
    if (wanted - everywhere) & set(content_words(question)):
        return "the documents say it of something else"
    known = {word.casefold() for word in words(f"{best} {_around(passages)} {question}")}
    return "the sentence on this names something else" if _exact(said) - known else ""


def _sentences_with_context(passages: Sequence[Passage]) -> Iterator[tuple[str, set[str]]]:
    """Yield each sentence with its words and its context: headings, a table header, the referent of "it"."""
    for passage in passages:
        around = set(content_words(passage.searchable[: len(passage.searchable) - len(passage.text)]))
        pieces = sentences(passage.text)
        header = next((set(content_words(one)) for one, rule in pairwise(pieces) if is_table_rule(rule)), set())
        before: set[str] = set()
        for piece in pieces:
            own = set(content_words(piece))
            known = own | around | (header if piece.startswith("|") else set())
            yield piece, known | (before if _BEGINS_WITH_PRONOUN.match(piece) else set())
            before = own


def _exact(text: str) -> set[str]:
    """Return the names and numbers of a text, which must match exactly."""
    inside = [pair for sentence in sentences(text) for pair in enumerate(words(sentence))]
    return {word.casefold() for at, word in inside if any(map(str.isdigit, word)) or (at and word[:1].isupper())}


def _around(passages: Sequence[Passage]) -> str:
    """Return the titles, headings and dates of passages."""
    return " ".join(f"{one.searchable[: len(one.searchable) - len(one.text)]} {one.dated}" for one in passages)


def _is_negated(claim: str, sentence: str) -> bool:
    """Return whether one of the two negates the other."""
    odd = (len(_NEGATION.findall(claim)) - len(_NEGATION.findall(sentence))) % 2 == 1
    ours, theirs = set(content_words(claim)), set(content_words(sentence))
    opposed = any(
        (ours & one and theirs & other and not ours & other and not theirs & one)
        or (ours & other and theirs & one and not ours & one and not theirs & other)
        for one, other in _SIDES
    )
    return odd != opposed
