"""What only one process at a time may hold, as a platform's single connection: a name, its holder, and until when."""

from datetime import timedelta
from typing import Protocol


class NamedLeases(Protocol):
    """Leases by name. One that is not renewed runs out by itself, whatever became of its holder."""

    async def acquire(self, name: str, holder: str, lasting: timedelta) -> bool:
        """Take it, or renew what is held already; False while another holds it. Raises StoreUnavailable."""

    async def release(self, name: str, holder: str) -> None:
        """Let it go; does nothing when it is another's. Raises StoreUnavailable."""
