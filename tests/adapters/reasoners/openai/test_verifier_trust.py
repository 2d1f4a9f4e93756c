"""Control claims decide once per model and prompt whether its checks are believed."""

import json

import pytest

from adapters.reasoners.openai import prompts
from adapters.reasoners.openai.verifier_trust import control_claims
from core.model.answer import Claim
from core.model.errors import ModelFailure, ModelMisbehaved, ModelUnavailable
from tests.adapters.reasoners.harness import Unasked, inquiry, library, meter, opened
from tests.fakes.model.endpoint import Fails, RecordedRequest, Says, ScriptedEndpoint

CLAIMS = [Claim("Refunds stay open for 30 days [1].", (1,))]


class Verifier:
    """Judges the first ``wrong`` false and true control claims wrongly, and supports everything else."""

    def __init__(self, nods: int = 0, refusals: int = 0) -> None:
        self._nods, self._refusals = nods, refusals
        self.control_runs = 0

    def __call__(self, request: RecordedRequest) -> Says:
        assert request.task.startswith(prompts.CHECK)
        if CLAIMS[0].text in request.user:
            return Says(json.dumps({"verdicts": [{"n": 1, "verdict": "supported", "words": "open for 30 days"}]}))
        self.control_runs += 1
        nods, refusals, verdicts = self._nods, self._refusals, []
        for n, control in enumerate(control_claims(), 1):
            supported = control.supported
            if supported and refusals:
                refusals, supported = refusals - 1, False
            elif not supported and nods:
                nods, supported = nods - 1, True
            verdicts.append({"n": n, "verdict": "supported" if supported else "not stated"})
        return Says(json.dumps({"verdicts": verdicts}))


def test_there_are_as_many_true_as_false_control_claims() -> None:
    assert [one.supported for one in control_claims()].count(True) == len(control_claims()) // 2 == 6


@pytest.mark.parametrize(
    ("nods", "refusals", "believed"), [(0, 0, True), (1, 0, True), (0, 1, True), (2, 0, False), (0, 2, False)]
)
async def test_believes_a_model_that_judges_control_claims_rightly(
    endpoint: ScriptedEndpoint, nods: int, refusals: int, believed: bool
) -> None:
    endpoint.answers_with(Verifier(nods, refusals))
    async with opened(endpoint, records=Unasked()) as reasoner:
        assert await reasoner.trust.believed() is believed


async def test_asks_control_claims_once_for_all_processes_and_counts_no_call(endpoint: ScriptedEndpoint) -> None:
    verifier, records, counted = Verifier(), Unasked(), meter()
    endpoint.answers_with(verifier)
    for _ in range(2):
        async with opened(endpoint, records=records) as reasoner:
            for _ in range(2):
                await reasoner.check(inquiry(library=library()), CLAIMS, library().items, counted)
    assert verifier.control_runs == 1
    assert counted.spent.calls == 4


async def test_another_model_is_asked_again(endpoint: ScriptedEndpoint) -> None:
    verifier, records = Verifier(), Unasked()
    endpoint.answers_with(verifier)
    async with opened(endpoint, records=records) as reasoner:
        await reasoner.trust.believed()
    records.kept = {f"other {key}": value for key, value in records.kept.items()}
    async with opened(endpoint, records=records) as reasoner:
        await reasoner.trust.believed()
    assert verifier.control_runs == 2


@pytest.mark.parametrize("reply", ["I cannot help with that.", '{"verdicts": []}', "yes"])
async def test_a_model_that_does_not_judge_is_not_believed(endpoint: ScriptedEndpoint, reply: str) -> None:
    endpoint.answers_with(lambda _: Says(reply))
    async with opened(endpoint, records=Unasked()) as reasoner:
        with pytest.raises(ModelMisbehaved) as raised:
            await reasoner.check(inquiry(library=library()), CLAIMS, library().items, meter())
    assert raised.value.kind is ModelFailure.UNRELIABLE


async def test_an_endpoint_that_is_away_decides_nothing(endpoint: ScriptedEndpoint) -> None:
    records, verifier = Unasked(), Verifier()
    endpoint.answers_with(lambda _: Fails(401))
    async with opened(endpoint, records=records) as reasoner:
        with pytest.raises(ModelUnavailable):
            await reasoner.trust.believed()
        assert not records.kept
        endpoint.answers_with(verifier)
        assert await reasoner.trust.believed()
