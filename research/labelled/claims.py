"""Claims with their evidence and a person's label, and what a verifier makes of them.

Two layouts are read. ``grounding.jsonl`` (SciFact) beside a ``corpus.jsonl``: ``claim``, ``doc_id`` and ``label``; each
claim is also held against another claim's document, which says nothing of it. ``queries.jsonl`` (BEGIN): the reply as
``text``, with ``knowledge`` and a label in its metadata.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from research.evaluation.datasets import CorpusDocument, rows

NOTHING_SAID = "NOTHING SAID"
VERBATIM = "verbatim"
SUPPORTED = "supported"
CONTRADICTED = "contradicted"
UNSUPPORTED = "unsupported"
VERDICTS = (VERBATIM, SUPPORTED, CONTRADICTED, UNSUPPORTED)
# What a person's label means for the verifier; whatever is not here is not supported.
_MEANS_SUPPORTED = frozenset({"SUPPORT", "SUPPORTS", "Fully attributable"})


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A sentence, the text it is held against, and what a person said of the two."""

    id: str
    claim: str
    evidence: str
    label: str

    @property
    def holds(self) -> bool:
        """Whether the person found that the evidence supports it."""
        return self.label in _MEANS_SUPPORTED


def load_grounding_pairs(lines: Iterable[str], documents: Sequence[CorpusDocument]) -> tuple[LabelledClaim, ...]:
    """Return the pairs of ``grounding.jsonl``, each twice: as labelled, and with a document that says nothing of it.

    Raises KeyError where a document is not in the corpus.
    """
    texts = {document.id: f"{document.title}\n\n{document.text}" for document in documents}
    pairs = [json.loads(line) for line in lines if line.strip()]
    found: list[LabelledClaim] = []
    for at, pair in enumerate(pairs):
        name = f"{pair['claim_id']}-{pair['doc_id']}"
        found.append(LabelledClaim(name, pair["claim"], texts[pair["doc_id"]], pair["label"]))
        other = pairs[(at + len(pairs) // 2) % len(pairs)]
        if other["claim_id"] != pair["claim_id"]:
            found.append(LabelledClaim(f"{name}-other", pair["claim"], texts[other["doc_id"]], NOTHING_SAID))
    return tuple(found)


def replies_from(lines: Iterable[str]) -> tuple[LabelledClaim, ...]:
    """Return the replies of a ``queries.jsonl`` that were labelled against the knowledge they had."""
    found = []
    for row in rows(lines):
        about = row["metadata"]
        label = next(str(value) for key, value in about.items() if "label" in key)
        found.append(LabelledClaim(str(row["_id"]), str(row["text"]), str(about["knowledge"]), label))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Confusion:
    """How often each verdict was given under each label, and what may be believed of it.

    ``precision`` is the share of what was called supported (verbatim or not) that a person found so; ``recall`` the
    share of what a person found supported that was called so. None where nothing was.
    """

    counts: Mapping[str, Mapping[str, int]]
    precision: float | None
    recall: float | None


def confusion(judged: Sequence[tuple[LabelledClaim, str]]) -> Confusion:
    """Return the matrix of (claim, verdict), verdicts being of ``VERDICTS``."""
    counts: dict[str, Counter[str]] = {}
    for claim, verdict in judged:
        counts.setdefault(claim.label, Counter())[verdict] += 1
    said = [claim.holds for claim, verdict in judged if verdict in (VERBATIM, SUPPORTED)]
    true = [verdict in (VERBATIM, SUPPORTED) for claim, verdict in judged if claim.holds]
    return Confusion(
        {label: {verdict: row[verdict] for verdict in VERDICTS} for label, row in sorted(counts.items())},
        sum(said) / len(said) if said else None,
        sum(true) / len(true) if true else None,
    )
