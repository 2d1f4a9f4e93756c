"""The two sides of a comparison, as two questions: "rent in 2024 compared to 2026" asks for the rent of each year.

Only where the sides stand in one place of the question, so that each can stand there alone. A table that has both in
its rows shows them anyway; two documents, two versions of one or two of its sections do not.
"""

import re

from core.model.text import content_words

_WORD = r"[\w'’+-]+"
_STOPS = r"(?:for|in|on|at|of|with|per|if|when|from|to|by|under|and|or|is|are|which|who|what)"
_AGAINST = re.compile(
    rf"^(?P<before>.*?)\b(?P<one>{_WORD}(?: {_WORD}){{0,3}}),? (?:vs\.?|versus|compared (?:to|with)) (?:the )?"
    rf"(?P<other>(?!{_STOPS}\b){_WORD}(?: (?!{_STOPS}\b){_WORD}){{0,2}})(?P<after>.*)$",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"^how (?:did|has|have) (?:the )?(?P<thing>.+?) (?:changed?|differ(?:ed)?|developed?) (?:from|between) "
    r"(?P<one>.+?) (?:to|and) (?P<other>.+?)$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"^(?:what(?:'s|’s|s| is| are)? )?(?:the )?differences? in (?P<thing>.+?) between (?P<one>.+?) and (?P<other>.+?)$",
    re.IGNORECASE,
)
_DIFFER = re.compile(r"^how (?:do|does|did) (?:the )?(?P<thing>.+?) (?:differ|change|compare)\b", re.IGNORECASE)
_MARK = r"(?:(?:version|edition|release|issue|v)\.? ?\d+(?:\.\d+)*|(?:19|20)\d\d)"
_JOINED = r"(?:,? (?:and|or|versus|vs\.?)(?: what about)?|,)(?: (?:in|for|of|under))?(?: the)?"
_BOTH = re.compile(rf"^(?P<before>.*?)\b(?P<one>{_MARK}){_JOINED} (?P<other>{_MARK})\b(?P<after>.*)$", re.IGNORECASE)
_SINCE = re.compile(  # a version that holds and one that held
    rf"^(?P<before>.*?)\b(?P<one>now|today|this year|currently){_JOINED} "
    r"(?P<other>last year|previously|in the past|(?:a|one|two|three|\d+) years? ago)\b(?P<after>.*)$",
    re.IGNORECASE,
)
# Said of both sides, and neither of them: "a vs b, the difference".
_NOTHING_MORE = frozenset(content_words("difference differ compare comparison"))
_KIND = re.compile(rf"^({_WORD}) (?=[\d.]+$)")  # "edition 6 and 7": edition 7


def sides_of(question: str) -> tuple[str, str] | None:
    """A question for each side; None where it compares nothing, or no two things that stand in one place."""
    bare = _DIFFER.sub(r"\g<thing>", question.strip().rstrip("?.! "))
    if found := _CHANGED.match(question.strip().rstrip("?.! ")) or _BETWEEN.match(bare):
        one, other = found["one"], found["other"]
        if (kind := _KIND.match(one)) and other[:1].isdigit():
            other = f"{kind[1]} {other}"
        return f"{found['thing']}, {one}?", f"{found['thing']}, {other}?"
    if (found := _BOTH.match(bare) or _SINCE.match(bare)) and content_words(f"{found['before']} {found['after']}"):
        one, other = (f"{found['before']}{found[side]}{found['after']}?" for side in ("one", "other"))
        return one, other
    found = _AGAINST.match(bare)
    if found is None:
        return None
    length = len(found["other"].split())
    left = f"{found['before']}{found['one']}".split()
    one = _last_words(left, length)
    before, after = " ".join(left[: len(left) - len(one)]), found["after"]
    if not one or set(content_words(f"{before} {after}")) <= _NOTHING_MORE:
        return None
    return f"{before} {' '.join(one)}{after}?".strip(), f"{before} {found['other']}{after}?".strip()


def _last_words(left: list[str], most: int) -> list[str]:
    """The last words, at most so many, back to a small word before them."""
    kept: list[str] = []
    for word in reversed(left):
        if len(kept) == most or re.fullmatch(_STOPS, word, re.IGNORECASE):
            break
        kept.insert(0, word)
    return kept
