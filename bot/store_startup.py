"""Opening stores that may not be there yet: a server that starts beside us is waited for, and what it lacks is told."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from core.model.errors import StoreRefused, StoreUnavailable

RETRY_SECONDS = (1.0, 2.0, 5.0)  # the last one again and again

log = logging.getLogger(__name__)


class StoreStartup:
    """What the start waits for, by the name of the store, as of its last try."""

    def __init__(self, *, patient: bool) -> None:
        """``patient``: whoever serves waits for a server; a command in a terminal says at once that there is none."""
        self._patient = patient
        self._reasons: dict[str, str] = {}
        self.notices: list[str] = []  # what the stores have lost, each in one line

    def readiness_problems(self) -> dict[str, str]:
        """Why each store that is not open is not."""
        return dict(self._reasons)

    async def reach(self, name: str, open_it: Callable[[], Awaitable[None]], *, remote: bool) -> None:
        """Open it; a remote one is tried until it answers, where we are patient.

        Raises StoreRefused and ConfigurationError, which no waiting mends, and StoreUnavailable where nobody waits.
        """
        for attempt in range(1_000_000):
            try:
                await open_it()
            except StoreRefused:
                raise
            except StoreUnavailable as error:
                if not (self._patient and remote):
                    raise
                if self._reasons.get(name) != str(error):
                    log.warning("waiting_for_store", extra={"store": name, "reason": str(error)})
                self._reasons[name] = str(error)
                await asyncio.sleep(RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)])
            else:
                self._reasons.pop(name, None)
                return
