"""How a question ended, as its page shows it again after a reload, a restart, or in another tab."""

from dataclasses import dataclass

from core.model.answer import Answer
from core.model.inquiry import Checkpoint


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """An answer, an answer with choices below it, or the line that says why there is none."""

    trace_id: str
    answer: Answer | None = None
    checkpoint: Checkpoint | None = None
    failure: str = ""
    notices: tuple[str, ...] = ()
