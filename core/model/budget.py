"""Counts what an inquiry costs, and refuses what would go over its caps."""

from dataclasses import dataclass, field, replace

from core.model.answer import ResourceUsage
from core.model.clock import Clock
from core.model.errors import BudgetExhausted
from core.model.inquiry import Limits


@dataclass(frozen=True, slots=True)
class Prices:
    """Currency units per million tokens; 0 where none is configured."""

    per_million_in: float = 0.0
    per_million_out: float = 0.0
    per_million_cached: float | None = None  # of those read, for what the endpoint had kept; None: as for the others

    def cost(self, tokens_in: int, tokens_out: int, tokens_cached: int = 0) -> float:
        """Return what these tokens cost; ``tokens_cached`` are among those read."""
        cached = self.per_million_in if self.per_million_cached is None else self.per_million_cached
        read = (tokens_in - tokens_cached) * self.per_million_in + tokens_cached * cached
        return (read + tokens_out * self.per_million_out) / 1_000_000


@dataclass(frozen=True, slots=True)
class Account:
    """Who pays for an answer: a channel, and what its answers may cost a day; 0: no limit of its own."""

    place: str = ""
    daily: float = 0.0


NOBODY = Account()


@dataclass(slots=True)
class Meter:
    """One run's running costs, on top of what the inquiry had spent when it was parked. Time parked costs nothing."""

    limits: Limits
    clock: Clock
    before: ResourceUsage = ResourceUsage()
    prices: Prices = field(default_factory=Prices)
    notices: list[str] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)  # what was wrong at the model's endpoint, each once
    written_by: str = ""  # the reasoner whose words the answer carries, where that is not the one that was asked
    reserved_share: float = 0.0  # share of the tokens and the money that is kept for later steps
    account: Account = NOBODY
    _run: ResourceUsage = ResourceUsage()
    _started: float = 0.0

    def __post_init__(self) -> None:
        self._started = self.clock.monotonic()

    @property
    def spent(self) -> ResourceUsage:
        """Everything so far, earlier runs included."""
        return ResourceUsage(
            searches=self.before.searches + self._run.searches,
            calls=self.before.calls + self._run.calls,
            tokens_in=self.before.tokens_in + self._run.tokens_in,
            tokens_out=self.before.tokens_out + self._run.tokens_out,
            seconds=self.before.seconds + self.elapsed_seconds,
            cost=self.before.cost + self._run.cost,
            tokens_cached=self.before.tokens_cached + self._run.tokens_cached,
        )

    @property
    def elapsed_seconds(self) -> float:
        """Seconds since this run began."""
        return self.clock.monotonic() - self._started

    @property
    def remaining_seconds(self) -> float:
        """Seconds this run still has, at least 0. A resumed run has it all again: the person waited once."""
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
        """Count one search. Raises BudgetExhausted when there is none left."""
        if not self.searches_left:
            raise BudgetExhausted(f"All {self.limits.searches} searches of this profile are used.")
        self._run = replace(self._run, searches=self._run.searches + 1)

    def grant_searches(self) -> None:
        """Allow as many searches again as the profile does: who goes on with them needs no model to pay for."""
        self.limits = replace(self.limits, searches=self.spent.searches + self.limits.searches)

    def admit(self, tokens_in: int, tokens_out: int = 0) -> None:
        """Ask before a call that would read and write about this many tokens. Raises BudgetExhausted."""
        if tokens_in + tokens_out > self.room:
            raise BudgetExhausted(f"The {self.limits.tokens:,} tokens of this profile are used.")
        cost = self.spent.cost + self.prices.cost(tokens_in, tokens_out)
        if self.limits.cost is not None and cost > self.limits.cost * (1.0 - self.reserved_share):
            raise BudgetExhausted(f"The {self.limits.cost:g} that one answer may cost are used.")
        if not self.remaining_seconds:
            raise BudgetExhausted(f"The {self.limits.seconds:g} seconds of this profile are over.")

    def count_call(self, tokens_in: int, tokens_out: int, *, cached: int = 0, calls: int = 1) -> None:
        """Count one reply of the model, and the ``calls`` that were sent for it."""
        self._run = replace(
            self._run,
            calls=self._run.calls + calls,
            tokens_in=self._run.tokens_in + tokens_in,
            tokens_out=self._run.tokens_out + tokens_out,
            cost=self._run.cost + self.prices.cost(tokens_in, tokens_out, cached),
            tokens_cached=self._run.tokens_cached + cached,
        )

    def blame(self, cause: str) -> None:
        """Keep what was wrong at the model's endpoint, for the one who runs it."""
        if cause not in self.causes:
            self.causes.append(cause)

    def notice(self, text: str) -> None:
        """Something to say once below the answer."""
        if text not in self.notices:
            self.notices.append(text)
