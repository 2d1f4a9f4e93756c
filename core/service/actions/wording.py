"""What people are told of their actions, in the words that all clients share: outcomes and refusals."""

from typing import assert_never

from core.service.actions.outcomes import ActionOutcome, PersonForgotten, ThreadForgotten, ThreadMuted
from core.service.explanations import Explanation

IN_OWN_WORDS = "What exactly are you after?"
GONE = "I have nothing kept about that answer any more."
CHOICE_GONE = "This choice has been made already, or its time is over. Ask again if you like."
CARD_OVER = "Nobody chose in time. Ask again if you still want to know."
FINISHED = "That is finished already."
NOT_YOURS_TO_CHOOSE = "Only the person who asked, or an admin, can choose here."
YOU_EDITED = "You edited your question after I answered it."
EDITED_LATE = f"{YOU_EDITED} Ask again here to have it answered as it reads now."
ANSWER_AGAIN = "Answer again?"
NOT_YOURS_TO_REPEAT = "Only the person who asked can have this answered again."
NOT_YOURS_TO_STOP = "Only the person who asked, or an admin, can stop this."
NOT_YOURS_TO_SHARE = "Only the person who asked can share this."
NOT_YOURS_TO_FORGET = "Others have asked in that thread too, so only an admin can make me forget it."
NOT_FOR_ALL = "Not everybody in this channel may read what that answer is from."
NOBODY_TO_CALL = "Nobody is set up to be asked here. An admin can do that: `/footnote settings`."
ASKED_ALREADY = "That has been asked already; the answer is in this conversation."
CALLED_ALREADY = "Somebody has been asked about this answer already; please give them time."
SHARED_ALREADY = "It is shared already."
MUTED = "I keep quiet in this thread now. Say `unmute`, or mention me, when you want me back."
UNMUTED = "I am listening in this thread again."
THREAD_FORGOTTEN = "I have forgotten that thread."
NOTHING_KEPT = "I kept nothing of that thread."
STAYS = (
    "What stays: the record of admin actions; what became a document, which an admin can remove; and, without your"
    " name, jobs and schedules that you began."
)


def explanation_text(explanation: Explanation) -> str:
    """How an answer came about, for a client that shows lines: the question, then a line a step."""
    steps = (*explanation.steps, f"Trace {explanation.trace_id}.")
    return "\n".join([f"“{explanation.question}”", *(f"• {step}" for step in steps)])


def outcome_text(outcome: ActionOutcome) -> str:
    """An outcome in plain words, for whoever did it."""
    match outcome:
        case ThreadMuted(muted):
            return MUTED if muted else UNMUTED
        case ThreadForgotten(was_kept):
            return THREAD_FORGOTTEN if was_kept else NOTHING_KEPT
        case PersonForgotten(questions):
            asked = f"{questions} question{'' if questions == 1 else 's'}"
            return f"I have forgotten everything you asked me: {asked}, and all that came of them. {STAYS}"
        case _:
            assert_never(outcome)
