"""Schedules in a dictionary, for tests."""

from collections.abc import Sequence

from core.ports.job_store import Every, Schedule, ScheduleStore


class InProcessScheduleStore(ScheduleStore):
    """Keeps every schedule."""

    def __init__(self) -> None:
        self._schedules: dict[tuple[str, str], Schedule] = {}

    async def save_schedule(self, schedule: Schedule) -> None:
        """Keep it, or with NEVER take it away."""
        self._schedules.pop((schedule.base, schedule.link), None)
        if schedule.every is not Every.NEVER:
            self._schedules[schedule.base, schedule.link] = schedule

    async def schedules(self) -> Sequence[Schedule]:
        """All of them, the next one first."""
        return sorted(self._schedules.values(), key=lambda schedule: schedule.next_at)
