"""Which part of the last question a fragment stands in the place of, told by what the two have in common.

"No, 422" after "what does error 423 mean", "for standard ones" after "for a saver ticket", and, where two questions
differ in one place already, that place again: "how much is Glow", "how much is Spark", "and Beacon?".
"""

import re
from collections.abc import Sequence

from core.model.text import content_words

_PREPOSITION = re.compile(r"(?:in|for|on|at|with|to|by|from|under)\s+(?:(?:the|an?)\s+)?", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])v?\d[\d.,]*(?![\w%])")
_COUNTED = re.compile(r"(?P<noun>[^\W\d_]+)\s+\d[\w.]*")
_CODED = re.compile(r"(?<![\w.,-])(?P<letters>[^\W\d_]{1,4})(?P<sign>-?)\d+(?:(?=s?\b))")  # "p4" of "p4s"
_MEASURE = re.compile(r"\d[\d.,]*\s?(?P<unit>[^\W\d_]{1,12})")
_LONGEST = 4  # words of a place
_OTHER = r"(?:in|for|on|at|with|to|by|from|under|of|and|or|per)"
_VERB = (
    r"(?:is|are|was|were|do|does|did|can|could|will|would|must|may|has|have|had"
    r"|cost|say|take|last|need|mean|open|close|start|end|run)"
)
_PLACE = (
    rf"\s+(?P<article>(?:the|an?|my|our|your)\s+)?(?:(?!{_OTHER}\b)[\w'’-]+\s+){{0,2}}?(?!{_OTHER}\b|charge\b)"
    r"(?P<noun>[\w'’-]+)"
    rf"(?=\s*$|\s+{_OTHER}\b|\s+{_VERB}\b)"
)


def put_number(base: str, said: str) -> str:
    """The question with this number in the place of its one number of the same form, unit or kind; else empty."""
    if counted := _COUNTED.fullmatch(said):  # "tier 3" after "tier 2"
        same = list(re.finditer(rf"\b{re.escape(counted['noun'])}\s+\d[\w.]*", base, re.IGNORECASE))
        return f"{base[: same[0].start()]}{said}{base[same[0].end() :]}" if len(same) == 1 else ""
    if coded := _CODED.fullmatch(said.removesuffix("s")):  # "p4s" after "a p2"
        same = [one for one in _CODED.finditer(base) if _kind_of(one) == _kind_of(coded)]
        return f"{base[: same[0].start()]}{coded.group()}{base[same[0].end() :]}" if len(same) == 1 else ""
    new = _NUMBER.fullmatch(said) or _MEASURE.fullmatch(said)
    if not new:
        return ""
    if unit := new.groupdict().get("unit"):
        alike = list(re.finditer(rf"(?<![\w.,])\d[\d.,]*\s?{re.escape(unit)}\b", base))
    else:
        numbers = list(_NUMBER.finditer(base))
        alike = [one for one in numbers if _form(one.group()) == _form(said)]
        if not alike and "." in said and "," not in said:  # "and 2.9?" of version 3
            alike = numbers
    return f"{base[: alike[0].start()]}{said}{base[alike[0].end() :]}" if len(alike) == 1 else ""


def _kind_of(coded: re.Match[str]) -> tuple[str, str]:
    return coded["letters"].casefold(), coded["sign"]


def _form(number: str) -> str:
    return re.sub(r"\d+", "0", number)


def put_at_same_preposition(base: str, said: str) -> str:
    """The question with the fragment in the place of what follows the same preposition in it; else empty.

    "Standard ones" are of what stood there: standard tickets.
    """
    if there := re.search(r"\bthere$", base):
        return f"{base[: there.start()]}{said}"
    begins = re.match(r"\w+", said)
    places = list(re.finditer(rf"\b{begins.group()}{_PLACE}", base, re.IGNORECASE)) if begins else []
    if begins is None or not places:
        return ""
    put, like = re.subn(r"(?<=\w )ones?$", places[-1]["noun"], said)
    if like and places[-1]["article"]:
        put = f"{begins.group()} {places[-1]['article']}{put[begins.end() :].lstrip()}"
    return f"{base[: places[-1].start()]}{put}{base[places[-1].end() :]}"


def put_all_behind(base: str, said: str) -> str:
    """The question with the fragment for all behind its one such preposition: "for going too fast"; else empty."""
    begins = _PREPOSITION.match(said)
    places = list(re.finditer(rf"\b{begins.group().split()[0]}\b", base, re.IGNORECASE)) if begins else []
    return f"{base[: places[0].start()]}{said}" if len(places) == 1 and places[0].start() else ""


_AT_A_PLACE = re.compile(r"(?:in|at)\b", re.IGNORECASE)
_LAST_PLACE = re.compile(rf"\b(?:in|at){_PLACE}(?=$|\s+{_VERB}$)", re.IGNORECASE)


def put_at_other_place(base: str, said: str) -> str:
    """The question that ends in a place asked of another: "at the quay" for "in Leeds"; else empty."""
    old = _LAST_PLACE.search(base) if _AT_A_PLACE.match(said) else None
    return f"{base[: old.start()]}{said}{base[old.end() :]}" if old else ""


# Words that stand in each other's place: who asks for the one after the other means all the rest to stay.
_OPPOSITES = tuple(
    frozenset(one.split())
    for one in (
        "upper lower middle",
        "north south east west northern southern eastern western",
        "left right",
        "front back rear",
        "small medium large big",
        "short long",
        "old new",
        "monthly weekly daily yearly annual quarterly hourly",
        "month week day year quarter hour",
        "morning afternoon evening night",
        "weekday weekdays weekend weekends",
        "spring summer autumn winter",
        "adult adults child children senior seniors student students",
        "single double twin",
        "full part",
        "permanent temporary seasonal",
        "internal external",
        "buyer seller landlord tenant",
        "minimum maximum",
        "above below",
        "before after",
        "with without",
        "more less fewer",
        "first second third last",
        "monday tuesday wednesday thursday friday saturday sunday",
        "january february march april may june july august september october november december",
    )
)
_SAME_END = 5  # letters: diploid and triploid


def put_opposite(base: str, said: str) -> str:
    """The question with a single word in the place of one of its kind, the last such: "upper" for "lower"; else empty.

    Of its kind are those that are said as its opposite, and those that end as it does.
    """
    new = said.casefold()
    if not re.fullmatch(r"[^\W\d_]+", new):
        return ""
    kind = next((one for one in _OPPOSITES if new in one), frozenset())
    for found in reversed(list(re.finditer(r"[^\W\d_]+", base))):
        old = found.group().casefold()
        end = old.endswith(new[-_SAME_END:]) and min(len(old), len(new)) > _SAME_END
        if old != new and (old in kind or end):
            return f"{base[: found.start()]}{said}{base[found.end() :]}"
    return ""


# Times that come again: of the day, the week, the year.
_TIME = re.compile(
    r"\b(?:(?:during|in|at|on|over|by)\s+(?:the\s+)?)?(?:day(?:time)?|night(?:time)?|morning|afternoon|evening"
    r"|week(?:end|day)?|spring|summer|autumn|winter|(?:high|low|mid|middle|peak|off)[ -]season"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b",
    re.IGNORECASE,
)
_AT = re.compile(r"(?:during|in|at|on|over|by)\b", re.IGNORECASE)


def put_time(base: str, said: str) -> str:
    """The question asked of another time of the day, week or year: "at night" for "during the day"; else empty."""
    olds = [found for found in _TIME.finditer(base) if _AT.match(found.group()) or not _AT.match(said)]
    if not _TIME.fullmatch(said) or len(olds) != 1 or olds[0].group().casefold() == said.casefold():
        return ""
    (old,) = olds
    kept = _AT.match(old.group()) if not _AT.match(said) else None
    return f"{base[: old.start()]}{f'{kept.group()} ' if kept else ''}{said}{base[old.end() :]}"


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR_AWAY = re.compile(
    r"(?:in\s+)?(?:(?:a|one|the)\s+year\s+(?:(?P<back>earlier|before)|later|after)(?:\s+that)?"
    r"|the\s+(?:(?P<previous>previous)|following)\s+year)",
    re.IGNORECASE,
)


def put_year_away(base: str, said: str, named: str) -> str:
    """The question of the year before or after its own, or else the one that is named: "a year earlier"; or ""."""
    away, own = _YEAR_AWAY.fullmatch(said), _YEAR.search(base)
    known = own or _YEAR.search(named)
    if not away or not known:
        return ""
    year = int(known.group()) + (-1 if away["back"] or away["previous"] else 1)
    return f"{base[: own.start()]}{year}{base[own.end() :]}" if own else f"{base} in {year}"


_SUBJECT = re.compile(
    r"\b(?:when|where|how|why|what)\s+(?:[\w'’-]+\s+)?(?:did|does|do|will|can)\s+(?P<subject>(?:[\w'’-]+\s+){1,4}?)"
    r"[a-z]+(?:\s+(?:out|up|down|off|on|in))?$"
)
_OBJECT = re.compile(
    r"\b(?:do|can|may|must|should|will|did)\s+(?:i|you|we|they)\s+[a-z]+\s+(?!(?:in|for|on|at|with|to|by|from|under|when|if|up|out)\b)"
    r"(?P<object>(?:[\w'’-]+\s+){0,4}[\w'’-]+)$",
    re.IGNORECASE,
)
_NEWEST = re.compile(r"\bthe\s+(?P<newest>latest|newest|most recent|current)\b", re.IGNORECASE)
_BEFORE_IT = re.compile(
    r"(?:the\s+)?(?:previous\s+(?:one|release|version|edition)"
    r"|(?:one|release|version|edition)\s+before(?:\s+(?:it|that|that one))?)",
    re.IGNORECASE,
)


_VERSION = re.compile(
    r"\b(?P<at>(?:in|under|by|of|from)\s+)?(?:the\s+)?(?:(?:old|new|current|previous|latest|first|(?:19|20)\d\d)\s+"
    r"(?:edition|version|terms|conditions|release)|(?:edition|version|terms|release)\s+(?:of\s+)?v?\d[\d.]*)",
    re.IGNORECASE,
)
_OF_VERSION = re.compile(
    r"(?:(?:in|under|by|of|from)\s+)?(?P<named>(?:the\s+)?(?:[\w.]+\s+)?(?:edition|version|terms|conditions|release)\b.*)",
    re.IGNORECASE,
)


def put_version(base: str, said: str) -> str:
    """The question asked of another version than the one that it names; empty where it names none."""
    old, new = _VERSION.search(base), _OF_VERSION.fullmatch(said)
    return f"{base[: old.start()]}{old['at'] or ''}{new['named']}{base[old.end() :]}" if old and new else ""


def put_as_subject(base: str, said: str) -> str:
    """The question asked of another: "when did the north yard open" of the quay; empty where it has no such form."""
    found = _SUBJECT.search(base)
    return f"{base[: found.start('subject')]}{said} {base[found.end('subject') :]}" if found else ""


def put_as_object(base: str, said: str) -> str:
    """What people do, asked of something else: "how long do you keep photos" of films; else empty."""
    found = _OBJECT.search(base)
    return f"{base[: found.start('object')]}{said}" if found else ""


def put_before_newest(base: str, said: str) -> str:
    """The question for the newest asked of the one before it; empty where it asks for no newest."""
    found = _NEWEST.search(base) if _BEFORE_IT.fullmatch(said) else None
    return f"{base[: found.start()]}the one before {base[found.start() :]}" if found else ""


def put_where_they_differ(before: str, base: str, said: str) -> str:
    """The question with the fragment where it differs from the one before it; empty where they differ elsewhere too."""
    old, new = before.split(), base.split()
    front = _common(old, new)
    back = _common(old[front:][::-1], new[front:][::-1])
    middle = new[front : len(new) - back]
    same = [*new[:front], *new[len(new) - back :]]
    if not 0 < len(middle) <= _LONGEST or not content_words(" ".join(same)):
        return ""
    at, kept = _PREPOSITION.match(said), _PREPOSITION.match(" ".join(middle))
    if at and not kept:
        return ""  # "in sales" is no other thing than "a conference"
    kept = None if at else kept
    return " ".join([*new[:front], f"{kept.group() if kept else ''}{said}", *new[len(new) - back :]])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a.casefold() != b.casefold()), min(len(one), len(other)))
