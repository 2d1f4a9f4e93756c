"""How close the extractive rewrite of a follow-up comes to the one a person wrote, against the raw follow-up.

Content words as sets: precision, recall and F1 of each question, averaged. Questions whose human rewrite brings no new
content word need no context: the share of them that is left alone is reported beside. The rules were tuned on the half
of each set whose id hashes to even; the other half is the one to quote.
``python -m research.evaluation`` measures whole sets. The gain in F1 has a paired bootstrap interval.

    python -m research.measure.rewrites [--half tuned|held-out|all] [--worst N]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import zlib
from collections.abc import Iterator
from pathlib import Path

from adapters.reasoners.extractive.understand.follow_up import resolve
from adapters.reasoners.extractive.understand.intent import split_question
from core.model.conversation import Exchange
from core.model.text import content_words
from research.evaluation.metrics import paired_difference
from research.labelled.follow_ups import Closeness, FollowUpCase, closeness, follow_ups_from

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
SETS = ("mtrag_rewrite", "canard_dev", "cast_rewrite")


def cases(name: str, half: str) -> Iterator[FollowUpCase]:
    """Yield the questions of one set, in its order."""
    with (DATA / name / "queries.jsonl").open(encoding="utf-8") as lines:
        for case in follow_ups_from(lines):
            even = zlib.crc32(case.id.encode()) % 2 == 0
            if half == "all" or even == (half == "tuned"):
                yield case


def understood(earlier: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """Return the earlier questions as the reasoner itself would have rewritten them, as a thread remembers them."""
    done: list[Exchange] = []
    for exchange in earlier:
        question = rewritten(exchange.question, tuple(done)) if exchange.question else ""
        done.append(Exchange(question, exchange.answer, exchange.titles))
    return tuple(done)


def rewritten(question: str, earlier: tuple[Exchange, ...]) -> str:
    """As the reasoner understands it: without padding, standing alone."""
    return resolve(split_question(question).question, earlier).question


def _mean(found: list[Closeness]) -> str:
    n = max(len(found), 1)
    means = [sum(getattr(one, part) for one in found) / n for part in ("precision", "recall", "f1")]
    return " ".join(f"{value:.3f}" for value in means)


def main() -> None:
    """Print one table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--half", choices=("tuned", "held-out", "all"), default="held-out")
    arguments.add_argument("--worst", type=int, default=0)
    arguments.add_argument("--sets", nargs="*", default=SETS)
    chosen = arguments.parse_args()
    print(
        f"{'set':14} {'n':>5}  raw P/R/F1         ours P/R/F1        gain in F1             "
        "on those that need context: raw, ours   left alone"
    )
    for name in chosen.sets:
        raw: list[Closeness] = []
        ours: list[Closeness] = []
        needing: list[int] = []
        changed: list[int] = []
        alone = free = 0
        shown: list[tuple[float, str]] = []
        for number, case in enumerate(cases(name, chosen.half)):
            written = rewritten(case.text, understood(case.earlier))
            raw.append(closeness(case.text, case.rewrite))
            ours.append(closeness(written, case.rewrite))
            if set(content_words(written)) - set(content_words(case.text)):
                changed.append(number)
            if set(content_words(case.rewrite)) - set(content_words(case.text)):
                needing.append(number)
            else:
                free += 1
                alone += not set(content_words(written)) - set(content_words(case.text))
            before = [exchange.question for exchange in case.earlier[-3:]]
            shown.append((ours[-1].f1 - raw[-1].f1, f"{before}\n  Q {case.text}\n  O {written}\n  H {case.rewrite}"))
        gain = paired_difference([one.f1 for one in ours], [one.f1 for one in raw])
        print(
            f"{name:14} {len(raw):5}  {_mean(raw)}  {_mean(ours)}  "
            f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]  "
            f"{_mean([raw[i] for i in needing])} | {_mean([ours[i] for i in needing])}  "
            f"{alone}/{free} = {alone / max(free, 1):.2f}  "
            f"{len(changed)} added to: {_mean([raw[i] for i in changed])} | {_mean([ours[i] for i in changed])}"
        )
        for change, text in sorted(shown)[: chosen.worst]:
            print(f"{change:+.2f} {text}")


if __name__ == "__main__":
    main()
