"""Word-by-word translation of questions to English with bilingual dictionaries.

Word order mostly stays, which retrieval and the answer reader tolerate. Words without an entry stay, since most are
names, codes or the same in both languages. The dictionaries are this project's own, with some thousand everyday work
words each. A line is ``word<TAB>English``. The entry may have several words ("wie viele"), and the English may be empty
(an article).
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from adapters.reasoners.extractive.understand import word_table
from adapters.reasoners.extractive.understand.spelling import NO_LEXICON, Lexicon
from core.model.languages import language_of
from core.model.text import snowball, words

_STEMMERS = {"de": "german", "fr": "french", "es": "spanish"}
LANGUAGES = frozenset(_STEMMERS)  # with a dictionary
_TOKEN = re.compile(r"[^\W_]+['’]|[^\W_]+(?:[-._]+[^\W_]+)*|\s+|.", re.DOTALL)  # "l'équipe" is two words
_INVERTED = re.compile(r"(?<=\w)-(?:t-)?(?:je|tu|il|elle|on|nous|vous|ils|elles)$")  # "ferme-t-on"
_OPENING = "¿¡"
_MARKS = '#*_"“„«(-|>'  # may precede the first word of a sentence
_STOPS = ".!?:"
_ELIDED = "'’"
_SOME = 0.25  # share of texts in the question's language that makes an answer in it likely
_LONGEST = 5  # words of an entry
_SHORTEST_PART = 3  # letters of a part of a compound
# "Who is for the planner responsible?": German puts the predicate last.
_PUT_LAST = re.compile(
    r"\b(?P<be>is|are|was|were) (?P<whom>(?:for|of|with) .+) (?P<what>responsible|in charge)(?=\W*$)"
)
# "If my laptop stolen is", "must expenses sent are": German also puts a participle and its verb last.
_PASSIVE_LAST = re.compile(r"\b(?P<done>[a-z]+(?:ed|en|nt|ft|pt|de)) (?P<be>is|are)(?=\W*$)")
_MODAL = re.compile(r"\b(?:must|may|can|should)\b")
# Separable prefixes of German verbs: "findet … statt".
_PREFIXES = frozenset(words("ab an auf aus bei ein fest frei los mit nach statt teil vor weg weiter zu zurück"))
_LINKS = ("", "s", "n", "en", "es", "er", "e")  # between the parts of a German compound
_ABOUT_NUMBER = re.compile(r"\babout (?=[€$£]?\d)")  # "über 2000 Euro"
_COGNATES = tuple(word_table("cognates"))  # language, ending of a Latin cognate, English ending
_COGNATE = 5  # letters; too many shorter words are different words in English


def is_language_of(question: str, texts: Iterable[str]) -> bool:
    """Return whether some of these texts are in the question's language, so that they can correct its spelling."""
    language = language_of(question)
    found = [language_of(text) for text in texts]
    return language not in LANGUAGES or found.count(language) >= max(1, _SOME * len(found))


def english_of(question: str, lexicon: Lexicon = NO_LEXICON) -> str:
    """Return the question in English, or unchanged without a dictionary. ``lexicon`` confirms cognates."""
    language = language_of(question)
    return dictionary_of(language).translate(question, lexicon) if language in LANGUAGES else question


# Note below an answer with the translated question, so that a person can see translation errors.
_NOTES = {
    "de": "Die Dokumente sind auf Englisch. Die Frage habe ich Wort für Wort gelesen als: “{}”.\n\n",
    "fr": "Les documents sont en anglais. J'ai lu la question mot à mot ainsi : “{}”.\n\n",
    "es": "Los documentos están en inglés. He leído la pregunta palabra por palabra así: “{}”.\n\n",
}


def note_of_translation(asked: str, read: str) -> str:
    """Return the note with the translated question. Empty if it was not translated."""
    language = language_of(asked)
    return _NOTES[language].format(read) if language in _NOTES and language_of(read) != language else ""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Dictionary of one language: entries in lower case, and single words by their Snowball stems."""

    language: str
    entries: Mapping[str, str]
    stems: Mapping[str, str]

    def translate(self, text: str, lexicon: Lexicon = NO_LEXICON) -> str:
        """Translate the longest runs of words with an entry. Other words stay.

        A word without an entry may be a cognate that the lexicon knows.
        """
        tokens = [token for token in _TOKEN.findall(text) if not token.isspace() and token not in _OPENING]
        if self.language == "de":
            tokens = self._with_prefix_at_verb(tokens)
        said: list[str] = []
        at = 0
        while at < len(tokens):
            size, english = self._longest_entry(tokens[at:])
            if english == tokens[at] and english.islower():
                english = self._cognate(english, lexicon)
            if said and said[-1] == tokens[at - 1] and said[-1][0].isupper() and _goes_on_with_name(tokens[at:]):
                size, english = 1, tokens[at]  # the second word of a name: "Aurelie Banks", "Val d'Orsel"
            said.append(english)
            if english == tokens[at] and english[-1] in _ELIDED and at + 1 < len(tokens):
                size, said[-1] = 2, english + tokens[at + 1]
            at += size
        if self.language == "de":
            said = _with_verb_second([part for part in said if part], tokens)
        put = re.sub(r" +(?=[?.!,;:)])", "", " ".join(part for part in said if part)).strip()
        if self.language != "de":
            return put
        put = _PASSIVE_LAST.sub(r"be \g<done>" if _MODAL.search(put) else r"\g<be> \g<done>", put)
        return _PUT_LAST.sub(r"\g<be> \g<what> \g<whom>", _ABOUT_NUMBER.sub("above ", put))

    def _with_prefix_at_verb(self, tokens: Sequence[str]) -> list[str]:
        """Move a German prefix at the end behind its verb, if both together are an entry: "findet … statt"."""
        last = next((at for at in range(len(tokens) - 1, -1, -1) if tokens[at][0].isalnum()), 0)
        for at in range(last - 1 if tokens[last] in _PREFIXES else 0):
            if _key((tokens[at], tokens[last])) in self.entries:
                return [*tokens[: at + 1], tokens[last], *tokens[at + 1 : last], *tokens[last + 1 :]]
        return list(tokens)

    def _cognate(self, word: str, lexicon: Lexicon) -> str:
        """Return the English cognate ("exception" for "excepción"), or the word itself if none is known."""
        if len(word) < _COGNATE:
            return word
        readings = [_without_accents(word)]
        for language, ending, english in _COGNATES:
            if language == self.language and word.endswith(ending):
                readings.append(_without_accents(word.removesuffix(ending)) + english)
        return next((one for one in readings if lexicon.knows(one)), word)

    def gloss(self, text: str) -> str:
        """Translate every word in place. Line breaks, figures and punctuation stay."""
        pieces = _TOKEN.findall(text)
        said: list[str] = []
        opens = True  # at the start of a sentence: capitalise the next translated word
        name = False  # the word before is a kept, capitalised word: "Mareike Thoms"
        at = 0
        while at < len(pieces):
            piece = pieces[at]
            if not piece[0].isalnum():
                said.append(piece)
                opens = "\n" in piece or piece in _STOPS or (opens and piece.strip() in _MARKS)
                name = name and piece == " "
                at += 1
                continue
            goes_on = name and _goes_on_with_name(pieces[at:])
            size, english = (1, piece) if goes_on else self._longest_run(pieces[at:])
            name = goes_on or (english == piece and piece[0].isupper())
            said.append(english[:1].upper() + english[1:] if opens else english)
            at += size
            if english and english != piece and piece[-1] in _ELIDED:
                said.append(" ")  # "l'équipe": the team
            elif not english and pieces[at : at + 1] == [" "]:
                at += 1
            opens = opens and not english
        return "".join(said)

    def _longest_run(self, tokens: Sequence[str]) -> tuple[int, str]:
        """Return the length in tokens of the longest run of words with an entry, and its English."""
        run = list(tokens[: 2 * _LONGEST - 1])
        spaces = run[1::2]
        far = next((at for at, space in enumerate(spaces) if space != " "), len(spaces))
        size, english = self._longest_entry([word for word in run[: 2 * far + 1 : 2] if word[0].isalnum()])
        return 2 * size - 1, english

    def _longest_entry(self, tokens: Sequence[str]) -> tuple[int, str]:
        for size in range(min(_LONGEST, len(tokens)), 1, -1):
            english = self.entries.get(_key(tokens[:size]))
            if english is not None:
                return size, english
        return 1, self._word(tokens[0])

    def _word(self, token: str) -> str:
        word = _key((token,))
        known = self._known(word)
        if known is None and self.language == "de":
            known = self._parts(word)
        if known is None and self.language == "fr" and (bare := _INVERTED.sub("", word)) != word:
            known = self._known(bare) or bare
        if known is None and self.language == "de" and "-" in token[1:-1]:
            parts = [self._word(part) for part in token.split("-") if part]  # "Fleet-Schlüssel", "Tier-2-Alarm"
            known = " ".join(parts) if parts != token.split("-") else None
        return token if known is None else known

    def _known(self, word: str) -> str | None:
        for form in (word, _without_accents(word)):  # typed without accents, like the stems of the entries
            english = self.entries.get(form)
            if english is None and len(form) > 1:
                english = self.stems.get(_stem(self.language, form))
            if english is not None:
                return english
        return None

    def _parts(self, word: str) -> str | None:
        """Translate a German compound by its parts, with the longest possible first part: "Urlaubs-tage"."""
        for end in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
            first = self._first_part(word[:end])
            rest = self._known(word[end:]) or self._parts(word[end:])
            if first and rest:
                return f"{first} {rest}"
        return None

    def _first_part(self, part: str) -> str | None:
        bare = (part.removesuffix(link) for link in _LINKS if part.endswith(link))
        return next((found for word in bare if len(word) >= _SHORTEST_PART and (found := self.entries.get(word))), None)


@lru_cache(maxsize=len(_STEMMERS))
def dictionary_of(language: str) -> Dictionary:
    """Return the dictionary of a language. Loading takes a few milliseconds, and it is cached."""
    entries: dict[str, str] = {}
    for foreign, english in word_table(language):
        entries.setdefault(_key(_TOKEN.findall(foreign)), english.strip())
    stems: dict[str, str] = {}
    for entry, english in entries.items():
        if " " not in entry and english:
            stems.setdefault(_stem(language, entry), english)
    for entry, english in list(entries.items()):
        if len(entry) >= _COGNATE:  # "thé" would make tea of "the"
            entries.setdefault(_without_accents(entry), english)
    return Dictionary(language, entries, stems)


def _goes_on_with_name(tokens: Sequence[str]) -> bool:
    """Return whether the next word is capitalised, or is elided before a capitalised one."""
    joined = tokens[0][-1] in _ELIDED and len(tokens) > 1
    return (tokens[1] if joined else tokens[0])[0].isupper()


_ASKS_LEAVE = re.compile(r"\b(?:may|can|must|should|could) (?:I|we|you|they)$")


def _with_verb_second(said: Sequence[str], tokens: Sequence[str]) -> list[str]:
    """Move the verb that German puts last: "may I my dog with on the site take" is "may I take my dog …"."""
    last = next((at for at in range(len(said) - 1, -1, -1) if said[at][0].isalnum()), 0)
    verb = next((token for token in reversed(tokens) if token[0].isalnum()), "")
    heads = (at for at in range(last - 1) if _ASKS_LEAVE.search(" ".join(said[: at + 1])))
    head = next(heads, None)
    if head is None or not verb.endswith("n") or not verb.islower():
        return list(said)
    return [*said[: head + 1], said[last], *said[head + 1 : last], *said[last + 1 :]]


def _without_accents(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))


def _key(tokens: Sequence[str]) -> str:
    return " ".join(token.casefold().replace("’", "'") for token in tokens if not token.isspace())


def _stem(language: str, word: str) -> str:
    return snowball(_STEMMERS[language], word)
