"""Meter of an inquiry's costs, which refuses calls that would exceed its limits."""

from dataclasses import dataclass, field, replace

from core.model.answer import ResourceUsage
from core.model.clock import Clock
from core.model.errors import BudgetExhausted
from core.model.inquiry import Limits


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in currency units per million tokens; 0 if none is configured."""

    per_million_in: float = 0.0
    per_million_out: float = 0.0
    per_million_cached: float | None = None  # for cached input tokens; None: the same as ``per_million_in``

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """Return the cost of these tokens. ``tokens_cached`` is part of ``tokens_in``."""
        cached = self.per_million_in if self.per_million_cached is None else self.per_million_cached
        read = (tokens_in - tokens_cached) * self.per_million_in + tokens_cached * cached
        return (read + tokens_out * self.per_million_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class Account:
    """The channel that pays for an answer, and its daily limit for answers; 0: no limit of its own."""

    place: str = ""
    daily: float = 0.0


NOBODY = Account()


@dataclass(slots=True)
class Meter:
    """The costs of one run, on top of the costs before the inquiry was parked. Time while parked does not count."""

    limits: Limits
    clock: Clock
    before: ResourceUsage = ResourceUsage()
    prices: Prices = field(default_factory=Prices)
    notices: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)  # problems at the model endpoint, each once
    written_by: str = ""  # the reasoner that wrote the answer, if it is not the configured one
    reserved_share: float = 0.0  # share of tokens and cost reserved for later steps
    account: Account = NOBODY
    _run: ResourceUsage = ResourceUsage()
    _started: float = 0.0

    def __post_init__(self) -> None:
        self._started = self.clock.monotonic()

    @property
    def spent(self) -> ResourceUsage:
        """The total usage so far, including earlier runs."""
        return self.before + replace(self._run, seconds=self.elapsed_seconds)

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since this run began."""
        return self.clock.monotonic() - self._started

    @property
    def remaining_seconds(self) -> float:
        """Seconds that this run has left, at least 0. A resumed run starts with the full time."""
        return max(0.0, self.limits.seconds - self.elapsed_seconds)

    @property
    def searches_left(self) -> int:
        """How many more searches the profile allows."""
        return max(0, self.limits.searches - self.spent.searches)

    @property
    def room(self) -> int:
        """How many more tokens may be used now."""
        return int(self.limits.tokens * (1.0 - self.reserved_share)) - self.spent.tokens

    def count_search(self) -> None:
        """Count one search. Raises BudgetExhausted if none is left."""
        if not self.searches_left:
            raise BudgetExhausted(f"All {self.limits.searches} searches of this profile are used up.")
        self._run = replace(self._run, searches=self._run.searches + 1)

    def grant_searches(self) -> None:
        """Allow the profile's number of searches again, for a continuation that needs no model to pay for."""
        self.limits = replace(self.limits, searches=self.spent.searches + self.limits.searches)

    def admit(self, tokens_in: int, tokens_out: int = 0) -> None:
        """Check the budget before a call of about this many tokens. Raises BudgetExhausted."""
        if tokens_in + tokens_out > self.room:
            raise BudgetExhausted(f"The {self.limits.tokens:,} tokens of this profile are used up.")
        cost = self.spent.cost + self.prices.cost(tokens_in, tokens_out)
        if self.limits.cost is not None and cost > self.limits.cost * (1.0 - self.reserved_share):
            raise BudgetExhausted(f"The {self.limits.cost:g} that one answer may cost is used up.")
        if not self.remaining_seconds:
            raise BudgetExhausted(f"The {self.limits.seconds:g} seconds of this profile are used up.")

    def count_call(self, tokens_in: int, tokens_out: int, *, cached: int = 0, calls: int = 1) -> None:
        """Count one reply of the model, and the ``calls`` made to get it."""
        cost = self.prices.cost(tokens_in, tokens_out, cached)
        self._run += ResourceUsage(0, calls, tokens_in, tokens_out, cost=cost, tokens_cached=cached)

    def blame(self, cause: str) -> None:
        """Record a problem at the model endpoint, for the operator."""
        if cause not in self.causes:
            self.causes.append(cause)

    def notice(self, text: str) -> None:
        """Add a notice to show once below the answer."""
        if text not in self.notices:
            self.notices.append(text)
