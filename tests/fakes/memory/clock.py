"""A clock that stands still until it is told to go on."""

from datetime import UTC, datetime, timedelta

from core.model.clock import Clock


class ManualClock(Clock):
    """Time as a test owns it."""

    def __init__(self, now: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)) -> None:
        self._now = now
        self._monotonic = 0.0

    def now(self) -> datetime:
        """The current time, aware, in UTC."""
        return self._now

    def monotonic(self) -> float:
        """Seconds since this clock was made."""
        return self._monotonic

    def set_to(self, seconds: float) -> None:
        """Set the wall clock this much forward, or back; no time passes."""
        self._now += timedelta(seconds=seconds)

    def advance(self, seconds: float) -> None:
        """Move the clock forward by some seconds."""
        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds
