"""Measures follow-ups that people rewrote and claims that people labelled, with the configured reasoner.

    python -m research.labelled [FOLDER …] [--documents FOLDER] [--limit N]

A folder holds ``conversations.jsonl`` or ``queries.jsonl`` with rewrites (follow-ups), ``grounding.jsonl`` beside
``corpus.jsonl`` or ``queries.jsonl`` with knowledge (claims). Without one, it is the
follow-ups about the sample documents.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adapters.documents.folders import files_in
from bot.demo import SAMPLES
from bot.evaluation.temp_index import open_temporary
from bot.settings import load_settings
from research.evaluation.baseline import interval
from research.evaluation.corpus import fill
from research.evaluation.dataset_loader import Dataset
from research.evaluation.datasets import documents_from, spread
from research.labelled.claims import VERDICTS, LabelledClaim, load_grounding_pairs, replies_from
from research.labelled.follow_ups import FollowUpCase, follow_ups_from
from research.labelled.rewrites import HUMAN, PARTS, RAW, RETRIEVAL_METRICS, REWRITTEN, measure_rewrites
from research.labelled.verdicts import measure_claims

OWN = Path(__file__).parent


def labelled(folder: Path, documents: Path | None) -> tuple[Dataset, list[FollowUpCase], list[LabelledClaim]]:
    """Return the corpus, the follow-ups and the claims of a folder. Raises ValueError or KeyError on any other line."""
    corpus = documents_from(_lines(folder / "corpus.jsonl"))
    found = files_in([documents]) if documents else ()
    files = tuple((path, name.removeprefix(f"{documents.name}/")) for path, name in found) if documents else ()
    follow_ups = [*follow_ups_from(_lines(folder / "conversations.jsonl"))]
    claims = [*load_grounding_pairs(_lines(folder / "grounding.jsonl"), corpus)]
    lines = _lines(folder / "queries.jsonl")
    about = json.loads(lines[0]).get("metadata") or {} if lines else {}
    if "rewrite" in about:
        follow_ups += follow_ups_from(lines)
    elif "knowledge" in about:
        claims += replies_from(lines)
    return Dataset(folder.resolve().name, documents=corpus, files=files), follow_ups, claims


async def _measure(folder: Path, documents: Path | None, limit: int | None) -> None:
    dataset, follow_ups, claims = labelled(folder, documents)
    async with open_temporary(load_settings()) as footnote:
        if dataset.has_corpus:
            await fill(footnote, dataset)
        print(dataset.name)
        if follow_ups:
            print("\n".join(_conversations(await measure_rewrites(footnote, dataset, spread(follow_ups, limit)))))
        if claims:
            print("\n".join(_claims(await measure_claims(footnote, dataset, spread(claims, limit)))))


def _conversations(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {found['questions']} follow-ups against a person's rewrite (content-word precision / recall / F1)"
    needing = found["needing context"]
    for told, part in (("", found), (f" of the {needing['questions']} that need context", needing)):
        for wording in (RAW, REWRITTEN):
            yield f"  {wording + told:45}" + " / ".join(f"{part[wording][name]['mean']:.3f}" for name in PARTS)
    yield f"  {'F1 over as asked':45}{interval(found['f1 over as asked'])}"
    free = found["no context needed"]
    yield f"  {'left alone where no context is needed':45}{free['left alone']} of {free['questions']}"
    if kept := found["retrieval"]:
        for wording in (RAW, REWRITTEN, HUMAN):
            shown = ", ".join(f"{name} {kept[wording][name]['mean']:.3f}" for name in RETRIEVAL_METRICS)
            yield f"  found by one search, {wording:24}{shown}"
        yield f"  {'nDCG@10 over as asked':45}{interval(kept['nDCG@10 over as asked'])}"


def _claims(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"  {found['questions']} claims{'':22}" + "".join(f"{verdict:>14}" for verdict in VERDICTS)
    for label, counts in found["counts"].items():
        total = sum(counts.values())
        yield f"  {f'{label} ({total})':32}" + "".join(f"{counts[verdict] / total:14.3f}" for verdict in VERDICTS)
    for name in ("precision", "recall"):
        if found[name] is not None:
            yield f"  {f'{name} of “supported”':32}{found[name]:14.3f}"


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line] if path.is_file() else []


def main() -> None:
    """Read the options and measure each folder."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folders", nargs="*", type=Path, default=[OWN])
    options.add_argument("--documents", type=Path, help="the files that are searched; for our own set the samples")
    options.add_argument("--limit", type=int, help="at most so many of each kind")
    chosen = options.parse_args()
    for folder in chosen.folders:
        documents = chosen.documents or (SAMPLES / "documents" if folder == OWN else None)
        asyncio.run(_measure(folder, documents, chosen.limit))


if __name__ == "__main__":
    main()
