"""Presenter for every platform: turns the event stream of a run into calls of an answer view.

A view only renders. The presenter knows no platform, and a platform knows no events. It shows steps, text, notices and
one conclusion.
"""

from collections.abc import AsyncIterator
from typing import assert_never

from core.model.events import (
    AgentCompleted,
    AgentEvent,
    AgentFailed,
    AgentStarted,
    AnswerDelta,
    AnswerReset,
    CheckpointReached,
    FinalEvent,
    GenerationCompleted,
    GenerationStarted,
    GradingCompleted,
    HallucinationChecked,
    Noticed,
    QueryRefined,
    RerankingCompleted,
    RetrievalCompleted,
    RetrievalStarted,
    RoutingDecided,
)
from core.ports.answer_view import AnswerView, Step, StepState


class EventPresenter:
    """Shows one run in one answer view."""

    def __init__(self, view: AnswerView, trace_id: str = "") -> None:
        """Show a run in this view under this trace. A run that starts again brings its own trace."""
        self._answer_view = view
        self._trace_id = trace_id
        self._refinements = 0
        self.ending = False  # the end is being shown and can no longer be interrupted

    async def show(self, events: AsyncIterator[AgentEvent]) -> FinalEvent | None:
        """Show every event; return the one that ended the run, or None if there was nothing to do."""
        final: FinalEvent | None = None
        async for event in events:
            if isinstance(event, AgentCompleted | CheckpointReached | AgentFailed):
                final, self.ending = event, True
            await self._show(event)
        return final

    async def _show(self, event: AgentEvent) -> None:  # noqa: PLR0912, C901 - one arm for each event is the point
        view = self._answer_view
        match event:
            case AgentStarted():
                self._trace_id = event.trace_id
            case RoutingDecided(needs_retrieval=True) if event.reason:
                await view.step(Step("plan", "Planned the search", StepState.DONE, event.reason))
            case RoutingDecided() | RerankingCompleted():
                pass
            case RetrievalStarted():
                await view.step(Step(f"search-{event.iteration}", _search_label(event), StepState.RUNNING))
            case RetrievalCompleted():
                title = f"Searched “{event.query}”"
                await view.step(Step(f"search-{event.iteration}", title, StepState.DONE, _retrieval_summary(event)))
            case GradingCompleted():
                detail = f"{event.relevant} of {event.total} are relevant"
                await view.step(Step(f"grade-{event.total}", "Read what was found", StepState.DONE, detail))
            case QueryRefined():
                self._refinements += 1
                await view.step(Step(f"refine-{self._refinements}", "Looking further", StepState.DONE, event.reason))
            case GenerationStarted():
                await view.step(Step("write", "Writing a draft, not checked yet", StepState.RUNNING))
            case GenerationCompleted():
                await view.step(Step("write", "Wrote a draft, not checked yet", StepState.DONE))
            case AnswerDelta():
                await view.write(event.text)
            case AnswerReset():
                await view.rewrite(event.reason)
            case HallucinationChecked():
                await view.step(Step("verify", "Checked it against the sources", StepState.DONE, _check_summary(event)))
            case Noticed():
                await view.notice(event.text)
            case CheckpointReached():
                await view.offer(event.checkpoint, event.answer, self._trace_id)
            case AgentCompleted():
                await view.conclude(event.answer, self._trace_id)
            case AgentFailed():
                await view.fail(event.message, event.trace_id)
            case _:
                assert_never(event)


def _search_label(event: RetrievalStarted) -> str:
    where = f" in {event.where}" if event.where else ""
    return f"Searching “{event.query}”{where}"


def _retrieval_summary(event: RetrievalCompleted) -> str:
    if event.note:
        return event.note
    if not event.total_docs:
        return "nothing found"
    sources = ", ".join(event.sources[:3]) + (" …" if len(event.sources) > 3 else "")
    return f"{event.new} new of {event.total_docs} passages: {sources}"


def _check_summary(event: HallucinationChecked) -> str:
    if event.is_grounded:
        return "quoted word for word" if event.word_for_word else "every sentence is supported"
    count = len(event.hallucinated_claims)
    return f"{count} unsupported sentence{'s were' if count > 1 else ' was'} changed"
