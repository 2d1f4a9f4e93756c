"""Fragments: "and in London?", "what about the job timeout?", "I meant Fleet" go on with the question before them.

The earlier question is asked again with its parallel part replaced, so that what comes out reads as a question.
"""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.phrases import Phrase, names, noun_phrases
from adapters.reasoners.extractive.pronouns import PERSONAL, PRONOUN_ONLY, THING, pronoun_in
from core.conversation import Exchange
from core.language import content_words, words

LEADING = re.compile(
    r"^(?:(?:and|but|so|also|then|or|plus)\b[\s,]*)*(?:what|how)\s+about\s+|^(?:and|but|or|plus)\b[\s,]+", re.IGNORECASE
)
VERBISH = re.compile(
    r"\b(?:is|are|was|were|am|be|been|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must"
    r"|isn't|"
    r"aren't|wasn't|doesn't|don't|didn't|can't|won't|'s|’s|happened|happens)\b",
    re.IGNORECASE,
)
ASKING = re.compile(r"\b(?:who|whom|whose|what|which|where|when|why|how)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:the|a|an)\s+", re.IGNORECASE)
_PREPOSITION = re.compile(r"(in|for|on|at|with|to|by|from)\s+(?:the\s+)?", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:if|when|while|after|before|during|since|until|without|because|as|per|than)\b", re.IGNORECASE)
_SMALL = re.compile(r"^(?:the|a|an|in|for|on|at|with|to|by|from|of)\s+", re.IGNORECASE)
_LONGEST_NAME = 4  # words
_LONGEST = 4  # content words; more is a question of its own


def continued(question: str, window: Sequence[Exchange], *, amends: bool = False) -> tuple[str, str]:
    """The fragment put into the question before it, and that question; two empty strings when it is no fragment.

    ``amends``: it corrects what was asked ("I meant …"), so that it need not begin with "and" or "what about".
    """
    last = next((one.question for one in reversed(window) if one.question), "").rstrip("?.! ")
    said = LEADING.sub("", question).strip().rstrip("?.! ")
    if not last or not said or not _is_fragment(said, leads=amends or bool(LEADING.match(question))):
        return "", ""
    whole = _put_in(last, said)
    return (f"{whole}?", f"{last}?") if whole else ("", "")


def _is_fragment(said: str, *, leads: bool) -> bool:
    asks = ASKING.match(said)
    if asks and len(words(said)) <= 3 and not content_words(said) and not pronoun_in(said):
        return True  # "why?", "who did?"
    if not leads or asks or VERBISH.search(said) or len(content_words(said)) > _LONGEST:
        return False
    return not (PERSONAL.search(said) or THING.search(said) or PRONOUN_ONLY.fullmatch(said))


def _put_in(last: str, said: str) -> str:
    """The last question with its parallel part replaced: same noun, same preposition, or name for name; else empty."""
    base = re.sub(r"\s*\([^)]*\)$", "", last)
    if not content_words(said):
        return f"{base}: {said}"
    if _CLAUSE.match(said):
        return f"{base} {said}"
    bare = _SMALL.sub("", said)
    new = Phrase(bare, name=bare[:1].isupper() or tuple(names(said)) == (bare,))
    for phrase in noun_phrases(base):
        if phrase.head == new.head and phrase.stems != new.stems and len(new.stems) > 1:
            return base.replace(phrase.text, new.text, 1)
    if preposition := _PREPOSITION.match(said):
        place = re.search(rf"\b{preposition.group(1)}\s+(?:the\s+)?(?:[A-Z][\w-]*|[\w-]+)(?=\s*$)", base, re.IGNORECASE)
        return f"{base[: place.start()]}{said}" if place else f"{base} {said}"
    replaced = [name for name in names(base) if len(name.split()) <= _LONGEST_NAME] if new.name else []
    return _named(base, replaced[-1], said, new.text) if replaced else _about(base, new.text)


def _about(base: str, new: str) -> str:
    """The question asked of something else, where it is plain what it was asked of."""
    topical = [phrase for phrase in noun_phrases(base) if not phrase.relational]
    asks = VERBISH.search(base) or ASKING.search(base)
    if asks and len(topical) == 1 and len(content_words(base)) > len(topical[0].stems):
        return base.replace(topical[0].text, new, 1)
    return ""


def _named(base: str, old: str, said: str, new: str) -> str:
    """One name for another; an article goes with the name that it was said of, and stays with a noun behind it."""
    found = re.search(rf"(?P<article>\b(?:the|a|an)\s+)?{re.escape(old)}(?P<noun>\s+[a-z])?", base, re.IGNORECASE)
    if found is None or not found["article"] or found["noun"] or _ARTICLE.match(said):
        return base.replace(old, new, 1)
    return f"{base[: found.start()]}{new}{base[found.end() :]}"
