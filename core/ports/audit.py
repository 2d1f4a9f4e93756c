"""The record of what people with more rights did, or tried without them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Something an admin did, or somebody was denied."""

    at: datetime
    actor: str
    action: str
    target: str
    allowed: bool
    detail: str = ""


class Audit(Protocol):
    """The record of what people with more rights did, or tried without them. Bounded; the oldest go first."""

    async def record(self, actor: str, action: str, target: str, *, allowed: bool, detail: str = "") -> None:
        """Keep it, with the time."""

    async def recent(self, limit: int = 100) -> Sequence[AuditEntry]:
        """The newest entries, newest first."""
