"""What a page that was read by OCR is written in: the kind of its letters, and for Latin ones the language.

The recognizer knows neither. The model in its package reads Latin letters with their accents, Chinese and Japanese; of
others it makes dots, or letters of the same look, and is sure of them (docs/measurements.md).
"""

import re
import unicodedata
from collections import Counter

READ = frozenset(("Latin letters", "Chinese", "Japanese"))
"""What the model reads."""

_SCRIPTS = {
    "LATIN": "Latin letters", "CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic letters", "GREEK": "Greek letters", "ARABIC": "Arabic letters", "HEBREW": "Hebrew letters",
    "DEVANAGARI": "Devanagari", "THAI": "Thai letters",
}  # fmt: skip
_COMMON_WORDS = {
    "English": "the of and to in is for that with are by on this be from not or at as it",
    "German": "der die und das von den zu mit im ist für auf ein eine dem nicht des werden sich oder",
    "French": "le la les et des de du est en pour que une un dans sur au par pas ou avec",
    "Spanish": "el la los las y de del que en por para una un con se es no al o su",
    "Italian": "il la di che e per un una in del della con i le non si da sono gli al",
    "Portuguese": "o a os as e de do da que em para um uma com não por se no na ao",
    "Dutch": "de het een en van in is op te dat voor met zijn door niet aan worden of bij die",
    "Swedish": "och att det som en på är av för med den till inte om ett har i eller vid från",
    "Danish": "og at det som en på er af for med den til ikke om et har i eller ved fra",
    "Polish": "i w na z do jest się nie że dla od przez są oraz o po lub być ma jak",
    "Czech": "a v na se je že s z do o pro od jsou k by nebo při za po být",
    "Turkish": "ve bir bu için ile da de olarak daha olan en çok veya gibi kadar ise her sonra göre değil",
}
_COMMON = {language: frozenset(words.split()) for language, words in _COMMON_WORDS.items()}
MIN_SHARE = 0.1
"""Of the words that must be common ones: of prose it is a quarter to a half, of lists and forms less."""


def script_of(text: str) -> str:
    """The kind of letters that most of a text is in; 'digits and signs' where it has none."""
    found: Counter[str] = Counter()
    for letter in text[:5_000]:
        if letter.isalpha():
            found[_SCRIPTS.get(unicodedata.name(letter, "").split(" ")[0].partition("-")[0], "other letters")] += 1
    if found["Japanese"] and found["Japanese"] + found["Chinese"] > found.total() / 2:
        return "Japanese"  # its sentences hold Chinese characters too
    return found.most_common(1)[0][0] if found else "digits and signs"


def language_of(text: str) -> str:
    """The language of a text by its common words, else the kind of its letters."""
    script = script_of(text)
    if script != "Latin letters":
        return script
    words = re.findall(r"[^\W\d_]+", text.lower())
    shares = {name: sum(word in common for word in words) / len(words) for name, common in _COMMON.items()}
    best, second = sorted(shares, key=shares.__getitem__, reverse=True)[:2]
    return best if shares[best] >= MIN_SHARE and shares[best] > shares[second] else script
