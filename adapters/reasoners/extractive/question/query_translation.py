"""A question in another language than the documents, put into English word by word with a bilingual dictionary.

Dictionary-based query translation: the order of the words stays, which retrieval does not mind and the reader of
answers bears; a word that the dictionary lacks stays as it is, being mostly a name, a code or alike in both languages.
The dictionaries are this project's own, of some thousand everyday words of work each: lines of ``word<TAB>English``,
where the word may be several ("wie viele") and the English empty (an article that a question does without).
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from adapters.reasoners.extractive.question.spelling import Lexicon, NoLexicon
from core.model.languages import language_of
from core.model.text import content_words, snowball, words

_STEMMERS = {"de": "german", "fr": "french", "es": "spanish"}
LANGUAGES = frozenset(_STEMMERS)  # with a dictionary
_TOKEN = re.compile(r"[^\W_]+['’]|[^\W_]+(?:[-._]+[^\W_]+)*|\s+|.", re.DOTALL)  # "l'équipe" is two words
_INVERTED = re.compile(r"(?<=\w)-(?:t-)?(?:je|tu|il|elle|on|nous|vous|ils|elles)$")  # "ferme-t-on"
_OPENING = "¿¡"
_MARKS = '#*_"“„«(-|>'  # before the first word of a sentence
_STOPS = ".!?:"
_ELIDED = "'’"
_SOME = 0.25  # of the texts in the question's language: it may well be answered in it
_LONGEST = 5  # words of an entry
_LONGEST_SENSE = 3  # words of what an entry says in English
_SENSES = 4  # words that one English word may be
_SHORTEST_PART = 3  # letters of a part of a compound
# "Who is for the planner responsible?": what somebody is stands last in German.
_PUT_LAST = re.compile(
    r"\b(?P<be>is|are|was|were) (?P<whom>(?:for|of|with) .+) (?P<what>responsible|in charge)(?=\W*$)"
)
# "If my laptop stolen is", "must expenses sent are": so are a participle and its verb.
_PASSIVE_LAST = re.compile(r"\b(?P<done>[a-z]+(?:ed|en|nt|ft|pt|de)) (?P<be>is|are)(?=\W*$)")
_MODAL = re.compile(r"\b(?:must|may|can|should)\b")
# What German parts from a verb: "findet … statt".
_PREFIXES = frozenset(words("ab an auf aus bei ein fest frei los mit nach statt teil vor weg weiter zu zurück"))
_LINKS = ("", "s", "n", "en", "es", "er", "e")  # between the parts of a German compound
_ABOUT_NUMBER = re.compile(r"\babout (?=[€$£]?\d)")  # "über 2000 Euro"
# Endings of words that came to English from Latin: what is left, without accents, is mostly the English word.
_COGNATES = {
    "fr": (("ités", "ities"), ("ité", "ity"), ("iques", "ic"), ("ique", "ic"), ("ières", "ar"),
           ("ière", "ar"), ("iers", "ar"), ("ier", "ar"), ("aires", "ary"), ("aire", "ary"), ("eurs", "ors"),
           ("eur", "or"), ("ées", "ed"), ("és", "ed"), ("ée", "ed"), ("é", "ed"), ("e", "")),
    "es": (("ciones", "tions"), ("ción", "tion"), ("siones", "sions"), ("sión", "sion"), ("idades", "ities"),
           ("idad", "ity"), ("mente", "ly"), ("encia", "ence"), ("ancia", "ance"), ("icos", "ic"), ("icas", "ic"),
           ("ico", "ic"), ("ica", "ic"), ("ores", "ors"), ("ados", "ated"), ("ado", "ated"), ("os", "s"), ("as", "s"),
           ("o", ""), ("a", ""), ("o", "e")),
    "de": (("ungen", "ations"), ("ung", "ation"), ("ität", "ity"), ("isch", "ic"), ("ierung", "ation"),
           ("ieren", "ate"), ("ie", "y"), ("en", "s"), ("e", "")),
}  # fmt: skip
_COGNATE = 5  # letters; of shorter words too many are other words in English


_NO_LEXICON = NoLexicon()


def is_language_of(question: str, texts: Iterable[str]) -> bool:
    """Whether a question is in the language of some of these texts, so that their words may put its slips right."""
    language = language_of(question)
    found = [language_of(text) for text in texts]
    return language not in LANGUAGES or found.count(language) >= max(1, _SOME * len(found))


def english_of(question: str, lexicon: Lexicon = _NO_LEXICON) -> str:
    """Return the question in English; as it is where its language has no dictionary. ``lexicon`` confirms cognates."""
    language = language_of(question)
    return dictionary_of(language).translate(question, lexicon) if language in LANGUAGES else question


def foreign_words_of(question: str, language: str) -> str:
    """Return the words of an English question that carry meaning, in another language as far as they are known there.

    Not a sentence: each word as all that may be meant by it, for a search. Nothing where none is known.
    """
    meant = _foreign_words(language)
    wanted = [(stems[0], word) for word in words(question) if (stems := content_words(word))]
    said: list[str] = []
    at = 0
    known = False
    while at < len(wanted):
        stems = tuple(stem for stem, _ in wanted[at : at + _LONGEST_SENSE])
        run = next((size for size in range(len(stems), 0, -1) if stems[:size] in meant), 0)
        said.extend(meant[stems[:run]][:_SENSES] if run else [re.sub(r"['’]s$", "", wanted[at][1])])
        known = known or bool(run)
        at += run or 1
    return " ".join(said) if known else ""


# Below an answer in the documents' language: what was read of the question, so that a person sees where it went wrong.
_NOTES = {
    "de": "Die Dokumente sind auf Englisch. Die Frage habe ich Wort für Wort gelesen als: “{}”.\n\n",
    "fr": "Les documents sont en anglais. J'ai lu la question mot à mot ainsi : “{}”.\n\n",
    "es": "Los documentos están en inglés. He leído la pregunta palabra por palabra así: “{}”.\n\n",
}


def note_of_translation(asked: str, read: str) -> str:
    """Return what to say below an answer whose question was translated: what it was read as. Else nothing."""
    language = language_of(asked)
    return _NOTES[language].format(read) if language in _NOTES and language_of(read) != language else ""


@dataclass(frozen=True, slots=True)
class Dictionary:
    """Entries of one language: as they are written, in lower case, and by the Snowball stems of single words."""

    language: str
    entries: Mapping[str, str]
    stems: Mapping[str, str]

    def translate(self, text: str, lexicon: Lexicon = _NO_LEXICON) -> str:
        """Every word, or the longest run of words with an entry, in English; the rest as it stands.

        A word without an entry may be an English one with another ending, where the lexicon knows that.
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
        """Return the prefix that German puts last, behind its verb, where the two are an entry: "findet … statt"."""
        last = next((at for at in range(len(tokens) - 1, -1, -1) if tokens[at][0].isalnum()), 0)
        for at in range(last - 1 if tokens[last] in _PREFIXES else 0):
            if _key((tokens[at], tokens[last])) in self.entries:
                return [*tokens[: at + 1], tokens[last], *tokens[at + 1 : last], *tokens[last + 1 :]]
        return list(tokens)

    def _cognate(self, word: str, lexicon: Lexicon) -> str:
        """Return the English word of the same root: "excepción" is "exception". The word itself where none is known."""
        if len(word) < _COGNATE:
            return word
        readings = [_without_accents(word)]
        for ending, english in _COGNATES[self.language]:
            if word.endswith(ending):
                readings.append(_without_accents(word.removesuffix(ending)) + english)
        return next((one for one in readings if lexicon.knows(one)), word)

    def gloss(self, text: str) -> str:
        """Every word in English where it stands, and all between as it is: a passage keeps its lines and figures."""
        pieces = _TOKEN.findall(text)
        said: list[str] = []
        opens = True  # a sentence, whose first word keeps its capital, or leaves it to the next where it has no English
        name = False  # the word before is one that stays, with a capital: "Mareike Thoms"
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
        """Return the longest run of words with one space between them that has an entry, in tokens, and its English."""
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
        for form in (word, _without_accents(word)):  # typed without them, as in the stems of the entries
            english = self.entries.get(form)
            if english is None and len(form) > 1:
                english = self.stems.get(_stem(self.language, form))
            if english is not None:
                return english
        return None

    def _parts(self, word: str) -> str | None:
        """Return a German compound by its parts, the longest first part that leaves a known rest: "Urlaubs-tage"."""
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
    """Return the dictionary of a language that questions are translated from, read once (a few milliseconds)."""
    listed = resources.files("adapters.reasoners.extractive.question").joinpath("dictionaries", f"{language}.tsv")
    entries: dict[str, str] = {}
    for line in listed.read_text("utf-8").splitlines():
        foreign, tab, english = line.partition("\t")
        if tab and not line.startswith("#"):
            entries.setdefault(_key(_TOKEN.findall(foreign)), english.strip())
    stems: dict[str, str] = {}
    for entry, english in entries.items():
        if " " not in entry and english:
            stems.setdefault(_stem(language, entry), english)
    for entry, english in list(entries.items()):
        if len(entry) >= _COGNATE:  # "thé" would make tea of "the"
            entries.setdefault(_without_accents(entry), english)
    return Dictionary(language, entries, stems)


@lru_cache(maxsize=len(_STEMMERS))
def _foreign_words(language: str) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Return the stems of an English word, or of a few together, and the words that say it; the shortest first."""
    found: dict[tuple[str, ...], list[str]] = {}
    for word, english in dictionary_of(language).entries.items():
        if " " not in word and (stems := content_words(english)):
            found.setdefault(stems, []).append(word)
    return {stems: tuple(sorted(listed, key=len)) for stems, listed in found.items()}


def _goes_on_with_name(tokens: Sequence[str]) -> bool:
    """Whether the next word has a capital, or is joined to one that has."""
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
