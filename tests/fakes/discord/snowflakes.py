"""Ids and times as Discord writes them. An id holds its own creation time, so the two belong together."""

from __future__ import annotations

import time
from datetime import UTC, datetime

DISCORD_EPOCH_MS = 1_420_070_400_000  # the first second of 2015
TIME_SHIFT = 22


class Snowflakes:
    """Hands out ids that never repeat and never go backwards, even within one millisecond."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        now = (int(time.time() * 1000) - DISCORD_EPOCH_MS) << TIME_SHIFT
        self._last = max(now, self._last + 1)
        return self._last


def created_at(snowflake: int) -> str:
    """The ISO time at which an id was made."""
    milliseconds = (snowflake >> TIME_SHIFT) + DISCORD_EPOCH_MS
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()


def now() -> str:
    return datetime.now(UTC).isoformat()
