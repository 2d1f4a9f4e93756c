"""The short way for a simple question: write from the first search as it came, and look closer only when that fails.

Grading and deciding exist for questions that need more than one search, or whose first one is in doubt. One need whose
first search puts one section clearly ahead (``gather`` sees to that) is answered at once: understand, compose, verify,
at most three calls.
What it costs: the writer sees passages that no grader has weighed. What holds it up: the writer may withhold its draft
and name what is missing, every sentence is still verified, and a draft that cites nothing or does not hold is thrown
away. Then it goes the long way, one or two calls later than it would have.
"""

from collections.abc import AsyncIterator

from core.agent.grading import grade
from core.agent.moves import unmade
from core.agent.run import Run
from core.events import AgentEvent, AnswerReset, QueryRefined
from core.inquiry import Phase, SearchKnowledge

NOT_ENOUGH = "the first search does not answer this"


async def look_closer(run: Run, missing: str = "") -> AsyncIterator[AgentEvent]:
    """Leave the short way: search for what is missing where that is known, else grade what there is and decide."""
    if run.draft:
        yield AnswerReset(NOT_ENOUGH)
    run.draft = ""
    run.update(attempt=False, missing=missing)
    moves = unmade(run.inquiry, (SearchKnowledge(missing),)) if missing and run.meter.searches_left else ()
    if moves:
        run.update(proposals=moves, phase=Phase.GATHER)
        yield QueryRefined(run.inquiry.standalone, missing, NOT_ENOUGH)
        return
    async for event in grade(run, run.inquiry.library.ungraded()):
        yield event
    run.update(phase=Phase.DECIDE)
