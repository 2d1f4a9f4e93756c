"""The buttons and forms of ``/kb``, on every platform: what one means is kept here, and it carries only an id.

One rule for all of them. An id means what one person was offered, and nobody else's press finds it. It is kept for
as long as everything about messages is. What acts once is done by one press, of however many, in whatever processes;
everything else as often as it is pressed. Rights are not kept: anyone who acts on it looks them up again.
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
    """What a button or a form means, for ``person``; a platform says below this where it is kept."""

    id: str = ""
    command: KbCommand | None = None  # None: a form that says itself what is to be done

    @property
    def acts_once(self) -> bool:
        """Whether one press alone counts."""
        return True


K = TypeVar("K", bound=KeptCommand)


@dataclass(frozen=True, slots=True)
class KeptCommands(Generic[K]):
    """Keeps them and finds them again. ``kind`` is the platform's own record; ``now`` is in seconds since the epoch.

    Every method raises StoreUnavailable.
    """

    message_states: MessageStateStore
    audit: Audit
    kind: type[K]
    now: Callable[[], float] = time.time

    async def keep(self, offered: K) -> str:
        """Keep what is offered to its person; the id that the button or form carries."""
        kept = replace(offered, id=secrets.token_hex(ID_BYTES))
        await self._uses.open(kept)
        return kept.id

    async def read(self, kept_id: str, person: str) -> K | None:
        """Return what was kept, without taking it; None when it no longer exists, or was offered to somebody else."""
        kept = await self.message_states.read(self.kind(id=kept_id, person=person)) if kept_id else None
        return kept if kept is not None and kept.person == person else None

    # --- buttons

    async def find(self, kept_id: str, person: str) -> K:
        """Return the command of a pressed button. Raises NotFound, on record, if it expired or is another's."""
        kept = await self.read(kept_id, person)
        if kept is None or kept.command is None:
            await self.audit.record(person, "kb button", kept_id[:LONGEST_TARGET], allowed=False)
            raise NotFound(EXPIRED)
        return kept

    @asynccontextmanager
    async def use(self, kept: K, *, once: bool = False) -> AsyncIterator[KbCommand]:
        """Yield the command of a button that was just found: the caller gives it within.

        It counts as done only afterwards: a process that dies over it must not leave a button that claims it was.
        With ``once`` it acts once, whatever was kept. Raises NotFound, and AlreadyDone when another press was the one.
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

    # --- forms, which may be sent again when what they brought was not accepted

    async def take(self, kept: K | None) -> PressOutcome:
        """Return whether this is the one time that counts, of what was just read."""
        return await self._uses.take(kept)

    async def mark_done(self, kept_id: str, person: str) -> None:
        """Mark it as done: it is never taken again."""
        await self._uses.mark_done(self.kind(id=kept_id, person=person))

    async def reopen(self, kept_id: str, person: str) -> None:
        """Let it be taken once more: it was not done."""
        await self._uses.open(self.kind(id=kept_id, person=person))

    @property
    def _uses(self) -> OneTimeUses:
        return OneTimeUses(self.message_states, self.now)
