"""Quotes."""

from core.evidence import Quote
from core.language import content_words, sentences


def choose_quote(text: str, query: str, claim: str = "") -> Quote:
    """The best sentence."""
    wanted = set(content_words(f"{query} {claim}"))
    best = max(sentences(text), key=lambda s: len(wanted & set(content_words(s))), default=text)
    return Quote(best, 1.0)
