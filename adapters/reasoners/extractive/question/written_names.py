"""Names that people type without a capital, written as names: "kettle point" as the answer has it, "brackwater"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from adapters.reasoners.extractive.question.phrases import names
from adapters.reasoners.extractive.question.spelling import Lexicon, NoLexicon
from core.model.conversation import Exchange
from core.model.text import words

_LOWER = re.compile(r"(?<![\w.'’-])[a-z]{4,}(?![\w'’-])")
_WORD = re.compile(r"[\w'’-]+")
_LOOKED_AT = 600  # characters of an answer


def with_written_names(window: Sequence[Exchange], lexicon: Lexicon) -> tuple[Exchange, ...]:
    """The exchanges with names written as names in their questions: those of the answers, and what English lacks."""
    if isinstance(lexicon, NoLexicon):  # it knows no word, so that it would take each for a name
        return tuple(window)
    answered = " ".join(one.answer[:_LOOKED_AT] for one in window)
    return tuple(replace(one, question=_with_names(one.question, answered, lexicon)) for one in window)


def as_typed(text: str, written: str, typed: str) -> str:
    """The text with the words of a question as that was typed."""
    for name, word in zip(_WORD.findall(written), _WORD.findall(typed), strict=False):
        text = re.sub(rf"\b{re.escape(name)}(?!\w)", word, text) if name != word else text
    return text


def _with_names(question: str, answered: str, lexicon: Lexicon) -> str:
    if names(question):
        return question  # its person knows what a capital is for
    for name in names(answered):
        if " " in name:
            question = re.sub(rf"\b{re.escape(name)}\b", name, question, flags=re.IGNORECASE)
    spelt = frozenset(words(answered))

    def as_name(found: re.Match[str]) -> str:
        word = found.group()
        name = word.capitalize()
        return name if not lexicon.knows(word) and (name in spelt or not lexicon.usual_word(word)) else word

    return _LOWER.sub(as_name, question)
