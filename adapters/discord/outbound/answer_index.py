"""What leads from a button or a message of ours back to its conversation: small values beside the message states.

A button names a trace; the trace's thread, question and asker are looked up here. A reply names a message of ours;
the conversation it continues is looked up here.
"""

from dataclasses import dataclass

from adapters.discord.outbound.answer_records import (
    AnsweredTrace,
    AnswerMessage,
    LatestConversation,
    QuestionMessage,
)
from core.model.conversation import ThreadKey
from core.model.incoming_events import IncomingMessage, ReplyMode
from core.ports.message_state import MessageStateStore

_ANYBODY = "anybody"


@dataclass(frozen=True, slots=True)
class AskedAt:
    """Where a question was asked: Discord's ids."""

    channel: str
    message: str

    def encode(self) -> str:
        """As a record keeps it."""
        return f"{self.channel}/{self.message}"

    @classmethod
    def decode(cls, kept: str) -> "AskedAt | None":
        """What a record kept; None where it kept nothing."""
        channel, slash, message = kept.partition("/")
        return cls(channel, message) if slash else None


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """The question behind a trace. ``subject`` is its message's id, ``asker`` its author's qualified id."""

    thread: ThreadKey
    subject: str
    asker: str
    private: bool
    asked_at: AskedAt | None = None  # of a question that is answered elsewhere


class AnswerIndex:
    """Finds conversations by trace and by message; kept for as long as everything about messages is."""

    def __init__(self, message_states: MessageStateStore) -> None:
        self._message_states = message_states

    async def keep(self, trace_id: str, message: IncomingMessage) -> None:
        """Remember which question a trace belongs to."""
        thread, asker = message.thread, message.asker.id
        answered = AnsweredTrace(
            trace=trace_id,
            thread=thread,
            subject=message.id,
            asker=asker,
            private=message.private,
            asked_at=asked.encode() if (asked := _asked_at(message)) is not None else "",
        )
        readers = [asker] if message.private else [asker, _ANYBODY]
        latest = [LatestConversation(place=thread.place, reader=one, thread=thread, asker=asker) for one in readers]
        await self._message_states.save(answered, *latest)

    async def latest_in(self, place: str, person_id: str) -> ThreadKey | None:
        """The conversation in a channel that this person asked in last, or else that anybody did, for all to see."""
        every = await self._message_states.read_entries(LatestConversation(place=place, reader=""))
        found = {one.reader: one.thread for one in every}
        return found.get(person_id) or found.get(_ANYBODY)

    async def find(self, trace_id: str) -> AnsweredQuestion | None:
        """The question behind a trace, while it is kept."""
        kept = await self._message_states.read(AnsweredTrace(trace=trace_id))
        if kept is None or kept.thread is None:
            return None
        return AnsweredQuestion(kept.thread, kept.subject, kept.asker, kept.private, AskedAt.decode(kept.asked_at))

    async def keep_message(self, message_id: int | str, question: IncomingMessage) -> None:
        """Remember which conversation a message of ours belongs to that does not stand in a thread of its own."""
        asker = question.asker.id
        await self._message_states.save(AnswerMessage(message=str(message_id), thread=question.thread, asker=asker))

    async def keep_question(self, question: IncomingMessage) -> None:
        """Remember which conversation someone's own message belongs to, where its place does not say so."""
        asker = question.asker.id
        await self._message_states.save(QuestionMessage(message=question.id, thread=question.thread, asker=asker))

    async def thread_of_question(self, message_id: int | str) -> ThreadKey | None:
        """The conversation that a person's message began or went on with, where that was kept."""
        kept = await self._message_states.read(QuestionMessage(message=str(message_id)))
        return kept.thread if kept is not None else None

    async def thread_of_answer(self, message_id: int | str) -> ThreadKey | None:
        """The conversation that a message of ours belongs to, where that was kept."""
        kept = await self._message_states.read(AnswerMessage(message=str(message_id)))
        return kept.thread if kept is not None else None


def _asked_at(message: IncomingMessage) -> AskedAt | None:
    target = message.reply_target
    return AskedAt(target.channel, target.message) if target.mode is ReplyMode.DIRECT else None
