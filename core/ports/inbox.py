"""State that processes share: the durable queue, leases by name, and the list of serving processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery from a platform. ``id`` is the delivery's own id; putting the same id again does nothing.

    Deliveries of one ``thread`` are processed in order, one after another. ``body`` is JSON that
    ``core.service.incoming`` reads, or a job's id.
    """

    id: str
    platform: str
    thread: str
    person: str
    body: str
    kind: str = "message"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on one thread's oldest delivery, until it expires. ``fence`` grows with every new holder."""

    delivery: Delivery
    fence: int
    runs: int = 0  # number of runs begun before this lease that had no outcome
    token: str = ""  # the inbox's own handle


class Inbox(Protocol):
    """The durable queue between platforms and workers: at least once, in order within a thread, parallel otherwise."""

    async def put(self, delivery: Delivery) -> bool:
        """Save a delivery durably; False if this id is known. Raises Busy if the person has too many waiting."""

    async def take(self, worker: str, timeout: timedelta) -> Lease | None:
        """Return the next delivery of a thread without a lease, fair between people; None after ``timeout``."""

    async def renew(self, lease: Lease) -> None:
        """Extend the lease. Raises LeaseLost if another worker has taken over the thread."""

    async def begin(self, lease: Lease) -> int:
        """Count a run of this delivery and return the number of runs, including this one. Raises LeaseLost.

        Taking a lease does not count as a run, because a worker may die while it opens its index. A second call under
        the same lease does not count.
        """

    async def complete(self, lease: Lease) -> None:
        """Mark the delivery as done. Raises LeaseLost."""

    async def hand_back(self, lease: Lease) -> None:
        """Release the lease unfinished. The delivery is available at once; a run begun under it does not count."""

    async def count_waiting(self) -> int:
        """Return how many deliveries are not done."""


class NamedLeases(Protocol):
    """Leases by name. A lease that is not renewed expires by itself, whatever happened to its holder."""

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Acquire or renew a lease; False if another holder has it. Raises StoreUnavailable."""

    async def release(self, name: str, holder: str) -> None:
        """Release a lease; does nothing if another holder has it. Raises StoreUnavailable."""


@dataclass(frozen=True, slots=True)
class ServingProcess:
    """One process. ``index`` and ``files`` are the identities of its index and blob store."""

    name: str
    role: str
    index: str
    files: str


class ProcessRegistry(Protocol):
    """Registry of serving processes. A process that stops announcing itself is forgotten."""

    async def announce(self, process: ServingProcess, lasting: timedelta) -> None:
        """Register the process, or extend its registration. Raises StoreUnavailable."""

    async def live_processes(self) -> Sequence[ServingProcess]:
        """Return the registered processes that have not expired, by name. Raises StoreUnavailable."""

    async def withdraw(self, name: str) -> None:
        """Remove the registration. Raises StoreUnavailable."""
