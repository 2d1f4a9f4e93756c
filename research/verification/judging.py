"""What became of a draft: its fate, whether its falsehood stands, and whether only that was lost."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from core.model.answer import Answer, Outcome
from core.model.text import sentences
from tests.fakes.model.pairs import Pair, without_list_marks, without_marks, words_of

UNSOURCED = "(not from the documents)"
TRIVIALLY_ALTERED = 0.85  # difflib's ratio of the words, from which a sentence is the false one still
LONGEST_REPAIR = 12  # words that a corrected sentence may have beyond twice those of the right one
SHORT = 3  # words: as much is looked for as a sentence or line of its own
_NUMBER = re.compile(r"\d+(?:[.,'’\u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:[._/:'’-][^\W_]+)*|[%€$£]")
_UNITS = """% € $ £ percent prozent pour-cent euro euros eur usd gbp dollar dollars pound pounds cent cents
    second seconds sekunde sekunden seconde secondes segundo segundos minute minutes minuten minuto minutos
    hour hours stunde stunden heure heures hora horas day days tag tage tagen jour jours día días
    week weeks woche wochen semaine semaines semana semanas month months monat monate monaten mois mes meses
    year years jahr jahre jahren an ans année années año años quarter quarters quartal quartale
    kb mb gb tb km m cm mm kg g t l kwh
    monday tuesday wednesday thursday friday saturday sunday
    montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche
    lunes martes miércoles jueves viernes sábado domingo
    january february march april may june july august september october november december
    januar februar märz mai juni juli oktober dezember
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
"""
_KNOWN_UNITS = frozenset(_UNITS.split())


class Fate(StrEnum):
    """What became of a draft as a whole."""

    AS_WRITTEN = "as written"
    STRUCK = "struck"
    ALTERED = "altered"
    QUOTES = "quotes"
    DECLINED = "declined"
    MARKED = "marked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one draft."""

    fate: Fate
    stands: bool = False  # the false claim is still said
    just: bool = False  # only the false claim was lost
    alone: bool = False  # the false claim is the whole answer
    absent: bool = False  # the falsehood has a value that no document has


def judge(pair: Pair, answer: Answer | None, model: str, *, false: bool, known: frozenset[str]) -> Judgement:
    """Judge the answer to a pair's question; ``known`` are the words and numbers of the company's documents."""
    fate = _fate(pair.false if false else pair.right, answer, model)
    if not false:
        return Judgement(fate)
    before, _, after = pair.false.partition(pair.false_claim)
    alone = not words_of(before).strip() and not words_of(after).strip()
    stands = answer is not None and answer.outcome is Outcome.ANSWERED and false_claim_stands(pair, answer.text)
    edited = fate in {Fate.STRUCK, Fate.ALTERED, Fate.MARKED} and not stands
    just = edited and answer is not None and _rest_is_kept(pair, answer.text)
    return Judgement(fate, stands, just, alone, absent=has_absent_value(pair, known))


def _fate(draft: str, answer: Answer | None, model: str) -> Fate:
    if answer is None or answer.outcome is Outcome.FAILED:
        return Fate.FAILED
    if answer.outcome is not Outcome.ANSWERED:
        return Fate.DECLINED
    if answer.written_by != model:
        return Fate.QUOTES
    if _plain(answer.text) == _plain(draft):
        return Fate.AS_WRITTEN
    if UNSOURCED in answer.text:
        return Fate.MARKED
    said = words_of(draft)
    return Fate.STRUCK if all(words_of(unit) in said for unit in _units(answer.text)) else Fate.ALTERED


def false_claim_stands(pair: Pair, posted: str) -> bool:
    """Return whether the false claim is in the posted text, also when it is altered only trivially."""
    wrong, right = words_of(pair.false_claim).split(), words_of(pair.right_claim).split()
    units = [words_of(unit).split() for unit in (*_units(posted), *posted.splitlines())]
    if len(wrong) > SHORT and words_of(pair.false_claim) in words_of(posted):
        return True
    falsified = set(wrong) - set(right)
    return any(
        unit == wrong
        or (
            len(wrong) > SHORT
            and falsified <= set(unit)
            and TRIVIALLY_ALTERED <= _ratio(unit, wrong) > _ratio(unit, right)
        )
        for unit in units
    )


def _ratio(one: list[str], other: list[str]) -> float:
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _rest_is_kept(pair: Pair, posted: str) -> bool:
    """Return whether what comes before and after the false claim is as written, with little or nothing between."""
    before, _, after = pair.false.partition(pair.false_claim)
    said, last = words_of(posted).split(), words_of(after).split()
    for opening in (before, _without_lead(before)):
        first = words_of(opening).split()
        between = len(said) - len(first) - len(last)
        fits = 0 <= between <= 2 * len(words_of(pair.right_claim).split()) + LONGEST_REPAIR
        if fits and said[: len(first)] == first and said[len(said) - len(last) :] == last:
            return True
    return False


def _without_lead(before: str) -> str:
    """Return a text without the line or sentence at its end that leads over to what is struck."""
    bare = before.rstrip(" \n-*•|")
    return re.sub(r"(?:^|(?<=[\n.!?]))[^\n.!?]*:\**$", "", bare) if bare.rstrip("*").endswith(":") else before


def has_absent_value(pair: Pair, known: frozenset[str]) -> bool:
    """Return whether a number, date, unit, name or code of the falsehood is in no document of the company."""
    wrong, right = without_marks(pair.false_claim), without_marks(pair.right_claim)
    fresh = values_of(wrong, names=pair.language != "de") - values_of(right, names=False) - tokens_of(right)
    return bool(fresh - known)


def tokens_of(text: str) -> frozenset[str]:
    """Return the words of a text and its numbers, without separators of thousands."""
    words = {word.casefold() for word in _WORD.findall(text)}
    parts = {part for word in words for part in re.split(r"[._/:'’-]", word)}
    return frozenset(words | parts | _numbers(text) | set(re.findall(r"\d+", text)))


def values_of(text: str, *, names: bool) -> frozenset[str]:
    """Return what of a text is a number, date, unit or code; with ``names`` also its capitalised words."""
    found = set(_numbers(text))
    for unit in _units(text):
        for at, match in enumerate(_WORD.finditer(unit)):
            word = match.group()
            is_code = any(c.isdigit() for c in word) and not word[0].isdigit()
            is_name = names and at > 0 and word[0].isupper()
            if is_code or is_name or word.casefold() in _KNOWN_UNITS or (len(word) > 1 and word.isupper()):
                found.add(word.casefold())
    return frozenset(found)


def _numbers(text: str) -> set[str]:
    """Return the numbers and dates of a text; 2,700 and 2 700 are both 2700."""
    joined = re.sub(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))", "", text)
    grouped = re.compile(r"\d{1,3}(?:[.,'’]\d{3})+")
    numbers = _NUMBER.findall(joined)
    return {re.sub(r"\D", "", one) if grouped.fullmatch(one) else one for one in numbers}


def _plain(text: str) -> str:
    """Return a text without marks and white space: what "as written" compares."""
    return re.sub(r"\s+", "", without_marks(text))


def _units(text: str) -> Iterable[str]:
    """Yield the sentences and lines of a text, a table's row whole."""
    for line in without_list_marks(without_marks(text)).splitlines():
        pieces = [line] if line.lstrip().startswith("|") else sentences(line)
        yield from (piece for piece in pieces if words_of(piece).strip())
