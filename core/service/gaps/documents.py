"""Use of documents in answers: the most cited, those never cited, and old ones that are still cited."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from core.model.knowledge import Document
from core.ports.question_log import DocumentReference, LoggedQuestion
from core.service.gaps.report import DocumentUse

MOST = 20  # of each list
STALE_DAYS = 365


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
    """Three lists with at most ``MOST`` entries each, and how many more there are."""

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
    left_out = {name: max(0, len(uses) - MOST) for name, uses in lists.items()}
    return DocumentsUsed(tuple(needed[:MOST]), tuple(never[:MOST]), tuple(stale[:MOST]), left_out)


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
