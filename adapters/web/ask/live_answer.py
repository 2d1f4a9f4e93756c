"""An answer in the making, as an open page has it: put together from what is in its stream."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from core.ports.answer_view import (
    AnswerUpdate,
    Begun,
    Ended,
    NoticeShown,
    Step,
    StepShown,
    StepState,
    TextAdded,
    TextVoided,
)


@dataclass(slots=True)
class LiveAnswer:
    """What has been shown so far."""

    steps: dict[str, Step] = field(default_factory=dict)
    text: str = ""
    notices: list[str] = field(default_factory=list)
    ended: bool = False  # perhaps: what is kept says for certain

    def apply(self, updates: Iterable[AnswerUpdate]) -> None:
        """Bring the answer up to these events."""
        for update in updates:
            self._apply(update)

    def _apply(self, update: AnswerUpdate) -> None:
        match update:
            case Begun():
                self.steps, self.text, self.notices, self.ended = {}, "", [], False
            case StepShown():
                self.steps[update.step.id] = update.step
            case TextAdded():
                self.text += update.text
            case TextVoided():
                self.text = ""
            case NoticeShown():
                self.notices.append(update.text)
            case Ended():
                self.ended = True
            case _:
                assert_never(update)

    @property
    def now(self) -> str:
        """What is being done, in one line."""
        running = [step.title for step in self.steps.values() if step.state is StepState.RUNNING]
        done = [step.title for step in self.steps.values()]
        return (running or done or ["Looking at your question"])[-1]
