"""Fourth step: stream an answer from the evidence, safe to show at every moment."""

from collections.abc import AsyncGenerator, AsyncIterator

from core.agent.citations import CitationRenderer
from core.agent.outcomes import abstain, leave_unanswered
from core.agent.retries import NO_ANSWER, can_restart_with_quotes, restart_with_quotes, set_aside
from core.agent.run import WEAK, Run
from core.model.errors import BudgetExhausted
from core.model.events import AgentEvent, AnswerDelta, AnswerReset, GenerationCompleted, GenerationStarted
from core.model.evidence import Evidence
from core.model.inquiry import Phase
from core.model.text import cited_ids
from core.ports.reasoner import DraftDeclined, DraftRemark, DraftRestarted

MOST = 10  # most pieces of evidence for an answer
WEAKEST = 4  # most pieces of weak evidence for an answer with caveats


async def compose(run: Run) -> AsyncGenerator[AgentEvent, None]:
    """Write the draft into the run, or end the run if there is no evidence.

    If the reasoner declines to draft on the fast path, set up the next step instead.
    """
    evidence = _evidence_to_cite(run)
    if not evidence and can_restart_with_quotes(run):
        restart_with_quotes(run, NO_ANSWER)
        yield AnswerReset("no answer yet")
        return
    if run.inquiry.stopped:
        yield leave_unanswered(run)
        return
    if not evidence:
        yield abstain(run)
        return
    run.composed_from = evidence
    yield GenerationStarted(len(evidence))
    started, before = run.deps.clock.monotonic(), run.meter.spent.tokens
    async for event in _stream_draft(run, evidence):
        yield event
    elapsed = run.deps.clock.monotonic() - started
    run.timings["compose"] = run.timings.get("compose", 0.0) + elapsed
    yield GenerationCompleted(len(cited_ids(run.draft)), run.meter.spent.tokens - before, elapsed * 1000)
    if run.withheld is None:
        run.update(phase=Phase.VERIFY)
        return
    async for event in set_aside(run, run.withheld):
        yield event


def _evidence_to_cite(run: Run) -> tuple[Evidence, ...]:
    if run.inquiry.fast_path:
        return tuple(sorted(run.inquiry.library.items_found(), key=lambda item: (-item.hit.score, item.id)))[:MOST]
    if run.relevant:
        return run.relevant[:MOST]
    return run.inquiry.library.relevant(WEAK)[:WEAKEST] if run.inquiry.caveats else ()


async def _stream_draft(run: Run, evidence: tuple[Evidence, ...]) -> AsyncIterator[AgentEvent]:
    run.draft, run.withheld, run.remarks = "", None, ()
    shown = CitationRenderer(run.inquiry.library)
    parts = run.reasoner.compose(run.inquiry, run.thread, evidence, run.meter)
    try:
        while (part := await run.within(anext(parts, None))) is not None:
            if isinstance(part, DraftDeclined):
                run.withheld = part
                return
            if isinstance(part, DraftRestarted):
                run.draft, run.remarks, shown = "", (), CitationRenderer(run.inquiry.library)
                yield AnswerReset(part.reason)
                continue
            if isinstance(part, DraftRemark):
                run.remarks += (str(part),)
            run.draft += part
            if text := shown.push(part):
                yield AnswerDelta(text)
    except BudgetExhausted as cap:
        run.meter.notice(f"{cap} The answer may be incomplete.")
    finally:
        if isinstance(parts, AsyncGenerator):
            await parts.aclose()
    if text := shown.finish():
        yield AnswerDelta(text)
