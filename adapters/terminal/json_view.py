"""An answer view for ``--json``, which shows nothing and records the end."""

from typing import Any

from core.model.answer import Answer, Citation
from core.model.events import AgentCompleted, AgentFailed, CheckpointReached, FinalEvent
from core.model.inquiry import Checkpoint
from core.ports.answer_view import Step


class Recorder:
    """Collects notices and the trace id of one run."""

    def __init__(self) -> None:
        self._notices: list[str] = []
        self._trace_id = ""

    async def open(self) -> None:
        """Do nothing, because nothing is shown."""

    async def step(self, step: Step) -> None:
        """Do nothing, because nothing is shown."""

    async def write(self, text: str) -> None:
        """Write nothing: the whole text comes at the end."""

    async def rewrite(self, reason: str) -> None:
        """Write nothing: the whole text comes at the end."""

    async def notice(self, text: str) -> None:
        """Keep a notice for the document at the end."""
        self._notices.append(text)

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Keep the trace id; the answer comes with the final event, like a checkpoint or a failure."""
        self._trace_id = trace_id

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Keep the trace id."""
        self._trace_id = trace_id

    async def fail(self, message: str, trace_id: str) -> None:
        """Keep the trace id."""
        self._trace_id = trace_id

    async def close(self) -> None:
        """Do nothing, because nothing is open."""

    def result(self, final: FinalEvent | None) -> dict[str, Any]:
        """Return the documented JSON of ``ask`` and ``resume``."""
        match final:
            case AgentCompleted():
                return self._of(final.answer, None)
            case CheckpointReached():
                return self._of(final.answer, final.checkpoint)
            case AgentFailed():
                return {**self._of(None, None), "outcome": "failed", "answer": final.message}
            case None:
                return {**self._of(None, None), "outcome": "failed", "answer": "Nothing was changed."}

    def _of(self, answer: Answer | None, checkpoint: Checkpoint | None) -> dict[str, Any]:
        return {
            "outcome": answer.outcome.value if answer else "failed",
            "answer": answer.text if answer else "",
            "citations": [_citation(source) for source in answer.citations] if answer else [],
            "nearest": [_citation(source) for source in answer.nearest] if answer else [],
            "follow_ups": [one.question for one in answer.follow_ups] if answer else [],
            "searches": answer.spent.searches if answer else 0,
            "checkpoint": _checkpoint(checkpoint) if checkpoint else None,
            "grounding": answer.verdict.grounding if answer and answer.verdict else None,
            "notices": [*self._notices, *(answer.notices if answer else ())],
            "causes": list(answer.causes) if answer else [],
            "written_by": answer.written_by if answer else "",
            "spent": _spent(answer) if answer else {},
            "trace_id": self._trace_id,
            "timings": {stage: round(seconds, 4) for stage, seconds in answer.timings} if answer else {},
        }


_OF_CITATION = ("n", "document", "title", "locator", "url", "quote", "score", "dated", "knowledge_base", "passage")


def _citation(source: Citation) -> dict[str, Any]:
    return {name: getattr(source, name) for name in _OF_CITATION}


def _checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    choices = [{"id": c.id, "label": c.label, "asks_text": c.asks_text} for c in checkpoint.choices]
    return {
        "id": checkpoint.id,
        "kind": checkpoint.kind.value,
        "message": checkpoint.message,
        "choices": choices,
        "found": list(checkpoint.found),
        "missing": checkpoint.missing,
        "expires_at": checkpoint.expires_at.isoformat(timespec="seconds"),
    }


def _spent(answer: Answer) -> dict[str, Any]:
    names = ("calls", "tokens_in", "tokens_cached", "tokens_out", "seconds", "cost")
    return {name: getattr(answer.spent, name) for name in names} | {"seconds": round(answer.spent.seconds, 3)}
