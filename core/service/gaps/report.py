"""The gap report as data: groups of questions that were not answered well, with related figures.

Renderers (terminal, page, CSV, a channel) add nothing and look nothing up.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum

from core.ports.usage import DocumentReference


class GapReason(StrEnum):
    """Why a question counts as one that the documents did not answer well."""

    ABSTAINED = "abstained"  # "the documents don't say"
    UNANSWERED = "unanswered"  # a choice was offered, and nobody took it
    DISLIKED = "disliked"  # somebody said that the answer did not help
    CORRECTED = "corrected"  # somebody proposed the right answer


class Trend(StrEnum):
    """Change from the first half of the period to the second."""

    NEW = "new"  # nobody asked it in the first half
    RISING = "rising"
    STEADY = "steady"
    FALLING = "falling"


@dataclass(frozen=True, slots=True)
class GapQuestion:
    """One question of a gap whose words may be shown."""

    trace_id: str
    thread: str
    question: str
    at: datetime
    place: str
    reason: GapReason


@dataclass(frozen=True, slots=True)
class NearDocument:
    """A document near a gap's questions, and how many of them are near it."""

    document: DocumentReference
    questions: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions with the same meaning. ``title`` is the most central one; empty if none may be shown."""

    id: str  # the trace of its oldest question; stable while that is stored
    title: str
    questions: int
    people: int
    private: int  # how many of the questions only their askers may read
    reasons: Mapping[GapReason, int]
    places: tuple[tuple[str, int], ...]  # with the number of questions, most first; without private ones
    first_at: datetime
    last_at: datetime
    trend: Trend
    weeks: tuple[int, ...]  # questions by week of the period, the oldest first
    nearest: tuple[NearDocument, ...] = ()
    examples: tuple[GapQuestion, ...] = ()  # the newest first

    @property
    def can_be_drafted(self) -> bool:
        """Whether there is public text to start a section from."""
        return bool(self.examples)


@dataclass(frozen=True, slots=True)
class DocumentUse:
    """A document and how often the period's answers cite it. ``aged`` is days since its date, if known."""

    document: DocumentReference
    cited: int
    last_cited: datetime | None = None
    dated: str = ""
    aged: int | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two documents that answers cited together and that differ; see ``core.service.disputes``."""

    documents: tuple[DocumentReference, DocumentReference]
    answers: int


@dataclass(frozen=True, slots=True)
class Week:
    """Seven days of questions, from ``start`` on. Seconds are the median and the 95th percentile."""

    start: date
    asked: int = 0
    answered: int = 0
    abstained: int = 0
    unanswered: int = 0
    failed: int = 0
    disliked: int = 0
    corrected: int = 0
    seconds_median: float = 0.0
    seconds_p95: float = 0.0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class GapReport:
    """The whole report of one period for one reader. Gaps are sorted by people, then questions, descending."""

    since: datetime
    until: datetime
    asked: int
    people: int
    gaps: tuple[Gap, ...] = ()
    withheld_gaps: int = 0  # asked only in private, by too few people to hide who they are
    withheld_questions: int = 0
    ungrouped: int = 0  # questions with another embedding model, or without a search

    most_cited: tuple[DocumentUse, ...] = ()
    never_cited: tuple[DocumentUse, ...] = ()
    stale_cited: tuple[DocumentUse, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    weeks: tuple[Week, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)  # how many more entries each list has


COLUMNS = (
    "gap",
    "title",
    "questions",
    "people",
    "private",
    *(reason.value for reason in GapReason),
    "trend",
    "first_at",
    "last_at",
    "places",
    "nearest_documents",
    "examples",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def as_csv(report: GapReport) -> str:
    """Return a table with one row for each gap. Several values in a cell are on lines of their own."""
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(COLUMNS)
    for gap in report.gaps:
        row = (
            gap.id,
            gap.title,
            gap.questions,
            gap.people,
            gap.private,
            *(gap.reasons.get(reason, 0) for reason in GapReason),
            gap.trend.value,
            gap.first_at.isoformat(),
            gap.last_at.isoformat(),
            "\n".join(f"{place} ({count})" for place, count in gap.places),
            "\n".join(f"{near.document.title} [{near.document.knowledge_base}]" for near in gap.nearest),
            "\n".join(example.question for example in gap.examples),
        )
        table.writerow([_cell(value) for value in row])
    return written.getvalue()


def _cell(value: object) -> object:
    """Return a value, with an apostrophe before text that a spreadsheet would take for a formula.

    Questions are untrusted. See OWASP: https://owasp.org/www-community/attacks/CSV_Injection.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
