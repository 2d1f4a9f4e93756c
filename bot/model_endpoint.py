"""The configured or installed reasoner with quotes as its fallback, and the limits of an answer's cost."""

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.reasoner_plugin import ReasonerDeps
from bot.plugins import installed_reasoners
from bot.settings import Settings
from core.model.budget import Prices
from core.model.clock import Clock, Days
from core.model.errors import ConfigurationError, ModelFailure
from core.model.inquiry import PROFILE_LIMITS, Limits
from core.model.profile import Profile
from core.ports.reasoner import Reasoner, VerifierRecords
from core.ports.usage import DailyBudget

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from adapters.reasoners.openai.reasoner import OpenAIReasoner

ANSWER_SECONDS = 60.0  # default deadline of an answer
OPENAI = "https://api.openai.com/v1"


async def installed_reasoner(
    settings: Settings, extractive: Reasoner, clock: Clock, stack: AsyncExitStack
) -> Reasoner | None:
    """Open the reasoner that REASONER names; None if it names none. Raises ConfigurationError."""
    if not settings.reasoner:
        return None
    installed = installed_reasoners()
    if (plugin := installed.plugins.get(settings.reasoner)) is None:
        why = [f"{one.name}: {one.detail}." for one in installed.problems]
        there = ", ".join(installed.plugins) or "none"
        raise ConfigurationError(
            " ".join([f"REASONER is {settings.reasoner!r}, which is not installed; installed: {there}.", *why]),
            remedy="Install its package, or unset REASONER.",
        )
    deps = ReasonerDeps(standby=extractive, clock=clock, answer_seconds=settings.answer_deadline)
    return await stack.enter_async_context(plugin.open(settings.of(plugin), deps))


def model_with_standby(
    settings: Settings,
    extractive: Reasoner,
    clock: Clock,
    stack: AsyncExitStack,
    daily_budget: DailyBudget | None,
    records: VerifierRecords | None = None,
) -> Reasoner:
    """Return the model endpoint with the extractive reasoner as fallback, or only the extractive reasoner."""
    if not settings.has_llm:
        return extractive
    primary = model_endpoint(settings, daily_budget, records)
    stack.push_async_callback(primary.close)
    return with_standby(primary, extractive, clock)


def with_standby(primary: Reasoner, extractive: Reasoner, clock: Clock) -> Reasoner:
    """Return a reasoner that falls back to the extractive one when it fails."""
    from adapters.reasoners.fallback import FallbackReasoner

    return FallbackReasoner(primary, extractive, clock=clock, on_failure=_count_model_failure)


def _count_model_failure(kind: ModelFailure) -> None:
    from adapters.observability.prometheus import MODEL_FAILURES

    MODEL_FAILURES.labels(kind.value).inc()


def daily_budget_of(settings: Settings, redis: "Redis", days: Days) -> DailyBudget | None:
    """Return the daily budgets; None without prices for calls."""
    budget = _require_prices(settings, "LLM_DAILY_BUDGET", settings.llm_daily_budget)
    _require_prices(settings, "LLM_CHANNEL_BUDGET", settings.llm_channel_budget or None)
    if not (settings.llm_price_in or settings.llm_price_out):
        return None
    from adapters.redis.usage import RedisDailyBudget

    return RedisDailyBudget(redis, days, budget)


def answer_budget_of(settings: Settings) -> float | None:
    """Return the cost limit of one answer; None if none is set."""
    return _require_prices(settings, "LLM_ANSWER_BUDGET", settings.llm_answer_budget)


def _seconds(limit: Limits, deadline: float) -> float:
    """Return a profile's time limit. A deadline above the default lengthens every profile in proportion."""
    return min(limit.seconds, deadline) if deadline <= ANSWER_SECONDS else limit.seconds * deadline / ANSWER_SECONDS


def answer_limits(settings: Settings) -> dict[Profile, Limits]:
    """Return the cost and time limits of each profile."""
    cost = answer_budget_of(settings)
    return {
        profile: replace(limit, seconds=_seconds(limit, settings.answer_deadline), cost=cost)
        for profile, limit in PROFILE_LIMITS.items()
    }


def _require_prices(settings: Settings, name: str, budget: float | None) -> float | None:
    """Return this budget. Raises ConfigurationError if there are no prices to apply it with."""
    if budget is not None and not settings.llm_price_in and not settings.llm_price_out:
        raise ConfigurationError(
            f"{name} is set, but no price is.", remedy="Set LLM_PRICE_IN and LLM_PRICE_OUT, per million tokens."
        )
    return budget


def model_endpoint(
    settings: Settings, daily_budget: DailyBudget | None = None, records: VerifierRecords | None = None
) -> "OpenAIReasoner":
    """Return the reasoner of the configured endpoint, without fallback, paid from this budget. Connects nothing yet.

    ``records`` store whether its checks are reliable.
    """
    from adapters.reasoners.openai.reasoner import OpenAIReasoner

    return OpenAIReasoner(
        base_url=settings.llm_base_url or OPENAI,
        api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else "",
        model=settings.llm_model or "",
        timeout_seconds=min(settings.llm_timeout, settings.answer_deadline),
        answer_seconds=settings.answer_deadline,
        fast_model=settings.llm_model_fast or "",
        temperature=settings.llm_temperature,
        reasoning_effort=settings.llm_reasoning_effort or "",
        context_tokens=settings.llm_context,
        daily_budget=daily_budget,
        prices=prices_of(settings),
        records=records,
    )


def prices_of(settings: Settings) -> Prices:
    """Return the prices of the endpoint's tokens."""
    return Prices(settings.llm_price_in, settings.llm_price_out, settings.llm_price_cached)
