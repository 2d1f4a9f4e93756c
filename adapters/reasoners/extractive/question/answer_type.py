"""Answer type of a question (amount, date, person, steps, reason) and how well a text has it.

Only words decide. ``units`` and the sentence vectors decide whether the text is about the question at all.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from core.model.text import content_words

_COUNTED = r"(?:\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|several)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NUMBER = re.compile(r"\d")
_AMOUNT = re.compile(
    rf"\b{_COUNTED}\b|\b(?:twenty|thirty|sixty|hundred|thousand|million|once|twice|unlimited|none|double|no|any)\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"\b{_COUNTED}[ -](?:[a-z]+[ -])?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|nights?|quarters?)\b"
    r"|\b(?:at once|immediately|forever|the same day|next (?:working )?(?:day|morning))\b"
    r"|(?<![\w.])\d+ ?(?:ms|s|min|h|hrs?|d|wks?|y|yrs?)\b",  # as in settings: "400d", "30 s"
    re.IGNORECASE,
)
_HOUR = (
    r"\b(?:at|by|until|till|before|after|from|between) (?:half past |quarter (?:past|to) )?(?:one|two|three|four|five"
    r"|six|seven|eight|nine|ten|eleven|twelve)\b(?! \w+s\b)|\bo['’]clock\b"
)
_CLOCK = re.compile(
    rf"\b\d{{1,2}}[:.]\d{{2}}\b|\b\d{{1,2}} ?(?:am|pm)\b|\bnoon\b|\bmidnight\b|\bat any hour\b|{_HOUR}", re.IGNORECASE
)
_WEEKDAY = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.IGNORECASE)
_DATE = re.compile(
    rf"\b(?:1[0-9]{{3}}|20[0-9]{{2}})\b|\b\d{{1,2}} {_MONTH}\b|\b{_MONTH} \d"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b\d{1,2}:\d{2}\b|\bnoon\b|\bmidnight\b"
    r"|\b(?:first|last|\d{1,2}(?:st|nd|rd|th)) (?:(?:working |business )?day )?of (?:the |each |every |a )?\w+"
    r"|\b(?:the|by|on) \d{1,2}(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(r"\b(?:every|each|daily|weekly|monthly|yearly|hourly|once|twice|times|per|after)\b", re.IGNORECASE)
_MONEY = re.compile(
    r"[€$£¥]\s?\d|\d\s?(?:€|eur\b|usd\b|gbp\b|euros?\b|dollars?\b|pounds?\b|percent\b|%)|\bfree\b"
    rf"|\b(?:{_COUNTED}|twenty|thirty|fifty|hundred|thousand|million) (?:euros?|dollars?|pounds?|cents?|percent)\b",
    re.IGNORECASE,
)
_DEGREES = re.compile(r"[−-]\d|\d\s?°|\d ?[CFK]\b|\bdegrees?\b|\b(?:freezing point|room temperature)\b", re.IGNORECASE)
_NETWORK = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b|https?://|(?<!\S)[^\s@]+@[^\s@.]+\.\S")
_PERSON = re.compile(  # not a department, and not a word that starts a sentence
    r"(?<![\w’'])(?!(?:The|Team|Head|Chief|Finance|Security|Customer|Company|Support|Sales|Product|Severity|In|On|At"
    r"|For|If|An|Our|Your|This|That|Every|Each|When|After|Before|No|Tell|Ask|Up|Above|Below)\b)"
    r"[A-Z][a-z][\w’'-]*(?: (?:[A-Z]\.|de|van|von|der|la))* [A-Z][a-z][\w-]*\b(?!['’]s)"
)
_NAME = re.compile(r"(?<=[^.!?\s] )[A-Z][a-z]+")
_ROLE = re.compile(
    r"\b(?:Head of [A-Z]|Chief [A-Z]|\w+ (?:leads?|officer|manager|owners?"
    r"|commander|administrators?|agents?|primary|secondary)\b|Team [A-Z])|(?<!\S)[^\s@]+@[^\s@.]+\.\S"
)
_GROUP = re.compile(  # "inspected by the facility team", "nobody has"
    r"\bby (?:the |an? |our |your |its |his |her |their )?[a-z]+"
    r"|\b(?:team|department|group|committee|board|staff|office"
    r"|crew|employee|member|customer|colleague|driver|engineer|user|supplier|contractor)s?\b"
    r"|\b(?:everyone|everybody|anyone|anybody|nobody|no one|people)\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:at most|up to|no more than|not more than|at least|no less than|max(?:imum)?|min(?:imum)?|limit(?:ed)?"
    r"|within|fewer than|less than|more than|may (?:hold|have|send|keep))\b(?=.*\d)"
    r"|\d.*\b(?:at most|at least|maximum|limit)\b",
    re.IGNORECASE,
)
_STEPS = re.compile(
    r"\b(?:click|select|open|run|go to|choose|press|use|set|add|create|call|send|install|enter|type|first|then"
    r"|step|by \w+ing)\b",
    re.IGNORECASE,
)
# A sentence that tells somebody what to do: "Photograph the receipt …", "Tell your lead …", "Book leave in …".
_TOLD_TO = re.compile(
    r"^[*_\s]*+(?:(?:[-+•]|\d{1,3}[.)])[*_\s]*+)?(?!(?:the|a|an|this|that|these|those|it|its|they|he|she|we|you|i|there|here"
    r"|each|every|all|any|some|no|none|nobody|both|most|if|when|while|after|before|as|since|so|for|in|on|at|by|to|of|with"
    r"|without|from|and|or|but|not|our|your|their|his|her|is|are|was|were|has|have|had|does|did|can|may|must|will)\b)"
    r"[a-z]+ (?:`|\*\*|(?:the|a|an|your|their|our|its|it|them|this|these|any|all|each|every|up|out|off|in|to|for|with"
    r"|on|over|into|from|through)\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:no|not|none|never|cannot|nobody)\b|n['’]t\b", re.IGNORECASE)
_EVENT = re.compile(r"\b(?:after|before|until|once|as soon as|at the (?:end|beginning|start) of|when)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"^\s*\d{1,3}[.)]\s+\S")
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|caused?|reason|therefore|hence|in order|as a result|to (?:avoid|prevent|ensure"
    r"|allow|keep))\b",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\b(?:in|at|on|near|under|from|to|inside|within)\s+(?:the\s+)?[A-Z#/`*]")
Pattern = re.Pattern[str]
# A question word that asks, unlike a conjunction or relative pronoun: "what happens when …", "the person who …".
_ASKING = (
    r"(?:^|[,;:.?!–—-]\s*|\b(?:and|or|but|since|until|till|from|by|about|exactly|tell me|know|ask|to|for|of|with)\s+)"
)


@dataclass(frozen=True, slots=True)
class AnswerType:
    """Answer type: a pattern for its questions, and patterns for its answers with their fit in [0, 1].

    If ``strict``, a text without any match does not answer.
    """

    asked: Pattern
    said: tuple[tuple[Pattern, float], ...]
    strict: bool = True


def _kind(asked: str, *said: tuple[Pattern, float], strict: bool = True) -> AnswerType:
    return AnswerType(re.compile(asked, re.IGNORECASE), said, strict)


_KINDS = (  # the first that matches decides
    _kind(r"\b(?:ip|mail|email|web) (?:address|range)|\burl\b", (_NETWORK, 1.0)),
    _kind(r"\bweekday\b|\b(?:which|what) day\b(?! of the (?:month|year))", (_WEEKDAY, 1.0), (_DATE, 0.6)),
    _kind(r"\b(?:at )?(?:what|which) (?:hours?|time)\b|\bopening hours\b", (_CLOCK, 1.0), (_DATE, 0.4)),
    _kind(r"\bhow often\b", (_OFTEN, 1.0), (_AMOUNT, 0.6)),
    _kind(
        r"\bhow (?:long|soon|quickly|fast|late|early)\b|\bhow much (?:time|notice)\b|\buntil when\b|\bdeadline\b",
        (_DURATION, 1.0),
        (_CLOCK, 0.8),
        (_DATE, 0.7),
        (_AMOUNT, 0.5),
    ),
    _kind(r"\bhow (?:cold|warm|hot)\b|\b(?:what|which) temperatures?\b", (_DEGREES, 1.0), (_NUMBER, 0.4)),
    _kind(
        r"\bhow much (?:money|extra|does|do|is|may|can|will)\b|\b(?:price|costs?|fee|budget|salary)\b"
        r"|\bget back\b|\bpaid per\b"
        r"|\bwhat (?:do|does|did|will|would|must|should) [\w' -]{1,30}?\b(?:charge|pay)\b(?! (?:with|by)\b)",
        (_MONEY, 1.0),
        (_NUMBER, 0.8),
    ),
    _kind(r"\bhow (?:many|much|old|far|large|big|high|tall|heavy|wide|deep|thick|strong|low|small)\b", (_AMOUNT, 1.0)),
    _kind(
        r"\b(?:limits?|maximum|minimum|max|min|biggest|largest|most|least|at most|at least)\b",
        (_BOUND, 1.0),
        (_NUMBER, 0.8),
        (_AMOUNT, 0.5),
    ),
    _kind(r"\b(?:rate|percentage|number of|timeout) ", (_NUMBER, 1.0), (_AMOUNT, 0.7), strict=False),
    _kind(
        rf"{_ASKING}when\b|\b(?:what|which) (?:year|date|month)\b",
        (_DATE, 1.0),
        (_DURATION, 0.6),
        (_CLOCK, 0.8),
        (_EVENT, 0.6),
    ),
    _kind(rf"{_ASKING}(?:who|whom|whose)\b", (_PERSON, 1.0), (_ROLE, 0.7), (_NAME, 0.6), (_GROUP, 0.5)),
    _kind(rf"{_ASKING}where\b", (_PLACE, 1.0), (_NAME, 0.6), strict=False),
    _kind(rf"{_ASKING}why\b", (_REASON, 1.0), strict=False),
    _kind(
        rf"^how (?:is|are)\b|{_ASKING}how (?:do|can|could|should|to|would|must)\b|\bhow to\b|\bsteps?\b"
        r"|\bwhat (?:do|should|can|must) (?:i|we|you) do\b|\bwhat now\b"
        r"|\bwhat(?:['’]?s| is) the (?:right|best|proper|correct|easiest) way\b",
        (_TOLD_TO, 1.0),
        (_NUMBERED, 1.0),
        (_STEPS, 0.7),
        strict=False,
    ),
)
_NOTHING = _kind("", strict=False)
NEUTRAL = 0.5


@lru_cache(maxsize=256)
def kind_asked(question: str) -> AnswerType:
    """Return the answer type of a question, or ``_NOTHING`` if it has none."""
    return next((kind for kind in _KINDS if kind.asked.search(question)), _NOTHING)


def fits(question: str, text: str) -> float:
    """Return how well a text has the question's answer type, in [0, 1]. 0.5 if it has none."""
    kind = kind_asked(question)
    if not kind.said:
        return NEUTRAL
    return next((value for pattern, value in kind.said if pattern.search(text)), 0.0)


def denies(text: str) -> bool:
    """Return whether a text says that there is none of something."""
    return bool(_DENIED.search(text))


def asks_for_steps(question: str) -> bool:
    """Return whether the question asks how to do something."""
    return kind_asked(question).said[:1] == ((_TOLD_TO, 1.0),)


def tells_what_to_do(text: str) -> bool:
    """Return whether a text is a step: "Open the settings …", "3. The list"."""
    return bool(_TOLD_TO.search(text) or _NUMBERED.search(text))


def is_strict(question: str) -> bool:
    """Return whether an answer must have the answer type: "how long" needs a time."""
    return kind_asked(question).strict


def lacks(question: str, text: str) -> bool:
    """Return whether a text cannot answer because it misses the answer type."""
    return is_strict(question) and fits(question, text) < NEUTRAL


_OF_DOCUMENT = re.compile(
    r"\b(?:owns?|owned|owner|authors?|wrote|written|writes|maintain(?:s|ed|er)?|responsible for|reviewed|reviews?"
    r"|updated|edited|revised|changed|effective|in force|valid|version|published|released|approved|dated|how old"
    r"|out of date|up to date|superseded|replace[sd]?)\b",
    re.IGNORECASE,
)


def asks_of_document(question: str) -> bool:
    """Return whether the question may be about a document itself: its owner, review or validity."""
    return bool(_OF_DOCUMENT.search(question))


_BROAD = re.compile(
    r"^(?:how (?:do|can|should|to|would|must)|(?:the )?steps|what (?:is|are|about)|what's|tell me|explain|describe)\b"
    r"|^(?!(?:who|whom|whose|what|which|where|when|why|how|is|are|was|were|am|do|does|did|can|could|should|shall|will"
    r"|would|may|might|must|has|have|had|isn|aren|doesn|don|compare)\b)",
    re.IGNORECASE,
)


def is_broad(question: str) -> bool:
    """Return whether a whole section may be the answer: how to do something, what something is, a bare topic."""
    return not is_strict(question) and bool(_BROAD.match(question))


_SMALL = (
    r"(?:of|for|in|to|on|at|when|if|that|do|does|did|is|are|was|were|per|with|can|must|may|should|will|has|have|had|from"
    r"|by|and|or|until|before|after|between|under|i|we|you|they|there|about|not|the|a|an)"
)
_NOUNS = rf"((?:(?!{_SMALL}\b)[\w'-]++\s*){{1,3}})"
_ARTICLE = r"(?:(?:the|an?|our|your|my)\s+)?"
_THINGS = (
    re.compile(rf"\bhow many\s+{_NOUNS}", re.IGNORECASE),
    re.compile(rf"\b(?:which|what(?:['’]?s)?)\s+(?:(?:is|are|was|were)\s+)?{_ARTICLE}{_NOUNS}", re.IGNORECASE),
)
_NO_NOUN = re.compile(  # words that name no column, or that another rule handles: prices, people, times
    r"\b(?:responsible|charge|prices?|costs?|fees?|kinds?|sorts?|types?|differences?|wrong|ways?|matter|happen\w*"
    r"|(?:second|minute|hour|day|week|month|year|time)s|people|persons?|new|current|last|next|first|\w+ed|\w+est)\b",
    re.IGNORECASE,
)
_TO_PLURAL = re.compile(r"^.*?\b\w+[^s\W]s\b")  # a verb follows it: "passengers travel"


@lru_cache(maxsize=256)
def thing_asked(question: str) -> tuple[str, ...]:
    """Return the stems of the wanted thing: "lifeboats" in "how many lifeboats has she?".

    A text without it is not an answer, even if it has all other words. Empty if no thing is named.
    """
    if found := next(filter(None, (pattern.search(question) for pattern in _THINGS)), None):
        said = _NO_NOUN.sub(" ", found[1])
        plural = _TO_PLURAL.match(said)
        return tuple(dict.fromkeys(content_words(plural.group() if plural else said)))
    return ()
