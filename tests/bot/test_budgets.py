"""What answers may cost, as configured."""

import pytest

from bot.model_endpoint import answer_budget_of, daily_budget_of
from bot.settings import Settings
from core.model.errors import ConfigurationError


def settings(**more: object) -> Settings:
    return Settings(_env_file=None, redis_url=None, llm_model="m", **more)  # type: ignore[call-arg,arg-type]


def test_a_budget_without_a_price_is_refused_because_nothing_would_hold_it() -> None:
    with pytest.raises(ConfigurationError, match="LLM_ANSWER_BUDGET is set, but no price"):
        answer_budget_of(settings(llm_answer_budget=0.05))
    with pytest.raises(ConfigurationError, match="LLM_DAILY_BUDGET is set, but no price"):
        daily_budget_of(settings(llm_daily_budget=5), redis=None, days=None)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="LLM_CHANNEL_BUDGET is set, but no price"):
        daily_budget_of(settings(llm_channel_budget=5), redis=None, days=None)  # type: ignore[arg-type]


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="TIME_ZONE is not a time zone"):
        settings(time_zone="Mars/Olympus")
    assert settings(time_zone="Europe/Berlin").time_zone == "Europe/Berlin"


def test_an_answers_budget_is_its_cap() -> None:
    assert answer_budget_of(settings(llm_answer_budget=0.05, llm_price_in=1.0)) == 0.05
    assert answer_budget_of(settings()) is None
