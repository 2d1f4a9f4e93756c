"""The time, as something that can be handed in."""

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The time, so that tests can own it."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds that only ever grow."""
