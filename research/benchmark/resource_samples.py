"""What the process has used at one moment: memory, processor time, and what Redis holds."""

import asyncio
import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapters.redis.client import bounded_call

if TYPE_CHECKING:
    from redis.asyncio import Redis


@dataclass(slots=True)
class Look:
    """The process at one moment of the sustained part."""

    answers: int
    at: float
    resident: int  # bytes
    processor: float  # seconds, all threads
    loop: float  # seconds, this thread
    redis: int  # bytes
    commands: int  # that Redis was sent so far
    reads: int  # in so many pieces: about as many round trips


class Looking:
    """Takes one look at a time, from the event loop's thread."""

    def __init__(self, redis: "Redis") -> None:
        self._redis = redis
        self._one = asyncio.Lock()

    async def look(self, answers: int) -> Look:
        """Return the process after so many answers. Raises StoreUnavailable."""
        async with self._one:
            at = time.monotonic()
            usage = resource.getrusage(resource.RUSAGE_SELF)
            async with bounded_call():
                kept: Any = await self._redis.info("memory")
                sent: Any = await self._redis.info("stats")
            return Look(
                answers,
                at,
                _resident(),
                usage.ru_utime + usage.ru_stime,
                time.thread_time(),
                int(kept["used_memory_dataset"]),
                int(sent["total_commands_processed"]),
                int(sent["total_reads_processed"]),
            )


def _resident() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
