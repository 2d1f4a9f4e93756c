"""What stands on the buttons of a question that is asked back: each reading by what sets it apart from the others."""

import re
from collections.abc import Sequence

LONGEST = 40  # characters: what a button shows on a phone without being cut
_ASIDE = re.compile(r"\s*\([^()]*\)$")
_EDGES = " \t?.!,;:–—-"
_SMALL = frozenset("a an the of in on for to at by with from and or".split())  # noqa: SIM905


def choice_labels(options: Sequence[str]) -> tuple[str, ...]:
    """A label of at most 40 characters for each option, all different; the option itself where it is short enough.

    Words that all options begin with are left out; where that is not enough, what stands in brackets at the end, then
    the words that all end with, but for the first of them. What is still too long is cut at a word.
    """
    if len(options) < 2 or all(len(option) <= LONGEST for option in options):
        return tuple(map(short_label, options))
    begun = _without_common_words(options, ends=False)
    bare = tuple(_ASIDE.sub("", label) for label in begun)
    fitting = tuple(short if len(label) > LONGEST else label for label, short in zip(begun, bare, strict=True))
    without_asides = tuple(_ASIDE.sub("", option.strip(_EDGES)) for option in options)
    shortened = (fitting, bare, *(_without_common_words(given, ends=True) for given in (options, without_asides)))
    cut = [tuple(short_label(label) for label in labels) for labels in shortened]
    distinct = [labels for labels in cut if len(set(labels)) == len(options) and all(labels)]
    if distinct:
        return next((labels for labels in distinct if labels in shortened), distinct[0])
    return tuple(short_label(f"{number}. {option}") for number, option in enumerate(options, 1))


def _without_common_words(options: Sequence[str], *, ends: bool) -> tuple[str, ...]:
    """Without the words that all begin with; with ``ends`` also without those that all end with."""
    split = [option.strip(_EDGES).split() for option in options]
    first, last = _shared_words(split), _shared_words([words[::-1] for words in split]) if ends else 0
    spare = max(0, min(map(len, split)) - 1)  # at least a word of each stays
    first = min(first, spare)
    last = min(max(0, last - 1), spare - first)  # "job timeout", rather than "job", of what is said of timeouts
    kept = [words[first : len(words) - last] for words in split]
    while all(len(words) > 1 and words[0].casefold() in _SMALL for words in kept):
        kept = [words[1:] for words in kept]
    return tuple(_balance_quotes(" ".join(words)).strip(_EDGES) for words in kept)


def _shared_words(split: Sequence[Sequence[str]]) -> int:
    """How many words all of them begin with."""
    count = 0
    for words in zip(*split, strict=False):
        if len({word.casefold().strip(_EDGES) for word in words}) > 1:
            break
        count += 1
    return count


def _balance_quotes(text: str) -> str:
    """With the bracket closed that lost its end to the words that all share."""
    return text + ")" if text.count("(") > text.count(")") else text


def short_label(label: str) -> str:
    """The label in at most 40 characters, cut at a word."""
    if len(label) <= LONGEST:
        return label
    whole = label[: LONGEST - 1].rsplit(" ", 1)[0]
    return (whole if len(whole) > LONGEST // 2 else label[: LONGEST - 1]).rstrip(_EDGES + "(") + "…"
