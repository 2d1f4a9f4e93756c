"""Analysis of the question log: which questions were not answered well, which mean the same, what is near.

A report is for one reader: an admin, or somebody for whom an admin shows it. It never names documents of bases that
this reader may not see. For a reader of single workspaces, it counts no questions of others.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from statistics import median, quantiles

from core.model.answer import Outcome
from core.model.clock import Clock
from core.model.conversation import ThreadKey
from core.model.errors import NotFound
from core.model.knowledge import Document
from core.ports.catalog import Catalog
from core.ports.memory import FeedbackStore
from core.ports.usage import DocumentReference, LoggedQuestion, QuestionLog
from core.service.gaps.question_groups import group_by_meaning, middle_of
from core.service.gaps.report import (
    Conflict,
    DocumentUse,
    Gap,
    GapQuestion,
    GapReason,
    GapReport,
    NearDocument,
    Trend,
    Week,
)

MOST_GAPS = 200
MOST_EXAMPLES = 20
MOST_NEAR = 3
MOST_PLACES = 5
UNSEEN_PEOPLE = 3  # a gap asked only in private by fewer people is withheld: its documents would reveal who
LONGEST = timedelta(days=180)
MOST_LISTED = 20  # documents of each list
STALE_DAYS = 365
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents that a reader may see at one moment."""

    by_id: Mapping[str, Document]
    now: datetime

    @classmethod
    def of(cls, documents: Sequence[Document], now: datetime) -> "Documents":
        """Index these documents by id."""
        return cls({document.id: document for document in documents}, now)

    def reference(self, document_id: str) -> DocumentReference:
        """Return the reference of a document, with its current title."""
        document = self.by_id[document_id]
        return DocumentReference(document.id, document.knowledge_base, document.title)

    def age(self, document: Document) -> int | None:
        """Return the days since a document's stated date, or since it was added; None if neither is known."""
        for text in (document.dated, document.added_at):
            if (moment := _date(text)) is not None:
                return max(0, (self.now.date() - moment).days)
        return None


@dataclass(frozen=True, slots=True)
class DocumentsUsed:
    """Three lists with at most ``MOST_LISTED`` entries each, and how many more there are."""

    most_cited: tuple[DocumentUse, ...]
    never_cited: tuple[DocumentUse, ...]
    stale_cited: tuple[DocumentUse, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)


def documents_used(asked: Sequence[LoggedQuestion], documents: Documents) -> DocumentsUsed:
    """Return how the answers to these questions used the documents."""
    cited = Counter(reference.id for one in asked for reference in one.cited)
    last = {reference.id: one.at for one in asked for reference in one.cited}
    uses = [
        DocumentUse(
            documents.reference(document.id),
            cited[document.id],
            last.get(document.id),
            document.dated,
            documents.age(document),
        )
        for document in documents.by_id.values()
    ]
    needed = sorted((use for use in uses if use.cited), key=lambda use: (-use.cited, use.document.title))
    never = sorted((use for use in uses if not use.cited), key=lambda use: (-(use.aged or 0), use.document.title))
    stale = [use for use in needed if use.aged is not None and use.aged > STALE_DAYS]
    lists = {"most_cited": needed, "never_cited": never, "stale_cited": stale}
    left_out = {name: max(0, len(uses) - MOST_LISTED) for name, uses in lists.items()}
    return DocumentsUsed(tuple(needed[:MOST_LISTED]), tuple(never[:MOST_LISTED]), tuple(stale[:MOST_LISTED]), left_out)


def _date(text: str) -> date | None:
    """Return the day of an ISO date or timestamp, which may lack the month or the day."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).date()
    except ValueError:
        pass
    parts = text.split("-")
    try:
        numbers = [int(part) for part in parts]
        return date(numbers[0], *[*numbers[1:], 1, 1][:2]) if len(numbers) in (1, 2) else None
    except ValueError:
        return None


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


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a report: the bases they may see, and their workspaces (None: all).

    ``is_operator``: they run this machine, and may see what its operator asked.
    """

    bases: frozenset[str]
    workspaces: frozenset[tuple[str, str]] | None = None  # platform and space, as in thread keys
    is_operator: bool = False

    def may_count(self, question: LoggedQuestion) -> bool:
        """Return whether the question was asked in a workspace of this reader."""
        if self.workspaces is None:
            return True
        key = ThreadKey.parse(question.thread)
        return (key.platform, key.space) in self.workspaces

    def redact(self, question: LoggedQuestion) -> LoggedQuestion:
        """Return the question, without its text if the reader may not see it."""
        hidden = question.for_operator and not self.is_operator
        return replace(question, private=True, question="") if hidden else question


@dataclass(frozen=True, slots=True)
class GapAnalysis:
    """Creates reports. Stateless."""

    log: QuestionLog
    feedback: FeedbackStore
    catalog: Catalog
    clock: Clock

    async def report(self, period: timedelta, reader: Reader) -> GapReport:
        """Report what was asked in this period (at most 180 days) and what was missing. Raises StoreUnavailable."""
        until = self.clock.now()
        since = until - min(period, LONGEST)
        asked = [reader.redact(one) async for one in self.log.since(since) if reader.may_count(one)]
        disliked = {word.trace_id async for word in self.feedback.all() if not word.helpful}
        documents = Documents.of(await self.catalog.documents(reader.bases), until)
        work = _Work(since, until, asked, disliked, documents)
        return await asyncio.to_thread(work.report)  # CPU-bound: takes seconds for ten thousand questions

    async def gap(self, gap_id: str, period: timedelta, reader: Reader) -> Gap:
        """Return one gap by its id. Raises NotFound."""
        for gap in (await self.report(period, reader)).gaps:
            if gap.id == gap_id:
                return gap
        raise NotFound(f"There is no gap {gap_id} in this period.", remedy="Check the list again. It may have changed.")


def reason_of(question: LoggedQuestion, disliked: frozenset[str] | set[str]) -> GapReason | None:
    """Return why this question was not answered well; None if it was, or if no document can help."""
    if question.corrected:
        return GapReason.CORRECTED
    if question.trace_id in disliked:
        return GapReason.DISLIKED
    if question.outcome is Outcome.ABSTAINED:
        return GapReason.ABSTAINED
    if question.outcome is Outcome.PARKED:
        return GapReason.UNANSWERED
    return None


@dataclass(frozen=True, slots=True)
class _Work:
    """A report in progress. Runs in a thread and never blocks."""

    since: datetime
    until: datetime
    asked: Sequence[LoggedQuestion]
    disliked: set[str]
    documents: Documents

    def report(self) -> GapReport:
        lacking = [(one, reason) for one in self.asked if (reason := reason_of(one, self.disliked)) is not None]
        model = next((one.vector.model for one, _ in reversed(lacking) if one.vector is not None), "")
        grouped = [pair for pair in reversed(lacking) if pair[0].vector is not None and pair[0].vector.model == model]
        gaps = [self._gap(members) for members in self._groups(grouped, model)]
        shown = [gap for gap in gaps if gap.title or gap.people >= UNSEEN_PEOPLE]
        shown.sort(key=lambda gap: (-gap.people, -gap.questions, -gap.last_at.timestamp()))
        hidden = [gap for gap in gaps if not (gap.title or gap.people >= UNSEEN_PEOPLE)]
        used = documents_used(self.asked, self.documents)
        return GapReport(
            since=self.since,
            until=self.until,
            asked=len(self.asked),
            people=len({one.asker for one in self.asked}),
            gaps=tuple(shown[:MOST_GAPS]),
            withheld_gaps=len(hidden),
            withheld_questions=sum(gap.questions for gap in hidden),
            ungrouped=len(lacking) - len(grouped),
            most_cited=used.most_cited,
            never_cited=used.never_cited,
            stale_cited=used.stale_cited,
            conflicts=self._conflicts(),
            weeks=weeks_of(self.asked, self.disliked, self.since, self.until),
            left_out={"gaps": max(0, len(shown) - MOST_GAPS), **used.left_out},
        )

    def _groups(
        self, newest_first: Sequence[tuple[LoggedQuestion, GapReason]], model: str
    ) -> Iterable[list[tuple[LoggedQuestion, GapReason]]]:
        import numpy as np

        if not newest_first:
            return []
        vectors = np.stack([one.vector.decode() for one, _ in newest_first if one.vector is not None])
        everything = np.stack(
            [one.vector.decode() for one in self.asked if one.vector is not None and one.vector.model == model]
        )
        groups: dict[int, list[tuple[LoggedQuestion, GapReason]]] = {}
        for pair, group in zip(newest_first, group_by_meaning(vectors, everything), strict=True):
            groups.setdefault(group, []).append(pair)
        return groups.values()

    def _gap(self, members: list[tuple[LoggedQuestion, GapReason]]) -> Gap:
        questions = [one for one, _ in members]
        spoken = [(one, reason) for one, reason in members if one.question]
        weeks = Counter(week_of(one.at, self.until) for one in questions)
        return Gap(
            id=questions[-1].trace_id,
            title=_middle([one for one, _ in spoken]),
            questions=len(questions),
            people=len({one.asker for one in questions}),
            private=sum(one.private for one in questions),
            reasons=dict(Counter(reason for _, reason in members)),
            places=tuple(Counter(one.place for one in questions if not one.private).most_common(MOST_PLACES)),
            first_at=questions[-1].at,
            last_at=questions[0].at,
            trend=_trend(questions, self.since + (self.until - self.since) / 2),
            weeks=tuple(weeks[week] for week in range(week_of(self.since, self.until), -1, -1)),
            nearest=self._nearest(questions),
            examples=tuple(
                GapQuestion(one.trace_id, one.thread, one.question, one.at, one.place, reason)
                for one, reason in spoken[:MOST_EXAMPLES]
            ),
        )

    def _nearest(self, questions: Sequence[LoggedQuestion]) -> tuple[NearDocument, ...]:
        """Return the existing documents nearest to most questions, weighted by rank."""
        weight: Counter[str] = Counter()
        count: Counter[str] = Counter()
        for one in questions:
            for place, document in enumerate(one.nearest):
                weight[document.id] += 6 - min(place, 5)
                count[document.id] += 1
        standing = [name for name, _ in weight.most_common() if name in self.documents.by_id]
        return tuple(NearDocument(self.documents.reference(name), count[name]) for name in standing[:MOST_NEAR])

    def _conflicts(self) -> tuple[Conflict, ...]:
        met = Counter(tuple(sorted((one.id, two.id))) for asked in self.asked for one, two in asked.conflicts)
        standing = [(pair, answers) for pair, answers in met.most_common() if set(pair) <= self.documents.by_id.keys()]
        return tuple(Conflict(self._pair(*pair), answers) for pair, answers in standing[:MOST_GAPS])

    def _pair(self, one: str, two: str) -> tuple[DocumentReference, DocumentReference]:
        return self.documents.reference(one), self.documents.reference(two)


def _middle(questions: Sequence[LoggedQuestion]) -> str:
    import numpy as np

    if not questions:
        return ""
    vectors = np.stack([one.vector.decode() for one in questions if one.vector is not None])
    return questions[middle_of(vectors)].question


def _trend(questions: Sequence[LoggedQuestion], half: datetime) -> Trend:
    later = sum(one.at >= half for one in questions)
    earlier = len(questions) - later
    if not earlier:
        return Trend.NEW
    if later > 1.5 * earlier:
        return Trend.RISING
    return Trend.FALLING if earlier > 1.5 * later else Trend.STEADY
