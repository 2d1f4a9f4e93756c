"""Answering a question again that was edited after its answer: for its writer alone, once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.model.conversation import Person, ThreadKey
from core.model.errors import Denied, NotFound
from core.model.incoming_events import IncomingMessage
from core.model.message_records import QuestionState
from core.model.records import PERSON, THREAD
from core.ports.message_state import MessageStateStore
from core.service.actions.wording import ASKED_ALREADY, GONE, NOT_YOURS_TO_REPEAT
from core.service.one_time_actions import OneTimeAction, OneTimeActions


@dataclass(frozen=True, kw_only=True)
class RepeatedQuestion(OneTimeAction, place="{thread}", subject="again:{message}"):
    """A question that was edited after its answer has been put again."""

    thread: ThreadKey = field(metadata=THREAD)
    message: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, slots=True)
class LateEdits:
    """Gives edited questions out to be put again."""

    message_states: MessageStateStore

    @asynccontextmanager
    async def repeat(self, state: QuestionState, person: Person) -> AsyncIterator[IncomingMessage]:
        """Have a question answered as it reads now: the caller puts it in line within.

        ``state`` names the question. Raises NotFound when it is not kept, Denied for anybody but its writer, and
        AlreadyDone.
        """
        kept = await self.message_states.read(state)
        if kept is None or kept.late_edit is None:
            raise NotFound(GONE)
        if kept.late_edit.asker.id != person.id:
            raise Denied(NOT_YOURS_TO_REPEAT)
        repeated = RepeatedQuestion(thread=kept.thread, message=kept.message, person=person.id)
        async with OneTimeActions(self.message_states).once(repeated, ASKED_ALREADY):
            yield kept.late_edit
