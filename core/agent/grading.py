"""Grades of evidence, asked for once for each piece; from the retrieval's own scores when a cap leaves no other way.

A reasoner that says along with them whether they suffice is not asked to decide a second time.
"""

from collections.abc import AsyncIterator, Sequence

from core.agent.run import RESERVE_SECONDS, Run
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, GradingCompleted
from core.model.evidence import Evidence, Grade
from core.ports.reasoner import GradesWithDecision


async def grade(run: Run, fresh: Sequence[Evidence]) -> AsyncIterator[AgentEvent]:
    """Leaves the grades of these in the library. On a cap the run closes: it answers from what there is."""
    run.decision = None
    if not fresh:
        return
    started = run.deps.clock.monotonic()
    try:
        grades = await run.within(run.reasoner.grade(run.inquiry, fresh, run.meter), reserve=RESERVE_SECONDS / 2)
    except BudgetExhausted as cap:
        run.meter.notice(str(cap))
        run.update(closing=True)
        grades = [_from_score(item) for item in fresh]
    run.update(library=run.inquiry.library.with_grades({item.id: g for item, g in zip(fresh, grades, strict=True)}))
    run.decision = grades.decision if isinstance(grades, GradesWithDecision) else None
    elapsed = run.deps.clock.monotonic() - started
    run.timings["grade"] = run.timings.get("grade", 0.0) + elapsed
    yield GradingCompleted(
        total=len(fresh),
        relevant=sum(g.score >= run.cutoff for g in grades),
        average=round(sum(g.score for g in grades) / len(grades), 2),
        duration_ms=elapsed * 1000,
    )


def _from_score(item: Evidence) -> Grade:
    """The probability that retrieval gives, on the grades' scale."""
    return Grade(max(1, min(10, round(item.hit.score * 10))))
