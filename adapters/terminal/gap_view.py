"""The report on gaps in the documents, for a terminal."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from core.service.gaps.report import Conflict, DocumentUse, Gap, GapReason, GapReport, Week

MOST = 15  # gaps shown in full; --json and --csv have all of them
MOST_DOCUMENTS = 5
NOTHING_ASKED = "There were no questions in this period. Ask something with footnote ask, then look again."
NOTHING_LACKING = "Every question in this period was answered, and every rating was good."
UNGROUPED = "could not be grouped, because there were no documents yet or the embedding model has changed."
IN_PRIVATE = "(asked in private; its words are not shown)"
REASONS = {
    GapReason.ABSTAINED: "the documents don't say",
    GapReason.UNANSWERED: "left open",
    GapReason.DISLIKED: "did not help",
    GapReason.CORRECTED: "corrected",
}


def print_gaps(console: Console, report: GapReport) -> None:
    """Print the part of a report that fits on a screen or two, the most wanted gaps first."""
    days = (report.until - report.since).days
    asked = f"{_count(report.asked, 'question')} of {_count(report.people, 'person', 'people')} in {days} days"
    console.print(Text(f"What the documents lack · {asked}", style="bold"))
    if not report.asked:
        console.print(Text(NOTHING_ASKED))
        return
    if not report.gaps and not report.withheld_gaps:
        console.print(Text(NOTHING_LACKING))
    for number, gap in enumerate(report.gaps[:MOST], 1):
        console.print(Text(f"\n{number}. {gap.title or IN_PRIVATE}", style="bold"))
        for line in _gap_lines(gap):
            console.print(Text(f"   {line}"))
    for line in _rest(report):
        console.print(Text(line))


def _gap_lines(gap: Gap) -> Iterator[str]:
    private = f", {gap.private} in private" if gap.private else ""
    asked = f"{_count(gap.questions, 'question')} of {_count(gap.people, 'person', 'people')}{private}"
    yield f"{asked}; {gap.trend}; since {gap.first_at:%Y-%m-%d}, last {gap.last_at:%Y-%m-%d}"
    yield ", ".join(f"{count} × {REASONS[reason]}" for reason, count in gap.reasons.items())
    if gap.places:
        yield "in " + ", ".join(f"{place} ({count})" for place, count in gap.places)
    if gap.nearest:
        yield "nearest: " + "; ".join(f"{near.document.title} [{near.document.knowledge_base}]" for near in gap.nearest)
    if gap.can_be_drafted:
        yield f"begin the missing section: footnote gaps --draft {gap.id}"


def _rest(report: GapReport) -> Iterator[str]:
    more = max(0, len(report.gaps) - MOST) + report.left_out.get("gaps", 0)
    if more:
        yield f"\n{_count(more, 'more gap')}: --json and --csv FILE have them."
    if report.withheld_gaps:
        groups, questions = _count(report.withheld_gaps, "more gap"), _count(report.withheld_questions, "question")
        yield f"\n{groups} ({questions}) asked in private by one or two people: only counted."
    if report.ungrouped:
        yield f"{_count(report.ungrouped, 'question')} {UNGROUPED}"
    yield from _documents("Most cited", report.most_cited)
    yield from _documents("Cited, though older than a year", report.stale_cited)
    yield from _documents("Never cited in this period", report.never_cited)
    yield from _conflicts(report.conflicts)
    yield from _weeks(report.weeks)


def _documents(head: str, uses: Sequence[DocumentUse]) -> Iterator[str]:
    if uses:
        yield f"\n{head}"
    for use in uses[:MOST_DOCUMENTS]:
        cited = f"{_count(use.cited, 'answer')}" if use.cited else "no answer"
        aged = f", {use.aged} days old" if use.aged is not None else ""
        yield f"   {use.document.title} [{use.document.knowledge_base}]: {cited}{aged}"


def _conflicts(conflicts: Sequence[Conflict]) -> Iterator[str]:
    if conflicts:
        yield "\nThese may disagree, and answers cited both"
    for one in conflicts[:MOST_DOCUMENTS]:
        first, second = one.documents
        yield f"   {first.title} and {second.title}: {_count(one.answers, 'answer')}"


def _weeks(weeks: Sequence[Week]) -> Iterator[str]:
    yield "\nWeek of      asked  answered  don't say  disliked  median s   95% s      cost"
    for week in weeks:
        counts = f"{week.asked:>7}  {week.answered:>8}  {week.abstained:>9}  {week.disliked:>8}"
        yield f"{week.start}{counts}  {week.seconds_median:>8.1f}  {week.seconds_p95:>6.1f}  {week.cost:>8.4f}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
