"""How close a rewrite of a follow-up could come at most, word by word, and where the words that it lacks are.

The oracle keeps the question as asked and adds exactly those content words of the person's rewrite that one part of
the conversation holds; the last column may drop words of the question too. What no part holds is not to be had
without inventing words. Nothing is tuned here, so whole sets are read.

    python -m research.measure.follow_up_room [--half tuned|held-out|all]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
from collections.abc import Callable, Iterable

import numpy as np

from core.model.conversation import Exchange
from core.model.text import content_words
from research.labelled.follow_ups import INTERJECTIONS, FollowUpCase
from research.measure.rewrites import SETS, cases

Earlier = tuple[Exchange, ...]
PARTS: dict[str, Callable[[Earlier], Iterable[str]]] = {
    "last question": lambda earlier: (one.question for one in earlier[-1:]),
    "first question": lambda earlier: [one.question for one in earlier if one.question][:1],
    "recurring words": lambda earlier: (" ".join(recurring(earlier)),),
    "all questions": lambda earlier: (one.question for one in earlier),
    "last answer": lambda earlier: (one.answer for one in earlier[-1:]),
    "all answers": lambda earlier: (one.answer for one in earlier),
    "titles": lambda earlier: (title for one in earlier for title in one.titles),
    "everything": lambda earlier: (text for one in earlier for text in (one.question, one.answer, *one.titles)),
}


def recurring(earlier: Earlier) -> set[str]:
    """Return the stems that more than one question of the thread holds."""
    seen: dict[str, int] = {}
    for one in earlier:
        for word in set(content_words(one.question)):
            seen[word] = seen.get(word, 0) + 1
    return {word for word, times in seen.items() if times > 1}


def said(text: str) -> set[str]:
    """Return the content words that count."""
    return set(content_words(text)) - INTERJECTIONS


def agreement(ours: set[str], theirs: set[str]) -> float:
    """F1 of two sets of words; both empty agree."""
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 1.0


def room(found: list[FollowUpCase]) -> dict[str, tuple[float, float]]:
    """By part: the oracle's mean F1, and the share of all missing words that the part holds."""
    reached: dict[str, list[float]] = {"as asked": [], "and dropping": []}
    held: dict[str, int] = {}
    missing = 0
    for case in found:
        raw, human = said(case.text), said(case.rewrite)
        lacking = human - raw
        missing += len(lacking)
        reached["as asked"].append(agreement(raw, human))
        for part, texts in PARTS.items():
            have = {word for text in texts(case.earlier) for word in said(text)} & lacking
            held[part] = held.get(part, 0) + len(have)
            reached.setdefault(part, []).append(agreement(raw | have, human))
            if part == "everything":
                reached["and dropping"].append(agreement((raw & human) | have, human))
    return {part: (float(np.mean(figures)), held.get(part, 0) / max(missing, 1)) for part, figures in reached.items()}


def main() -> None:
    """Print one table a set."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--half", choices=("tuned", "held-out", "all"), default="all")
    chosen = arguments.parse_args()
    for name in SETS:
        found = list(cases(name, chosen.half))
        print(f"{name} ({len(found)})")
        for part, (f1, share) in room(found).items():
            print(f"  {part:16} F1 {f1:.3f}  holds {share:.2f} of the missing words")


if __name__ == "__main__":
    main()
