"""What several processes share: the durable queue, leases by name, and who serves."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something a platform delivered. ``id`` is the delivery's own id: the same id again is a no-op.

    ``thread`` orders: deliveries of one thread are worked on one after another. ``body`` is JSON that
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
    runs: int = 0  # how many runs of it were begun before this lease, and came to no outcome
    token: str = ""  # the inbox's own handle


class Inbox(Protocol):
    """The durable queue between platforms and workers: at least once, ordered within a thread, parallel across."""

    async def put(self, delivery: Delivery) -> bool:
        """Keep it durably; False when this id was there before. Raises Busy when the person has too many waiting."""

    async def take(self, worker: str, timeout: timedelta) -> Lease | None:
        """Return the next delivery of a thread nobody works on, fairly between people; None after ``timeout``."""

    async def renew(self, lease: Lease) -> None:
        """Extend the lease. Raises LeaseLost when another holds the thread."""

    async def begin(self, lease: Lease) -> int:
        """Count a run of this delivery; return how many have begun, this one included. Raises LeaseLost.

        Taking a lease is no run: a worker may die while it still opens its index. A second call under the same lease
        does not count.
        """

    async def complete(self, lease: Lease) -> None:
        """Mark the delivery as done. Raises LeaseLost."""

    async def hand_back(self, lease: Lease) -> None:
        """Give it up unfinished; it is taken again at once, and a run that was begun under it does not count."""

    async def count_waiting(self) -> int:
        """Return how many deliveries are not done."""


class NamedLeases(Protocol):
    """Leases by name. One that is not renewed runs out by itself, whatever became of its holder."""

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Take it, or renew what is held already; False while another holds it. Raises StoreUnavailable."""

    async def release(self, name: str, holder: str) -> None:
        """Let it go; does nothing when it is another's. Raises StoreUnavailable."""


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
        """Return those that have announced themselves and not run out, by name. Raises StoreUnavailable."""

    async def withdraw(self, name: str) -> None:
        """Be known no more. Raises StoreUnavailable."""
