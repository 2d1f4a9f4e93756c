"""Words and sentences, as the extractive reasoner, quote selection and verification share them.

English words are stemmed and stop words removed. Words of other languages are only lower-cased, which costs recall but
breaks nothing.
"""

import re
import threading
from functools import lru_cache

STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can could d did do does doing don done down during each either else ever few for from further get gets getting give
    go going got had has have having he her here hers him his how i if in into is isn it its itself just kindly know let
    like ll many may me might more most much must my need no nor not of off on once one only or other ought our ours out
    over own per please re s same say says shall she should so some such t tell than thank thanks that the their theirs
    them then there these they this those through to too under until up us ve very want was we were what when where
    whether which while who whom whose why will with within would you your yours""".split()  # noqa: SIM905 - a list of 150 strings is unreadable
)

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_IDENTIFIER = re.compile(r"(?<![^\W_])[^\W_]+(?:_[^\W_]+)+(?![^\W_])")
# A sentence ends at . ! ? … before white space and something that can begin one, or at a line break.
_BREAK = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+(?=[\"“‘(\[]*[^\Wa-z_])|\n+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|approx|no|fig|dr|mr|mrs|ms|prof|inc|ltd|st|u\.s|[A-Z])\.)$", re.IGNORECASE
)
# "Am 18. Dezember" does not end a sentence.
_ORDINAL = re.compile(r"\b\d{1,2}\.$")
_MONTH = re.compile(
    r"\s+(?:Jan|Feb|März|Mar|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[kc]t|Nov|De[zc])(?:[a-z]{0,6}\b)", re.IGNORECASE
)


_stemmers = threading.local()  # stemmers are stateful, so each thread has its own


def snowball(language: str, word: str) -> str:
    """Return the Snowball stem of a lower-cased word of this language."""
    if not hasattr(_stemmers, language):
        import snowballstemmer

        setattr(_stemmers, language, snowballstemmer.stemmer(language))
    return str(getattr(_stemmers, language).stemWord(word))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the English Snowball stem of a word, lower-cased."""
    return snowball("english", word.casefold())


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, unchanged and in order: letters and digits, with inner points and apostrophes."""
    return tuple(_WORD.findall(text))


@lru_cache(maxsize=4_096)  # one question asks for the same sentences ten times
def content_words(text: str) -> tuple[str, ...]:
    """Return the stems of the words that carry meaning, in order, repeated where the text repeats them."""
    bare = (word.casefold().replace("’", "'").removesuffix("'s") for word in words(text))
    return tuple(stem(word) for word in bare if word not in STOPWORDS)


def without_stopwords(text: str) -> str:
    """Return the words of a text that carry meaning, unstemmed; the text itself if none does.

    All words of an identifier carry meaning: "too_many_pallets" is the name of an error.
    """
    named = {word for identifier in _IDENTIFIER.findall(text) for word in words(identifier)}
    kept = [
        word
        for word in words(text)
        if word in named or word.casefold().replace("’", "'").removesuffix("'s") not in STOPWORDS
    ]
    return " ".join(kept) or text


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, each verbatim and stripped. List items and table rows count as sentences."""
    found: list[str] = []
    start = 0
    for gap in _BREAK.finditer(text):
        piece = text[start : gap.start()]
        if "\n" not in gap.group() and (
            _ABBREVIATION.search(piece) or (_ORDINAL.search(piece) and _MONTH.match(text, gap.start()))
        ):
            continue
        if piece.strip():
            found.append(text[start : gap.end()].strip())
        start = gap.end()
    if text[start:].strip():
        found.append(text[start:].strip())
    return tuple(found)


MARKER = re.compile(r" ?\[ *((?:E|id)?\d{1,4}(?: *[,;] *(?:E|id)?\d{1,4}){0,19}) *\]", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,4}")


def cited_ids(text: str) -> tuple[int, ...]:
    """Return the evidence ids that a text names, in order of first mention."""
    found = (int(number) for marker in MARKER.finditer(text) for number in _NUMBER.findall(marker.group(1)))
    return tuple(dict.fromkeys(found))


def without_markers(text: str) -> str:
    """Return the text without its ``[n]`` markers."""
    return MARKER.sub("", text)
