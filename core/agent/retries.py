"""Second attempts at an answer: the long way after the fast path, and quotes if a draft fails verification.

The fast path answers a single-part question from its first search: understand, compose, verify, at most three calls.
The writer then sees ungraded passages. It may withhold its draft and name what is missing, or the readings between
which the asker has to choose. If a draft is withheld, cites nothing or fails verification, the run drops it and goes
the long way.

A weak, truncated, filtered or unreadable model must never leave a person worse off than no model. So before a run
says that it found nothing, or asks how to go on because nothing counted, it runs once more with the fallback reasoner,
searches included. It then ends as the fallback alone would end it. That costs no tokens.
"""

from collections.abc import AsyncIterator
from typing import Any

from core.agent.gather import grade, new_actions
from core.agent.outcomes import ask_back
from core.agent.run import Run
from core.model.events import AgentEvent, AnswerReset, QueryRefined
from core.model.inquiry import CheckpointKind, Phase, SearchKnowledge
from core.ports.reasoner import DraftDeclined

NO_ANSWER = "The writing model found no answer here, so I quote the documents instead."
DOES_NOT_HOLD = "The documents do not support what the writing model wrote, so I quote them instead."
CITES_NOTHING = "The writing model named no source for what it wrote, so I quote the documents instead."


def can_restart_with_quotes(run: Run) -> bool:
    """Return whether a model took part in this run, nobody stopped it, and it has not restarted yet."""
    available = run.deps.quote_fallback is not None and not run.fallback_reason
    return available and not run.inquiry.stopped and bool(run.meter.spent.calls)


def restart_with_quotes(run: Run, reason: str) -> None:
    """Restart the run with quotes alone. ``reason`` is shown below the answer.

    Call it only if ``can_restart_with_quotes``.
    """
    inquiry = run.inquiry
    run.fallback_reason = reason
    run.meter.blame(reason)
    run.meter.written_by = run.reasoner.name
    run.meter.grant_searches()
    run.searched_before = run.meter.spent.searches
    run.draft, run.withheld, run.decision, run.composed_from = "", None, None, ()
    fresh: dict[str, Any] = {
        "searches": (),
        "misses": 0,
        "missing": "",
        "fast_path": False,
        "library": inquiry.library.carry_over(),
    }
    if inquiry.settled and inquiry.plan is not None:  # keep the choice that the person made
        run.update(phase=Phase.GATHER, proposals=(SearchKnowledge(inquiry.standalone),), **fresh)
    else:
        run.update(phase=Phase.UNDERSTAND, plan=None, proposals=(), closing=False, **fresh)


NOT_ENOUGH = "the first search does not answer this"
SEVERAL_READINGS = "the documents know several things that this may mean"


async def set_aside(run: Run, withheld: DraftDeclined) -> AsyncIterator[AgentEvent]:
    """Replace a withheld draft: ask back if that is allowed, otherwise look closer.

    A parked inquiry stays on the fast path. If nobody chooses, the evidence for all readings is used.
    """
    if withheld.unclear is None or not run.inquiry.may_ask(CheckpointKind.CLARIFY):
        async for event in look_closer(run, withheld.missing):
            yield event
        return
    if run.draft:
        yield AnswerReset(SEVERAL_READINGS)
    run.draft = ""
    async for event in ask_back(run, withheld.unclear):
        yield event


async def look_closer(run: Run, missing: str = "") -> AsyncIterator[AgentEvent]:
    """Leave the fast path: search for what is missing if that is known, otherwise grade the evidence and decide."""
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
