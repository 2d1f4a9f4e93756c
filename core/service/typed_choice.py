"""A message typed while a checkpoint is open: is it the answer to it, or a new question?

Deliberately simple, because it is said aloud what was understood, and a wrong guess costs one more message.
"""

import re
from dataclasses import dataclass

from core.model.inquiry import Checkpoint, CheckpointKind, Choice, ChoiceId
from core.model.text import content_words, words

LONGEST_ANSWER = 10  # words; more is a question of its own
MOSTLY = 0.75  # of a question's words must be those of a reading for it to be that reading
_ASKS = re.compile(
    r"(?i)^\s*(?:(?:and|but|so|also|no|ok(?:ay)?|hi|hello)[\s,.!]+)*(?:please\s+|can you\s+)?"
    r"(?:who|whom|whose|what(?:'?s)?|when|where|why|how|which|is|are|was|were|do|does|did|can|could|should|would|will|has|have|may|must|tell|show"
    r"|list|explain|find|compare|give|summari[sz]e|describe|define|look up)\b"
)
_CLAUSE = re.compile(r"[,;:.!?]\s+|\s[–—-]\s")
# Behind a remark a question has its subject, or "refunds, May 2025" would be one.
_ASKS_BEHIND = re.compile(
    r"(?i)^\s*(?:(?:and|but|so)\s+)?(?:(?:who|whom|whose|what(?:'?s)?|when|where|why|how|which)\b"
    r"|(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have|may|must)"
    r" (?:i|we|you|he|she|it|they|there|that|this|the|my|our|your|any\w*|some\w*)\b)"
)
# Who thanks is done with it, and who objects speaks of what was said: neither names what to search for.
_NO_TERMS = re.compile(
    r"(?i)^\W*(?:(?:ok(?:ay)?|no|great|cool|super|fine)[\s,.!]+)*(?:(?:many |vielen )?"
    r"(?:thanks|thank you|thx|cheers|danke|merci)\b"
    r"|(?:that|this|it)(?:['’]?s| is| was) (?:wrong|incorrect|not (?:right|true|correct|what i (?:asked|meant)))\b"
    r"|(?:wrong|incorrect)(?: answer)?\W*$)"
)
_SAID_OTHERWISE: dict[str, str] = {
    ChoiceId.KEEP: r"(?i)^(?:yes|yeah|sure|ok(?:ay)?|please|go on|carry on|continue|keep (?:going|looking)|search on)"
    r"\b",
    ChoiceId.ANSWER: r"(?i)^(?:answer(?: now| me| it)?|just answer|yes|sure|ok(?:ay)?|that is enough|that's enough)\b",
    ChoiceId.STOP: r"(?i)^(?:stop|no|nope|cancel|never ?mind|forget it|leave it)\b",
    ChoiceId.CAVEATS: r"(?i)^(?:with caveats|answer(?: anyway)?|yes|try anyway|best guess)\b",
    ChoiceId.SHOW: r"(?i)^(?:show(?: me)?(?: the)? ?(?:sources)?|sources)\b",
}


@dataclass(frozen=True, slots=True)
class TypedChoice:
    """The choice a message makes, with the text it carries."""

    choice: Choice
    text: str = ""


def match_typed_choice(message: str, checkpoint: Checkpoint) -> TypedChoice | None:
    """The choice that a message makes, or None when it is a question of its own."""
    message = message.strip()
    if (pressed := checkpoint.choice(message)) is not None:
        return TypedChoice(pressed)
    if len(words(message)) > LONGEST_ANSWER:
        return None
    if checkpoint.kind is CheckpointKind.CLARIFY:
        return _matching_choice(message, checkpoint)
    for choice in checkpoint.choices:
        pattern = _SAID_OTHERWISE.get(choice.id)
        if pattern and re.match(pattern, message):
            return TypedChoice(choice)
    if _is_question(message) or _NO_TERMS.match(message):
        return None
    return _own_words(message, checkpoint)


def _is_question(message: str) -> bool:
    """Whether it asks something, be it behind what it tells first ("we are a food bank, do we get a discount")."""
    behind = _CLAUSE.split(message)[1:]
    return message.endswith("?") or bool(_ASKS.match(message)) or any(map(_ASKS_BEHIND.match, behind))


def _own_words(message: str, checkpoint: Checkpoint) -> TypedChoice | None:
    if not content_words(message):
        return None
    if checkpoint.kind is CheckpointKind.NOTHING_RELEVANT:
        return TypedChoice(Choice(ChoiceId.OWN_TERMS, f"Try “{message}”", message))
    narrow = next((choice for choice in checkpoint.choices if choice.asks_text), None)
    return TypedChoice(narrow, message) if narrow else None


def _matching_choice(message: str, checkpoint: Checkpoint) -> TypedChoice | None:
    """The one reading whose own words, those the other readings lack, the message uses."""
    said = set(content_words(message))
    readings = {choice: set(content_words(choice.value)) for choice in checkpoint.choices if choice.value}
    own = {
        choice: len(said & (mine - set().union(*(other for c, other in readings.items() if c is not choice))))
        for choice, mine in readings.items()
    }
    best = max(own, key=lambda choice: own[choice], default=None)
    asks = _is_question(message)
    if best is not None and own[best] and list(own.values()).count(own[best]) == 1:
        about_it = len(said & readings[best]) >= MOSTLY * len(said)
        return TypedChoice(best) if about_it or not asks else None
    if asks or not said or _NO_TERMS.match(message):
        return None
    other = next((choice for choice in checkpoint.choices if choice.asks_text), None)
    return TypedChoice(other, message) if other else None
