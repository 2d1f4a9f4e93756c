"""What is kept of a question that was asked on the page."""

from dataclasses import dataclass
from enum import StrEnum

from adapters.web.ask.shown_answer import ShownAnswer
from core.model.incoming_events import IncomingMessage
from core.model.records import QuestionState


class AnswerStage(StrEnum):
    """How far an answer is."""

    UNSEEN = ""
    WORKING = "working"
    CHOSEN = "chosen"  # its card was answered, which is not worked on yet
    ENDED = "ended"


@dataclass(frozen=True, kw_only=True)
class WebQuestionState(QuestionState):
    """The answer as the page shows it once it has ended; until then, the trace under which it can be stopped."""

    stage: AnswerStage = AnswerStage.UNSEEN
    trace: str = ""
    question: IncomingMessage | None = None
    shown: ShownAnswer | None = None
    chosen: str = ""  # on its card, in words
    told: str = ""  # a word beside it
    rating: str = ""
