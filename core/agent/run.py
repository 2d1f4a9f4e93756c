"""One run of one inquiry: the state that the five steps share, and what they may use.

The inquiry itself is frozen; a step replaces it through ``update``. What a run holds beside it (the draft, timings)
need not survive a checkpoint.
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

WEAK = 3  # from here a passage is near enough to offer an answer with caveats
RESERVE_SECONDS = 8.0  # kept back from the searching so that what was found can still be written down


@dataclass(frozen=True, slots=True)
class AgentDeps:
    """What every run works with: made once, shared by all."""

    reasoner: Reasoner
    retriever: Retriever
    index: Index
    catalog: Catalog
    clock: Clock
    prices: Prices = field(default_factory=Prices)
    confident: float = 2.0  # a first search whose best passage scores this is answered from at once; above 1 never
    checkpoint_seconds: float = 1800.0  # how long a checkpoint waits before it answers with what it has
    names: str = ""  # what a reply may name without anybody having said it: where this installation is to be met
    remedy: str = "An admin can add some."  # said to a person who asks where there is nothing to read
    link_hosts: frozenset[str] = frozenset()  # hosts that answers may link to beside those of their documents
    quote_fallback: Reasoner | None = None  # answers where the reasoner's own answer does not hold


@dataclass(slots=True)
class Run:
    """The mutable middle of one pursuit."""

    deps: AgentDeps
    inquiry: Inquiry
    thread: Thread
    meter: Meter
    draft: str = ""  # Markdown with [evidence id] markers, as written
    withheld: DraftDeclined | None = None  # the reasoner would not write from this evidence
    decision: Decision | None = None  # came with the newest grades, and nothing has changed since
    remarks: tuple[str, ...] = ()  # parts of the draft that are no claims, as the reasoner's code wrote them
    composed_from: tuple[Evidence, ...] = ()
    iteration: int = 0
    critiqued: bool = False
    searched_before: int = 0  # searches that the reasoner made before the fallback began again
    fallback_reason: str = ""  # why the fallback answers this run from here on; empty while the reasoner does
    timings: dict[str, float] = field(default_factory=dict)

    def update(self, **changes: Any) -> None:
        """Replace the inquiry by one with these changes."""
        self.inquiry = replace(self.inquiry, **changes)

    @property
    def reasoner(self) -> Reasoner:
        """Who decides and writes now."""
        return (
            self.deps.quote_fallback
            if self.fallback_reason and self.deps.quote_fallback is not None
            else self.deps.reasoner
        )

    @property
    def searches(self) -> int:
        """How often the current reasoner has searched."""
        return self.meter.spent.searches - self.searched_before

    @property
    def cutoff(self) -> int:
        """The grade from which a passage counts here."""
        return self.inquiry.cutoff

    @property
    def relevant(self) -> tuple[Evidence, ...]:
        """The evidence that counts, best first."""
        return self.inquiry.library.relevant(self.cutoff)

    def may_ask(self, kind: CheckpointKind) -> bool:
        """See ``Inquiry.may_ask``."""
        return self.inquiry.may_ask(kind)

    @property
    def wants_sources(self) -> bool:
        """Whether the sources are to be shown before an answer."""
        plan = self.inquiry.plan
        asked = isinstance(plan, Investigate) and plan.sources_first
        settled = CheckpointKind.SOURCES_FIRST in self.inquiry.settled
        return asked or (self.inquiry.policy.sources_first and not settled)

    @contextmanager
    def time_stage(self, stage: str) -> Iterator[None]:
        """Add the time spent inside to a stage."""
        started = self.deps.clock.monotonic()
        try:
            yield
        finally:
            self.timings[stage] = self.timings.get(stage, 0.0) + self.deps.clock.monotonic() - started

    async def within(self, work: Awaitable[T], *, reserve: float = 0.0) -> T:
        """Await under the run's deadline, keeping ``reserve`` seconds back. Raises BudgetExhausted when it passes."""
        deadline = asyncio.timeout(max(0.05, self.meter.remaining_seconds - reserve))
        try:
            async with deadline:
                return await work
        except TimeoutError:
            if not deadline.expired():  # somebody else's
                raise
            raise BudgetExhausted(f"The {self.meter.limits.seconds:g} seconds of this profile are over.") from None
