"""What can be done about an answer, by a button below it: one rule for all platforms, which set it in their own way."""

from enum import StrEnum

from core.model.answer import Answer, Outcome


class AnswerAction(StrEnum):
    """An action of an answer; its value stands in buttons that outlive a restart."""

    QUOTES = "quotes"
    WHY = "why"
    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    HANDOFF = "handoff"
    SHARE = "share"


RATINGS = frozenset({AnswerAction.HELPFUL, AnswerAction.UNHELPFUL})
LABELS = {
    AnswerAction.QUOTES: "Show quotes",
    AnswerAction.WHY: "Why",
    AnswerAction.HELPFUL: "Helpful",
    AnswerAction.UNHELPFUL: "Not helpful",
    AnswerAction.HANDOFF: "Ask a person",
    AnswerAction.SHARE: "Share with channel",
}


def actions_below(answer: Answer, *, handoff: bool = False, private: bool = False) -> tuple[AnswerAction, ...]:
    """The actions to offer, in order. ``handoff``: there is somebody to ask; ``private``: only the asker sees it."""
    offered = {
        AnswerAction.QUOTES: bool(answer.citations),
        AnswerAction.WHY: answer.is_rateable,
        AnswerAction.HELPFUL: answer.is_rateable,
        AnswerAction.UNHELPFUL: answer.is_rateable,
        AnswerAction.SHARE: private and answer.outcome is Outcome.ANSWERED,
        AnswerAction.HANDOFF: handoff and answer.outcome is not Outcome.CLARIFIED,
    }
    return tuple(action for action, is_offered in offered.items() if is_offered)
