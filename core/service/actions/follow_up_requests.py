"""Asking what is suggested below an answer, once. What is suggested there is ``follow_ups``'."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.model.answer import FollowUp
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import NotFound
from core.model.records import PERSON, THREAD
from core.ports.message_state import MessageStateStore
from core.ports.trace_store import TraceStore
from core.service.actions.kept_answers import KeptAnswers
from core.service.actions.wording import ASKED_ALREADY, GONE
from core.service.follow_ups import follow_ups_in
from core.service.one_time_actions import OneTimeAction, OneTimeActions


@dataclass(frozen=True, kw_only=True)
class FollowUpRequest(OneTimeAction, place="{thread}", subject="follow-up:{trace}:{number}"):
    """What was suggested below an answer has been asked."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str
    number: int
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, slots=True)
class FollowUpRequests:
    """Takes suggestions up, for whoever may read the answer that they stand below."""

    answers: KeptAnswers
    trace_store: TraceStore
    message_states: MessageStateStore

    @asynccontextmanager
    async def ask(
        self, thread: ThreadKey, trace_id: str, number: int, person: Person, reader: Audience
    ) -> AsyncIterator[FollowUp]:
        """Have a suggestion below an answer asked, once: the caller puts its question in line within.

        ``number`` counts from 1. Raises NotFound when it is gone or this reader may not read the answer, and
        AlreadyDone.
        """
        await self.answers.read(thread, trace_id, reader)
        suggestions = follow_ups_in(await self.trace_store.trace(trace_id))
        if not 1 <= number <= len(suggestions):
            raise NotFound(GONE)
        request = FollowUpRequest(thread=thread, trace=trace_id, number=number, person=person.id)
        async with OneTimeActions(self.message_states).once(request, ASKED_ALREADY):
            yield suggestions[number - 1]
