"""Outcomes of actions on an answer or a thread, and their text, the same in all clients."""

from dataclasses import dataclass
from typing import assert_never

from core.service.explanations import Explanation


@dataclass(frozen=True, slots=True)
class ThreadMuted:
    """The bot is silent in this thread; with ``muted`` False it answers again."""

    muted: bool


@dataclass(frozen=True, slots=True)
class ThreadForgotten:
    """The stored memory of a thread was deleted. ``was_kept`` is False if there was none."""

    was_kept: bool


@dataclass(frozen=True, slots=True)
class PersonForgotten:
    """Everything that a person asked was deleted: the number of questions, and of their stored answers."""

    questions: int
    answers: int = 0


ActionOutcome = ThreadMuted | ThreadForgotten | PersonForgotten


IN_OWN_WORDS = "What exactly do you want to know?"
GONE = "I no longer have anything stored about that answer."
CHOICE_GONE = "A choice has already been made here, or it has expired. You can ask again."
CARD_OVER = "Nobody chose in time. Ask again if you still want to know."
FINISHED = "That is already finished."
NOT_YOURS_TO_CHOOSE = "Only the person who asked, or an admin, can choose here."
YOU_EDITED = "You edited your question after I answered it."
EDITED_LATE = f"{YOU_EDITED} Ask again here to get an answer to the new version."
ANSWER_AGAIN = "Answer again?"
NOT_YOURS_TO_REPEAT = "Only the person who asked can get a new answer here."
NOT_YOURS_TO_STOP = "Only the person who asked, or an admin, can stop this."
NOT_YOURS_TO_SHARE = "Only the person who asked can share this."
NOT_YOURS_TO_FORGET = "Others have asked in that thread too, so only an admin can delete it."
NOT_FOR_ALL = "Not everyone in this channel can read the sources of that answer."
NOBODY_TO_CALL = "Nobody is set up to answer questions here. An admin can choose someone with `/footnote settings`."
ASKED_ALREADY = "This was already asked. The answer is in this conversation."
CALLED_ALREADY = "Someone has already been asked about this answer. Please give them time."
SHARED_ALREADY = "It has already been shared."
TOLD_OWNER = "Thank you. An admin who can read both sources can now decide which one is right."
OWNER_TOLD = "The admins already know that these two sources differ."
OWNER_DECIDED = "An admin has already decided about these two sources."
THIS_THREAD = "this thread"
STAYS = (
    "I still keep the log of admin actions, messages that became documents (an admin can remove those), and, without"
    " your name, jobs and schedules that you started."
)


def explanation_text(explanation: Explanation) -> str:
    """Return how an answer came about as plain text: the question, then one line for each step."""
    steps = (*explanation.steps, f"Trace {explanation.trace_id}.")
    return "\n".join([f"“{explanation.question}”", *(f"• {step}" for step in steps)])


def outcome_text(outcome: ActionOutcome, thread: str = THIS_THREAD) -> str:
    """Return an outcome in plain words. ``thread`` names or links its thread."""
    match outcome:
        case ThreadMuted(muted):
            silent = f"I now stay silent in {thread}. To bring me back, write `unmute` there or mention me."
            return silent if muted else f"I answer in {thread} again."
        case ThreadForgotten(was_kept):
            return f"I {'have deleted everything I stored' if was_kept else 'have nothing stored'} about {thread}."
        case PersonForgotten(questions, answers):
            asked = f"{questions} question{'' if questions == 1 else 's'}"
            kept = f", and {answers} of your answers that I kept" if answers else ""
            return f"I have deleted everything you asked me ({asked}) and my answers{kept}. {STAYS}"
        case _:
            assert_never(outcome)
