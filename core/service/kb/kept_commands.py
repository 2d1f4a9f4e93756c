"""Buttons and forms of ``/kb`` on every platform: the command is stored here, and the button carries only its id.

An id names what one person was offered; no other person's press finds it. It is stored as long as other message
state. A one-time button works for one press in any process, others for every press. Rights are not stored: they are
looked up again at each press.
"""

import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from core.model.errors import AlreadyDone, NotFound
from core.ports.access import Audit
from core.ports.message_state import MessageStateStore
from core.service.kb.commands import KbCommand
from core.service.one_time_use import OneTimeUse, OneTimeUses, PressOutcome

EXPIRED = "This has expired. Run the command again."
DONE_ALREADY = "That has already been done."
ID_BYTES = 12  # of an id, which is written as 24 hexadecimal digits
LONGEST_TARGET = 64  # characters of a pressed id that the audit keeps


@dataclass(frozen=True, kw_only=True)
class KeptCommand(OneTimeUse):
    """The command of a button or a form for ``person``. Each platform's subclass says where it is stored."""

    id: str = ""
    command: KbCommand | None = None  # None: a form, whose input is the command

    @property
    def acts_once(self) -> bool:
        """Whether only one press counts."""
        return True


K = TypeVar("K", bound=KeptCommand)


@dataclass(frozen=True, slots=True)
class KeptCommands(Generic[K]):
    """Stores and finds these commands. ``kind`` is the platform's record; ``now`` returns seconds since the epoch.

    Every method raises StoreUnavailable.
    """

    message_states: MessageStateStore
    audit: Audit
    kind: type[K]
    now: Callable[[], float] = time.time

    async def keep(self, offered: K) -> str:
        """Store what a person is offered; return the id that the button or form carries."""
        kept = replace(offered, id=secrets.token_hex(ID_BYTES))
        await self._uses.open(kept)
        return kept.id

    async def read(self, kept_id: str, person: str) -> K | None:
        """Return a stored command without taking it; None when it expired or was offered to somebody else."""
        kept = await self.message_states.read(self.kind(id=kept_id, person=person)) if kept_id else None
        return kept if kept is not None and kept.person == person else None

    # --- buttons

    async def find(self, kept_id: str, person: str) -> K:
        """Return the command of a pressed button. Raises NotFound, and records it, if it expired or is another's."""
        kept = await self.read(kept_id, person)
        if kept is None or kept.command is None:
            await self.audit.record(person, "kb button", kept_id[:LONGEST_TARGET], allowed=False)
            raise NotFound(EXPIRED)
        return kept

    @asynccontextmanager
    async def use(self, kept: K, *, once: bool = False) -> AsyncIterator[KbCommand]:
        """Yield the command of a button that was just found; the caller runs it inside the context.

        The button is marked as done only afterwards, so a crash cannot leave a button that claims it was. ``once``
        forces a one-time use. Raises NotFound, and AlreadyDone when another press won.
        """
        if kept.command is None:
            raise NotFound(EXPIRED)
        acts_once = once or kept.acts_once
        if acts_once:
            match await self.take(kept):
                case PressOutcome.GONE:
                    raise NotFound(EXPIRED)
                case PressOutcome.EARLIER:
                    raise AlreadyDone(DONE_ALREADY)
                case PressOutcome.NOW:
                    pass
        yield kept.command
        if acts_once:
            await self.mark_done(kept.id, kept.person)

    # --- forms, which can be sent again if their input was rejected

    async def take(self, kept: K | None) -> PressOutcome:
        """Return whether this use of a command that was just read is the one that counts."""
        return await self._uses.take(kept)

    async def mark_done(self, kept_id: str, person: str) -> None:
        """Mark a command as done, so that it is never taken again."""
        await self._uses.mark_done(self.kind(id=kept_id, person=person))

    async def reopen(self, kept_id: str, person: str) -> None:
        """Allow a command to be taken again, because it was not done."""
        await self._uses.open(self.kind(id=kept_id, person=person))

    @property
    def _uses(self) -> OneTimeUses:
        return OneTimeUses(self.message_states, self.now)
