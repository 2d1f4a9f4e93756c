"""An in-memory inbox: the contract of the durable one, except durability."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic

from core.model.clock import Clock
from core.model.errors import Busy, LeaseLost
from core.ports.inbox import Delivery, Inbox, Lease
from tests.fakes.memory.stores import InProcessState

_GLANCE = 0.02  # seconds between looks at leases that may have run out


@dataclass(slots=True)
class _Line:
    """One thread's deliveries, the one in work first."""

    deliveries: list[Delivery] = field(default_factory=list)
    holder_until: float = 0.0
    held: bool = False
    runs: int = 0
    begun: int = 0  # the fence under which the last run began


class InProcessInbox(Inbox):
    """Leases run by ``clock`` where one is given, else by the process's own."""

    def __init__(
        self,
        state: InProcessState | None = None,
        *,
        lease: timedelta = timedelta(seconds=30),
        most_waiting: int = 10_000,
        most_waiting_each: int = 20,
        clock: Clock | None = None,
    ) -> None:
        self._state = state or InProcessState()
        self._state.drop_waiting = self._drop_waiting
        self._fences = self._state.fences
        self._lease = lease.total_seconds()
        self._most_waiting = most_waiting
        self._most_waiting_each = most_waiting_each
        self._monotonic = clock.monotonic if clock else monotonic
        self._lines: OrderedDict[str, _Line] = OrderedDict()
        self._seen: set[tuple[str, str]] = set()
        self._served: list[str] = []  # people, the least recently served first
        self._news = asyncio.Event()

    async def put(self, delivery: Delivery) -> bool:
        """Keep it; False when this id was there before. Raises Busy when too many wait."""
        known = (delivery.thread, delivery.id)
        if known in self._seen:
            return False
        waiting = [one for line in self._lines.values() for one in line.deliveries]
        if len(waiting) >= self._most_waiting:
            raise Busy("Too many questions are waiting.", remedy="Please try again in a few minutes.")
        if sum(one.person == delivery.person for one in waiting) >= self._most_waiting_each:
            raise Busy(
                f"You have {self._most_waiting_each} questions waiting.",
                remedy="Please wait for an answer, then ask again.",
            )
        self._seen.add(known)
        self._lines.setdefault(delivery.thread, _Line()).deliveries.append(delivery)
        self._news.set()
        return True

    async def take(self, worker: str, timeout: timedelta) -> Lease | None:
        """The next delivery of a thread nobody works on, fairly between people; None after ``timeout``."""
        deadline = monotonic() + timeout.total_seconds()
        while (lease := self._next()) is None:
            remaining = deadline - monotonic()
            if remaining <= 0:
                return None
            self._news.clear()
            try:
                async with asyncio.timeout(min(remaining, _GLANCE)):
                    await self._news.wait()
            except TimeoutError:
                continue
        return lease

    def _next(self) -> Lease | None:
        free = [thread for thread, line in self._lines.items() if line.deliveries and not self._is_held(line)]
        if not free:
            return None
        thread = min(free, key=lambda one: self._turn_of(self._lines[one].deliveries[0].person))
        line = self._lines[thread]
        delivery = line.deliveries[0]
        self._served = [*(one for one in self._served if one != delivery.person), delivery.person]
        self._fences[thread] = self._fences.get(thread, 0) + 1
        line.held, line.holder_until = True, self._monotonic() + self._lease
        self._state.in_work[thread] = delivery.person
        return Lease(delivery, self._fences[thread], line.runs)

    def _is_held(self, line: _Line) -> bool:
        return line.held and line.holder_until > self._monotonic()

    def _turn_of(self, person: str) -> int:
        return self._served.index(person) if person in self._served else -1

    async def renew(self, lease: Lease) -> None:
        """Extend the lease. Raises LeaseLost."""
        self._mine(lease).holder_until = self._monotonic() + self._lease

    async def begin(self, lease: Lease) -> int:
        """Count a run, once under each lease; how many there were. Raises LeaseLost."""
        line = self._mine(lease)
        line.runs += line.begun != lease.fence
        line.begun = lease.fence
        return line.runs

    async def complete(self, lease: Lease) -> None:
        """The delivery has had its outcome. Raises LeaseLost."""
        line = self._mine(lease)
        line.deliveries.pop(0)
        line.held, line.runs = False, 0
        self._news.set()

    async def hand_back(self, lease: Lease) -> None:
        """Give it up unfinished, uncounted; it is taken again at once. Does nothing when it is another's already."""
        line = self._lines[lease.delivery.thread]
        if line.held and self._fences.get(lease.delivery.thread) == lease.fence:
            line.held = False
            line.runs -= line.begun == lease.fence
            line.begun = 0
            self._news.set()

    def _drop_waiting(self, thread: str, person: str) -> int:
        """Drop what waits in this thread, or of this person in all; what a living worker holds is left to it."""
        dropped = 0
        for name, line in self._lines.items():
            for at, delivery in reversed(list(enumerate(line.deliveries))):
                chosen = name == thread or (not thread and delivery.person == person)
                if not chosen or (at == 0 and self._is_held(line)):
                    continue
                del line.deliveries[at]
                dropped += 1
                if at == 0:
                    line.held, line.runs = False, 0
        return dropped

    def _mine(self, lease: Lease) -> _Line:
        line = self._lines[lease.delivery.thread]
        if not line.held or self._fences.get(lease.delivery.thread) != lease.fence:
            raise LeaseLost("Another worker has taken over this thread.")
        return line

    async def count_waiting(self) -> int:
        """How many deliveries are not done."""
        return sum(len(line.deliveries) for line in self._lines.values())

    @property
    def fences(self) -> Mapping[str, int]:
        """The current fence of each thread."""
        return self._fences
