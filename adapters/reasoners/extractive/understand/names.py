"""Proper names without a parser: runs of capitalised words."""

import re
from functools import lru_cache

from adapters.reasoners.extractive.understand import word_sets
from core.model.text import STOPWORDS

_WORDS = word_sets("english")
QUESTION_WORDS, PRONOUNS = _WORDS["asking"], _WORDS["pronouns"]
_NO_NAME = _WORDS["no_name"]  # open sentences or carry no topic, beyond the stop words
_TOKEN = re.compile(r"[^\W_]+(?:[.'’&+#/-][^\W_]+)*|[.,;:!?()\"“”]")
_LINKS = _WORDS["in_names"]
_SENTENCE_END = frozenset(".!?:")
_LONGEST = 5  # words; a longer run is a list or a web page's menu


def _capital(token: str) -> bool:
    return token[:1].isupper() or (len(token) > 1 and any(c.isupper() for c in token[1:]))


def _opens_name(found: tuple[str, ...], at: int) -> bool:
    token = found[at]
    bare = token.casefold()
    if not _capital(token) or bare in STOPWORDS or bare in _NO_NAME or bare in QUESTION_WORDS or bare in PRONOUNS:
        return False
    if bare.split("'")[0].split("’")[0] in STOPWORDS | PRONOUNS:
        return False
    if at and found[at - 1] not in _SENTENCE_END:
        return True
    # The first word of a sentence is always capitalised. It is a name only with another capital in it or after it.
    return any(c.isupper() or c.isdigit() for c in token[1:]) or (at + 1 < len(found) and _capital(found[at + 1]))


def _name_end(found: tuple[str, ...], start: int) -> int:
    end = start + 1
    while end < len(found):
        if _capital(found[end]) or (found[end].isdigit() and found[end - 1] not in _LINKS):
            end += 1
            continue
        ahead = end
        while ahead < len(found) and found[ahead].casefold() in _LINKS and ahead - end < 2:
            ahead += 1
        linked = found[end].casefold() in {"of", "de", "la", "van", "von", "der", "the", "&"}
        if linked and ahead < len(found) and ahead > end and _capital(found[ahead]):
            end = ahead + 1
            continue
        break
    return end


@lru_cache(maxsize=4096)
def names(text: str) -> tuple[str, ...]:
    """Return the proper names of a text, in order, without repeats."""
    found = tuple(_TOKEN.findall(text))
    kept: dict[str, None] = {}
    at = 0
    while at < len(found):
        if not _opens_name(found, at):
            at += 1
            continue
        end = _name_end(found, at)
        parts = [part for part in found[at:end] if part[0].isalnum() or part == "&"]
        if len(parts) > _LONGEST + 2:
            at = end
            continue
        kept[" ".join(parts).removesuffix("'s").removesuffix("’s")] = None
        at = end
    return tuple(kept)
