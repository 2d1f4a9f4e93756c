"""From a model's reply to verdicts: entries by number, with the support that each word stands for."""

from collections.abc import Sequence
from typing import Any

from adapters.reasoners.openai.structured_output import as_number, as_text
from core.model.answer import Claim, ClaimVerdict, Support
from core.model.errors import ModelFailure, ModelMisbehaved

_SUPPORTS = {
    "supported": Support.SUPPORTED,
    "contradicted": Support.CONTRADICTED,
    "refuted": Support.CONTRADICTED,
    "unsupported": Support.UNSUPPORTED,
    "not supported": Support.UNSUPPORTED,
    "not stated": Support.UNSUPPORTED,
    "no claim": Support.NO_CLAIM,
}


def numbered(entries: object, count: int) -> dict[int, dict[str, Any]]:
    """Return the entries of a reply by their number ``n``; where none has one, by their place."""
    found = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    numbers = [as_number(entry.get("n")) for entry in found]
    if None in numbers and len(found) == count:
        numbers = [float(n) for n in range(1, count + 1)]
    return {int(n): entry for n, entry in zip(numbers, found, strict=True) if n is not None}


def verdicts_in(reply: dict[str, Any], claims: Sequence[Claim]) -> list[ClaimVerdict]:
    """Return a verdict for each claim. Raises ModelMisbehaved when one has none."""
    entries = numbered(reply.get("verdicts"), len(claims))
    return [_verdict(claim, entries.get(n, {})) for n, claim in enumerate(claims, 1)]


def _verdict(claim: Claim, entry: dict[str, Any]) -> ClaimVerdict:
    support = _SUPPORTS.get(as_text(entry.get("verdict"), 40).casefold().strip(" ."))
    if support is None:
        raise ModelMisbehaved(
            "The model did not judge every sentence that it was asked to check.", kind=ModelFailure.MALFORMED
        )
    return ClaimVerdict(claim, support, words=as_text(entry.get("words")), fault=as_text(entry.get("fault"), 200))
