"""Intent of a message before any search: small talk, the conversation, a list of documents, or a question.

The module also removes padding from a question and splits it into needs. ``follow_up`` resolves follow-ups.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from adapters.reasoners.extractive.understand import PHRASES, word_table
from adapters.reasoners.extractive.understand.parts import needs_in
from core.model.inquiry import Overview
from core.model.text import content_words, words


class Intent(Enum):
    """Kind of a message that is not a question about the documents."""

    GREETING = auto()
    THANKS = auto()
    FAREWELL = auto()
    WELLBEING = auto()
    ACKNOWLEDGED = auto()
    ABILITIES = auto()
    IDENTITY = auto()
    METHOD = auto()
    LAST_QUESTION = auto()
    RECAP = auto()
    SHORTER = auto()
    REPEAT = auto()
    SOURCE = auto()
    OBJECTION = auto()
    DOUBT = auto()
    MORE = auto()

    @property
    def of_thread(self) -> bool:
        """Whether it needs a thread."""
        return self.value >= Intent.LAST_QUESTION.value


_FILLING = frozenset(
    "please pls team everyone everybody folks guys just so and me us there for bot footnote".split()  # noqa: SIM905
)
_ASKED_TO = re.compile(r"^(?:can|could|would) (?:you|u) ")
_PADDING = re.compile(rf"^(?:{PHRASES['PADDING'].pattern})[\s,!.:;?–—-]*", re.IGNORECASE)  # removed repeatedly
_TAIL = re.compile(rf"[\s,–—-]*\b(?:{PHRASES['TAIL'].pattern})[\s.!]*(\?*)[\s.!]*$", re.IGNORECASE)
_WIDE = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")  # full-width letters and digits
_EMOJI = re.compile(r":[a-z0-9_+-]{2,30}:|[\U0001F300-\U0001FAFF☀-➿️]")
_CAPITALS = 3  # words; fewer may be names: "INC-2025-014?"


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """A message without its padding. ``needs`` has its one to three separate questions."""

    question: str
    needs: tuple[str, ...]
    sources_first: bool = False
    lists_documents: bool = False  # it asks which documents there are on its topic


@lru_cache(maxsize=1)
def _small_talk() -> Mapping[str, Intent]:
    """Return the intent of each phrase. Keys have no filler words."""
    return {_core(phrase): Intent[kind] for kind, phrases in word_table("small_talk") for phrase in phrases.split("|")}


def _core(phrase: str) -> str:
    """Return the words of a phrase in lower case without filler words."""
    said = [word.casefold().replace("'", "") for word in words(_ASKED_TO.sub("", phrase.casefold()))]
    return " ".join(word for word in said if word not in _FILLING) or " ".join(said)


def kind_of(message: str, *, in_thread: bool) -> Intent | None:
    """Return the intent of a message, or None if it is a question about the documents."""
    bare = _bare(message)
    if not bare:
        return Intent.GREETING if not in_thread else Intent.ACKNOWLEDGED
    if PHRASES["THANKS"].fullmatch(bare) and "?" not in message:
        return Intent.THANKS
    found = (_small_talk().get(_core(one)) for one in (bare, _strip_front(bare)))
    return next((kind for kind in found if kind and (in_thread or not kind.of_thread)), None)


def overview_of(message: str, bases: Collection[str]) -> Overview | None:
    """Return the plan to list documents, of the named base or of all, if the message asks for that."""
    for bare in (_bare(message), _strip_front(_bare(message))):
        if found := PHRASES["OF_BASE"].fullmatch(bare):  # "release notes" for release-notes
            for base in bases:
                if _joined(base) == _joined(found["base"]):
                    return Overview(base, "it asks what a knowledge base holds")
        if PHRASES["ALL"].fullmatch(bare):
            return Overview(None, "it asks what there is to read")
    return None


def _joined(name: str) -> str:
    return "".join(words(name.replace("_", " "))).casefold()


def _bare(message: str) -> str:
    bare = _EMOJI.sub(" ", message)
    return " ".join(bare.replace("’", "'").split()).strip(" .!?,;:-–—)(")


def split_question(message: str) -> QuestionParts:
    """Return the question in a message, in at most three parts, and whether it asks for sources first."""
    message = unicodedata.normalize("NFC", message.encode("utf-8", "ignore").decode())  # without lone surrogates
    message = _WIDE.sub(lambda found: unicodedata.normalize("NFKC", found.group()), message)
    text = _without_capitals(" ".join(_EMOJI.sub(" ", message).split()))
    first, lists = bool(PHRASES["SOURCES_FIRST"].search(text)), bool(PHRASES["WHICH_DOCUMENTS"].match(text))
    text = _trim(text)
    if read := PHRASES["READ_WHERE"].match(text):
        topic = read["topic"] or read["thing"] or read["known"]
        return QuestionParts(topic, (topic,), lists_documents=True)
    if first or lists:
        topic = PHRASES["SOURCE_WORDS"].sub("", text, count=1)
        text = topic if content_words(topic) else text
    return QuestionParts(text, (text,) if lists else needs_in(text), first and not lists, lists)


def _without_capitals(message: str) -> str:
    """Lower-case a message in capitals, since capitals would count as names. Codes stay."""
    if not message.isupper() or len(words(message)) < _CAPITALS:
        return message
    lower = " ".join(word if re.search(r"\d", word) else word.lower() for word in message.split())
    return lower[0].upper() + lower[1:]


def _strip_front(text: str) -> str:
    while (cut := _PADDING.sub("", text, count=1)) != text:
        if not words(cut):
            return text
        text = cut
    return text


def _trim(message: str) -> str:
    """Return the message without greeting, thanks and politeness. Unchanged if nothing would remain."""
    text = _strip_front(message)
    while (cut := _TAIL.sub(r"\1", text, count=1).strip()) != text and words(cut):
        text = cut
    if not words(text):
        return message
    return text[0].upper() + text[1:] if message[:1].isupper() else text
