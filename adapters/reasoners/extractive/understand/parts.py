"""Parts of a question that are searched separately: several questions, and the sides of a comparison.

"What is the limit and who raises it?", "compare Depot, Fleet and Spark", "the rules for lorries and for vans", "rent in
2024 or 2026". Sides are only split if they are in one place of the question, so that each can replace the pair there.
"""

import re

from adapters.reasoners.extractive.understand import PHRASES
from core.model.text import content_words, words

_MOST = 3  # parts
_OF_ITS_OWN = 2  # content words
_POLITE = re.compile(r"^(?:(?:please|also|then|and|so|can you tell me|do you know)[\s,]+)+", re.IGNORECASE)
# Where two questions meet: a question mark, or "and" before a question word or auxiliary.
_JOINT = PHRASES["JOINT"]
_LEANING = PHRASES["LEANING"]
_QUESTION = PHRASES["QUESTION"]


_COMPARE = PHRASES["COMPARE"]
_BETWEEN = PHRASES["BETWEEN"]
_SAME_WORD = PHRASES["SAME_WORD"]  # "the rules for lorries and for vans"
_MARK = r"(?:(?:version|edition|release|v)\.? ?\d+(?:\.\d+)*|(?:19|20)\d\d)"
_JOINED = r"(?:,? (?:and|or|versus|vs\.?|compared (?:to|with))(?: what about)?|,)(?: (?:in|for|of|under))?(?: the)?"
_MARKS = re.compile(rf"^(?P<before>.*?)\b(?P<one>{_MARK}){_JOINED} (?P<other>{_MARK})\b(?P<after>.*)$", re.IGNORECASE)
_AGAINST = re.compile(  # one word each
    r"^(?P<before>.*?)(?P<one>[\w’'+-]+),? (?:vs\.?|versus|compared (?:to|with)) (?:the )?"
    r"(?P<other>[\w’'+-]+)(?P<after>.*)$",
    re.IGNORECASE,
)
_NOTHING_MORE = frozenset(content_words("difference differ compare comparison whats"))


def needs_in(question: str) -> tuple[str, ...]:
    """Return the question, or its two or three unrelated parts."""
    pieces = [piece.strip(" ,;") for piece in _JOINT.split(question)]
    pieces = [_POLITE.sub("", piece) for piece in pieces if words(piece)]
    questions = [piece for piece in pieces if _QUESTION.match(piece) and content_words(piece)]
    if len(questions) < 2 or len(questions) != len(pieces):
        return (question,)
    leans = any(_LEANING.search(piece) for piece in questions[1:])
    if leans and len(content_words(questions[0])) < _OF_ITS_OWN:
        return (question,)  # the later part refers to the former, so they are one need
    return tuple(f"{piece.rstrip('?')}?" for piece in questions[:_MOST])


def sides_of(question: str) -> tuple[str, ...]:
    """Return a question for each side of a comparison. Empty without a comparison."""
    bare = question.strip().rstrip("?.! ")
    if found := _COMPARE.match(bare):
        sides = [one for one in re.split(r",\s*(?:and\s+)?|\s+(?:and|with|to|vs\.?)\s+", found["sides"]) if words(one)]
        return tuple(f"{one}{found['what'] or ''}?" for one in sides[:_MOST]) if len(sides) > 1 else ()
    if found := _BETWEEN.match(bare):
        thing, one, other = (found[a] or found[b] for a, b in (("thing", "what"), ("one", "from"), ("other", "to")))
        if other[:1].isdigit() and (kind := re.match(r"\w+ (?=[\d.]+$)", one)):  # "edition 6 and 7"
            other = f"{kind.group()}{other}"
        return f"{thing}, {one}?", f"{thing}, {other}?"
    if (found := _SAME_WORD.match(bare)) and content_words(found["before"]):
        return f"{found['before']}{found['one']}?", f"{found['before']}{found['other']}?"
    for pattern in (_MARKS, _AGAINST):
        if (found := pattern.match(bare)) and not set(content_words(found["before"] + found["after"])) <= _NOTHING_MORE:
            return (
                f"{found['before']}{found['one']}{found['after']}?",
                f"{found['before']}{found['other']}{found['after']}?",
            )
    return ()
