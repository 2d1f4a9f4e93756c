"""An injectable clock, and the days of an installation."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Protocol


class Clock(Protocol):
    """A clock that tests can replace."""

    def now(self) -> datetime:
        """Return the current time, timezone-aware, in UTC."""

    def monotonic(self) -> float:
        """Return monotonic seconds."""


@dataclass(frozen=True, slots=True)
class Days:
    """The days of an installation. They begin at midnight in ``zone``; None: the machine's time zone."""

    clock: Clock
    zone: tzinfo | None = None

    def today(self, *, ago: int = 0) -> str:
        """Return today's date, or that of ``ago`` days earlier, in ISO format."""
        return (self.clock.now().astimezone(self.zone).date() - timedelta(days=ago)).isoformat()

    def ends_at(self) -> datetime:
        """Return when today ends."""
        tomorrow = self.clock.now().astimezone(self.zone).date() + timedelta(days=1)
        return datetime.combine(tomorrow, time(), self.zone).astimezone(self.zone)

    @property
    def end(self) -> str:
        """The end of today as people read it: the time with its zone."""
        return f"{self.ends_at():%H:%M %Z}"
