"""Asks one question of one knowledge base, as the operator, and returns what a person would read."""

import time
from contextlib import aclosing
from dataclasses import dataclass

from bot.container import Footnote
from core.model.answer import Answer, Outcome
from core.model.conversation import Audience, Person, Thread, ThreadKey, Turn
from core.model.events import AgentCompleted, CheckpointReached
from core.model.inquiry import Inquiry
from core.model.knowledge import KnowledgeBase
from core.model.plain_text import compose

_ASKER = Person("eval")


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was answered. ``cited`` are the sources of its citations."""

    outcome: Outcome
    text: str
    cited: frozenset[str] = frozenset()


def turn_of(footnote: Footnote, inquiry: Inquiry, answer: Answer | None) -> Turn:
    """A question and what came of it, as its thread remembers it."""
    return Turn(
        inquiry.question,
        answer.text if answer else "",
        answer.outcome if answer else Outcome.FAILED,
        _ASKER,
        footnote.clock.now(),
        inquiry.id,
        rewritten=inquiry.standalone if inquiry.searches else "",
        citations=answer.citations if answer else (),
        knowledge_bases=frozenset(base.name for base in inquiry.bases),
    )


def new_inquiry(footnote: Footnote, base: str, text: str, thread: ThreadKey) -> Inquiry:
    """A question that the operator asks of one base."""
    return Inquiry(
        id=f"eval-{time.monotonic_ns()}",
        question=compose(text),
        thread=thread,
        asker=_ASKER,
        audience=Audience(unrestricted=True),
        started_at=footnote.clock.now(),
        policy=footnote.policy,
        bases=(KnowledgeBase(base),),
    )


async def pursue_question(footnote: Footnote, base: str, text: str, thread: Thread) -> tuple[Answer | None, Inquiry]:
    """The answer, None where the run failed, and the inquiry as it ended."""
    run = footnote.agent.run(new_inquiry(footnote, base, text, thread.key), thread)
    answer: Answer | None = None
    async with aclosing(footnote.agent.pursue(run)) as events:
        async for event in events:
            if isinstance(event, AgentCompleted | CheckpointReached):
                answer = event.answer
    return answer, run.inquiry


def reply_of(answer: Answer | None) -> Prediction:
    """What the asker reads: the text and the notices below it. A quote that may answer counts as an answer."""
    if answer is None:
        return Prediction(Outcome.FAILED, "")
    outcome = Outcome.ANSWERED if answer.is_tentative else answer.outcome
    cited = frozenset(citation.document for citation in answer.citations if outcome is Outcome.ANSWERED)
    return Prediction(outcome, "\n".join((answer.text, *answer.notices)), cited)
