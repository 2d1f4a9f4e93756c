"""What is counted of the work, for whoever watches the service."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from core.model.events import FinalEvent


class Metrics(Protocol):
    """Counts outcomes. Labels are few and bounded: no person, channel, question or document is ever one."""

    def track_work(self) -> AbstractContextManager[object]:
        """Entered while one delivery is being worked on."""

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Count how a question ended and what it took; None when it ended without an event of its own."""


class NoMetrics(Metrics):
    """Counts nothing: where nobody watches."""

    def track_work(self) -> AbstractContextManager[object]:
        """A context that counts nothing."""
        return nullcontext()

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Counts nothing."""
