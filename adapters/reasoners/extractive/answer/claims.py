"""Judges a claim against the words of its evidence: numbers, names, negation, word overlap and sentence similarity.

No model of entailment: what it calls supported says nearly the same words as one sentence. Any other true claim comes
back as unsupported, which costs a hedge; calling a wrong one supported would be a lie.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.question.phrases import names
from core.model.answer import Support
from core.model.markdown_lines import LIST_ITEM, is_table_rule
from core.model.passage_units import units
from core.model.text import content_words, words

_MARK = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]")
_DRESS = re.compile(r"[*_`>#|~\\]+|!?\[([^\]]*)\]\([^)]*\)|<[^>]{1,80}>")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|can't|won't|doesn't|don't|didn't|isn't|aren't|wasn't|weren't|"
    r"hasn't|haven't|unable|fail(?:s|ed)?|lack(?:s|ed|ing)?|absence|absent|independent of|unlike|rather than"
    r"|unaffected)\b",
    re.IGNORECASE,
)
# Words that turn a statement round when one side has one and the other its opposite.
_OPPOSITES = (
    ("increas elev rais higher enhanc promot upregul greater more gain improv up stimul activ induc",
     "decreas reduc lower diminish inhibit suppress downregul less fewer loss impair down prevent block abolish"),
    ("allow permit may enabl support includ requir mandatori must", "forbid prohibit deni disabl exclud option"),
    ("befor earlier first", "after later last"),
    ("always all everi", "never none"),
    ("open start begin", "close stop end"),
    ("posit benefici protect", "negat harm risk"),
)  # fmt: skip
_SIDES = tuple((frozenset(one.split()), frozenset(other.split())) for one, other in _OPPOSITES)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the evidence says of a claim, how sure that is in [0, 1], and the sentence that says it."""

    support: Support
    confidence: float
    sentence: str = ""


def plain(text: str) -> str:
    """Text without markers, Markdown dress and line wrapping, folded in case: what "verbatim" is decided on."""
    bare = _MARK.sub(" ", text)
    bare = "\n".join(LIST_ITEM.sub(" ", line) for line in bare.splitlines() if not is_table_rule(line))
    bare = _DRESS.sub(lambda found: f" {found.group(1) or ''} " if found.group(1) else " ", bare)
    return " ".join(re.sub(r"\s+([.,;:!?])", r"\1", bare.replace("…", " ")).split()).casefold()


def verbatim(claim: str, evidence: Iterable[str]) -> bool:
    """Whether every line of the claim stands in one of the texts, white space and Markdown aside."""
    texts = [plain(text) for text in evidence]
    lines = [line for line in (plain(part) for part in claim.splitlines()) if line]
    whole = plain(claim)
    if not whole:
        return False
    return any(whole in text or all(line in text for line in lines) for text in texts)


def judge_claim(claim: str, evidence: Sequence[str], similarity: Sequence[float] | None = None) -> Judgement:
    """The verdict on one claim. ``similarity`` has the cosine of each of ``sentences_of(evidence)``, where known."""
    if verbatim(claim, evidence):
        return Judgement(Support.SUPPORTED, 1.0, claim)
    candidates = sentences_of(evidence)
    if not candidates:
        return Judgement(Support.UNSUPPORTED, 1.0)
    cosines = list(similarity) if similarity is not None else [0.0] * len(candidates)
    everything = " ".join(evidence)
    best = max(range(len(candidates)), key=lambda at: _overlap(claim, candidates[at]) + cosines[at])
    return _judge_claim(claim, candidates[best], cosines[best], everything)


def sentences_of(evidence: Iterable[str], limit: int = 40) -> tuple[str, ...]:
    """The sentences a claim is held against, in order; bounded."""
    return tuple(unit.text for text in evidence for unit in units(text))[:limit]


def _judge_claim(claim: str, sentence: str, cosine: float, everything: str) -> Judgement:
    share, total = _overlap(claim, sentence), _overlap(claim, everything)
    related = share >= weights.ALIGNED or cosine >= weights.SAME_MEANING
    if not related and total < weights.COVERED:
        return Judgement(Support.UNSUPPORTED, min(0.95, 1.0 - max(share, cosine) / 2), sentence)
    if _strange(claim, everything):
        clash = related and bool(_numbers(claim) - _numbers(everything)) and bool(_numbers(sentence))
        support = Support.CONTRADICTED if clash else Support.UNSUPPORTED
        return Judgement(support, 0.6 + 0.3 * max(share, cosine), sentence)
    if related and _is_negated(claim, sentence):
        return Judgement(Support.CONTRADICTED, 0.5 + 0.4 * share, sentence)
    strength = max(0.0, min(1.0, (share + total + max(cosine, 0.0)) / 3))
    if share < weights.SAID:
        return Judgement(Support.UNSUPPORTED, 1.0 - strength, sentence)
    return Judgement(Support.SUPPORTED, strength, sentence)


def _overlap(claim: str, text: str) -> float:
    wanted = set(content_words(claim))
    return len(wanted & set(content_words(text))) / len(wanted) if wanted else 0.0


def _numbers(text: str) -> set[str]:
    return {found.replace(",", "").lstrip("+").rstrip(".") for found in _NUMBER.findall(_MARK.sub(" ", text))}


def _strange(claim: str, everything: str) -> bool:
    """Whether the claim names a number or a proper name that its evidence does not have."""
    if _numbers(claim) - _numbers(everything):
        return True
    there = {word.casefold() for word in words(everything)}
    return any(not ({part.casefold() for part in words(name)} & there) for name in names(claim))


def _is_negated(claim: str, sentence: str) -> bool:
    """Whether one of the two denies what the other says."""
    odd = (len(_NEGATION.findall(claim)) - len(_NEGATION.findall(sentence))) % 2 == 1
    ours, theirs = set(content_words(claim)), set(content_words(sentence))
    opposed = any(
        (ours & one and theirs & other and not ours & other and not theirs & one)
        or (ours & other and theirs & one and not ours & one and not theirs & other)
        for one, other in _SIDES
    )
    return odd != opposed
