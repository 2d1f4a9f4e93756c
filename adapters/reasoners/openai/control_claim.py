"""A sentence that no document says, put among the claims that a model checks.

Small models call everything supported that they are asked about, nonsense included (Qwen2.5-Coder-1.5B does). One that
calls this sentence supported has not read, and none of its verdicts is believed.
"""

from collections.abc import Sequence

from core.model.answer import Claim
from core.model.text import content_words

_SENTENCES = (
    "The same holds for passengers of the night ferry, who also get a folding bicycle.",
    "The same holds for the lighthouse keeper's choir, which also gets a crate of oranges.",
    "The same holds for visitors of the planetarium, who also get a pair of skates.",
)
MOST_SHARED = 3  # words of it that may stand in the documents by chance


def control_claim(claims: Sequence[Claim], texts: Sequence[str]) -> Claim:
    """A claim with the evidence of the last one, of which its evidence's ``texts`` have next to no word."""
    known = set(content_words(" ".join(texts)))
    chosen = next((one for one in _SENTENCES if len(known.intersection(content_words(one))) <= MOST_SHARED), "")
    return Claim(chosen or _SENTENCES[0], claims[-1].evidence)
