"""Detection of claims that contradict their evidence by a negation."""

import re
from dataclasses import dataclass

from core.model.languages import language_of, small_words_of
from core.model.text import content_words, sentences, without_markers

SHARED = 0.8  # share of common content words from which two clauses say the same thing
FEWEST = 3  # content words; a shorter clause is not compared

_DENIALS = {
    "en": r"\b(?:not|no|never|none|neither|nor|cannot|nobody|nothing)\b|n['’]t\b",
    "de": r"\b(?:nicht|kein\w*|nie|niemals|niemand\w*|nichts)\b",
    "fr": r"\b(?:ne|pas|jamais|aucune?|rien|ni)\b|\bn['’]",
    "es": r"\b(?:no|nunca|jamás|ning[uú]n\w*|nadie|nada|tampoco|ni)\b",
}
_DENIED = {language: re.compile(pattern, re.IGNORECASE) for language, pattern in _DENIALS.items()}
_DOUBLED = frozenset({"fr", "es"})  # "ne … pas", "no … nunca" deny once
# Words that reverse or limit a negation. The verifier judges clauses that have one.
_UNSURE = re.compile(
    r"(?i)\b(?:unless|only|except\w*|until|without|as long as|if|whether|refus\w+|forb\w+|prohibit\w*|den(?:y|ies|ied)"
    r"|lack\w*|fail\w*|exclud\w*|nur|sofern|solange|au(?:ß|ss)er|ohne|wenn|falls|ob|bis|verboten|untersagt"
    r"|seulement|sauf|sans|tant que|à moins|si|jusqu\w*|que|interdit\w*"
    r"|sólo|solo|solamente|salvo|excepto|sin|mientras|hasta|menos|prohibid\w*)\b|\?"
)
_REPLY = re.compile(r"(?i)^\W*(?:yes|no|not|ja|nein|oui|non|sí|si)\b")
_CLAUSE = re.compile(
    r"\s*[;:–—]\s*|,\s+(?=\S+\s\S+)|\s+(?:and|but|while|whereas|und|aber|sondern|et|mais|y|pero|sino)\s+"
)


@dataclass(frozen=True, slots=True)
class _Clause:
    words: frozenset[str]
    denies: bool
    unsure: bool


def polarity_conflict(claim: str, words: str, language: str = "") -> bool:
    """Return whether only the claim or only the words of its evidence are negated.

    True only for two clauses that share nearly all content words and of which exactly one has a negation. False if
    either has a condition, an exception or a second negation, or if the claim begins with "No,".
    """
    language = language or language_of(claim)
    said = without_markers(claim)
    if language not in _DENIED or language_of(words) not in {language, "en"} or _REPLY.match(said):
        return False
    known = _clauses(words, language)
    return any(_is_denied(clause, known) for clause in _clauses(said, language))


def _is_denied(clause: _Clause, known: list[_Clause]) -> bool:
    near = [one for one in known if _overlap(clause.words, one.words) >= SHARED]
    if len(clause.words) < FEWEST or clause.unsure or not near:
        return False
    return all(one.denies != clause.denies and not one.unsure for one in near)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(len(one), len(other), 1)


def _clauses(text: str, language: str) -> list[_Clause]:
    """Return the clauses of a text. A condition makes all clauses of its sentence unsure."""
    found: list[_Clause] = []
    for sentence in sentences(text):
        limited = bool(_UNSURE.search(sentence))
        for part in filter(None, _CLAUSE.split(sentence)):
            denials = _DENIED[language].findall(part)
            twice = len(denials) > 1 and language not in _DOUBLED
            small = small_words_of(text)
            meaning = frozenset(content_words(_DENIED[language].sub(" ", part))) - small
            found.append(_Clause(meaning, bool(denials), twice or limited))
    return found
