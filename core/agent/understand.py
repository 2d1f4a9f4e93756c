"""First step: does this need a search at all, and what for? One reasoner call."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import assert_never

from core.agent.outcomes import clarified, nothing_to_read, replied
from core.agent.overview import overview
from core.agent.run import RESERVE_SECONDS, Run
from core.agent.ungrounded_reply import unfounded
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, RoutingDecided
from core.model.inquiry import AskBack, Investigate, Overview, Phase, Reply, SearchKnowledge

MAX_QUERIES = 3


async def understand(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Leaves a plan in the inquiry, and its queries as the next moves; or ends with a reply or a question back."""
    with run.timed("understand"):
        try:
            plan = await run.within(
                run.bench.reasoner.understand(run.inquiry, run.thread, run.meter), reserve=RESERVE_SECONDS
            )
        except BudgetExhausted:
            plan = _as_asked(run, "no time to plan: searching as asked")
    if isinstance(plan, Reply) and (doubt := unfounded(plan, run.inquiry, run.thread, run.bench.names)):
        plan = _as_asked(run, doubt)
    match plan:
        case Reply():
            run.update(plan=plan)
            yield RoutingDecided(needs_retrieval=False, reason=plan.reason)
            async for event in replied(run, plan):
                yield event
        case AskBack():
            run.update(plan=plan)
            yield RoutingDecided(needs_retrieval=False, reason=plan.reason or "the question is unclear")
            async for event in clarified(run, plan):
                yield event
        case Overview():
            run.update(plan=plan)
            yield RoutingDecided(needs_retrieval=False, reason=plan.reason)
            yield await overview(run, plan)
        case Investigate() if not run.inquiry.bases:
            yield RoutingDecided(needs_retrieval=False, reason="there is nothing to search in")
            yield nothing_to_read(run)
        case Investigate():
            queries = tuple(dict.fromkeys(query.strip() for query in plan.queries if query.strip()))[:MAX_QUERIES]
            plan = replace(
                plan, question=plan.question.strip() or run.inquiry.question, queries=queries or (plan.question,)
            )
            moves = tuple(SearchKnowledge(query) for query in plan.queries)
            run.update(plan=plan, proposals=moves, phase=Phase.GATHER)
            yield RoutingDecided(needs_retrieval=True, reason=plan.reason, queries=plan.queries)
        case _:
            assert_never(plan)


def _as_asked(run: Run, reason: str) -> Investigate:
    return Investigate(run.inquiry.question, (run.inquiry.question,), reason)
