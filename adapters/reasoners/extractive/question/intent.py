"""Intent of a message before any search: small talk, the conversation, a list of documents, or a question.

The module also removes padding from a question and splits it into needs. ``follow_up`` resolves follow-ups.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache

from adapters.reasoners.extractive.question import word_table
from adapters.reasoners.extractive.question.parts import needs_in
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


_OF_THREAD = frozenset(  # these need a thread
    {
        Intent.LAST_QUESTION,
        Intent.RECAP,
        Intent.SHORTER,
        Intent.REPEAT,
        Intent.SOURCE,
        Intent.OBJECTION,
        Intent.DOUBT,
        Intent.MORE,
    }
)
_FILLING = frozenset(
    "please pls team everyone everybody folks guys just so and me us there for bot footnote".split()  # noqa: SIM905
)
_ASKED_TO = re.compile(r"^(?:can|could|would) (?:you|u) ")
# Thanks with a few kind words, but without a question.
_THANKFUL = re.compile(
    r"(?:(?:ok|okay|great|perfect|cool|nice|super|awesome|got it)[ ,!.]+)*(?:many |vielen |besten |tausend |muchas )?"
    r"(?:thanks|thank you|thank u|thx|ty|cheers|danke|dank|merci|gracias|much appreciated|appreciated?)\b"
    r"(?!.*\b(?:what|who|when|where|why|how|which|but|can|could|do|does|is|are)\b)(?: *[,.!-]? *[\w']+){0,6}",
    re.IGNORECASE,
)
_GREETING = (
    r"(?:hi+|hiya|hello+|hey+|howdy|greetings|good (?:morning|afternoon|evening|day))(?:[ ,]+\w+(?=[,!.:;–—-]))?"
)
_MAY = r"(?:can|could|would|will|do|does|did) (?:you|u|anyone|anybody|someone|somebody)(?: (?:please|pls|also))*"
# Padding in front of a question, removed repeatedly until nothing matches.
_PADDING = re.compile(
    rf"^(?:{_GREETING}(?=[\s,!.:;–—-])|@\w+|(?:dear|hey|hello|hi) (?:footnote|team|all|everyone|there|folks|colleagues)"
    r"|(?:sorry|excuse me)(?: (?:to|for) (?:bother|ask)\w*[\w ]{0,20}(?=[,.!:;]))?"
    r"|(?:(?:i have|i've got|i had|just) )?(?:an?|another|one)? ?(?:quick|small|short|stupid|silly|simple) question\b"
    r"|(?:please|pls|kindly|well|so|ok|okay|hmm+|um+|oh|alright|right|now|btw|by the way|anyway|thanks|thank you|great"
    r"|cool|nice|actually|also|i see|got it|really|question)(?=[\s,!.:;?–—-])(?! (?:many|much|long))"
    rf"|{_MAY} (?:happen to )?(?:know|tell|remind|show|help|give|explain|look up|find out|check|find)"
    r"(?: (?:me|us))?(?: (?:about|with|understand|know))*\b(?: (?:if|whether)\b)?"
    r"|(?:tell|remind|show) (?:me|us)(?: about)?(?: again)?\b"
    r"|i(?:'m| am|’m)? (?:was )?(?:just )?(?:wondering|wonder|curious|looking for|not sure)(?: (?:if|whether|about))?\b"
    r"|i(?:'d like| would like|’d like| want| need) to (?:know|understand|ask|find out)(?: (?:if|whether|about))?\b"
    r"|any(?:one|body) knows?\b|any ideas?(?: (?:on|about|if|whether))?(?= (?:what|where|who|when|why|how|which|if))"
    r"|i(?:'ve)? (?:forgot|forgotten|forget)(?=[\s,:;–—-])(?: but)?)[\s,!.:;?–—-]*",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"[\s,–—-]*\b(?:please|pls|thanks(?: (?:a lot|in advance|so much|all))?|thank you|thx|cheers|by the way|btw"
    r"|(?:that |it )?would be (?:great|nice|helpful)|(?:kind|best) (?:wishes|regards)"
    r"|many thanks|any ideas?|anyone|do you know|does anyone know)"
    r"[\s.!]*(\?*)[\s.!]*$",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+")  # full-width letters and digits
_EMOJI = re.compile(r":[a-z0-9_+-]{2,30}:|[\U0001F300-\U0001FAFF☀-➿️]")
_SOURCES_FIRST = re.compile(
    r"\b(?:(?:show|give|list|send|find|get) (?:me |us )?(?:all |only |just )?(?:the |your |some |any )*"
    r"(?:relevant |matching |best )?(?:sources?|references|passages)|sources? (?:first|only))\b",
    re.IGNORECASE,
)
_WRITTEN = r"(?:sources?|documents?|docs?|references|files?|pages?|papers?|material|passages|documentation)"
_ABOUT = r"(?:on|about|for|regarding|cover\w*|mention\w*|describ\w*|discuss\w*|explain\w*|lists?|shows?|contains?)"
_SOURCE_WORDS = re.compile(
    rf"^.*?\b{_WRITTEN}\b(?:\s+(?:first|only))?(?:\s+(?:that|which|(?:do )?(?:you|we) have|are there|there are|exist))*"
    rf"\s*(?:{_ABOUT}|(?:talk|speak|deal)s? (?:about|of|with)|tells? (?:me|us)(?: about)?|first:|:)\s+",
    re.IGNORECASE,
)
_WHICH_DOCUMENTS = re.compile(
    r"^(?:(?:please )?(?:list|name|show(?: me)?|give me|find)(?: (?:all|every|the|any|your|our))* |(?:which|what) "
    rf"|(?:are there|is there|do (?:you|we) have) (?:any |an? )*)(?!sources|references|passages)"
    rf"{_WRITTEN}\b(?! first)(?= (?:(?:that|which|you have"
    rf"|we have|do (?:you|we) have|there are) )*(?:{_ABOUT}|says?|(?:talk|speak|deal|tell)s?)\b)",
    re.IGNORECASE,
)
# "In which document can I read about refunds?", "is there anything on biosecurity in our docs?"
_READ_WHERE = re.compile(
    rf"^(?:in (?:which|what) {_WRITTEN}|where) (?:(?:can|could|do) (?:i|we|you) read|(?:is|are) (?:it|this) written)"
    r"(?: (?:about|on))?\s+(?P<topic>\S+ \S.*)$|^(?:is there|do (?:we|you) have) (?:anything|something) (?:on|about) "
    rf"(?P<thing>\S.*?) in (?:(?:the|our|your|any) )*{_WRITTEN}\W*$"
    r"|^what (?:do (?:you|we) (?:know|have)|is there)(?: written)? (?:about|on) (?P<known>\S.*?)\W*$",
    re.IGNORECASE,
)
_CAPITALS = 3  # words; fewer may be names: "INC-2025-014?"
_READABLE = (
    r"(?:documents?|docs|documentation|files|pages|sources?|material|knowledge(?:\ ?bases?)?|bases|topics|subjects"
    r"|policies|handbooks|manuals|everything)"
)
_THERE = (
    r"(?:are\ (?:there|here|available|indexed|in\ here|loaded)|do\ (?:you|we)\ (?:have|know|read|see|cover|use)"
    r"|can\ (?:you|i)\ (?:read|see|search|access)|have\ you\ (?:got|read)|you\ (?:have|know|can\ read)|exist"
    r"|there\ are)"
)
_LISTING = r"(?:(?:list|show|name|give)(?:\ (?:me|us))?\ (?:(?:all|of|the|your|our|available|indexed)\ )*)"
_ALL = re.compile(
    rf"""(?:(?:so|and)\ )?(?:
      (?:what|which)\ (?:all\ )?(?:do|can)\ you\ (?:know|read|have|cover|see)(?:\ (?:about|of|here|so\ far|already))*
    | (?:what|which)\ (?:kinds?\ of\ )?{_READABLE}\ {_THERE}(?:\ (?:here|about|so\ far|access\ to|in\ here))*
    | {_LISTING}{_READABLE}(?:\ (?:that\ )?{_THERE})?
    | (?:do\ you\ have|is\ there)\ an?\ (?:list|overview)\ of\ (?:(?:the|all|your)\ )*{_READABLE}
    | how\ many\ {_READABLE}\ {_THERE}(?:\ (?:here|access\ to))*
    | what(?:'s|\ is)\ (?:in|inside)\ (?:here|there|(?:your|the)\ (?:index|knowledge|library))
    | what\ (?:is\ your\ knowledge|are\ you)\ (?:about|based\ on|trained\ on)
    | what\ can\ you\ tell\ (?:me|us)(?:\ about)?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_OF_BASE = re.compile(
    rf"""(?:(?:so|and)\ )?(?:
      (?:what|which)(?:\ {_READABLE})?(?:'s|\ is|\ are)
    | what\ do\ you\ (?:have|know)
    | {_LISTING}(?:{_READABLE}|what\ is)
    )(?:\ there)?\ (?:in|inside|of|from|about)\ (?:the\ )?(?:(?:knowledge\ ?)?base\ |kb\ |library\ |collection\ )?
    ["'`*“]?(?P<base>[\w .-]+?)["'`*”]?(?:\ (?:knowledge\ ?)?base|\ kb)?""",
    re.IGNORECASE | re.VERBOSE,
)


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
    if _THANKFUL.fullmatch(bare) and "?" not in message:
        return Intent.THANKS
    found = (_small_talk().get(_core(one)) for one in (bare, _strip_front(bare)))
    return next((kind for kind in found if kind and (in_thread or kind not in _OF_THREAD)), None)


def overview_of(message: str, bases: Collection[str]) -> Overview | None:
    """Return the plan to list documents, of the named base or of all, if the message asks for that."""
    for bare in (_bare(message), _strip_front(_bare(message))):
        if (found := _OF_BASE.fullmatch(bare)) and (base := _base_in_question(found["base"], bases)):
            return Overview(base, "it asks what a knowledge base holds")
        if _ALL.fullmatch(bare):
            return Overview(None, "it asks what there is to read")
    return None


def _base_in_question(said: str, bases: Collection[str]) -> str:
    """Return the named base, ignoring case and separators: "release notes" for release-notes."""
    return next((base for base in bases if _join_words(base) == _join_words(said)), "")


def _join_words(name: str) -> str:
    return "".join(words(name.replace("_", " "))).casefold()


def _bare(message: str) -> str:
    bare = _EMOJI.sub(" ", message)
    return " ".join(bare.replace("’", "'").split()).strip(" .!?,;:-–—)(")


def split_question(message: str) -> QuestionParts:
    """Return the question in a message, in at most three parts, and whether it asks for sources first."""
    message = unicodedata.normalize("NFC", message.encode("utf-8", "ignore").decode())  # without lone surrogates
    message = _WIDE.sub(lambda found: unicodedata.normalize("NFKC", found.group()), message)
    text = _without_capitals(" ".join(_EMOJI.sub(" ", message).split()))
    first, lists = bool(_SOURCES_FIRST.search(text)), bool(_WHICH_DOCUMENTS.match(text))
    text = _trim(text)
    if read := _READ_WHERE.match(text):
        topic = read["topic"] or read["thing"] or read["known"]
        return QuestionParts(topic, (topic,), lists_documents=True)
    if first or lists:
        topic = _SOURCE_WORDS.sub("", text, count=1)
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
