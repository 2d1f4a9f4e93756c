"""The value checks alone on public claims that people have labelled: what they fault of each label.

SciFact: a claim with its gold abstract. BEGIN: a chatbot's reply with the knowledge that it had. Beside them, the
strict rules that judge where no model is believed.

    python -m research.verification.public_sets
"""

# ruff: noqa: T201 - a measurement is printed

from collections import Counter
from collections.abc import Iterator

from adapters.reasoners.extractive.claims import judge_claim
from core.model.answer import Support
from core.model.knowledge import Passage
from core.values import value_faults
from research.measure.shelf import DATA, rows


def scifact() -> Iterator[tuple[str, str, str]]:
    """Yield (label, claim, evidence)."""
    abstracts = {
        row["_id"]: f"{row['title']}\n\n{row['text']}" for row in rows(DATA / "scifact_train" / "corpus.jsonl")
    }
    for pair in rows(DATA / "scifact_train" / "grounding.jsonl"):
        yield pair["label"], pair["claim"], abstracts[pair["doc_id"]]


def begin() -> Iterator[tuple[str, str, str]]:
    """Yield (label, reply, knowledge)."""
    for row in rows(DATA / "begin_grounding" / "queries.jsonl"):
        label = next(str(value) for key, value in row["metadata"].items() if "label" in key)
        yield label, row["text"], str(row["metadata"]["knowledge"])


def main() -> None:
    """Print how many claims of each label have a value fault, and how many the strict rules support."""
    print(f"{'set':8} {'label':28} {'claims':>7} {'value fault':>12} {'strict: supported':>18}")
    for name, pairs in (("SciFact", scifact()), ("BEGIN", begin())):
        total, faulted, supported = Counter[str](), Counter[str](), Counter[str]()
        for label, claim, evidence in pairs:
            total[label] += 1
            faulted[label] += bool(value_faults(claim, [evidence]))
            passage = Passage("p", "b", "d", "1", "s", 0, "", evidence)
            supported[label] += judge_claim(claim, [passage]).support is Support.SUPPORTED
        for label, count in sorted(total.items()):
            print(f"{name:8} {label:28} {count:7} {faulted[label]:12} {supported[label]:18}")


if __name__ == "__main__":
    main()
