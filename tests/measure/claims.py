"""The lexical verifier's verdicts against human labels: a confusion matrix each, as they are.

scifact: a claim with its gold abstract (supports or contradicts) and with another claim's abstract (nothing said).
BEGIN: a chatbot's reply with the knowledge it had (fully attributable or not; generic replies are counted with "not").

    python -m tests.measure.claims [--limit 600]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from adapters.reasoners.extractive.answer.claims import judge_claim
from core.model.answer import Support
from core.model.knowledge import Passage
from tests.measure.shelf import DATA, rows

TEXT_LIMIT = 4000


def scifact() -> Iterator[tuple[str, str, str]]:
    """(label, claim, evidence)."""
    abstracts = {
        row["_id"]: f"{row['title']}\n\n{row['text']}" for row in rows(DATA / "scifact_train" / "corpus.jsonl")
    }
    pairs = rows(DATA / "scifact_train" / "grounding.jsonl")
    for at, pair in enumerate(pairs):
        yield pair["label"], pair["claim"], abstracts[pair["doc_id"]]
        other = pairs[(at + len(pairs) // 2) % len(pairs)]
        if other["claim_id"] != pair["claim_id"]:
            yield "NOTHING SAID", pair["claim"], abstracts[other["doc_id"]]


def begin() -> Iterator[tuple[str, str, str]]:
    """(label, reply, knowledge)."""
    for row in rows(DATA / "begin_grounding" / "queries.jsonl"):
        about: dict[str, Any] = row["metadata"]
        label = next(str(value) for key, value in about.items() if "label" in key)
        yield label, row["text"], str(about["knowledge"])


def main() -> None:
    """Print both matrices."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--limit", type=int, default=600)
    chosen = arguments.parse_args()
    for name, pairs in (("scifact", list(scifact())), ("begin", list(begin()))):
        random.Random(7).shuffle(pairs)
        table: dict[str, Counter[Support]] = {}
        for label, claim, evidence in pairs[: chosen.limit]:
            table.setdefault(label, Counter())[_judged(claim, evidence)] += 1
        print(f"{name:38} {'supported':>12} {'contradicted':>13} {'unsupported':>12}")
        for label, counts in sorted(table.items()):
            total = sum(counts.values())
            shares = [
                counts[support] / total for support in (Support.SUPPORTED, Support.CONTRADICTED, Support.UNSUPPORTED)
            ]
            print(f"  {label:28} n {total:5} {shares[0]:12.3f} {shares[1]:13.3f} {shares[2]:12.3f}")


def _judged(claim: str, evidence: str) -> Support:
    return judge_claim(claim, [Passage("p", "b", "d", "1", "s", 0, "", evidence[:TEXT_LIMIT])]).support


if __name__ == "__main__":
    main()
