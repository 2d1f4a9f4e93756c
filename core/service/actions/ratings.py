"""Rating an answer: what somebody thought of it is kept, and people are counted, not presses."""

from dataclasses import dataclass

from core.model.conversation import Person, ThreadKey
from core.model.usage import UsageCounts
from core.ports.feedback import Feedback, FeedbackStore
from core.ports.trace_store import TraceStore
from core.service.actions.kept_answers import KeptAnswers


@dataclass(frozen=True, slots=True)
class AnswerRatings:
    """Takes ratings."""

    answers: KeptAnswers
    feedback: FeedbackStore
    trace_store: TraceStore

    async def rate(
        self, thread: ThreadKey, trace_id: str, person: Person, *, helpful: bool, reason: str = ""
    ) -> Feedback:
        """Keep what someone thought of an answer, with all that is needed to judge it later. Raises NotFound."""
        turn = await self.answers.find(thread, trace_id)
        rating = Feedback(
            trace_id=trace_id,
            person=person,
            helpful=helpful,
            reason=reason.strip(),
            question=turn.question,
            answer=turn.answer,
            citations=turn.citations,
            asker=turn.asker.id,
            thread=str(thread),
        )
        earlier = await self.feedback.keep(rating)
        if earlier is None or earlier.helpful != helpful:  # people are counted, not presses
            taken_back = -1 if earlier is not None else 0
            await self.trace_store.count(
                UsageCounts(helpful=1, unhelpful=taken_back)
                if helpful
                else UsageCounts(helpful=taken_back, unhelpful=1)
            )
        return rating
