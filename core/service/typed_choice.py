"""Matches a typed message to a choice of an open checkpoint.

Only a message that clearly names a choice counts: its label, its number, or words that mean it. Any other message is
handled as usual, and the card stays.
"""

import re

from core.model.errors import NotFound
from core.model.inquiry import Checkpoint, Choice, ChoiceId
from core.model.text import content_words, words

LONGEST_ANSWER = 12  # words
_PLEASE = r"(?:please|thanks|bitte|danke|s['’]il (?:te|vous) pla[iî]t|merci|por favor|gracias)"
_YES = r"yes|yeah|yep|sure|ok(?:ay)?|ja|gern|oui|s[ií]|vale"
# Words around a choice: "yes, I mean the … one, please". The middle is the choice.
_BEFORE = (
    rf"(?:(?:{_YES})\b[\s,]+(?!{_PLEASE}$))?"
    r"(?:(?:i(?: mean(?:t)?| want| choose|['’]d like|['’]ll take)|let['’]s (?:take|try|go with)"
    r"|ich (?:meine|nehme|will|möchte)|je (?:veux(?: dire)?|prends|choisis)|me refiero a|quiero(?: decir)?|elijo)\s+)?"
    r"(?:(?:the|der|die|das|den|le|la|el)\s+|l['’])?"
)
_ONE = r"(?:one|option|choice|reading|möglichkeit|auswahl|opci[oó]n)"
_AFTER = rf"(?:\s+{_ONE})*(?:[\s,]+{_PLEASE})?"
_NUMBER = r"(?:number|no\.?|nr\.?|nummer|num[eé]ro|n[uú]mero|option|choice|opci[oó]n|#)"
# The numbers of choices in English, German, French and Spanish words; `_LAST` counts from the end.
_NUMBERS = (
    r"first|one|erste[rns]?|eins|premi[eè]re?|primer[oa]?|uno",
    r"second|two|zweite[rns]?|zwei|deuxi[eè]me|seconde?|deux|segund[oa]|dos",
    r"third|three|dritte[rns]?|drei|troisi[eè]me|trois|tercer[oa]?|tres",
    r"fourth|four|vierte[rns]?|vier|quatri[eè]me|quatre|cuart[oa]|cuatro",
    r"fifth|five|fünfte[rns]?|fünf|cinqui[eè]me|cinq|quint[oa]|cinco",
    r"sixth|six|sechste[rns]?|sechs|sixi[eè]me|sext[oa]|seis",
)
_LAST = r"last|letzte[rns]?|derni[eè]re?|[uú]ltim[oa]"
_DIGITS = r"(\d{1,2})\s*(?:[.)ºª]|st|nd|rd|th|te[rns]?|[eè]?re?|e|[eè]me)?"
_STOP = (
    r"stop(?: it| there)?|cancel|never ?mind|forget it|leave it|stopp|abbrechen|vergiss es|egal|lass(?: es| gut sein)"
    r"|schon gut|arrête[zr]?|annule[zr]?|laisse[zr]? tomber|oublie[zr]?"
    r"|d[eé]jalo|olv[ií]dalo|cancela|no importa"
)
_MEANINGS: dict[str, str] = {
    ChoiceId.KEEP: rf"{_YES}|(?:go|carry|search) on|continue|keep (?:going|looking|searching)|weiter(?: suchen)?"
    r"|continue[zr]?|sigue(?: buscando)?",
    ChoiceId.ANSWER: rf"{_YES}|(?:just )?answer(?: now| me| it)?|that(?:['’]s| is) enough|antworte?|réponds|responde",
    ChoiceId.STOP: r"no|nope|no thanks|nein|non|nein danke|non merci|no gracias",
    ChoiceId.CAVEATS: rf"{_YES}|(?:answer )?with caveats|answer(?: anyway)?|try anyway"
    r"|trotzdem|quand même|de todos modos",
    ChoiceId.SHOW: r"(?:show(?: me)?(?: the)? ?)?sources|quellen|fuentes",
}
_STOPPED = Choice(ChoiceId.STOP, "Stop")  # can be typed even without a button
# Words such as "one" in "the job one, please" that name nothing and are not in the English stop words.
_FRAME = frozenset(
    """der die das den dem mit für zum zur eine ein von le la les l un une celui celle pour sur avec de des du el los
    las con para del una option number choice version variante""".split()  # noqa: SIM905 - as STOPWORDS
)


def match_typed_choice(message: str, checkpoint: Checkpoint) -> Choice | None:
    """Return the choice that a message makes, or None for any other message.

    Raises NotFound for a number that no choice has, and for a choice that needs the person's own words.
    """
    plain = message.strip().strip(".!,;:()[]“”\"'* ").strip()
    if not plain or len(words(plain)) > LONGEST_ANSWER:
        return None
    bare = _without_frame(plain)
    made = _by_number(plain, checkpoint) or _by_number(bare, checkpoint)
    made = made or checkpoint.choice(plain) or checkpoint.choice(bare)
    made = made or _by_meaning(plain, checkpoint) or _by_meaning(bare, checkpoint)
    made = made or _by_own_words(bare, checkpoint)
    if made is not None and made.asks_text:
        raise NotFound(
            f"“{made.label}” needs your own words.", remedy=("Press its button, or ask the whole question again.")
        )
    return made


def choices_of(checkpoint: Checkpoint) -> str:
    """Return the choices with their numbers, for a reply that named none."""
    return ", ".join(f"{number} {choice.label}" for number, choice in enumerate(checkpoint.choices, 1))


def _without_frame(plain: str) -> str:
    """Return the core of "I mean the job one, please", or the message itself if it has no such frame."""
    framed = re.fullmatch(rf"(?i){_BEFORE}(.+?){_AFTER}", plain)
    return framed.group(1) if framed else plain


def _by_number(plain: str, checkpoint: Checkpoint) -> Choice | None:
    choices = checkpoint.choices
    number = _number(plain, len(choices))
    if number is None:
        return None
    if not 1 <= number <= len(choices):
        raise NotFound(f"There is no choice {number} here.", remedy=f"Available: {choices_of(checkpoint)}.")
    return choices[number - 1]


def _number(plain: str, count: int) -> int | None:
    """Return the number that a text spells, whether or not a choice has it; ``count`` is the last choice's."""
    if digits := re.fullmatch(rf"(?i)(?:{_NUMBER}\s*)*{_DIGITS}", plain):
        return int(digits.group(1))
    for number, spelled in enumerate(_NUMBERS, 1):
        if re.fullmatch(rf"(?i)(?:{_NUMBER}\s+)*(?:{spelled})", plain):
            return number
    return count if re.fullmatch(rf"(?i)(?:{_LAST})", plain) else None


def _by_meaning(plain: str, checkpoint: Checkpoint) -> Choice | None:
    def means(pattern: str) -> bool:
        return re.fullmatch(rf"(?i)(?:{pattern})", plain) is not None

    for choice in checkpoint.choices:
        if means(_MEANINGS.get(choice.id, r"(?!)")):
            return choice
    return (checkpoint.choice(ChoiceId.STOP) or _STOPPED) if means(_STOP) else None


def _by_own_words(plain: str, checkpoint: Checkpoint) -> Choice | None:
    """Return the only reading that contains all words of the message, at least one of them exclusively."""
    said = set(content_words(plain)) - _FRAME
    readings = {one: set(content_words(f"{one.value} {one.label}")) for one in checkpoint.choices if one.value}
    fitting = [one for one, its in readings.items() if said and said <= its]
    if len(fitting) != 1:
        return None
    others = set[str]().union(*(its for one, its in readings.items() if one is not fitting[0]))
    return fitting[0] if said - others or len(readings) == 1 else None
