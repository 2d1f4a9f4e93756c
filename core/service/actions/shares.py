"""Showing a private answer to its channel, once."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.model.errors import NotFound
from core.model.records import PERSON, THREAD
from core.ports.audit import Audit
from core.ports.message_state import MessageStateStore
from core.service.actions.kept_answers import KeptAnswers
from core.service.actions.rights import refuse
from core.service.actions.wording import NOT_FOR_ALL, NOT_YOURS_TO_SHARE, SHARED_ALREADY
from core.service.one_time_actions import OneTimeAction, OneTimeActions


@dataclass(frozen=True, kw_only=True)
class Share(OneTimeAction, place="{thread}", subject="shared:{trace}"):
    """A private answer was shown to its channel."""

    thread: ThreadKey = field(metadata=THREAD)
    trace: str
    person: str = field(default="", metadata=PERSON | {"stored": "by"})


@dataclass(frozen=True, slots=True)
class AnswerSharing:
    """Shares answers, where whoever asked wants it and everybody there may read them."""

    answers: KeptAnswers
    message_states: MessageStateStore
    audit: Audit

    @asynccontextmanager
    async def share(
        self, thread: ThreadKey, trace_id: str, person: Person, audience: Callable[[], Awaitable[Audience]]
    ) -> AsyncIterator[Turn]:
        """Have a private answer shown to this audience, once: the caller shows it within.

        The audience is looked up only for who may share.

        Raises NotFound when the answer is gone or not everybody may read it, Denied, on record, for who did not ask,
        and AlreadyDone.
        """
        turn = await self.answers.find(thread, trace_id)
        if turn.asker.id != person.id:
            raise await refuse(self.audit, person, "share", trace_id, NOT_YOURS_TO_SHARE)
        if not turn.readable_by(await self.answers.bases.names(await audience())):
            raise NotFound(NOT_FOR_ALL)
        share = Share(thread=thread, trace=trace_id, person=person.id)
        async with OneTimeActions(self.message_states).once(share, SHARED_ALREADY):
            yield turn
