"""Names and noun phrases without a parser: runs of capitalised words, and runs of words that carry meaning.

Good enough to say what a question is about; what to do with that is left to the modules that ask.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from core.language import STOPWORDS, stem, words

QUESTION_WORDS = frozenset("who whom whose what which where when why how".split())
PRONOUNS = frozenset(
    "i you we he she it they me us him her them his hers its their theirs my your our this that these those".split()
)
# Words that open sentences or carry no topic, beyond the stop words.
_PALE = frozenset(
    """thing things way ways kind kinds type types lot lots bit example examples detail details information info question
    questions answer answers one ones mean means meant use used using uses make makes made making know known think
    thought happen happened happens happening work works worked start started help helped take takes took taken come came
    keep kept like interesting important good bad better best great big large new old different main major common many
    several various actually really currently however although since yes okay ok oh wow hi hello thanks hmm sure people
    person someone anyone something anything everything nothing aspect aspects article part parts explain describe
    discuss list define name find show learn hear heard understand want wanted wonder curious looking look today now""".split()
)
_TOKEN = re.compile(r"[^\W_]+(?:[.'’&+#/-][^\W_]+)*|[.,;:!?()\"“”]")
_LINKS = frozenset("of the and de la van von der for in on to & at".split())
_SENTENCE_END = frozenset(".!?:")
_LONGEST = 5  # words; a longer run is a list or a web page's menu
_CONTRACTED = ("n't", "n’t", "'re", "'ve", "'ll", "’re", "’ve", "’ll")
_AUXILIARIES = frozenset("do does did can could will would should may might must".split())
_AFTER_VERB = frozenset("in on at for from with to into about by when if before after than as like and because".split())
_VERB_CUES = frozenset("i you we he she it they to".split())


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch that may be what a text is about. ``name``: it is written as a proper name."""

    text: str
    name: bool

    @property
    def stems(self) -> frozenset[str]:
        """Its content, for comparing."""
        return frozenset(stem(word) for word in words(self.text) if word.casefold() not in STOPWORDS)

    @property
    def head(self) -> str:
        """The stem of its last word before any ``of``."""
        found = words(re.split(r"\b(?:of|in|for)\b", self.text)[0]) or words(self.text)
        return stem(found[-1]) if found else ""


def tokens(text: str) -> tuple[str, ...]:
    """Words and the punctuation that ends phrases."""
    return tuple(_TOKEN.findall(text))


def _capital(token: str) -> bool:
    return token[:1].isupper() or (len(token) > 1 and any(c.isupper() for c in token[1:]))


def _initial(found: tuple[str, ...], at: int) -> bool:
    return at == 0 or found[at - 1] in _SENTENCE_END


def _opens_name(found: tuple[str, ...], at: int) -> bool:
    token = found[at]
    bare = token.casefold()
    if not _capital(token) or bare in STOPWORDS or bare in _PALE or bare in QUESTION_WORDS or bare in PRONOUNS:
        return False
    if bare.split("'")[0].split("’")[0] in STOPWORDS | PRONOUNS:
        return False
    if not _initial(found, at):
        return True
    # The first word of a sentence is capitalised anyway: a name only with another capital inside or after it.
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
    """The proper names of a text, in order, without repeats."""
    found = tokens(text)
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


def _carries(token: str) -> bool:
    bare = token.casefold()
    return bool(token[0].isalnum()) and bare not in STOPWORDS and bare not in PRONOUNS and bare not in QUESTION_WORDS


@lru_cache(maxsize=4096)
def noun_phrases(text: str) -> tuple[Phrase, ...]:
    """Runs of content words and the names among them, as they stand, likely verbs left out."""
    found = tokens(text)
    phrases = [Phrase(name, name=True) for name in names(text)]
    start = 0
    while start < len(found):
        if not _nominal(found, start):
            start += 1
            continue
        end = start + 1
        while end < len(found) and (_nominal(found, end) or _joins(found, end)):
            end += 1
        first, last = _without_verbs(found, start, end)
        if first < last and last - first <= _LONGEST:
            run = " ".join(found[first:last])
            if run not in names(text):
                phrases.append(Phrase(run, name=False))
        start = end
    return tuple(dict.fromkeys(phrases))


def _nominal(found: tuple[str, ...], at: int) -> bool:
    token = found[at]
    bare = token.casefold()
    return _carries(token) and (bare not in _PALE or _capital_inside(found, at)) and not bare.endswith(_CONTRACTED)


def _capital_inside(found: tuple[str, ...], at: int) -> bool:
    return _capital(found[at]) and not _initial(found, at)


def _joins(found: tuple[str, ...], at: int) -> bool:
    """Whether a small word holds two capitalised ones together: Lord of the Rings."""
    after = next((word for word in found[at + 1 : at + 3] if word.casefold() not in _LINKS), "")
    return found[at].casefold() in {"of", "de", "la", "van", "von", "der", "the", "&"} and (
        _capital(found[at - 1]) and _capital(after)
    )


def _without_verbs(found: tuple[str, ...], start: int, end: int) -> tuple[int, int]:
    """The run without a verb at its front ("to configure …") or its back ("does the company pay for")."""
    before = found[start - 1].casefold() if start else ""
    if before in _VERB_CUES and not _capital(found[start]):
        start += 1
    if before in {"who", "what"} and end - start > 1 and re.search(r"(?:s|ed)$", found[start]) and not _capital(found[start]):
        start += 1
    ahead = found[end].casefold() if end < len(found) else "?"
    asked = any(word.casefold() in _AUXILIARIES for word in found[max(0, start - 3) : start])
    follows = ahead in PRONOUNS or (asked and (ahead in _AFTER_VERB or not ahead[0].isalnum()))
    if end - start > 1 and follows and not _capital(found[end - 1]):
        end -= 1
    return start, end
