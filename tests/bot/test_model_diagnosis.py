"""Problems of the model's endpoint appear in log, health, metrics and trace."""

import logging
from contextlib import AsyncExitStack

import pytest
from aiohttp.test_utils import TestClient, TestServer
from pydantic import SecretStr, ValidationError

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.fallback import FallbackReasoner
from bot.doctor import endpoint_checks
from bot.health import application
from bot.model_endpoint import model_with_standby
from bot.readiness import ReadinessReport
from bot.settings import Settings
from core.model.answer import Outcome
from core.service.explanations import describe_event
from tests.core.harness import Harness
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.model.endpoint import ScriptedEndpoint
from tests.fakes.model.obedient_model import ObedientModel

CAUSE = "does not accept our key (401). Check LLM_API_KEY."


def configured(endpoint: ScriptedEndpoint, **more: object) -> Settings:
    key = SecretStr("sk-secret")
    return Settings(llm_base_url=endpoint.base_url, llm_api_key=key, llm_model="house-model", **more)  # type: ignore[arg-type]


async def _ready() -> ReadinessReport:
    return ReadinessReport()


async def test_a_refused_key_is_told_in_the_log_once_in_health_metrics_and_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    quoting = ExtractiveReasoner(HashingEncoder())
    async with ScriptedEndpoint() as endpoint, AsyncExitStack() as stack:
        endpoint.fails(401, times=1_000)
        reasoner = model_with_standby(configured(endpoint), quoting, ManualClock(), stack, None)
        assert isinstance(reasoner, FallbackReasoner)
        harness = Harness(reasoner, floor=quoting)
        await harness.knows("Refunds stay open for 30 days after the purchase.", title="Refund policy")
        with caplog.at_level(logging.WARNING):
            said = await harness.asks("How long do refunds stay open?")
        app = application(_ready, model_failure=lambda: reasoner.last_failure)
        async with TestClient(TestServer(app)) as client:
            health = await (await client.get("/healthz")).json()
            metrics = await (await client.get("/metrics")).text()
    assert said.outcome is Outcome.ANSWERED
    assert [record.message.count(CAUSE) for record in caplog.records if CAUSE in record.message] == [1]
    assert health["status"] == "ok"
    assert CAUSE in health["model"]
    assert 'footnote_model_failures_total{cause="key"}' in metrics
    assert any(CAUSE in describe_event(event) for event in said.events)
    assert "sk-secret" not in caplog.text + metrics + str(health)


async def test_doctor_says_what_a_model_does_without() -> None:
    async with ScriptedEndpoint() as endpoint:
        endpoint.answers_with(ObedientModel())
        endpoint_check, verification = [check async for check in endpoint_checks(configured(endpoint))]
    assert "house-model answers. It does not support: JSON on request" in endpoint_check.detail
    assert "trusted: 12 of 12 control claims judged rightly" in verification.detail


@pytest.mark.parametrize("name", ["llm_timeout", "answer_deadline"])
def test_a_slow_local_model_may_take_up_to_an_hour(name: str) -> None:
    assert getattr(Settings.model_validate({name: 3_600}), name) == 3_600
    with pytest.raises(ValidationError):
        Settings.model_validate({name: 3_601})
