"""What a button or a form of ours in Slack stands for, for one person: its value is the id of what is kept here.

Whoever presses has to be the one it was made for; what they may do is looked up anew by whoever acts on it.
"""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

from core.model.records import PERSON
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import KbCommand
from core.service.one_time_actions import OneTimeAction, OneTimeActions, PressOutcome

__all__ = ["PersonalAction", "PersonalActions", "PressOutcome"]


@dataclass(frozen=True, kw_only=True)
class PersonalAction(OneTimeAction, place="slack/kb/{person}", subject="{id}"):
    """A button below a reply, with its command, or a form, with the channel that it was opened in."""

    person: str = field(metadata=PERSON)
    id: str
    command: KbCommand | None = None
    once: bool = False  # the button acts once; others may be pressed again and again
    channel: str = ""


@dataclass(frozen=True, slots=True)
class PersonalActions:
    """Kept for as long as everything about messages is, under the person they were made for."""

    message_states: MessageStateStore
    now: Callable[[], float] = time.time

    async def make(
        self, person: str, *, command: KbCommand | None = None, once: bool = False, channel: str = ""
    ) -> str:
        """Keep what a button or a form stands for, for this person by qualified id; its id."""
        action = PersonalAction(person=person, id=uuid.uuid4().hex, command=command, once=once, channel=channel)
        await self._actions.open(action)
        return action.id

    async def read(self, action_id: str, person: str) -> PersonalAction | None:
        """What it stands for, without taking it; None when it is gone, or was made for somebody else."""
        return await self.message_states.read(PersonalAction(person=person, id=action_id)) if action_id else None

    async def take(self, kept: PersonalAction | None) -> PressOutcome:
        """Whether this press is the one that counts, of what was just read."""
        return await self._actions.take(kept)

    async def mark_done(self, action_id: str, person: str) -> None:
        """It has been done: it is never taken again."""
        await self._actions.mark_done(PersonalAction(person=person, id=action_id))

    async def reopen(self, action_id: str, person: str) -> None:
        """It can be taken once more: it was not done."""
        await self._actions.open(PersonalAction(person=person, id=action_id))

    @property
    def _actions(self) -> OneTimeActions:
        return OneTimeActions(self.message_states, self.now)
