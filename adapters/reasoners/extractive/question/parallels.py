"""Which part of the last question a fragment stands in the place of, told by what the two have in common.

"No, 422" after "what does error 423 mean", "for standard ones" after "for a saver ticket", and, where two questions
differ in one place already, that place again: "how much is Glow", "how much is Spark", "and Beacon?".
"""

import re
from collections.abc import Sequence

from adapters.reasoners.extractive.question.names import names
from core.model.text import content_words, stem, words

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


_ONE = re.compile(r"\s+ones?$", re.IGNORECASE)
_SMALL = re.compile(r"^(?:the|a|an|in|for|on|at|with|to|by|from|of|per|outside|inside)\s+", re.IGNORECASE)
_ENDS_IN_OBJECT = re.compile(
    r"(?P<before>\b(?:for|of|at|in|on|from|to)\s+(?:(?:the|my|our|an?)\s+)?)[^\W\d_][\w'’-]*$", re.IGNORECASE
)
_COUNTED_NOUN = re.compile(
    r"\bhow (?:many|much)\s+(?P<what>(?!of\b)[\w'’-]+(?:\s+[\w'’-]+){0,3}?)\s+"
    r"(?:do|does|did|is|are|was|were|can|could|may|must|will|would|should|has|have)\b",
    re.IGNORECASE,
)


def put_in_place(base: str, said: str, before: str, *, amends: bool) -> str:
    """The question with the fragment in the place of its like, else empty. ``before`` is the one further back."""
    bare = _ONE.sub("", _SMALL.sub("", said))
    return (
        _put_number(base, bare)
        or (_put_kind(base, bare) if _ONE.search(said) else "")
        or _put_opposite(base, bare)
        or (_put_at_same_preposition(base, said) if _PREPOSITION.match(said) else "")
        or _put_where_they_differ(before, base, said)
        or (_put_at_other_place(base, said) or _put_behind(base, said) if amends else "")
        or _put_at_end(base, said, bare)
        or (f"{base} {said}" if _PREPOSITION.match(said) else "")
        or _put_name(base, bare)
        or _put_same_noun(base, bare)
        or _put_as_counted(base, bare)
        or _put_as_subject(base, bare)
        or (_put_as_object(base, bare) if amends else "")
    )


def _put_kind(base: str, kind: str) -> str:
    """Another kind of the first thing that has one: "the almond one" after "a pack of butter croissants"."""
    for found in re.finditer(r"\b(?P<kind>[^\W\d_][\w'’-]*)\s+(?=(?P<noun>[^\W\d_][\w'’-]*))", base):
        if content_words(found["kind"]) and content_words(found["noun"]):
            return f"{base[: found.start()]}{kind}{base[found.end('kind') :]}"
    return ""


def _put_at_other_place(base: str, said: str) -> str:
    """The question that ends in a place asked of another: "at the quay" for "in Leeds"."""
    old = re.search(rf"\b(?:in|at){_PLACE}(?=$|\s+{_VERB}$)", base, re.IGNORECASE)
    return f"{base[: old.start()]}{said}{base[old.end() :]}" if old and re.match(r"(?:in|at)\b", said) else ""


def _put_behind(base: str, said: str) -> str:
    """All that stands behind the same preposition: "for going too fast" after "points for not using the bell"."""
    at = _PREPOSITION.match(said)
    places = list(re.finditer(rf"\b{at.group().split()[0]}\b", base, re.IGNORECASE)) if at else []
    return f"{base[: places[0].start()]}{said}" if len(places) == 1 and places[0].start() else ""


def _put_at_end(base: str, said: str, bare: str) -> str:
    """What the question ends in, said more exactly: "outside London" after "hotel limit London"."""
    if len(names(f"at {bare}")) == 1 and not re.search(
        rf"\b{_VERB}\b|\b(?:who|what|which|when|how)\b", base, re.IGNORECASE
    ):
        return f"{base.rsplit(' ', 1)[0]} {bare}"  # catchwords end in a name, however it is typed
    ends = said != bare and base.casefold().endswith(f" {bare.casefold()}")
    return f"{base[: -len(bare)]}{said}" if ends else ""


_SUBJECT = re.compile(
    r"\b(?:when|where|how|why|what)\s+(?:[\w'’-]+\s+)?(?:(?:did|does|do|will|can)\s+(?!(?:i|you|we|they)\b)"
    r"(?P<does>(?:[\w'’-]+\s+){1,4}?)[a-z]+(?:\s+(?:out|up|down|off|on|in))?"
    r"|(?:is|are|was|were)\s+(?:(?:the|our|my)\s+)?(?P<is>(?:[\w'’-]+\s+){1,4}?)[a-z]+(?:ed|en|pt|ld|nt|id|st))$"
    r"|\b(?:do|can|may|must|should|will|did)\s+(?:i|you|we|they)\s+[a-z]+\s+(?!(?:in|for|on|at|with|to|by|from|when|if)\b)"
    r"(?P<done>(?:[\w'’-]+\s+){0,3}[\w'’-]+)$",
    re.IGNORECASE,
)


def _put_as_subject(base: str, bare: str) -> str:
    """What something else does, or what is done to it: "when did the north yard open" asked of the quay."""
    found = _SUBJECT.search(base)
    part = found and next(name for name, said in found.groupdict().items() if said)
    if found is None or part is None:
        return ""
    after = base[found.end(part) :]
    return f"{base[: found.start(part)]}{bare}{' ' if after else ''}{after}"


def _put_name(base: str, bare: str) -> str:
    """One name for another."""
    known = names(base)
    return base.replace(known[-1], bare, 1) if known and names(f"of {bare}") == (bare,) else ""


def _put_same_noun(base: str, bare: str) -> str:
    """A kind of thing for another kind of it: "seasonal staff" for "permanent staff"."""
    said = words(bare)
    if len(said) < 2:
        return ""
    for found in re.finditer(r"\b(?P<kind>[\w'’-]+)\s+(?=(?P<noun>[\w'’-]+))", base):
        if stem(found["noun"]) == stem(said[-1]) and content_words(found["kind"]):
            return f"{base[: found.start()]}{bare}{base[found.end('noun') :]}"
    return ""


def _put_as_counted(base: str, bare: str) -> str:
    """Something else counted: "cellos" for the violins of "how many violins do we own"."""
    found = _COUNTED_NOUN.search(base)
    return f"{base[: found.start('what')]}{bare}{base[found.end('what') :]}" if found else ""


def _put_as_object(base: str, bare: str) -> str:
    """What a question ends in, asked of something else: "French horn" after "the deposit on a bassoon"."""
    found = _ENDS_IN_OBJECT.search(base)
    return f"{base[: found.start()]}{found['before']}{bare}" if found else ""


def _put_number(base: str, said: str) -> str:
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


def _put_at_same_preposition(base: str, said: str) -> str:
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


def _put_opposite(base: str, said: str) -> str:
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


def _put_where_they_differ(before: str, base: str, said: str) -> str:
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
