"""One run of one inquiry: the state and the dependencies that the five steps share.

The inquiry is frozen, and a step replaces it through ``update``. The run's other state (the draft, timings) need not
survive a checkpoint.
"""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from core.model.budget import Meter, Prices
from core.model.clock import Clock
from core.model.conversation import Thread
from core.model.errors import BudgetExhausted
from core.model.evidence import Evidence
from core.model.inquiry import CheckpointKind, Decision, Inquiry, Investigate
from core.ports.catalog import Catalog
from core.ports.index import Index
from core.ports.reasoner import DraftDeclined, Reasoner
from core.retrieval.hybrid import Retriever

T = TypeVar("T")

WEAK = 3  # lowest grade of a passage that allows an answer with caveats
RESERVE_SECONDS = 8.0  # searching leaves this much time to write the answer


@dataclass(frozen=True, slots=True)
class AgentDeps:
    """Dependencies that all runs share."""

    reasoner: Reasoner
    retriever: Retriever
    index: Index
    catalog: Catalog
    clock: Clock
    prices: Prices = field(default_factory=Prices)
    confident: float = 2.0  # lowest best score of a first search for the fast path; above 1 turns it off
    checkpoint_seconds: float = 1800.0  # how long a checkpoint waits before it answers with what it has
    names: str = ""  # names of this installation's chat places, which any reply may use
    remedy: str = "An admin can add some."  # shown to a person when there is nothing to read
    link_hosts: frozenset[str] = frozenset()  # further hosts that answers may link to
    quote_fallback: Reasoner | None = None  # answers if the reasoner's own answer fails verification


@dataclass(slots=True)
class Run:
    """Mutable state of one run."""

    deps: AgentDeps
    inquiry: Inquiry
    thread: Thread
    meter: Meter
    draft: str = ""  # Markdown with [evidence id] markers, as written
    withheld: DraftDeclined | None = None  # the reasoner would not write from this evidence
    decision: Decision | None = None  # came with the newest grades and still applies
    remarks: tuple[str, ...] = ()  # parts of the draft that the reasoner's code wrote and that are not claims
    composed_from: tuple[Evidence, ...] = ()
    iteration: int = 0
    critiqued: bool = False
    searched_before: int = 0  # searches before the fallback restarted the run
    fallback_reason: str = ""  # why the fallback now answers this run; empty if it doesn't
    timings: dict[str, float] = field(default_factory=dict)

    def update(self, **changes: Any) -> None:
        """Apply these changes to the inquiry."""
        self.inquiry = replace(self.inquiry, **changes)

    @property
    def reasoner(self) -> Reasoner:
        """The reasoner that decides and writes now."""
        return (
            self.deps.quote_fallback
            if self.fallback_reason and self.deps.quote_fallback is not None
            else self.deps.reasoner
        )

    @property
    def searches(self) -> int:
        """Number of searches by the current reasoner."""
        return self.meter.spent.searches - self.searched_before

    @property
    def relevant(self) -> tuple[Evidence, ...]:
        """The evidence that counts, best first."""
        return self.inquiry.library.relevant(self.inquiry.cutoff)

    @property
    def wants_sources(self) -> bool:
        """Whether the sources are to be shown before an answer."""
        plan = self.inquiry.plan
        asked = isinstance(plan, Investigate) and plan.sources_first
        settled = CheckpointKind.SOURCES_FIRST in self.inquiry.settled
        return asked or (self.inquiry.policy.sources_first and not settled)

    @contextmanager
    def time_stage(self, stage: str) -> Iterator[None]:
        """Add the time spent in the block to a stage."""
        started = self.deps.clock.monotonic()
        try:
            yield
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + self.deps.clock.monotonic() - started

    async def within(self, work: Awaitable[T], *, reserve: float = 0.0) -> T:
        """Await within the run's deadline minus ``reserve`` seconds. Raises BudgetExhausted after it."""
        deadline = asyncio.timeout(max(0.05, self.meter.remaining_seconds - reserve))
        try:
            async with deadline:
                return await work
        except TimeoutError:
            if not deadline.expired():  # another timeout expired, not this one
                raise
            raise BudgetExhausted(f"The {self.meter.limits.seconds:g} seconds of this profile are used up.") from None
