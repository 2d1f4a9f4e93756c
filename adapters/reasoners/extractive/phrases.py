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
        kept[" ".join(parts).removesuffix("'s").removesuffix("’s")] = None
        at = end
    return tuple(kept)


def _carries(token: str) -> bool:
    bare = token.casefold()
    return bool(token[0].isalnum()) and bare not in STOPWORDS and bare not in PRONOUNS and bare not in QUESTION_WORDS


@lru_cache(maxsize=4096)
def noun_phrases(text: str) -> tuple[Phrase, ...]:
    """Names, and runs of content words as they stand; a word after "to" or a pronoun counts as a verb and is left out."""
    found = tokens(text)
    proper = names(text)
    phrases = [Phrase(name, name=True) for name in proper]
    covered = {part.casefold() for name in proper for part in name.split()}
    run: list[str] = []
    runs: list[list[str]] = []
    for at, token in enumerate(found):
        before = found[at - 1].casefold() if at else ""
        if not _carries(token) or token.casefold() in _PALE or (before in _VERB_CUES and not _capital(token)):
            runs.append(run)
            run = []
        else:
            run.append(token)
    runs.append(run)
    for one in runs:
        if one and not all(token.casefold() in covered for token in one):
            phrases.append(Phrase(" ".join(one), name=False))
    return tuple(dict.fromkeys(phrases))
