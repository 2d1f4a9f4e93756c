"""What the verifier says of claims that people have labelled."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from bot.container import Footnote
from bot.evaluation.asking import new_inquiry
from core.agent.verification.claims import verbatim_in
from core.model.answer import Claim
from core.model.conversation import ThreadKey
from core.model.evidence import EvidenceLibrary, Hit
from core.model.knowledge import Passage
from research.evaluation.case_report import case
from research.evaluation.dataset_loader import Dataset
from research.labelled.claims import SUPPORTED, VERBATIM, LabelledClaim, confusion

_EVIDENCE = 4_000  # characters; longer than any passage that the product would show it
_WORST = 8
SHOWN = 800  # characters


async def measure_claims(footnote: Footnote, dataset: Dataset, claims: Sequence[LabelledClaim]) -> dict[str, Any]:
    """Return the confusion matrix, and supported claims that are not: the mistakes that mislead."""
    judged = [(one, await _verdict(footnote, dataset.name, one)) for one in claims]
    misled = [one for one, verdict in judged if verdict == SUPPORTED and not one.holds]
    return {
        "questions": len(judged),
        **asdict(confusion(judged)),
        "worst": [
            case(
                one.claim,
                f"labelled {one.label}",
                [{"id": "", "text": one.evidence[:SHOWN]}],
                [{"id": "supported", "text": one.claim}],
                (),
            )
            for one in misled[:_WORST]
        ],
    }


async def _verdict(footnote: Footnote, base: str, labelled: LabelledClaim) -> str:
    """As in the fifth step: word for word needs no reasoner, the rest is held against the evidence."""
    text = labelled.evidence[:_EVIDENCE]
    if verbatim_in(labelled.claim, [text]) is not None:
        return VERBATIM
    passage = Passage(labelled.id, base, labelled.id, "1", labelled.id, 0, "", text)
    library, (item,) = EvidenceLibrary().add([Hit(passage, 1.0)], labelled.claim)
    inquiry = new_inquiry(footnote, base, labelled.claim, ThreadKey("eval", base, "", "claims"))
    claim = Claim(labelled.claim, (item.id,))
    (verdict,) = await footnote.reasoner.check(
        replace(inquiry, library=library), [claim], library.items, footnote.agent.meter()
    )
    return str(verdict.support)
