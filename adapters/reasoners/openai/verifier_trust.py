"""Trust in a model's checks, tested once with twelve control claims with known labels.

The result is stored per endpoint, model and prompt. The checks are not trusted before there is a result, or if the
model calls too many false claims supported or too many true claims unsupported.
"""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Any

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.endpoint import ModelEndpoint
from adapters.reasoners.openai.structured_output import as_number, as_text, json_in
from core.model.answer import Claim, ClaimVerdict, Support
from core.model.budget import Meter
from core.model.clock import Clock
from core.model.errors import ModelFailure, ModelMisbehaved, ModelUnavailable
from core.model.inquiry import PROFILE_LIMITS
from core.model.profile import Profile
from core.ports.reasoner import VerifierRecords

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
    """Return the entries of a reply by their number ``n``, or by position if numbers are missing."""
    found = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    numbers = [as_number(entry.get("n")) for entry in found]
    if None in numbers and len(found) == count:
        numbers = [float(n) for n in range(1, count + 1)]
    return {int(n): entry for n, entry in zip(numbers, found, strict=True) if n is not None}


def verdicts_in(reply: dict[str, Any], claims: Sequence[Claim]) -> list[ClaimVerdict]:
    """Return a verdict for each claim. Raises ModelMisbehaved if one is missing."""
    entries = numbered(reply.get("verdicts"), len(claims))
    return [_verdict(claim, entries.get(n, {})) for n, claim in enumerate(claims, 1)]


def _verdict(claim: Claim, entry: dict[str, Any]) -> ClaimVerdict:
    support = _SUPPORTS.get(as_text(entry.get("verdict"), 40).casefold().strip(" ."))
    if support is None:
        raise ModelMisbehaved(
            "The model did not judge every sentence that it was asked to check.", kind=ModelFailure.MALFORMED
        )
    return ClaimVerdict(claim, support, words=as_text(entry.get("words")), fault=as_text(entry.get("fault"), 200))


log = logging.getLogger(__name__)

MOST_WRONG = 1  # most wrong verdicts on true claims, and on false ones
LONGEST_WAIT = 15.0  # seconds that an answer waits for a running control test
# A model that fails in these ways cannot judge. Other failures are not its verdict.
_NO_JUDGE = frozenset(
    {ModelFailure.MALFORMED, ModelFailure.CONTENT_FILTER, ModelFailure.REFUSED_TEXT, ModelFailure.LENGTH}
)
_FILE = Path(__file__).with_name("control_claims.json")


@dataclass(frozen=True, slots=True)
class Control:
    """Control claim, its evidence, and whether the evidence supports it."""

    claim: str
    evidence: str
    supported: bool


@dataclass(frozen=True, slots=True)
class ControlResult:
    """Number of control claims that a model judged correctly, and whether its checks are trusted."""

    right: int
    of: int
    believed: bool

    def __str__(self) -> str:
        """Return the result for a diagnosis."""
        return f"{self.right} of {self.of} control claims judged rightly"


class Trust:
    """Test of whether one model's checks are trusted. ``close`` it at the end."""

    def __init__(self, endpoint: ModelEndpoint, model: str, records: VerifierRecords | None = None) -> None:
        """Test this endpoint. ``records`` store the result beyond this process."""
        self._endpoint = endpoint
        self._key = f"{model} {_prompt_version()}"
        self._records = records
        self._result: ControlResult | None = None
        self._running: asyncio.Task[ControlResult] | None = None

    def start(self) -> None:
        """Start the test in the background, unless it is running or has a result."""
        if self._result is None and (self._running is None or self._running.done()):
            self._running = asyncio.create_task(self.result())
            self._running.add_done_callback(_note_failure)

    @property
    def is_believed(self) -> bool:
        """Whether there is already a result, and it says that the checks are trusted."""
        return self._result is not None and self._result.believed

    async def believed(self) -> bool:
        """Return whether the checks are trusted, or False without a result in time. Raises ModelUnavailable."""
        if self._result is not None:
            return self._result.believed
        self.start()
        assert self._running is not None
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                return (await asyncio.shield(self._running)).believed
        except TimeoutError:
            return False

    async def result(self, *, again: bool = False) -> ControlResult:
        """Return the stored result, or test the model. With ``again``, always test it.

        Raises ModelUnavailable.
        """
        kept = await self._records.read(self._key) if self._records is not None and not again else ""
        if kept:
            self._result = ControlResult(**json.loads(kept))
        else:
            self._result = await self._ask(Meter(PROFILE_LIMITS[Profile.BALANCED], _SystemClock()))
            if self._records is not None:
                await self._records.keep(self._key, json.dumps(asdict(self._result)))
        return self._result

    async def close(self) -> None:
        """Cancel the background test."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _ask(self, meter: Meter) -> ControlResult:
        controls = control_claims()
        documents = list(dict.fromkeys(control.evidence for control in controls))
        request = prompts.control_request(documents, [control.claim for control in controls])
        try:
            reply = json_in((await self._endpoint.complete(request, meter)).text)
            verdicts = verdicts_in(reply if isinstance(reply, dict) else {}, [Claim(one.claim) for one in controls])
        except ModelUnavailable as error:
            if error.kind in _NO_JUDGE:
                return ControlResult(0, len(controls), believed=False)
            raise
        held = [verdict.support is Support.SUPPORTED for verdict in verdicts]
        wrong = [control.supported for control, said in zip(controls, held, strict=True) if said != control.supported]
        believed = wrong.count(True) <= MOST_WRONG and wrong.count(False) <= MOST_WRONG
        return ControlResult(len(controls) - len(wrong), len(controls), believed)


@lru_cache(maxsize=1)
def control_claims() -> tuple[Control, ...]:
    """Return the control claims of ``control_claims.json``. Labels are supported, contradicted or not stated."""
    rows = json.loads(_FILE.read_text(encoding="utf-8"))
    return tuple(Control(row["claim"], row["evidence"], row["label"] == "supported") for row in rows)


def _prompt_version() -> str:
    shown = prompts.control_request(["evidence"], ["claim"]).user.rpartition(prompts.TASK)[2]
    return blake2b(shown.encode() + _FILE.read_bytes(), digest_size=6).hexdigest()


def _note_failure(task: asyncio.Task[ControlResult]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.info("The control claims were not judged, so the model's checks are not believed yet: %s", error)


class _SystemClock(Clock):
    """System clock for work outside an inquiry."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return monotonic()
