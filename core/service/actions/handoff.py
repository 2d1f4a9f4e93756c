"""Asking a person to look at an answer, once."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.records import PERSON, THREAD
from core.ports.message_state import MessageStateStore
from core.service.actions.kept_answers import KeptAnswers
from core.service.actions.wording import CALLED_ALREADY
from core.service.one_time_actions import OneTimeAction, OneTimeActions


@dataclass(frozen=True, kw_only=True)
class Handoff(OneTimeAction, place="{thread}", subject="handoff:{trace}"):
    """A person was asked to look at an answer."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, slots=True)
class AnswerHandoff:
    """Hands answers over to people."""

    answers: KeptAnswers
    message_states: MessageStateStore

    @asynccontextmanager
    async def hand_over(
        self, thread: ThreadKey, trace_id: str, person: Person, audience: Audience
    ) -> AsyncIterator[Turn]:
        """Have a person asked to look at an answer, once: the caller asks them within.

        Raises NotFound when the answer is gone or this audience may not read it, and AlreadyDone.
        """
        turn = await self.answers.read(thread, trace_id, audience)
        handoff = Handoff(thread=thread, trace=trace_id, person=person.id)
        async with OneTimeActions(self.message_states).once(handoff, CALLED_ALREADY):
            yield turn
