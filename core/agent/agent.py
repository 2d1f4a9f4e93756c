"""The agent loop: understand -> gather -> decide -> compose -> verify. Each run ends in exactly one outcome."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from core.agent.compose import compose
from core.agent.decide import decide
from core.agent.gather import gather
from core.agent.run import AgentDeps, Run
from core.agent.understand import understand
from core.agent.verification.verify import judge_draft, verify
from core.model.answer import Claim, ClaimVerdict, Support, Verdict
from core.model.budget import Account, Meter
from core.model.conversation import Thread
from core.model.errors import FootnoteError, StoreUnavailable
from core.model.events import AgentEvent, AgentFailed, AgentStarted, CheckpointReached
from core.model.inquiry import PROFILE_LIMITS, Inquiry, Limits, Phase
from core.model.profile import Profile

Step = Callable[[Run], AsyncGenerator[AgentEvent, None]]
STEPS: dict[Phase, Step] = {
    Phase.UNDERSTAND: understand,
    Phase.GATHER: gather,
    Phase.DECIDE: decide,
    Phase.COMPOSE: compose,
    Phase.VERIFY: verify,
}
SEARCHING = frozenset({Phase.UNDERSTAND, Phase.GATHER, Phase.DECIDE})
NEVER = 2.0  # no passage scores this, so every passage is graded before it is used
RESERVED_SHARE = 0.25  # share of tokens and money that searching must leave for writing and checking


class Agent:
    """Stateless loop over the five steps."""

    def __init__(self, deps: AgentDeps, limits: dict[Profile, Limits] | None = None) -> None:
        """Use these dependencies, within the caps of each profile."""
        self._deps = deps
        self._limits = limits or PROFILE_LIMITS

    def by_quotes(self) -> "Agent":
        """Return this agent with its quoting fallback in place of a model. Comparisons use it as the baseline."""
        deps = self._deps
        return Agent(
            replace(deps, reasoner=deps.quote_fallback or deps.reasoner, quote_fallback=None, confident=NEVER),
            self._limits,
        )

    def without_shortcut(self) -> "Agent":
        """Return this agent without the fast path: it grades all evidence, even after a good first search."""
        return Agent(replace(self._deps, confident=NEVER), self._limits)

    def run(self, inquiry: Inquiry, thread: Thread) -> Run:
        """Return a run of a new or a parked inquiry."""
        meter = Meter(
            self._limits[inquiry.policy.profile],
            self._deps.clock,
            before=inquiry.spent,
            prices=self._deps.prices,
            account=Account(inquiry.thread.place, inquiry.policy.limits.channel_money),
        )
        return Run(self._deps, inquiry, thread.readable_by(inquiry.scope), meter)

    def meter(self) -> Meter:
        """Return a meter for work outside an inquiry, such as a summary."""
        return Meter(self._limits[Profile.BALANCED], self._deps.clock, prices=self._deps.prices)

    async def check(self, inquiry: Inquiry, draft: str) -> tuple[Verdict, Meter]:
        """Judge a draft against all evidence of the inquiry, as the verify step does, but repair and strike nothing."""
        run = self.run(inquiry, Thread(inquiry.thread))
        run.draft, run.composed_from = draft, tuple(inquiry.library)
        verdicts = [one.verdict for one in await judge_draft(run) if one.counts]
        if run.draft != draft:
            verdicts.append(ClaimVerdict(Claim("code"), Support.UNSUPPORTED, fault="no document has this code"))
        return Verdict(tuple(verdicts)), run.meter

    async def pursue(self, run: Run) -> AsyncGenerator[AgentEvent, None]:
        """Stream the run's events. The last one is its outcome: completed, a checkpoint, or failed.

        Raises StoreUnavailable, which is not an outcome: the caller keeps the question and retries later.
        """
        inquiry = run.inquiry
        yield AgentStarted(
            inquiry.id,
            inquiry.question,
            inquiry.policy.profile,
            self._deps.reasoner.name,
            resumed=inquiry.phase is not Phase.UNDERSTAND,
        )
        try:
            while run.inquiry.phase is not Phase.DONE:
                run.meter.reserved_share = RESERVED_SHARE if run.inquiry.phase in SEARCHING else 0.0
                async with aclosing(STEPS[run.inquiry.phase](run)) as events:
                    async for event in events:
                        yield event
                        if isinstance(event, CheckpointReached):
                            return
        except StoreUnavailable:
            raise
        except FootnoteError as error:
            yield AgentFailed(str(error), inquiry.id)
