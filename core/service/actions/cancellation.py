"""Stopping a question while it is worked on."""

from dataclasses import dataclass

from core.model.conversation import Person
from core.model.errors import NotFound
from core.model.message_records import QuestionState
from core.ports.audit import Audit
from core.ports.message_state import CancelReason, MessageStateStore
from core.service.actions.rights import IsAdmin, may_act, refuse
from core.service.actions.wording import FINISHED, NOT_YOURS_TO_STOP


@dataclass(frozen=True, slots=True)
class QuestionCancellation:
    """Asks whoever works on a question, in whatever process, to end."""

    message_states: MessageStateStore
    audit: Audit

    async def stop(self, question: QuestionState, person: Person, is_admin: IsAdmin) -> None:
        """Ask for the end of this question; what was found is offered. Only its address has to be given.

        Raises NotFound when nobody is at it any more, and Denied, on record, for who may not.
        """
        state = await self.message_states.read(question)
        if state is None or not state.is_worked_on:
            raise NotFound(FINISHED)
        if not await may_act(person, state.asker, is_admin):
            raise await refuse(self.audit, person, "stop", f"{state.thread} {state.message}", NOT_YOURS_TO_STOP)
        await self.message_states.request_cancel(str(state.thread), state.message, CancelReason.STOPPED)
