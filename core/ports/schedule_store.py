"""Links that are fetched again and again, and places that are watched."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from core.model.conversation import Person


class Every(StrEnum):
    """How often a link is fetched again."""

    DAILY = "daily"
    WEEKLY = "weekly"
    ON_CHANGE = "on-change"  # a place that keeps files: looked at every minute, read when something there changed
    NEVER = "never"

    @property
    def interval(self) -> timedelta | None:
        """The time from one fetch, or look, to the next."""
        return {
            Every.DAILY: timedelta(days=1),
            Every.WEEKLY: timedelta(days=7),
            Every.ON_CHANGE: timedelta(minutes=1),
        }.get(self)


@dataclass(frozen=True, slots=True)
class Schedule:
    """A link that is fetched again and again; ``limit`` above 0: with so many pages below it."""

    base: str
    link: str
    every: Every
    by: Person
    next_at: datetime
    limit: int = 0

    def is_due(self, now: datetime) -> bool:
        """Whether its time has come, or is further off than its interval: then the clock was set back since."""
        interval = self.every.interval
        return interval is not None and not timedelta() < self.next_at - now <= interval


class ScheduleStore(Protocol):
    """Keeps one schedule for each link of a base. Raises StoreUnavailable."""

    async def save_schedule(self, schedule: Schedule) -> None:
        """Keep it, replacing the earlier one of the same link in the same base; NEVER takes it away."""

    async def schedules(self) -> Sequence[Schedule]:
        """All of them, the next one first."""
