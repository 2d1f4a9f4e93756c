"""Core's values as what /v1 sends. What only the operator is to know (what was wrong at an endpoint) stays here."""

from collections.abc import Sequence

from adapters.web.api.schemas import (
    AnswerReply,
    CheckpointReply,
    ChoiceReply,
    CitationReply,
    HitReply,
    SpentReply,
)
from core.model.answer import Answer, Citation
from core.model.evidence import Hit
from core.model.inquiry import Checkpoint


def answer_reply(
    answer: Answer, trace_id: str, conversation: str, notices: Sequence[str], checkpoint: Checkpoint | None = None
) -> AnswerReply:
    """How a question ended, with what was said beside it."""
    spent = answer.spent
    return AnswerReply(
        id=trace_id,
        conversation=conversation,
        outcome=answer.outcome,
        answer=answer.text,
        citations=[citation_reply(source) for source in answer.citations],
        nearest=[citation_reply(source) for source in answer.nearest],
        checkpoint=checkpoint_reply(checkpoint) if checkpoint is not None else None,
        grounding=answer.verdict.grounding if answer.verdict is not None else None,
        notices=list(dict.fromkeys((*notices, *answer.notices))),
        written_by=answer.written_by,
        spent=SpentReply(
            searches=spent.searches,
            calls=spent.calls,
            tokens_in=spent.tokens_in,
            tokens_out=spent.tokens_out,
            seconds=round(spent.seconds, 3),
            cost=spent.cost,
        ),
    )


def citation_reply(source: Citation) -> CitationReply:
    """A citation as ``/v1`` describes it."""
    return CitationReply(
        n=source.n,
        knowledge_base=source.knowledge_base,
        document=source.document,
        title=source.title,
        locator=source.locator,
        quote=source.quote,
        score=source.score,
        url=source.url,
        dated=source.dated,
    )


def checkpoint_reply(checkpoint: Checkpoint) -> CheckpointReply:
    """A checkpoint as ``/v1`` describes it."""
    return CheckpointReply(
        id=checkpoint.id,
        kind=checkpoint.kind,
        message=checkpoint.message,
        choices=[ChoiceReply(id=one.id, label=one.label, asks_text=one.asks_text) for one in checkpoint.choices],
        found=list(checkpoint.found),
        missing=checkpoint.missing,
        expires_at=checkpoint.expires_at,
    )


def hit_reply(hit: Hit) -> HitReply:
    """A passage that was found, with the score of each leg."""
    passage = hit.passage
    return HitReply(
        knowledge_base=passage.knowledge_base,
        document=passage.document,
        section=passage.section,
        title=passage.title,
        heading=list(passage.heading),
        locator=str(passage.locator),
        source=passage.source,
        text=passage.text,
        url=passage.url,
        dated=passage.dated,
        score=hit.score,
        dense=hit.dense,
        bm25=hit.bm25,
        rerank=hit.rerank,
    )
