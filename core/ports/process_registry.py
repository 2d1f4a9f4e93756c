"""Which processes serve right now, and what each of them works on: they must see the same index and the same files."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ServingProcess:
    """One process. ``index`` and ``files`` are the identities of the index and of the blob store that it opened."""

    name: str
    role: str
    index: str
    files: str


class ProcessRegistry(Protocol):
    """Who serves. A process that stops announcing itself is forgotten."""

    async def announce(self, process: ServingProcess, lasting: timedelta) -> None:
        """Be known from now on, or still. Raises StoreUnavailable."""

    async def live_processes(self) -> Sequence[ServingProcess]:
        """Those that have announced themselves and not run out, by name. Raises StoreUnavailable."""

    async def withdraw(self, name: str) -> None:
        """Be known no more. Raises StoreUnavailable."""
