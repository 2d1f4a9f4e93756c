"""What was measured under load, judged: each figure a row beside its target."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.model.answer import Outcome
from research.benchmark.endpoint import Span, covered_seconds
from research.benchmark.load_plan import Plan
from research.benchmark.resource_samples import Look
from research.benchmark.rows import ReportRow, percentile
from research.benchmark.stopwatch import Times
from research.benchmark.yardstick import Yardstick

SIGN_MS = 300
BEYOND_MS = 250
PACE = 20  # answers a second
SETTLED = 0.3  # the share of the looks after which memory is compared: caches fill first
GROWTH_JUDGED = 10_000  # answers
GROWTH = 1.0  # MB for 1,000 answers; below that it is no growth


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured, before it is judged."""

    times: Times
    calls: dict[int, list[Span]]
    plan: Plan
    lanes: int
    looks: Sequence[Look]
    yardstick: Yardstick

    def answered_cases(self, cases: range) -> list[int]:
        """Those of the cases that have an answer of the model."""
        return [case for case in cases if case not in self.times.wrong]

    def took(self, cases: Sequence[int]) -> list[float]:
        """Seconds from being put in to the end."""
        return [self.times.ended[case] - self.times.put[case] for case in cases]

    def model(self, cases: Sequence[int]) -> list[float]:
        """Seconds in which a call of the case was with the model."""
        return [covered_seconds(self.calls.get(case, ())) for case in cases]

    def beyond(self, cases: Sequence[int]) -> list[float]:
        """Milliseconds that an answer took beyond its model's time."""
        return [(took - own) * 1000 for took, own in zip(self.took(cases), self.model(cases), strict=True)]


def rows_of(figures: Figures) -> list[ReportRow]:
    """Return the table's rows for a load's figures."""
    plan = figures.plan
    return [
        *_latency_rows(figures, plan.burst, f"{plan.threads} threads in the same instant"),
        *_latency_rows(
            figures, plan.counted_conversation_cases, f"{plan.threads} threads going on", _pace_note(figures)
        ),
        *_pace(figures),
        _errors(figures),
        _growth(figures),
    ]


def _latency_rows(figures: Figures, asked: range, who: str, note: str = "") -> list[ReportRow]:
    """Return what people feel: the time to the first sign, and the time an answer takes beyond its model's."""
    cases = figures.answered_cases(asked)
    if not cases:
        return [ReportRow(f"{what}, {who}", "no answer", "", "", met=False) for what in ("first sign", "overhead")]
    shown = [(figures.times.shown[case] - figures.times.put[case]) * 1000 for case in cases]
    beyond = figures.beyond(cases)
    calls = sum(len(figures.calls.get(case, ())) for case in cases) / len(cases)
    sign, over = percentile(shown, 0.95), percentile(beyond, 0.95)
    return [
        ReportRow(
            f"first sign p95, {who}",
            f"{sign:.0f} ms (p50 {percentile(shown, 0.5):.0f})",
            note,
            f"under {SIGN_MS} ms",
            sign < SIGN_MS,
        ),
        ReportRow(
            f"answer beyond its model's time p95, {who}",
            f"{over:.0f} ms (p50 {percentile(beyond, 0.5):.0f})",
            f"model {percentile(figures.model(cases), 0.5):.2f} s in {calls:.1f} calls",
            f"under {BEYOND_MS} ms",
            over < BEYOND_MS,
        ),
    ]


def _pace_note(figures: Figures) -> str:
    """How those ask who go on: their pause, and how many of them wait for an answer at a time."""
    pause = f"each asks 0 to {figures.plan.thinking:g} s after its answer"
    cases = figures.answered_cases(figures.plan.counted_conversation_cases)
    if not cases:
        return pause
    times = figures.times
    elapsed = max(times.ended[case] for case in cases) - min(times.put[case] for case in cases)
    return f"{pause}; {sum(figures.took(cases)) / elapsed:.0f} under way"


def _pace(figures: Figures) -> list[ReportRow]:
    cases, looks = figures.answered_cases(figures.plan.sustained_cases), figures.looks
    if not cases or len(looks) < 2:
        return [ReportRow("answers per second, sustained", "no answer", "", f"{PACE}", met=False)]
    first, last = looks[0], looks[-1]
    count, elapsed = last.answers - first.answers, last.at - first.at
    beyond, model = figures.beyond(cases), figures.model(cases)
    pace = len(cases) / len(figures.plan.sustained_cases) * count / elapsed
    processor, loop = (
        1000 * (end - start) / count for start, end in ((first.processor, last.processor), (first.loop, last.loop))
    )
    return [
        ReportRow(
            "answers per second, sustained",
            f"{pace:.1f} in {figures.lanes} lanes",
            f"{figures.plan.ramp * len(model) / sum(model):.1f} if only the model took time",
            f"{PACE}",
            pace >= PACE,
        ),
        ReportRow(
            "processor time per answer, this process",
            f"{processor:.1f} ms",
            f"{loop:.1f} ms on the loop's thread",
            "",
            None,
        ),
        ReportRow(
            "processor time per answer, in thousandths of an import",
            f"{processor / figures.yardstick.import_processor:.2f}",
            f"{loop / figures.yardstick.import_processor:.2f} on the loop's thread; one import takes"
            f" {figures.yardstick.import_processor:.1f} s of the processor",
            "",
            None,
        ),
        ReportRow(
            "Redis commands per answer",
            f"{(last.commands - first.commands) / count:.0f}",
            f"in {(last.reads - first.reads) / count:.0f} round trips",
            "",
            None,
        ),
        ReportRow(
            "answer beyond its model's time p95, sustained",
            f"{percentile(beyond, 0.95):.0f} ms (p50 {percentile(beyond, 0.5):.0f})",
            "",
            "",
            None,
        ),
    ]


def _errors(figures: Figures) -> ReportRow:
    """Return what failed, was late or was answered by the fallback. Abstaining is an outcome, listed beside."""
    plan = figures.plan
    asked = [*plan.burst, *plan.conversation_cases, *plan.sustained_cases]
    wrong = Counter(figures.times.wrong[case] for case in asked if case in figures.times.wrong)
    abstained = wrong.pop(str(Outcome.ABSTAINED), 0)
    said = "; ".join([f"{abstained} abstained", *(f"{count} {what}" for what, count in wrong.most_common(3))])
    return ReportRow("questions that failed", f"{wrong.total()} of {len(asked):,}", said[:80], "0", not wrong)


def _growth(figures: Figures) -> ReportRow:
    looks = figures.looks[int(SETTLED * len(figures.looks)) :]
    if len(looks) < 2:
        return ReportRow("memory growth per 1,000 answers", "not known", "", "none", None)
    ours = _slope(looks, [look.resident for look in looks])
    redis = _slope(looks, [look.redis for look in looks])
    return ReportRow(
        "memory growth per 1,000 answers",
        f"{ours:+.2f} MB of {looks[-1].resident / 1e6:.0f}",
        f"Redis {redis:+.2f} MB, kept 14 to 30 days",
        f"under {GROWTH:g} MB",
        ours < GROWTH if figures.plan.answers >= GROWTH_JUDGED else None,
    )


def _slope(looks: Sequence[Look], sizes: Sequence[int]) -> float:
    """MB for 1,000 answers, by least squares."""
    import numpy as np

    slope, _ = np.polyfit([look.answers for look in looks], sizes, 1)
    return float(slope) * 1000 / 1e6
