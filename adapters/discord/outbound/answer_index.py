"""What leads from a button or a message of ours back to its conversation: small values beside the message states.

A button names a trace; the trace's thread, question and asker are looked up here. A reply names a message of ours;
the conversation it continues is looked up here.
"""

from dataclasses import dataclass

from adapters.discord.api.reply_target import ReplyMode, ReplyTarget
from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage
from core.ports.message_state import MessageStateStore

_WHERE = "where"
_QUESTION = "question"


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The question behind a trace. ``subject`` is its message's id, ``asker`` its author's qualified id."""

    thread: ThreadKey
    subject: str
    asker: str
    private: bool
    asked_at: str = ""  # where a question was asked that is answered elsewhere: channel/message


class AnswerIndex:
    """Kept for as long as the message states are."""

    def __init__(self, message_states: MessageStateStore) -> None:
        self._message_states = message_states

    async def keep(self, trace_id: str, message: IncomingMessage) -> None:
        """Remember which question a trace belongs to."""
        values = {
            "thread": str(message.thread),
            "subject": message.id,
            "asker": message.asker.id,
            "private": "yes" if message.private else "",
            "asked_at": _asked_at(message),
        }
        await self._message_states.keep(_trace(trace_id), _WHERE, values, person=message.asker.id)
        last = {message.asker.id: str(message.thread)}
        if not message.private:
            last["anybody"] = str(message.thread)
        await self._message_states.keep(_place(message.thread.place), _WHERE, last)

    async def last_in(self, place: str, person_id: str) -> ThreadKey | None:
        """The conversation in a channel that this person asked in last, or else that anybody did, for all to see."""
        kept = await self._message_states.read(_place(place), _WHERE)
        found = kept.get(person_id) or kept.get("anybody")
        return ThreadKey.parse(found) if found else None

    async def of(self, trace_id: str) -> ShownAnswer | None:
        """The question behind a trace, while it is kept."""
        kept = await self._message_states.read(_trace(trace_id), _WHERE)
        if "thread" not in kept:
            return None
        thread = ThreadKey.parse(kept["thread"])
        return ShownAnswer(
            thread, kept.get("subject", ""), kept.get("asker", ""), bool(kept.get("private")), kept.get("asked_at", "")
        )

    async def keep_message(self, message_id: int | str, thread: ThreadKey) -> None:
        """Remember which conversation a message of ours belongs to that does not stand in a thread of its own."""
        await self._message_states.keep(_message(message_id), _WHERE, {"thread": str(thread)})

    async def keep_question(self, message_id: int | str, thread: ThreadKey) -> None:
        """Remember which conversation someone's own message belongs to, where its place does not say so."""
        await self._message_states.keep(_message(message_id), _QUESTION, {"thread": str(thread)})

    async def question_of(self, message_id: int | str) -> ThreadKey | None:
        """The conversation that a person's message began or went on with, where that was kept."""
        kept = await self._message_states.read(_message(message_id), _QUESTION)
        return ThreadKey.parse(kept["thread"]) if "thread" in kept else None

    async def thread_of(self, message_id: int | str) -> ThreadKey | None:
        """The conversation that a message of ours belongs to, where that was kept."""
        kept = await self._message_states.read(_message(message_id), _WHERE)
        return ThreadKey.parse(kept["thread"]) if "thread" in kept else None


def _asked_at(message: IncomingMessage) -> str:
    address = ReplyTarget.of(message.address)
    return f"{address.channel}/{address.message}" if address.manner is ReplyMode.DIRECT else ""


def _place(place: str) -> str:
    return f"discord/last/{place}"


def _trace(trace_id: str) -> str:
    return f"discord/trace/{trace_id}"


def _message(message_id: int | str) -> str:
    return f"discord/message/{message_id}"
