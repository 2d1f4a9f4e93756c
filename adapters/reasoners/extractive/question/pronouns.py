"""Words of a question that stand for something said before it: "it", "that one", "those"."""

import re

from adapters.reasoners.extractive.question.phrases import names, word_list
from core.model.text import content_words

PERSONAL = re.compile(r"\b(he|she|him|his|her|hers|himself|herself)\b", re.IGNORECASE)
THING = re.compile(r"\b(it|its|itself|they|them|their|theirs|themselves)\b", re.IGNORECASE)
PLURAL = frozenset({"they", "them", "their", "theirs", "themselves", "these", "those"})
DEMONSTRATIVE = frozenset({"this", "that", "these", "those"})
POSSESSIVE = frozenset({"his", "its", "their"})
PRONOUN_ONLY = re.compile(r"(?:it|that|this|them|those|these|he|she|they|him|her)", re.IGNORECASE)
_ENOUGH_BEFORE = 3  # content words
_POINTING = re.compile(
    r"\b(this|these|those)\b(?!\s+(?:is a question|way|week|month|year|morning|time))"
    r"|\bthat\b(?=\s*(?:[?.,!;]|$|\s(?:work|mean|cost|apply|happen|change|compare|help|cause|include|mean|for|is"
    r"|was|too|one)\b))"
    r"|(?<=\bof )that\b|(?<=\bdo )that\b|(?<=\bdid )that\b|(?<=\bdoes )that\b|(?<=\bis )that\b|(?<=\bwas )that\b"
    r"|(?<=\bafter )that\b|(?<=\bbefore )that\b|(?<=\babout )that\b|(?<=\bfor )that\b|(?<=\bto )that\b",
    re.IGNORECASE,
)
_ONE = re.compile(
    r"(?<=\b(?:new|own) )ones?\b|(?<=\b(?:good|best|next|last|this|that) )ones?\b|(?<=\b(?:which|smart|right) )one\b",
    re.IGNORECASE,
)
_REMARK = re.compile(r"^[^?]*[.!]\s+(?=[^.!?]*\?\s*$)")
# "That was not my question": of the talk itself, in a sentence that asks nothing.
_STATED = re.compile(
    r"^(?:\w+,?\s+)?(?:that|this)(?:'s|’s|\s+(?:is|was|might|may|would|will|sounds|seems|looks))\b(?=[^?]*$)",
    re.IGNORECASE,
)
# "How heavy is one?", "when I see one", "is there one before security too": of the things just spoken of, and not the
# first of them or each, nor "day one".
_COUNTED_OUT = word_list(
    "the any which what each every only this that no last next both than first other new own good best"
    " day week month year step stage phase part level tier version chapter section round zone grade class room floor"
)
_ANY_ONE = re.compile(
    "".join(rf"(?<!\b{word} )" for word in sorted(_COUNTED_OUT))
    + r"\bone(?=\s*(?:[,.?!;]|$|(?:before|after|near|there|here|home|out|back|again)\b))",
    re.IGNORECASE,
)
# "It" that stands for nothing, as in "is it free to …".
_EMPTY_IT = re.compile(
    r"\bit(?:'s|’s| is| was| would be)?\s+(?:is |was |be )?(?:important|possible|true|necessary|better|worth|safe"
    r"|legal|"
    r"ok|okay|take|takes|took|seems?|rains?|mandatory to|hard to|easy to|common|good to|possible|likely)\b"
    r"|\b(?:is|was) it (?:\w+ )?to\b|\b(?:is|was|would|will|does|did) it (?:be )?(?:important|possible|true that"
    r"|necessary|better|worth|safe|legal|ok"
    r"|okay|take|hard|easy|common|likely|necessary|normal|bad to|good to|mean to|makes? an?)\b|\bworth it\b"
    r"|\bif it(?:['’]?s| is| was)\s+(?:(?:only|just|really)\s+)?(?:an?\s+(?=\S+\s+\S)|one of)",  # a case of its own
    re.IGNORECASE,
)
# "Which Postgres does it need?": what it does is asked, so that it is something else than what it does that to.
_OF_WHAT = re.compile(
    r"(?:(?:and|but|so)\s+)?(?:which|what|how many|how much)\s+(?:[\w'’.-]+\s+){1,4}"
    r"(?:does|did|do|can|will|would|must|should)\s+",
    re.IGNORECASE,
)


_FRAME = re.compile(r"\bhow (?:long|often|much|far|soon|early|late)\b|\b(?:some|any)(?:one|body)\b", re.IGNORECASE)


def pronoun_in(question: str) -> re.Match[str] | None:
    """The first word that stands for something outside the question."""
    bare = _EMPTY_IT.sub(lambda found: "_" * len(found.group()), question)
    bare = _STATED.sub(lambda found: "_" * len(found.group()), bare)
    if question.rstrip().endswith("?"):  # what is said before the question is a remark: its pronouns can stay
        bare = _REMARK.sub(lambda found: "_" * len(found.group()), bare)
    candidates = [pattern.search(bare) for pattern in (PERSONAL, THING, _POINTING, _ONE, _ANY_ONE)]
    for one in sorted((one for one in candidates if one), key=lambda one: one.start()):
        before = _FRAME.sub("", question[: one.start()])  # "how long can someone keep one?" names no thing before it
        if _OF_WHAT.fullmatch(before):
            return one
        # A name, or enough said, before the pronoun: it looks back inside the question.
        if not names(before) and len(content_words(before)) < _ENOUGH_BEFORE:
            return one
    return None
