"""In-memory named leases and process registry."""

from collections.abc import Sequence
from datetime import timedelta

from core.model.clock import Clock
from core.ports.inbox import NamedLeases, ProcessRegistry, ServingProcess


class InProcessNamedLeases(NamedLeases):
    """By this clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, tuple[str, float]] = {}

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Take it, or renew what is held already; False while another holds it."""
        now = self._clock.monotonic()
        other, until = self._held.get(name, (holder, 0.0))
        if other != holder and until > now:
            return False
        self._held[name] = holder, now + lasting.total_seconds()
        return True

    async def release(self, name: str, holder: str) -> None:
        """Let it go; does nothing when it is another's."""
        if self._held.get(name, ("", 0.0))[0] == holder:
            del self._held[name]


class InProcessProcessRegistry(ProcessRegistry):
    """By this clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._serving: dict[str, tuple[ServingProcess, float]] = {}

    async def announce(self, process: ServingProcess, lasting: timedelta) -> None:
        """Be known from now on, or still."""
        self._serving[process.name] = process, self._clock.monotonic() + lasting.total_seconds()

    async def live_processes(self) -> Sequence[ServingProcess]:
        """Those that have announced themselves and not run out, by name."""
        now = self._clock.monotonic()
        return [process for _, (process, until) in sorted(self._serving.items()) if until > now]

    async def withdraw(self, name: str) -> None:
        """Remove this process from the registry."""
        self._serving.pop(name, None)
