"""The fallback under every answer: where the reasoner's own does not hold, the run starts again with quotes alone.

A model that is weak, cut short, filtered or unreadable must never leave a person with less than no model would have. So
before a run says that the documents don't say, or asks how to go on because nothing counted, it is made once more by
the fallback's own rules, searches included, and ends as that reasoner alone would have ended it. That costs no tokens.
"""

from typing import Any

from core.agent.run import Run
from core.model.inquiry import Phase, SearchKnowledge

NO_ANSWER = "The writing model found no answer here, so I quote the documents instead."
DOES_NOT_HOLD = "What the writing model wrote did not hold against the documents, so I quote them instead."
CITES_NOTHING = "The writing model named no source for what it wrote, so I quote the documents instead."


def can_restart_with_quotes(run: Run) -> bool:
    """Whether a model had a say in this run, nobody stopped it, and it has not begun again already."""
    available = run.deps.quote_fallback is not None and not run.fallback_reason
    return available and not run.inquiry.stopped and bool(run.meter.spent.calls)


def restart_with_quotes(run: Run, reason: str) -> None:
    """Begin the run again with quotes alone; ``reason`` is the line that is said below such an answer.

    Only where ``can_restart_with_quotes``.
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
    if inquiry.settled and inquiry.plan is not None:  # a choice was made: what was chosen stands
        run.update(phase=Phase.GATHER, proposals=(SearchKnowledge(inquiry.standalone),), **fresh)
    else:
        run.update(phase=Phase.UNDERSTAND, plan=None, proposals=(), closing=False, **fresh)
