"""The chart of questions by week: its columns, its axes and what is left out."""

from datetime import date, timedelta

import pytest

from adapters.web.gaps_screen import BOTTOM, HEIGHT, count_ticks, week_chart
from core.service.gaps.report import Week

FIRST = date(2026, 10, 3)


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (0, [0, 1]),
        (4, [0, 1, 2, 3, 4]),
        (7, [0, 2, 4, 6, 8]),
        (23, [0, 5, 10, 15, 20, 25]),
        (480, list(range(0, 501, 100))),
    ],
)
def test_the_axis_has_round_counts_up_to_the_most(most: int, ticks: list[int]) -> None:
    assert count_ticks(most) == ticks


def test_columns_stack_to_the_weeks_total_and_begin_with_the_first_question() -> None:
    weeks = [Week(FIRST + timedelta(days=7 * n), asked=n, answered=n, abstained=n) for n in range(4)]
    chart = week_chart(weeks)
    assert [label.text for label in chart.weeks] == ["10 Oct", "17 Oct", "24 Oct"]
    last = [part for part in chart.parts if part.count == 3]
    assert [part.kind for part in last] == ["answered", "abstained"]
    six = next(label.at for label in chart.counts if label.text == "6")
    assert last[1].y == pytest.approx(six)
    assert last[0].y + last[0].height == HEIGHT - BOTTOM


def test_half_a_year_has_no_more_labels_than_fit() -> None:
    chart = week_chart([Week(FIRST + timedelta(days=7 * n), asked=1, answered=1) for n in range(26)])
    assert len(chart.weeks) <= 6
    assert len(chart.parts) == 26
