"""The short way for a simple question: write from the first search as it came, and look closer only when that fails.

Grading and deciding exist for questions that need more than one search, or whose first one brought next to nothing. A
question of one need is answered at once from what its search found: understand, compose, verify, at most three calls.
What it costs: the writer sees passages that no grader has weighed. What holds it up: the writer may withhold its draft
and name what is missing, or the readings between which the asker has to choose; every sentence is still verified; and
a draft that cites nothing or does not hold is thrown away. Then it goes the long way, one or two calls later than it
would have.
"""

from collections.abc import AsyncIterator

from core.agent.grading import grade
from core.agent.outcomes import ask_back
from core.agent.run import Run
from core.agent.search_actions import new_actions
from core.model.events import AgentEvent, AnswerReset, QueryRefined
from core.model.inquiry import CheckpointKind, Phase, SearchKnowledge
from core.ports.reasoner import DraftDeclined

NOT_ENOUGH = "the first search does not answer this"
SEVERAL_READINGS = "the documents know several things that this may mean"


async def set_aside(run: Run, withheld: DraftDeclined) -> AsyncIterator[AgentEvent]:
    """What comes in place of a draft that was withheld: a question back where one may be asked, else a closer look.

    A parked inquiry stays on the fast path: when nobody chooses, it is written from what was found for all readings.
    """
    if withheld.unclear is None or not run.may_ask(CheckpointKind.CLARIFY):
        async for event in look_closer(run, withheld.missing):
            yield event
        return
    if run.draft:
        yield AnswerReset(SEVERAL_READINGS)
    run.draft = ""
    async for event in ask_back(run, withheld.unclear):
        yield event


async def look_closer(run: Run, missing: str = "") -> AsyncIterator[AgentEvent]:
    """Leave the short way: search for what is missing where that is known, else grade what there is and decide."""
    if run.draft:
        yield AnswerReset(NOT_ENOUGH)
    run.draft = ""
    run.update(fast_path=False, missing=missing)
    actions = new_actions(run.inquiry, (SearchKnowledge(missing),)) if missing and run.meter.searches_left else ()
    if actions:
        run.update(proposals=actions, phase=Phase.GATHER)
        yield QueryRefined(run.inquiry.standalone, missing, NOT_ENOUGH)
        return
    async for event in grade(run, run.inquiry.library.ungraded_items()):
        yield event
    run.update(phase=Phase.DECIDE)
