"""Where a phrase of the thread may be added to a follow-up, and which of its own words may go.

A word pays when the probability that the person's rewrite has it is above half of the F1 that the question has without
it (derived in ``follow_up``); a word is worth dropping when it is below. Printed for each set: by what the rules do,
the share p of the added words that belong there, and F/2; the same for the thread's first topic where the rules add
nothing and no pronoun asks for it, by turn and length; and how many of the words that ``framing`` takes off survive.

Two words and no name, right after the first question, would pay in every set, and are still completed only where they
leave open of what: who changes the subject in so few words is not to be bent back to it.

    python -m research.measure.follow_up_words [--half tuned|held-out|all]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from adapters.reasoners.extractive.question.discourse_frames import strip_frames
from adapters.reasoners.extractive.question.follow_up import EXCHANGES, resolve
from adapters.reasoners.extractive.question.intent import split_question
from adapters.reasoners.extractive.question.phrases import names
from adapters.reasoners.extractive.question.pronouns import pronoun_in
from adapters.reasoners.extractive.question.topics import topics_of
from core.model.text import content_words
from research.labelled.follow_ups import FollowUpCase
from research.measure.follow_up_room import agreement, said
from research.measure.rewrites import SETS, cases, understood

FRAME = "taken off: turns of talk"


@dataclass(frozen=True, slots=True)
class Change:
    """One place where words come or go: which share of them the person has, the F1 before and after."""

    place: str
    share: float
    before: float
    after: float


def changes(case: FollowUpCase) -> Iterator[Change]:
    """What the rules do to a follow-up, and what they might have added."""
    human, bare, earlier = said(case.rewrite), split_question(case.text).question, understood(case.earlier)
    plain = strip_frames(bare).question if earlier else bare
    raw, left = said(bare), said(plain)
    if raw - left:
        yield change(FRAME, raw - left, raw, left, human)
    resolved = resolve(bare, earlier)
    put_in = said(resolved.question) - left
    if put_in:
        how = resolved.reason.split()[0] if resolved.reason else "announced"
        yield change(f"done: {'read as' if how.startswith('“') else how}", put_in, left, left | put_in, human)
    elif not resolved.changed and not pronoun_in(plain):
        known = set(content_words(plain))
        top = next((t for t in topics_of(earlier[-EXCHANGES:]) if not t.phrase.stems & known), None)
        if top is not None:
            turn, length = min(sum(bool(one.question) for one in earlier), 3), min(len(known), 4)
            more = ", a name in it" if names(plain) else ""
            place = f"not done: turn {turn + 1}, {length} words{more}"
            yield change(place, set(top.phrase.stems), left, left | top.phrase.stems, human)


def change(place: str, moved: set[str], before: set[str], after: set[str], human: set[str]) -> Change:
    """A change of words, judged by the person's."""
    return Change(place, len(moved & human) / len(moved), agreement(before, human), agreement(after, human))


def main() -> None:
    """Print one line a place, all sets beside each other."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--half", choices=("tuned", "held-out", "all"), default="all")
    chosen = arguments.parse_args()
    found: dict[str, dict[str, list[Change]]] = defaultdict(dict)
    for name in SETS:
        for case in cases(name, chosen.half):
            for one in changes(case):
                found[one.place].setdefault(name, []).append(one)
    print(f"{'':42}" + "".join(f"{name:>36}" for name in SETS))
    print(f"{'':42}" + f"{'n     p   F/2    gain':>36}" * len(SETS))
    for place in sorted(found):
        print(f"{place:42}" + "".join(f"{_line(found[place].get(name, [])):>36}" for name in SETS))


def _line(few: list[Change]) -> str:
    if not few:
        return ""
    share = float(np.mean([one.share for one in few]))
    before = float(np.mean([one.before for one in few]))
    gain = float(np.mean([one.after - one.before for one in few]))
    return f"{len(few)}  {share:.2f}  {before / 2:.2f}  {gain:+.3f}"


if __name__ == "__main__":
    main()
