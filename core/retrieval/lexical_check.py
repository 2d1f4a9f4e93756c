"""What words alone can say against a claim: its numbers, dates, units, names and negations must stand in its evidence.

It needs no model, so it looks at every claim, and a model's "supported" does not overrule it. What it finds nothing
against is not thereby true: that is for whoever can read. Names, negations and shared words are looked at in English
only, where the claim and its evidence both are; numbers and units always.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from core.model.citation_markers import without_markers
from core.model.knowledge import Passage
from core.model.text import STOPWORDS, content_words, sentences, stem, words

NEARLY_ALL = 0.85  # of a claim's words in one sentence: it says just that
ALIGNED = 0.6  # of a claim's words in one sentence: it speaks of the same thing
FEWEST_SHARED = 2  # words that two sentences on the same thing share at least
CLAUSE_WORDS = 3
LONGEST_UNIT = 3  # words after a number among which its unit stands

_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[€$£]\s?)?(?P<digits>\d+(?:[.,:\u00a0\u202f]\d+)*)(?P<tail>\s?[%€]|[A-Za-z]{1,3}\b)?"
)
_GROUPED = re.compile(r"(?<=\d)[,.\u00a0\u202f ](?=\d{3}(?!\d))")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|unless|except|refus\w+|forbid\w*|prohibit\w*"
    r"|\w+n['’]t)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\s*;\s*|,\s+(?:and|but|while|whereas|so|which|where)\s+|\s+(?:while|whereas|but)\s+|\s+and\s+")
_IDENTIFIER = re.compile(r"\w[._]\w")
_PREPOSITIONS = frozenset("for of by in at to on from with as within per among".split())  # noqa: SIM905
_DETERMINERS = frozenset("the a an all any each every our your their its this that these those no some".split())  # noqa: SIM905
_BEGINS_WITH_PRONOUN = re.compile(
    r"(?i)^\W*(?:it|its|this|that|these|those|they|their|he|she|both|each|then|there|such|on return|afterwards|"
    r"otherwise|after that|if so|in that case)\b"
)
_ROW = re.compile(r"^\s*(?:\||[-*•]\s|\d+[.)]\s)")
_ABOUT_SOURCES = frozenset(
    """accord document sourc passag evid polici say state mention note list specifi describ indic provid inform
    found""".split()  # noqa: SIM905
)
_ENGLISH = frozenset("the is are was were of to and in for a an be by on with at from it as or that not".split())  # noqa: SIM905
_MONTHS = tuple(date(2000, month, 1).strftime("%B").casefold() for month in range(1, 13))
_SMALL_NUMBERS = """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty"""
_TENS = "thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_SMALL_NUMBERS.split(), 2)} | {
    word: str(10 * value) for value, word in enumerate(_TENS.split(), 3)
}
_UNITS = {
    name: group
    for group, names in {
        "second": "second seconds sec secs s",
        "millisecond": "millisecond milliseconds ms",
        "minute": "minute minutes min mins",
        "hour": "hour hours h hr hrs hourly",
        "day": "day days d daily",
        "week": "week weeks weekly",
        "month": "month months monthly",
        "quarter": "quarter quarters quarterly",
        "year": "year years yr yrs annual annually",
        "percent": "percent % pct",
        "euro": "euro euros € eur",
        "dollar": "dollar dollars $ usd",
        "pound": "pound pounds £ gbp",
        "cent": "cent cents",
        "kilometre": "km kms kilometre kilometres kilometer kilometers",
        "metre": "m metre metres meter meters",
        "mile": "mile miles",
        "kilogram": "kg kgs kilogram kilograms kilo kilos",
        "gram": "g gram grams",
        "tonne": "t tonne tonnes ton tons",
        "kilobyte": "kb kib kilobyte kilobytes",
        "megabyte": "mb mib megabyte megabytes",
        "gigabyte": "gb gib gigabyte gigabytes",
        "terabyte": "tb tib terabyte terabytes",
        "am": "am a.m",
        "pm": "pm p.m",
    }.items()
    for name in names.split()
}
_OPPOSITES = (
    ("before earlier first until", "after later last since"),
    ("minimum least lowest shortest fewer less below under", "maximum most highest longest more above over"),
    ("allow permit may enabl includ", "forbid prohibit deni disabl exclud"),
    ("requir mandatori must oblig", "option voluntari"),
    ("increas rais higher grow", "decreas reduc lower cut shrink"),
    ("open start begin", "close end stop"),
    ("alway all every", "never none"),
    ("paid", "unpaid"),
    ("intern", "extern"),
)  # fmt: skip
_SIDES = tuple((frozenset(one.split()), frozenset(other.split())) for one, other in _OPPOSITES)


@dataclass(frozen=True, slots=True)
class LexicalResult:
    """``fault`` says in a few words what stands against the claim, empty when nothing does.

    ``stated``: one sentence of the evidence has nearly all of its words. ``shared`` is the share in [0, 1] of the
    claim's words that its evidence has at all. ``borrowed``: what it speaks of, where only the question names that.
    """

    fault: str = ""
    stated: bool = False
    shared: float = 0.0
    borrowed: str = ""


def check_lexically(claim: str, passages: Sequence[Passage], question: str = "") -> LexicalResult:
    """Hold a claim against the passages that it cites. What only the ``question`` says is no fault, and no support."""
    said = without_markers(claim)
    evidence = _Evidence.of(passages)
    fault = _unknown_number(said, evidence, question) or _wrong_unit(said, evidence)
    if fault or not (_is_english(said) and evidence.english):
        return LexicalResult(fault, shared=1.0)
    wanted = _content(said)
    shared = _share(wanted, evidence.words)
    fault = _unknown_name(said, evidence, question)
    stated, asked = bool(wanted), frozenset(content_words(question))
    for clause in _clauses(said):
        clause_fault, clause_stated = _against(clause, evidence, asked, one_source=len(passages) == 1)
        fault = fault or clause_fault
        stated = stated and clause_stated
    borrowed = _borrowed_words(said, evidence, asked)
    return LexicalResult(fault, stated and not fault and not borrowed, shared, borrowed)


def is_known(text: str, passages: Sequence[Passage], question: str) -> bool:
    """Whether a heading, or a line that only leads over, brings in nothing: no number, no name, half of its words."""
    known = _Evidence.of(passages).words | set(content_words(question))
    return not brings_in(text, passages, question) and _share(_content(without_markers(text)), known) >= 0.5


def brings_in(text: str, passages: Sequence[Passage], question: str) -> str:
    """The first number or name that neither the passages nor the question have, in a few words; else empty."""
    evidence, said = _Evidence.of(passages), without_markers(text)
    return _unknown_number(said, evidence, question) or _unknown_name(said, evidence, question)


# --- evidence -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence, list item or table row with the words that a reader has in mind there: its headings, what went on."""

    text: str
    words: frozenset[str]
    own: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Evidence:
    units: tuple[_Unit, ...]
    words: frozenset[str]
    names: frozenset[str]  # casefolded words, as they stand
    amounts: frozenset[tuple[str, str]]  # (number, unit group or "")
    numbers: frozenset[str]
    english: bool

    @staticmethod
    def of(passages: Sequence[Passage]) -> "_Evidence":
        return _evidence(tuple((passage.searchable, passage.text, passage.dated) for passage in passages))


@lru_cache(maxsize=64)
def _evidence(parts: tuple[tuple[str, str, str], ...]) -> _Evidence:
    whole = _with_dates("\n".join(f"{searchable} {dated}" for searchable, _, dated in parts))
    units: list[_Unit] = []
    for searchable, text, _ in parts:
        around = frozenset(content_words(searchable[: len(searchable) - len(text)]))
        pieces = sentences(text)
        header = next((frozenset(content_words(one)) for one, rule in pairwise(pieces) if _is_rule(rule)), frozenset())
        before: frozenset[str] = frozenset()
        for piece in pieces:
            own = frozenset(content_words(_with_dates(piece)))
            context = around | (header if piece.startswith("|") else frozenset())
            if _BEGINS_WITH_PRONOUN.match(piece):
                context |= before
            units.append(_Unit(piece, own | context, own))
            before = own if not _ROW.match(piece) else frozenset()
    amounts = frozenset(_amounts(whole))
    return _Evidence(
        tuple(units),
        frozenset(content_words(whole)),
        frozenset(_bare(word) for word in words(whole)),
        amounts,
        frozenset(number for number, _ in amounts) | frozenset(_loose_numbers(whole)),
        _is_english(whole),
    )


def _is_rule(line: str) -> bool:
    return bool(re.fullmatch(r"[|:\- ]*-[|:\- ]*", line))


def _with_dates(text: str) -> str:
    """The text with each ISO date written out as well, and each month's number beside its name."""
    written = _ISO_DATE.sub(
        lambda d: f"{d.group()} {int(d[3])} {_MONTHS[int(d[2]) - 1]} {d[1]}" if 1 <= int(d[2]) <= 12 else d.group(),
        text,
    )
    named = {word.casefold() for word in re.findall(r"\b[A-Z][a-z]{2,8}\b", written)}
    return written + "".join(f" {at}" for at, month in enumerate(_MONTHS, 1) if month in named)


# --- numbers and units ----------------------------------------------------------------------------------------------


def _amounts(text: str) -> Iterable[tuple[str, str]]:
    """(number, unit's group or "") of every number in a text."""
    for found in _NUMBER.finditer(text):
        yield _number(found["digits"]), _unit(found["sign"], found["tail"], text[found.end() :])
    for found in re.finditer(r"[A-Za-z]+", text):
        if value := _NUMBER_WORDS.get(found.group().casefold()):
            yield value, _unit(None, None, text[found.end() :])


def _loose_numbers(text: str) -> Iterable[str]:
    """Numbers within names and dates: v2, 2026-01-14, A113."""
    return (_number(digits) for digits in re.findall(r"\d+", text))


def _number(digits: str) -> str:
    joined = _GROUPED.sub("", digits)
    whole, _, rest = joined.replace(",", ".").partition(".")
    return f"{whole.lstrip('0') or '0'}.{rest}".removesuffix(".0").rstrip(".") if rest else joined.lstrip("0") or "0"


def _unit(sign: str | None, tail: str | None, after: str) -> str:
    for written in (sign, tail):
        if written and (group := _UNITS.get(written.strip().casefold())):
            return group
    for word in re.findall(r"[A-Za-z.%€$£]+|\d|[.;:]\s", after[:40])[:LONGEST_UNIT]:
        if not word[0].isalpha() and word not in "%€$£":
            break
        if group := _UNITS.get(word.casefold().strip(".")):
            return group
    return ""


def _unknown_number(said: str, evidence: _Evidence, question: str) -> str:
    known = evidence.numbers | {number for number, _ in _amounts(question)}
    for number, _ in _amounts(re.sub(r"(?m)^\s*\d+[.)]\s", "", said)):
        if number not in known and not _date_part(number, said, evidence):
            return f"{number} stands in none of its documents"
    return ""


def _date_part(number: str, said: str, evidence: _Evidence) -> bool:
    """Whether the number is the month of a date that the documents write with the month's name."""
    parts = {part.lstrip("0") for date_ in _ISO_DATE.findall(said) for part in date_}
    return number in parts and number in evidence.numbers


def _wrong_unit(said: str, evidence: _Evidence) -> str:
    groups = {_UNITS.get(word) for word in evidence.names} | {group for _, group in evidence.amounts}
    for number, group in _amounts(said):
        known = {unit for known_number, unit in evidence.amounts if known_number == number}
        if group and known and group not in known and not ("" in known and group in groups):
            return f"its documents say {number} of another unit"
    return ""


# --- names ----------------------------------------------------------------------------------------------------------


def _unknown_name(said: str, evidence: _Evidence, question: str) -> str:
    known = evidence.names | {_bare(word) for word in words(question)}
    for sentence in sentences(said):
        plain = re.sub(r"^[\W\d_]+", "", sentence)
        found = words(plain)
        for position, word in enumerate(found):
            bare = _bare(word)
            if bare in known or bare in STOPWORDS or stem(bare) in evidence.words or bare in _UNITS:
                continue
            if _is_name(word) and (position or _begins_as_name(found) or not word.istitle()):
                return f"“{word}” stands in none of its documents"
    return ""


def _is_name(word: str) -> bool:
    return (word[:1].isupper() and len(word) > 1) or (any(c.isdigit() for c in word) and any(c.isalpha() for c in word))


def _begins_as_name(found: Sequence[str]) -> bool:
    """Whether the first word of a sentence, which has a capital in any case, is likely to be a name."""
    if len(found) < 2:
        return False
    follows = found[1]
    common = re.search(r"(?:s|ing|ion|ment|ance|ence|ity|ness|ly|ed|er)$", found[0].casefold())
    return follows[:1].isupper() or (not common and follows.casefold() in _VERBS)


_VERBS_AFTER_A_NAME = """is was has had owns leads runs hosts approves handles gets costs must may can will does
    did holds keeps signs"""
_VERBS = frozenset(_VERBS_AFTER_A_NAME.split())


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word.casefold().replace("’", "'"))


# --- what a sentence speaks of --------------------------------------------------------------------------------------


def _borrowed_words(said: str, evidence: _Evidence, asked: frozenset[str]) -> str:
    """The first subject or qualifier ("for new colleagues") that the question names and the evidence does not.

    A figure that a document gives of something else is said of what was asked for in this way. Other words that only
    the question has are a matter of style.
    """
    for sentence in sentences(said):
        for head in _heads(sentence):
            if asked.intersection(stems := set(content_words(head))) and not evidence.words & stems:
                return head
    return ""


def _heads(sentence: str) -> Iterable[str]:
    """The last word of each run of words that begins the sentence or follows a preposition."""
    run: list[str] = []
    reads = True
    for word in re.findall(r"[\w'’-]+|[^\w\s]", sentence):
        plain = word.casefold()
        if plain in STOPWORDS or not word[0].isalnum():
            if run:
                yield run[-1]
                run = []
                reads = False
            reads = plain in _PREPOSITIONS or (reads and plain in _DETERMINERS)
        elif reads:
            run.append(word)
    if run:
        yield run[-1]


# --- sentences ------------------------------------------------------------------------------------------------------


def _clauses(said: str) -> list[str]:
    """The statements that a sentence joins, each with enough words to be looked for by itself."""
    found: list[str] = []
    for sentence in sentences(said):
        start = len(found)
        for part in _CLAUSE.split(sentence):
            if len(found) > start and len(content_words(part)) < CLAUSE_WORDS:
                found[-1] = f"{found[-1]} and {part}"
            elif part.strip():
                found.append(part)
        if len(found) - start > 1 and len(content_words(found[start])) < CLAUSE_WORDS:
            found[start : start + 2] = [f"{found[start]} and {found[start + 1]}"]
    return found


def _against(clause: str, evidence: _Evidence, asked: frozenset[str], *, one_source: bool) -> tuple[str, bool]:
    """What the sentences of the evidence say against a clause, and whether one of them states it."""
    wanted = _content(clause)
    if not wanted or not evidence.units:
        return "", False
    best = max(evidence.units, key=lambda unit: (_share(wanted, unit.words), _share(wanted, unit.own)))
    covered = _share(wanted, best.words)
    if covered >= ALIGNED and (turned := _find_negation(clause, best, evidence, wanted)):
        return turned, False
    exact = _exact(clause)
    if covered >= NEARLY_ALL:
        # A pronoun may stand for a name of the sentence before, never for a number.
        lacking = {word for word in exact if word not in (best.own if word[0].isdigit() else best.words)}
        # What the question names may be meant by "the team"; a table's row means nothing but itself.
        strange = lacking & evidence.words if best.text.startswith("|") else lacking - asked
        return ("the sentence on this in its documents names something else" if strange else ""), not lacking
    if one_source and _share(wanted, evidence.words) >= NEARLY_ALL and len(wanted) > FEWEST_SHARED:
        return _find_stitching(wanted, exact, evidence)
    return _find_substitution(wanted, exact, evidence), False


def _find_stitching(wanted: frozenset[str], exact: set[str], evidence: _Evidence) -> tuple[str, bool]:
    """Words that all stand in the passage but in no one sentence.

    That is harmless unless a name or a number is among those that the nearest sentence lacks, or all but one is there.
    """
    best = max(evidence.units, key=lambda unit: _share(wanted, unit.words))
    lacking = wanted - best.words
    return ("no sentence of its documents says this together" if lacking & exact or len(lacking) == 1 else ""), False


def _find_substitution(wanted: frozenset[str], exact: set[str], evidence: _Evidence) -> str:
    """Whether the sentence on the same thing has another name or number where the claim has its own."""
    plain = wanted - exact
    if len(plain) < FEWEST_SHARED or not exact:
        return ""
    best = max(evidence.units, key=lambda unit: (_share(plain, unit.words), len(exact & unit.words)))
    others = _exact(best.text) - wanted
    if _share(plain, best.words) >= ALIGNED and exact - best.words and others:
        return "the sentence on this in its documents names something else"
    return ""


def _find_negation(clause: str, unit: _Unit, evidence: _Evidence, wanted: frozenset[str]) -> str:
    """Whether one of the two denies what the other says."""
    level = [one for one in evidence.units if _share(wanted, one.words) >= _share(wanted, unit.words) - 0.1]
    odd = len(_NEGATION.findall(clause)) % 2
    said = [part for one in level for part in (one.text, *_clauses(one.text))]
    near = _nearest(wanted, said)
    if near and all(len(_NEGATION.findall(part)) % 2 != odd for part in near):
        return "its documents say the opposite"
    ours = set(content_words(clause)) | {word.casefold() for word in words(clause)}
    for one, other in (*_SIDES, *((b, a) for a, b in _SIDES)):
        mine = ours & one
        if not mine or ours & other or mine & evidence.names or mine & unit.words:
            continue
        if other & (unit.own | {word.casefold() for word in words(unit.text)}):
            return "its documents say the opposite"
    return ""


def _nearest(wanted: frozenset[str], parts: Sequence[str]) -> list[str]:
    """The shortest of the parts that have most of these words, where any has enough."""
    shares = {part: _share(wanted, _content(part)) for part in parts}
    most = max(shares.values(), default=0.0)
    found = [part for part, share in shares.items() if share >= max(ALIGNED, most - 0.1)]
    least = min((len(_content(part)) for part in found), default=0)
    return [part for part in found if len(_content(part)) <= least + 1]


def _exact(text: str) -> set[str]:
    """The stems of a text's names, numbers and identifiers: what no other word may stand for."""
    found: set[str] = set()
    for sentence in sentences(text):
        for position, word in enumerate(inside := words(sentence)):
            if (
                any(c.isdigit() for c in word)
                or _IDENTIFIER.search(word)
                or word.casefold() in _NUMBER_WORDS
                or (word[:1].isupper() and _bare(word) not in STOPWORDS and (position or _begins_as_name(inside)))
            ):
                found.add(stem(_bare(word)))
    return found


def _content(text: str) -> frozenset[str]:
    return frozenset(content_words(_with_dates(text) if _ISO_DATE.search(text) else text)) - _ABOUT_SOURCES


def _share(wanted: frozenset[str], there: Iterable[str]) -> float:
    held = there if isinstance(there, frozenset) else frozenset(there)
    return len(wanted & held) / len(wanted) if wanted else 1.0


def _is_english(text: str) -> bool:
    found = [word.casefold() for word in words(text)]
    return bool(_ENGLISH.intersection(found)) or len(found) <= CLAUSE_WORDS
