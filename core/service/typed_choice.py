"""A message typed while a checkpoint is open: does it choose there?

Only what plainly names a choice does: its label, its number, or words that mean it. Everything else is a message like
any other, and the card stays.
"""

import re
from dataclasses import dataclass

from core.model.errors import NotFound
from core.model.inquiry import Checkpoint, Choice, ChoiceId
from core.model.text import content_words, words

LONGEST_ANSWER = 12  # words
_PLEASE = r"(?:please|bitte|s['’]il (?:te|vous) pla[iî]t|por favor)"
_THE = r"(?:the|number|no\.?|nr\.?|option|choice|der|die|das|le|la|l['’]|el|#)"
_ONE = r"(?:one|option|choice|reading|bitte|please)"
# The number of a choice in words, English, German, French and Spanish; the last counts from the end.
_ORDINALS = (
    r"first|erste[rns]?|premi[eè]re?|primer[oa]?",
    r"second|zweite[rns]?|deuxi[eè]me|seconde?|segund[oa]",
    r"third|dritte[rns]?|troisi[eè]me|tercer[oa]?",
    r"fourth|vierte[rns]?|quatri[eè]me|cuart[oa]",
    r"fifth|fünfte[rns]?|cinqui[eè]me|quint[oa]",
    r"sixth|sechste[rns]?|sixi[eè]me|sext[oa]",
)
_LAST = r"last|letzte[rns]?|derni[eè]re?|últim[oa]|ultim[oa]"
_YES = r"yes|yeah|yep|sure|ok(?:ay)?|ja|gern|oui|s[ií]|vale"
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
    ChoiceId.CAVEATS: rf"{_YES}|with caveats|answer(?: anyway)?|try anyway|trotzdem|quand même|de todos modos",
    ChoiceId.SHOW: r"(?:show(?: me)?(?: the)? ?)?sources|quellen|fuentes",
}
_STOPPED = Choice(ChoiceId.STOP, "Stop")  # can be said also where no button offers it
# Words of "the job one, please" that name nothing, where English stop words do not have them.
_FRAME = frozenset(
    """der die das den dem mit für zum zur eine ein bitte le la les l un une celui celle pour sur el los las con para
    una option number choice version variante""".split()  # noqa: SIM905 - as STOPWORDS
)


@dataclass(frozen=True, slots=True)
class TypedChoice:
    """The choice a message makes."""

    choice: Choice


def match_typed_choice(message: str, checkpoint: Checkpoint) -> TypedChoice | None:
    """Return the choice that a message makes, or None when it is a message like any other.

    Raises NotFound for a number that no choice has, and for a choice that needs words of one's own.
    """
    plain = message.strip().strip(".!,;:()[]“”\"'* ").strip()
    if not plain or len(words(plain)) > LONGEST_ANSWER:
        return None
    made = _by_number(plain, checkpoint) or checkpoint.choice(plain) or _by_meaning(plain, checkpoint)
    made = made or _by_own_words(plain, checkpoint)
    if made is not None and made.asks_text:
        raise NotFound(f"“{made.label}” needs your own words.", remedy="Press it, or ask the whole question again.")
    return TypedChoice(made) if made else None


def choices_of(checkpoint: Checkpoint) -> str:
    """Return the choices with their numbers, for a reply that named none."""
    return ", ".join(f"{number} {choice.label}" for number, choice in enumerate(checkpoint.choices, 1))


def _by_number(plain: str, checkpoint: Checkpoint) -> Choice | None:
    choices = checkpoint.choices
    spelled = re.fullmatch(rf"(?i)(?:{_THE}\s*)*(\d{{1,2}})\s*[.)]?(?:\s+{_ONE})?(?:\s*,?\s*{_PLEASE})?", plain)
    number = int(spelled.group(1)) if spelled else _ordinal(plain, len(choices))
    if number is None:
        return None
    if not 1 <= number <= len(choices):
        raise NotFound(f"There is no choice {number} here.", remedy=f"There are: {choices_of(checkpoint)}.")
    return choices[number - 1]


def _ordinal(plain: str, count: int) -> int | None:
    for number, ordinal in enumerate((*_ORDINALS, _LAST), 1):
        if re.fullmatch(rf"(?i)(?:{_THE}\s*)?(?:{ordinal})(?:\s+{_ONE})*", plain):
            return count if number > len(_ORDINALS) else number
    return None


def _by_meaning(plain: str, checkpoint: Checkpoint) -> Choice | None:
    def means(pattern: str) -> bool:
        return re.fullmatch(rf"(?i)(?:{pattern})(?:[\s,]+(?:{_PLEASE}|thanks))?", plain) is not None

    for choice in checkpoint.choices:
        if means(_MEANINGS.get(choice.id, r"(?!)")):
            return choice
    return (checkpoint.choice(ChoiceId.STOP) or _STOPPED) if means(_STOP) else None


def _by_own_words(plain: str, checkpoint: Checkpoint) -> Choice | None:
    """The one reading that has all words of the message, among them one that no other reading has."""
    said = set(content_words(plain)) - _FRAME
    readings = {one: set(content_words(f"{one.value} {one.label}")) for one in checkpoint.choices if one.value}
    fitting = [one for one, its in readings.items() if said and said <= its]
    if len(fitting) != 1:
        return None
    others = set[str]().union(*(its for one, its in readings.items() if one is not fitting[0]))
    return fitting[0] if said - others or len(readings) == 1 else None
