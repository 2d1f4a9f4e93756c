"""Questions week by week, counted back from the report's end, so that the last week is complete."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median, quantiles

from core.model.answer import Outcome
from core.ports.question_log import LoggedQuestion
from core.service.gaps.report import Week

WEEK = timedelta(days=7)


def week_of(moment: datetime, until: datetime) -> int:
    """Return how many whole weeks lie between a moment and the end."""
    return max(0, int((until - moment - timedelta(microseconds=1)) / WEEK))


def weeks_of(asked: Sequence[LoggedQuestion], disliked: set[str], since: datetime, until: datetime) -> tuple[Week, ...]:
    """Return every week of the period, the oldest first, including empty ones."""
    by_week: dict[int, list[LoggedQuestion]] = {week: [] for week in range(week_of(since, until), -1, -1)}
    for one in asked:
        by_week.setdefault(week_of(one.at, until), []).append(one)
    return tuple(_week((until - WEEK * (number + 1)), ones, disliked) for number, ones in sorted(by_week.items())[::-1])


def _week(start: datetime, asked: Sequence[LoggedQuestion], disliked: set[str]) -> Week:
    def count_of(outcome: Outcome) -> int:
        return sum(one.outcome is outcome for one in asked)

    seconds = [one.seconds for one in asked]
    return Week(
        start=start.date(),
        asked=len(asked),
        answered=count_of(Outcome.ANSWERED),
        abstained=count_of(Outcome.ABSTAINED),
        unanswered=count_of(Outcome.PARKED),
        failed=count_of(Outcome.FAILED),
        disliked=sum(one.trace_id in disliked for one in asked),
        corrected=sum(one.corrected for one in asked),
        seconds_median=median(seconds) if seconds else 0.0,
        seconds_p95=quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else sum(seconds),
        cost=sum(one.cost for one in asked),
    )
