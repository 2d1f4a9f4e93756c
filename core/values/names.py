"""Names, codes and versions of a text, and whether the documents contain them.

A word is read as a name only if that is nearly certain, because a name that is not found counts against the claim.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from core.model.text import STOPWORDS, stem, words
from core.values.dates import Scan
from core.values.units import MONTHS, UNITS, WEEKDAYS, Kind, Value

PREFIX = 5  # letters that a name and its adjective share: Norwegian, Norway
LONGEST_INITIALISM = 6
LONGEST_GERMAN_NAME = 10  # letters; a longer noun is a compound

_EXTENSIONS = (
    "md|py|ya?ml|json|toml|txt|csv|pdf|docx?|xlsx?|pptx?|log|sh|conf|cfg|ini|env|html?|js|ts|sql|xml|zip|tar|gz|png"
)
_CODES = tuple(
    re.compile(pattern)
    for pattern in (
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s)>\]]+[^\s)>\].,;:]|\bwww\.[^\s)>\]]+\w",
        r"`[^`\n]+`",
        rf"(?<![\w.])[\w/.-]*\w\.(?:{_EXTENSIONS})\b",
        r"(?<!\S)~?/\w[\w.-]*(?:/[\w.-]+)*",
        r"(?<![\w-])--[a-z][\w-]+",
        r"(?<![\w#@])[#@](?=[\w-]*[^\W\d])\w[\w-]+",
        r"(?<!\w)(?=[A-Za-z0-9])\w*[A-Za-z0-9]_\w+",
        r"(?<![\w.])[a-z]\w+(?:\.[a-z]\w{2,})+(?![\w.])",
        r"(?<!\w)[a-z]{2,}[A-Z]\w*",
        r"\b\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?\b",
        r"(?<![\w-])(?=[\w-]*[A-Z])(?=[\w-]*\d)[A-Z][A-Za-z0-9]*(?:[-–][A-Za-z0-9]+)*\b(?![.,]\d)",
    )
)
_VERSION = re.compile(
    r"(?i)(?<![\w.])(?:v\.? ?|versi[oó]n ?|ver\. ?|release ?)(?P<key>\d+(?:\.\d+)*)(?![\w%]|-\d)"
    r"|(?<![\w.,])(?P<bare>\d+(?:\.\d+){2,})(?![\w.])"
)
_RANGED = re.compile(r"(?:COVID|[QHT][1-4]|FY|CW|KW)[-\d]*", re.IGNORECASE)
_WELL_KNOWN = frozenset(
    """2fa mp3 mp4 b2b b2c h1 h2 q1 q2 q3 q4 t1 t2 t3 t4 k8s a4 ipv4 ipv6 utf-8 iphone ipad ios macos ebay""".split()  # noqa: SIM905
)
_ACRONYMS = frozenset(
    """ai api apis app ceo cfo cto coo cio ciso hr it id ids pto pdf faq sms url urls usa us uk eu un vat vpn sla slas
    kpi nda gdpr dsgvo rgpd utc gmt cet cest est pst et pt am pm ok tv pc pcs pin sso mfa cv ltd inc gmbh ag sa sarl
    sl kg ug plc llc csv html http https json sql ui ux qa po tbd na eta rsvp etc ie eg usd eur gbp chf nb ps asap iva
    tva mwst ust rh drh dg pdg rrhh si ti no yes not and or all only must never always""".split()  # noqa: SIM905
)
# Words that titles and headings capitalise, but that are not names.
_COMMON = frozenset(
    """chief executive officer president vice director manager managing head lead leader team teams board committee
    department office group company customer customers support service services sales marketing finance legal human
    resources people operations engineering product security internet web cloud email mail online policy policies
    handbook guide guidelines agreement contract plan plans basic standard premium enterprise business free pro terms
    specialist herr herrn frau madame monsieur señor señora conditions annex appendix section chapter article
    table figure page note notes warning important summary total
    average yes no please thanks thank hello hi dear sir madam mr mrs ms dr prof north south east west northern southern
    eastern western spring summer autumn fall winter christmas easter new year day week month god earth bible ai
    administrator administrators admin admins owner owners user users member members employee employees staff intern
    accounting treasury compliance privacy procurement purchasing logistics warehouse facilities reception
    directeur directrice générale général financier financière ressources humaines responsable service équipe
    director directora general financiero financiera recursos humanos responsable equipo""".split()  # noqa: SIM905
)
_LANGUAGE_NAMES = frozenset(
    """english german french spanish italian dutch portuguese polish russian chinese japanese englisch deutsch
    französisch spanisch anglais allemand français espagnol inglés alemán francés español""".split()  # noqa: SIM905
)
_COMMON_END = re.compile(
    r"(?:tion|tions|ment|ments"
    r"|ing|ings|ness|ity|ities|ance|ence|ship|ics|ly|ed|ish|ese|ian|ians|ean|ical|able|ible"
    r"|ung|ungen|heit|keit|schaft|ität|ción|dad|miento|té|eur|euse|ère)$"
)
_TITLES = frozenset("mr mrs ms mme m mlle dr prof herr herrn frau sr sra madame monsieur".split())  # noqa: SIM905
_TITLE_DE = re.compile(r"(?:Herr|Herrn|Frau|Dr|Prof)$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\n|•>\"“”„«»‘’'()\[\]*_#–—-])[\s*_\"“„«‘'(\[#|•>–—-]*$")
_NAME_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def read_codes(page: Scan) -> Iterator[Value]:
    """Yield and cover values that are compared exactly: versions, settings, files, commands, addresses, ids."""
    for found in _VERSION.finditer(page.text):
        key = found["key"] or found["bare"]
        if key and not (found["bare"] and re.fullmatch(r"\d{1,2}\.\d{1,2}\.(?:\d\d|\d{4})|\d+(?:\.\d{3})+", key)):
            yield page.take(Value(Kind.VERSION, "", *found.span(), key=key))
    for pattern in _CODES:
        for found in pattern.finditer(page.text):
            text = found.group()
            inner = re.sub(r"(?<=[A-Z\d])-[a-z]{3,}$", "", text.strip("`"))
            if re.fullmatch(r"[\d.,:\s%-]+", inner) and "." not in inner:
                continue
            if re.fullmatch(r"[A-Z][a-z]+", inner) or inner.casefold() in _WELL_KNOWN or _RANGED.fullmatch(inner):
                page.cover(*found.span())
                continue
            yield page.take(Value(Kind.CODE, "", *found.span(), key=inner))


def read_names(page: Scan) -> Iterator[Value]:
    """Yield the certain names of a page, with neighbouring words joined into one name, and its acronyms."""
    name: Value | None = None
    for one in _name_words(page):
        if name and page.text[name.end : one.start()] == " ":
            name = replace(name, text=f"{name.text} {one.group()}", end=one.end(), key=f"{name.key} {one.group()}")
            continue
        if name:
            yield name
        name = Value(Kind.NAME, one.group(), *one.span(), key=one.group())
    if name:
        yield name


def _name_words(page: Scan) -> Iterator[re.Match[str]]:
    text, found = page.text, list(_NAME_WORD.finditer(page.text))
    for at, one in enumerate(found):
        word = one.group()
        if not word[0].isupper() or len(word) < 2:
            continue
        if word.isupper():
            if len(word) <= LONGEST_INITIALISM and word.casefold() not in _ACRONYMS and not _is_shouted(found, at):
                yield one
            continue
        if _is_first(text, one) or not _may_name(word):
            continue
        if page.language == "de" or not page.certain:
            before = found[at - 1] if at and text[found[at - 1].end() : one.start()] in {" ", ". "} else None
            after = found[at + 1] if at + 1 < len(found) and text[one.end() : found[at + 1].start()] == " " else None
            opening = [before] if before and not _is_first(text, before) else []
            titled = before is not None and _TITLE_DE.search(before.group())
            beside = [near.group() for near in (after, *opening) if near and near.group().istitle()]
            person = beside and all(map(_may_name, (word, *beside))) and len(word) <= LONGEST_GERMAN_NAME
            if not titled and (not person or (before and _is_measure(text, before))):
                continue
        yield one


def _is_first(text: str, word: re.Match[str]) -> bool:
    return bool(_SENTENCE_START.search(text, max(0, word.start() - 8), word.start()))


def _is_measure(text: str, word: re.Match[str]) -> bool:
    return word.group().casefold() in UNITS or bool(re.search(r"\d\s?$", text[: word.start()]))


def _is_shouted(found: list[re.Match[str]], at: int) -> bool:
    """Return whether the word is part of an all-capitals heading or sentence."""
    near = [one.group() for one in found[max(0, at - 1) : at + 2]]
    return len(near) > 1 and all(word.isupper() and len(word) > 2 for word in near)


def _may_name(word: str) -> bool:
    plain = word.casefold()
    known = plain in STOPWORDS or plain in _COMMON or plain in MONTHS or plain in WEEKDAYS or plain in UNITS
    capitals = sum(letter.isupper() for part in word.split("-") for letter in part[1:])
    return (
        len(word) > 2 and not capitals and not known and plain not in _LANGUAGE_NAMES and not _COMMON_END.search(plain)
    )


# --- what documents know --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The whole words of a text, their stems, their first ``PREFIX`` letters, and its plain text."""

    words: frozenset[str]
    stems: frozenset[str]
    starts: frozenset[str]
    text: str


@lru_cache(maxsize=2_048)
def vocabulary_of(text: str) -> Vocabulary:
    """Return the vocabulary of a text, for looking up names and codes."""
    plain = fold(text)
    found = [part for word in words(plain) for part in {word, *re.split(r"['’.]", word)} if part]
    return Vocabulary(
        frozenset(found),
        frozenset(stem(word) for word in set(found)),
        frozenset(word[:PREFIX] for word in found if len(word) >= PREFIX - 1),
        plain,
    )


@lru_cache(maxsize=512)
def _initials(text: str) -> str:
    """Return the first letters of all words, then of all words that are not stop words: "cotbd cbd"."""
    found: list[str] = re.findall(r"\w+|[.;:!?\n]", text)
    return "".join(word[0] for word in found) + " " + "".join(word[0] for word in found if word not in STOPWORDS)


def fold(text: str) -> str:
    """Return the text in lower case without accents."""
    split = unicodedata.normalize("NFKD", text.casefold().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue"))
    return "".join(one for one in split if not unicodedata.combining(one))


def knows_name(vocabulary: Vocabulary, name: str) -> bool:
    """Return whether a text has a name, an inflection of it, the words that it abbreviates, or its initials."""
    named = [word for word in name.split() if fold(word) not in _TITLES] or name.split()
    return all(_knows_word(vocabulary, word) for word in named) or knows_initials(vocabulary, name)


def _knows_word(vocabulary: Vocabulary, word: str) -> bool:
    plain = re.sub(r"['’]s?$", "", fold(word))
    if word.isupper():
        return plain in vocabulary.text or plain.removesuffix("s") in _initials(vocabulary.text)
    parts = [fold(part) for part in re.split(r"['’-]", word) if len(part) > 1 and part[0].isupper()]
    return all(
        part in vocabulary.words or stem(part) in vocabulary.stems or part[:PREFIX] in vocabulary.starts
        or (part.endswith("s") and part[:-1] in vocabulary.words)
        for part in parts
    )  # fmt: skip


def knows_initials(vocabulary: Vocabulary, names: str) -> bool:
    """Return whether a text has the initials of a run of capitalised words: CEO for Chief Executive Officer."""
    letters = "".join(word[0] for word in words(fold(names)))
    return len(letters) > 1 and letters in vocabulary.words


@lru_cache(maxsize=4_096)
def _loosely(key: str) -> re.Pattern[str]:
    parts = [re.escape(part) for part in re.findall(r"[^\W\d_]+|\d+", fold(key))]
    return re.compile(r"(?<![^\W_])" + r"[\W_]{0,3}".join(parts) + r"(?![^\W_])" if parts else r"(?!)")


def knows_code(vocabulary: Vocabulary, key: str) -> bool:
    """Return whether a text has a code, whatever its separators. For a command, all its words must be there."""
    if _loosely(key).search(vocabulary.text):
        return True
    if _is_made_of(vocabulary, key):
        return True
    words, *options = re.split(r"\s+(?=[-<{\[])", key)  # a command's words, then its options and their values
    return bool(options) and all(
        _loosely(piece).search(vocabulary.text) for piece in (words, *" ".join(options).split())
    )


def _is_made_of(vocabulary: Vocabulary, key: str) -> bool:
    """Return whether the text has each part of a code, for example where it gives a rule for variable names."""
    parts = [part.lstrip("0") for part in re.findall(r"[^\W\d_]+|\d+", fold(key))]
    known = (rf"(?<![^\W_]){part}(?![^\W_])" for part in parts)
    return len(parts) > 1 and all(re.search(part, vocabulary.text) for part in known)


def knows_version(vocabulary: Vocabulary, key: str) -> bool:
    """Return whether a text has a version, or a more precise one (2.3.1 for 2.3). 2.3.0 equals 2.3."""
    short = re.sub(r"(?:\.0)+$", "", key)
    return bool(re.search(rf"(?<![\d.]){re.escape(short)}(?!\d)", vocabulary.text))
