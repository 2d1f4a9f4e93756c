"""How close the extractive rewrite of a follow-up comes to the one a person wrote, against the raw follow-up.

Content words as sets: precision, recall and F1 of each question, averaged. Questions whose human rewrite brings no new
content word need no context: the share of them that is left alone is reported beside. The rules were tuned on the half
of each set whose id hashes to even; the other half is the one to quote.

    python -m tests.measure.rewrites [--half tuned|held-out|all] [--worst N]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.reasoners.extractive.follow_up import Exchange, resolve
from adapters.reasoners.extractive.routing import asked
from core.language import content_words

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
# Some sets' people keep these in their rewrites, others' drop them; they are counted nowhere.
INTERJECTIONS = frozenset(
    content_words("okay ok wow hmm hi hello oh yes yeah thanks cool great interesting sorry really")
)
SETS = ("mtrag_rewrite", "canard_dev", "cast_rewrite")


@dataclass(frozen=True, slots=True)
class Case:
    """A follow-up, what came before it, and the rewrite a person wrote."""

    id: str
    question: str
    earlier: tuple[Exchange, ...]
    rewrite: str


@dataclass(frozen=True, slots=True)
class Closeness:
    """Content words shared with the human rewrite."""

    precision: float
    recall: float
    f1: float


def _pairs(lines: list[str]) -> tuple[Exchange, ...]:
    """Questions and answers that alternate; an answer may be marked as the assistant's."""
    marked = any(line.startswith("ASSISTANT:") for line in lines)
    exchanges: list[Exchange] = []
    for number, line in enumerate(lines):
        answer = line.startswith("ASSISTANT:") if marked else number % 2 == 1
        if answer and exchanges:
            exchanges[-1] = Exchange(exchanges[-1].question, line.removeprefix("ASSISTANT:").strip())
        else:
            exchanges.append(Exchange(line))
    return tuple(exchanges)


def _earlier(name: str, about: dict[str, Any]) -> tuple[Exchange, ...]:
    if name == "mtrag_rewrite":
        return tuple(Exchange(turn) for turn in about["user_turns"][:-1])
    history = [line for line in about["history"] if line]
    if name == "canard_dev":  # article and section stand where a product's thread has the cited title and heading
        return (Exchange("", "", tuple(history[:2])), *_pairs(history[2:]))
    if about["year"] == 2020:  # questions alone
        return tuple(Exchange(line) for line in history)
    return _pairs(history)


def cases(name: str, half: str) -> Iterator[Case]:
    """The questions of one set, in its order."""
    with (DATA / name / "queries.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            even = zlib.crc32(row["_id"].encode()) % 2 == 0
            if half == "all" or even == (half == "tuned"):
                about = row["metadata"]
                yield Case(row["_id"], row["text"], _earlier(name, about), about["rewrite"])


def understood(earlier: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """The earlier questions as the reasoner itself would have rewritten them, as a thread remembers them."""
    done: list[Exchange] = []
    for exchange in earlier:
        question = rewritten(exchange.question, tuple(done)) if exchange.question else ""
        done.append(Exchange(question, exchange.answer, exchange.titles))
    return tuple(done)


def rewritten(question: str, earlier: tuple[Exchange, ...]) -> str:
    """As the reasoner understands it: without padding, standing alone."""
    return resolve(asked(question).question, earlier).question


def _said(text: str) -> set[str]:
    return set(content_words(text)) - INTERJECTIONS


def closeness(text: str, human: str) -> Closeness:
    """Content-word precision, recall and F1, as sets; both empty counts as agreement."""
    ours, theirs = _said(text), _said(human)
    if not ours and not theirs:
        return Closeness(1.0, 1.0, 1.0)
    shared = len(ours & theirs)
    precision = shared / len(ours) if ours else 0.0
    recall = shared / len(theirs) if theirs else 0.0
    return Closeness(precision, recall, 2 * shared / (len(ours) + len(theirs)))


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
        f"{'set':14} {'n':>5}  raw P/R/F1         ours P/R/F1        on those that need context: raw, ours   left alone"
    )
    for name in chosen.sets:
        raw: list[Closeness] = []
        ours: list[Closeness] = []
        needing: list[int] = []
        changed: list[int] = []
        alone = free = 0
        shown: list[tuple[float, str]] = []
        for number, case in enumerate(cases(name, chosen.half)):
            written = rewritten(case.question, understood(case.earlier))
            raw.append(closeness(case.question, case.rewrite))
            ours.append(closeness(written, case.rewrite))
            if set(content_words(written)) - set(content_words(case.question)):
                changed.append(number)
            if set(content_words(case.rewrite)) - set(content_words(case.question)):
                needing.append(number)
            else:
                free += 1
                alone += not set(content_words(written)) - set(content_words(case.question))
            before = [exchange.question for exchange in case.earlier[-3:]]
            shown.append(
                (ours[-1].f1 - raw[-1].f1, f"{before}\n  Q {case.question}\n  O {written}\n  H {case.rewrite}")
            )
        print(
            f"{name:14} {len(raw):5}  {_mean(raw)}  {_mean(ours)}  "
            f"{_mean([raw[i] for i in needing])} | {_mean([ours[i] for i in needing])}  "
            f"{alone}/{free} = {alone / max(free, 1):.2f}  "
            f"{len(changed)} added to: {_mean([raw[i] for i in changed])} | {_mean([ours[i] for i in changed])}"
        )
        for change, text in sorted(shown)[: chosen.worst]:
            print(f"{change:+.2f} {text}")


if __name__ == "__main__":
    main()
