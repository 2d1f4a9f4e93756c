"""The loop: understand -> gather -> decide -> compose -> verify, until it ends in exactly one outcome."""

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
NEVER = 2.0  # no passage scores this: everything is graded before it is written from
RESERVED_SHARE = 0.25  # of an answer's tokens and money is kept from the searching, to write and check with


class Agent:
    """Loop over the five steps, without state between inquiries."""

    def __init__(self, deps: AgentDeps, limits: dict[Profile, Limits] | None = None) -> None:
        """Work with these tools, within these caps by profile."""
        self._deps = deps
        self._limits = limits or PROFILE_LIMITS

    def by_quotes(self) -> "Agent":
        """Return the same agent with quotes alone, where a model writes otherwise: what it is compared with."""
        deps = self._deps
        return Agent(
            replace(deps, reasoner=deps.quote_fallback or deps.reasoner, quote_fallback=None, confident=NEVER),
            self._limits,
        )

    def without_shortcut(self) -> "Agent":
        """Return the same agent that grades whatever it writes from, also where a first search looks good enough."""
        return Agent(replace(self._deps, confident=NEVER), self._limits)

    def run(self, inquiry: Inquiry, thread: Thread) -> Run:
        """Return a run of an inquiry, new or taken up again where it was parked."""
        meter = Meter(
            self._limits[inquiry.policy.profile],
            self._deps.clock,
            before=inquiry.spent,
            prices=self._deps.prices,
            account=Account(inquiry.thread.place, inquiry.policy.limits.channel_money),
        )
        return Run(self._deps, inquiry, thread.readable_by(inquiry.scope), meter)

    def meter(self) -> Meter:
        """Return a meter for work beside an inquiry: a summary."""
        return Meter(self._limits[Profile.BALANCED], self._deps.clock, prices=self._deps.prices)

    async def check(self, inquiry: Inquiry, draft: str) -> tuple[Verdict, Meter]:
        """Judge a draft by all evidence of the inquiry, as the last step does; nothing is repaired or struck."""
        run = self.run(inquiry, Thread(inquiry.thread))
        run.draft, run.composed_from = draft, tuple(inquiry.library)
        verdicts = [one.verdict for one in await judge_draft(run) if one.counts]
        if run.draft != draft:
            verdicts.append(ClaimVerdict(Claim("code"), Support.UNSUPPORTED, fault="no document has this code"))
        return Verdict(tuple(verdicts)), run.meter

    async def pursue(self, run: Run) -> AsyncGenerator[AgentEvent, None]:
        """Stream the run's events. The last one is its outcome: completed, a checkpoint, or failed.

        Raises StoreUnavailable, which is no outcome: who keeps the question tries again when the store is back.
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
