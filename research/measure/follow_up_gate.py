"""Would a fitted rule say better than the code when a follow-up gains by a topic from the thread?

For each follow-up there is one candidate: the rewrite of ``follow_up.resolve``, or, where that leaves it alone, the
question with the thread's most salient topic added. A logistic regression over what can be seen of question and
topic predicts whether the candidate comes closer to the human rewrite; it is fitted on the development halves of two
sets and applied to the third. Printed: F1 of the raw question, of the code, of the gated candidate, and what choosing
rightly every time would reach.

    python -m research.measure.follow_up_gate [--half tuned|held-out] [--weights]
"""

# ruff: noqa: T201 - a measurement is printed, and looks at what the rules see

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from adapters.reasoners.extractive.question import follow_up
from adapters.reasoners.extractive.question.fragments import ASKING, VERBISH
from adapters.reasoners.extractive.question.intent import split_question
from adapters.reasoners.extractive.question.phrases import names
from adapters.reasoners.extractive.question.topics import topics_of
from core.model.conversation import Exchange
from core.model.text import content_words
from research.labelled.follow_ups import closeness
from research.measure.rewrites import SETS, cases, understood

FEATURES = (
    "bias",
    "changed by the rules",
    "words, up to 8",
    "two words or fewer",
    "no verb or question word",
    "names something",
    "something definite",
    "asks for more",
    "introduces",
    "topic is a name",
    "topic of several words",
    "topic's weight, up to 3",
    "lead over the next",
    "shares a word with the thread",
    "exchanges, up to 6",
)
CHANGED = 1
Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Choice:
    """One follow-up: what is seen of it, and how close the raw question, the code and the candidate come."""

    features: Vector
    raw: float
    code: float
    candidate: float


def choice(question: str, earlier: tuple[Exchange, ...], human: str) -> Choice | None:
    """The choice that a follow-up offers; None where the thread has no topic."""
    bare = split_question(question).question
    topics = topics_of(earlier[-follow_up.EXCHANGES :])
    if not topics:
        return None
    known = frozenset(content_words(bare))
    resolved = follow_up.resolve(bare, earlier)
    top = next((topic for topic in topics if not topic.phrase.stems <= known), topics[0])
    candidate = resolved.question if resolved.changed else follow_up._append_topic(bare, top.phrase.text)
    following = max((topic.weight for topic in topics if topic is not top), default=0.0)
    features = (
        1.0,
        resolved.changed,
        min(len(known), 8) / 8,
        len(known) <= 2,
        not (VERBISH.search(bare) or ASKING.search(bare)),
        bool(names(bare)),
        bool(follow_up._DEFINITE.search(bare)),
        bool(follow_up._MORE.search(bare)),
        bool(follow_up._INTRODUCES.match(bare)),
        top.phrase.name,
        len(top.phrase.stems) > 1,
        min(top.weight, 3.0),
        float(np.clip(top.weight - following, -1, 2)),
        any(topic.phrase.stems & known for topic in topics[:3]),
        min(len(earlier), 6) / 6,
    )
    return Choice(
        np.array(features, dtype=np.float64),
        closeness(question, human).f1,
        closeness(resolved.question, human).f1,
        closeness(candidate, human).f1,
    )


def choices(name: str, half: str) -> list[Choice]:
    """All choices of a set's half, and those that offer none as they are."""
    found = []
    for case in cases(name, half):
        one = choice(case.text, understood(case.earlier), case.rewrite)
        same = closeness(split_question(case.text).question, case.rewrite).f1
        raw = closeness(case.text, case.rewrite).f1
        found.append(one or Choice(np.zeros(len(FEATURES)), raw, same, same))
    return found


def fitted(sets: list[list[Choice]], rounds: int = 4000) -> Vector:
    """Weights that predict a gain, each example weighed by how much there is to gain or lose, each set alike."""
    rows = np.concatenate([[one.features for one in few] for few in sets])
    gains = np.concatenate([[one.candidate - one.raw for one in few] for few in sets])
    share = np.concatenate([np.abs([one.candidate - one.raw for one in few]) / len(few) for few in sets])
    share /= share.sum()
    weights = np.zeros(len(FEATURES))
    for _ in range(rounds):
        slope = rows.T @ (share * (1 / (1 + np.exp(-rows @ weights)) - (gains > 0)))
        weights -= 1.0 * (slope + 0.001 * weights)
    return weights


def main() -> None:
    """Print one line a set."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--half", choices=("tuned", "held-out"), default="tuned")
    arguments.add_argument("--weights", action="store_true")
    chosen = arguments.parse_args()
    tuned = {name: choices(name, "tuned") for name in SETS}
    print(f"{'set':14} {'raw':>6} {'code':>6} {'gated':>6} {'code, gated':>12} {'best':>6}")
    for name in SETS:
        weights = fitted([few for other, few in tuned.items() if other != name])
        judged = tuned[name] if chosen.half == "tuned" else choices(name, chosen.half)
        pays = [bool(one.features @ weights > 0) for one in judged]
        gated = [one.candidate if yes else one.raw for one, yes in zip(judged, pays, strict=True)]
        kept = [
            one.code if yes or not one.features[CHANGED] else one.raw for one, yes in zip(judged, pays, strict=True)
        ]
        best = [max(one.candidate, one.raw) for one in judged]
        figures = ([one.raw for one in judged], [one.code for one in judged], gated, kept, best)
        raw, code, free, strict, most = (float(np.mean(values)) for values in figures)
        print(f"{name:14} {raw:6.3f} {code:6.3f} {free:6.3f} {strict:12.3f} {most:6.3f}")
    if chosen.weights:
        for feature, weight in zip(FEATURES, fitted(list(tuned.values())), strict=True):
            print(f"  {feature:32} {weight:+.2f}")


if __name__ == "__main__":
    main()
