"""What is kept about each message of ours, and requests to cancel the work on one."""

from collections.abc import Mapping
from typing import Protocol


class MessageStateStore(Protocol):
    """What we have posted in a thread, and what was called off: small values with a time to live.

    ``subject`` is the id of the question's message. Values let a worker that takes over, an edited question, a pressed
    button or an expiry find and edit what is already visible, rather than post a second time.
    """

    async def read(self, thread: str, subject: str) -> Mapping[str, str]:
        """Everything kept for a subject."""

    async def keep(
        self, thread: str, subject: str, values: Mapping[str, str], *, fence: int | None = None, person: str = ""
    ) -> None:
        """Add or replace values. Raises LeaseLost when ``fence`` is given and stale.

        A subject belongs to whom it was first kept for: to ``person``, or where that is empty to whoever's delivery
        is worked on under ``fence``. It is forgotten with that person, and with the thread.
        """

    async def take(self, thread: str, subject: str, name: str, leaving: Mapping[str, str] | None = None) -> str:
        """One value of a subject, read and removed in one step: of many callers exactly one gets it, the others "".

        Whoever gets it leaves these values in that same step, so that nobody sees it taken without them.
        """

    async def request_cancel(self, thread: str, subject: str, reason: str) -> None:
        """Ask whoever works on this subject to stop: ``stopped``, ``edited`` or ``deleted``."""

    async def take_cancel(self, thread: str, subject: str) -> str:
        """The reason why this subject was called off, taken: the next call says nothing. Empty when it was not."""
