"""A count of deliveries in progress, so that a test lets leases expire only when none is in progress."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from core.model.events import FinalEvent
from core.ports.usage import Metrics

TURNS = 25  # looks in a row: between two, whoever has just finished completes its delivery
LOOK_SECONDS = 0.02


class WorkCount(Metrics):
    """Counts the deliveries that are being worked on right now."""

    def __init__(self) -> None:
        self.now = 0

    @contextmanager
    def track_work(self) -> Iterator[None]:
        """One more, until it is done."""
        self.now += 1
        try:
            yield
        finally:
            self.now -= 1

    def count_outcome(self, platform: str, final: FinalEvent | None) -> None:
        """Counts nothing."""

    async def wait_for_rest(self) -> None:
        """Returns when nothing has been worked on for some turns of the loop, however slow those are."""
        turns = 0
        while turns < TURNS:
            turns = 0 if self.now else turns + 1
            await asyncio.sleep(LOOK_SECONDS)
