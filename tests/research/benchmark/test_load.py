"""The load's plan and its rows: what is asked when, and that neither way of asking passes for the other."""

import pytest

from research.benchmark.load_figures import Figures, rows_of
from research.benchmark.load_plan import Plan
from research.benchmark.rows import ReportRow
from research.benchmark.stopwatch import Times
from research.benchmark.yardstick import Yardstick

PLAN = Plan(questions=4, rounds=2, threads=3, answers=10, ramp=2, thinking=1.5)


def asked(times: Times, cases: range, *, shown: float, took: float) -> None:
    for case in cases:
        times.put[case], times.shown[case], times.ended[case] = case, case + shown, case + took


def figures() -> Figures:
    """The burst was slow; those who go on hardly waited. Each answer had one call of one second."""
    times = Times(PLAN.cases)
    asked(times, PLAN.burst, shown=0.4, took=1.5)
    asked(times, PLAN.conversation_cases, shown=0.1, took=1.125)
    asked(times, PLAN.sustained_cases, shown=0.1, took=1.1)
    calls = {case: [(float(case), case + 1.0)] for case in range(1, PLAN.cases + 1)}
    return Figures(times, calls, PLAN, lanes=2, looks=[], yardstick=Yardstick(1.0, 1.0, 1.0))


def row(rows: list[ReportRow], *words: str) -> ReportRow:
    (found,) = [one for one in rows if all(word in one.what for word in words)]
    return found


def test_each_case_belongs_to_one_part_and_the_parts_follow_each_other() -> None:
    parts = [PLAN.first, PLAN.burst, PLAN.conversation_cases, PLAN.sustained_cases]
    assert [case for part in parts for case in part] == list(range(1, PLAN.cases + 1))


def test_what_is_asked_while_threads_begin_or_end_is_not_counted() -> None:
    assert len(PLAN.counted_conversation_cases) == PLAN.rounds * PLAN.threads
    assert PLAN.counted_conversation_cases.start - PLAN.conversation_cases.start == PLAN.threads
    assert PLAN.conversation_cases.stop - PLAN.counted_conversation_cases.stop == PLAN.threads


def test_bursts_and_steady_load_have_separate_rows_with_the_same_targets() -> None:
    rows = rows_of(figures())
    for what, burst, going_on in (("first sign", "400 ms", "100 ms"), ("beyond", "500 ms", "125 ms")):
        at_once, later = row(rows, what, "same instant"), row(rows, what, "going on")
        assert at_once.target == later.target
        assert (at_once.value.startswith(burst), at_once.met) == (True, False)
        assert (later.value.startswith(going_on), later.met) == (True, True)
    assert "0 to 1.5 s" in row(rows, "first sign", "going on").against


@pytest.mark.parametrize("who", ["same instant", "going on"])
def test_without_an_answer_the_target_is_missed(who: str) -> None:
    unanswered = figures()
    unanswered.times.wrong.update(dict.fromkeys(range(1, PLAN.cases + 1), "no outcome in time"))
    rows = [one for one in rows_of(unanswered) if who in one.what]
    assert [one.met for one in rows] == [False, False]
