"""The time, as something that can be handed in, and the days of an installation."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Protocol


class Clock(Protocol):
    """The time, so that tests can own it."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds that only ever grow."""


@dataclass(frozen=True, slots=True)
class Days:
    """The days of an installation, which begin at midnight in its time zone; None: the machine's."""

    clock: Clock
    zone: tzinfo | None = None

    def today(self, *, ago: int = 0) -> str:
        """Return the date of today, or of so many days ago, in ISO."""
        return (self.clock.now().astimezone(self.zone).date() - timedelta(days=ago)).isoformat()

    def ends_at(self) -> datetime:
        """Return when today ends."""
        tomorrow = self.clock.now().astimezone(self.zone).date() + timedelta(days=1)
        return datetime.combine(tomorrow, time(), self.zone).astimezone(self.zone)

    @property
    def end(self) -> str:
        """When today ends, for people: the time with its zone."""
        return f"{self.ends_at():%H:%M %Z}"
