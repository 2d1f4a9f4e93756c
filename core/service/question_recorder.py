"""Recorder of finished questions for ``core.service.gaps``: outcome, asker, place and the nearest documents.

Usage is added up by day, channel and base, without the asker. If not everybody in the workspace may read along, the
question's text is not stored here.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from core.agent.run import Run
from core.model.answer import Answer, Outcome
from core.model.clock import Days
from core.model.errors import Unavailable
from core.model.inquiry import Investigate
from core.model.knowledge import Passage
from core.ports.index import Encoder
from core.ports.usage import DocumentReference, LoggedQuestion, QuestionLog, QuestionVector, UsageBook, UsageRow

NEAREST = 5  # documents
MOST_CHARACTERS = 500  # of a question

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class UsageRecorder:
    """Adds up the usage of runs."""

    book: UsageBook
    days: Days

    async def record(self, run: Run, answer: Answer | None) -> None:
        """Add what this run used since it started or resumed. Raises StoreUnavailable."""
        inquiry, spent, before = run.inquiry, run.meter.spent, run.meter.before
        outcome = answer.outcome if answer is not None else None
        quoting = run.deps.quote_fallback or run.deps.reasoner
        quoted = answer is not None and answer.written_by == quoting.name
        await self.book.book(
            UsageRow(
                day=self.days.today(),
                place=inquiry.thread.place if inquiry.audience.is_shared else inquiry.thread.platform,
                base=next((one.knowledge_base for one in _documents_cited(run, answer)), ""),
                answers=int(outcome is Outcome.ANSWERED and not quoted),
                quotes=int(outcome is Outcome.ANSWERED and quoted),
                not_found=int(outcome is Outcome.ABSTAINED),
                tokens=spent.tokens - before.tokens,
                cost=spent.cost - before.cost,
            )
        )


@dataclass(frozen=True, slots=True)
class QuestionRecorder:
    """Writes the end of a run to the question log."""

    log: QuestionLog
    encoder: Encoder
    usage: UsageRecorder | None = None

    async def record_usage(self, run: Run, answer: Answer | None = None) -> None:
        """Add a run's usage; without an ``answer`` none was shown. Raises StoreUnavailable."""
        if self.usage is not None:
            await self.usage.record(run, answer)

    async def record(self, run: Run, answer: Answer | None) -> None:
        """Store how a run ended; without an ``answer`` it failed. Raises StoreUnavailable."""
        await self.record_usage(run, answer)
        inquiry = run.inquiry
        private = not (inquiry.audience.public or inquiry.audience.unrestricted)
        spent = answer.spent if answer is not None else run.meter.spent
        await self.log.keep(
            LoggedQuestion(
                trace_id=inquiry.id,
                thread=str(inquiry.thread),
                asker=inquiry.asker.id,
                place=inquiry.thread.place,
                at=inquiry.started_at,
                outcome=answer.outcome if answer is not None else Outcome.FAILED,
                private=private,
                for_operator=inquiry.audience.unrestricted and not inquiry.audience.public,
                question="" if private else inquiry.standalone[:MOST_CHARACTERS],
                vector=await self._vector(run),
                cited=_documents_cited(run, answer),
                nearest=_documents_found(run)[:NEAREST],
                conflicts=_conflicts(run, answer),
                seconds=spent.seconds,
                cost=spent.cost,
            )
        )

    async def _vector(self, run: Run) -> QuestionVector | None:
        """Return the vector of the search question, which the encoder has cached; None if nothing was searched."""
        if not isinstance(run.inquiry.plan, Investigate):
            return None
        try:
            (vector,) = await self.encoder.encode_queries([run.inquiry.standalone])
        except Unavailable as error:
            log.warning("question_without_vector", extra={"trace_id": run.inquiry.id, "reason": str(error)})
            return None
        return QuestionVector.encode(self.encoder.name, vector)


def _documents_cited(run: Run, answer: Answer | None) -> tuple[DocumentReference, ...]:
    library = run.inquiry.library
    cited = [library.get(citation.evidence) for citation in (answer.citations if answer is not None else ())]
    return _references(item.passage for item in cited if item is not None)


def _documents_found(run: Run) -> tuple[DocumentReference, ...]:
    """Return the documents that this question found, best first, then those ranked behind them."""
    library = run.inquiry.library
    looked_at = [item.passage for item in library.best_first() if item.query]
    return _references((*looked_at, *(hit.passage for hit in library.further)))


def _references(passages: Iterable[Passage]) -> tuple[DocumentReference, ...]:
    """Return the passages' documents, each once."""
    return tuple(dict.fromkeys(DocumentReference(one.document, one.knowledge_base, one.title) for one in passages))


def _conflicts(run: Run, answer: Answer | None) -> tuple[tuple[DocumentReference, DocumentReference], ...]:
    """Return the pair of documents that the answer says differ."""
    if answer is None or answer.dispute is None:
        return ()
    sides = {answer.dispute.newer, answer.dispute.older}
    items = (run.inquiry.library.get(one.evidence) for one in answer.citations if one.n in sides)
    one, other = _references(item.passage for item in items if item is not None)
    return ((one, other),)
