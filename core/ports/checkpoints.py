"""Parked inquiries, each taken up once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.model.inquiry import Checkpoint, Inquiry


@dataclass(frozen=True, slots=True)
class ParkedInquiry:
    """An inquiry at rest, with the checkpoint it waits at."""

    checkpoint: Checkpoint
    inquiry: Inquiry


class Checkpoints(Protocol):
    """Where parked inquiries rest."""

    async def park(self, parked: ParkedInquiry) -> None:
        """Keep it, and make it the thread's open checkpoint; an earlier open one of the thread is closed."""

    async def read(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Look without taking; None when it is unknown or taken (by another than ``by``)."""

    async def claim(self, checkpoint_id: str, *, by: str = "") -> ParkedInquiry | None:
        """Take it, once: of many callers exactly one gets it.

        ``by`` names the claimant (a delivery's id): for a day the same one gets it again, so that a worker which takes
        over after a crash can go on.
        """

    async def due(self, now: datetime) -> Sequence[str]:
        """Ids of those whose expiry has passed and that nobody took."""
