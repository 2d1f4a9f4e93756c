"""Injected faults: rate limits, server errors, refusals, slow and lost replies.

The healthy limits are here too, since their headers are the same: every answer says how much of its bucket is
left, and an enforced bucket answers 429 when it is empty.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal

Scope = Literal["user", "global", "shared"]
Json = dict[str, Any]
MAJOR = ("channel_id", "guild_id", "webhook_id")


class Hold:
    """A request that is being kept waiting: ``await reached()``, then ``release()`` it."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._released = asyncio.Event()

    async def reached(self, timeout: float = 60.0) -> None:
        await asyncio.wait_for(self._reached.wait(), timeout)

    def release(self) -> None:
        self._released.set()

    async def pass_through(self, timeout: float = 120.0) -> None:
        self._reached.set()
        await asyncio.wait_for(self._released.wait(), timeout)


@dataclass
class Fault:
    """Trouble for the next ``times`` requests to one operation; ``done`` does the work before it fails.

    ``about`` narrows it to requests about one channel with its threads, one interaction's channel, or one person.
    ``text`` is answered as it is, as ``text_type``, where a proxy or a captive portal stands in between; ``drops`` cuts
    the connection instead of answering.
    """

    method: str
    template: str
    times: int = 1
    status: int | None = None
    code: int = 0
    message: str = ""
    retry_after: float | None = None
    scope: Scope = "user"
    done: bool = False
    seconds: float = 0.0
    hold: Hold | None = None
    about: int | None = None
    text: str | None = None
    text_type: str = "text/html"
    drops: bool = False

    def concerns(self, method: str, template: str, about: set[int]) -> bool:
        here = self.about is None or self.about in about
        return here and self.times > 0 and self.method in (method, "*") and self.template in (template, "*")


@dataclass
class Bucket:
    """A sliding window: ``limit`` requests in ``window`` seconds."""

    limit: int = 50
    window: float = 1.0
    enforced: bool = False
    taken: deque[float] = field(default_factory=deque)

    def take(self) -> float:
        """Takes one. Returns 0, or the seconds to wait when the bucket is enforced and empty."""
        now = time.monotonic()
        while self.taken and self.taken[0] <= now - self.window:
            self.taken.popleft()
        if self.enforced and len(self.taken) >= self.limit:
            return self.taken[0] + self.window - now
        self.taken.append(now)
        return 0.0

    def headers(self, name: str) -> dict[str, str]:
        """The documented headers; a bucket that is not enforced never claims to be empty."""
        floor = 0 if self.enforced else 1
        remaining = max(self.limit - len(self.taken), floor)
        # Counted from the oldest request, and at least 1 ms: clients divide by it.
        wait = max(self.taken[0] + self.window - time.monotonic(), 0.001) if self.taken else self.window
        wait = math.ceil(wait * 1000) / 1000  # never rounded down: a client that trusts it must not be early
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(remaining),
            "X-RateLimit-Reset": f"{time.time() + wait:.3f}",
            "X-RateLimit-Reset-After": f"{wait:.3f}",
            "X-RateLimit-Bucket": name,
        }


class Faults:
    """The trouble that is ordered, and the state of every bucket."""

    def __init__(self) -> None:
        self.ordered: list[Fault] = []
        self._buckets: dict[tuple[str, ...], Bucket] = {}
        self._limits: dict[tuple[str, str], tuple[int, float]] = {}
        self.limited: list[tuple[str, str]] = []

    def order(self, fault: Fault) -> Fault:
        self.ordered.append(fault)
        return fault

    def next(self, method: str, template: str, about: set[int]) -> Fault | None:
        for fault in self.ordered:
            if fault.concerns(method, template, about):
                fault.times -= 1
                return fault
        return None

    def enforce(self, method: str, template: str, limit: int, window: float) -> None:
        """From now on this operation has a real bucket for each channel."""
        self._limits[method, template] = (limit, window)
        self._buckets = {key: bucket for key, bucket in self._buckets.items() if key[:2] != (method, template)}

    def bucket(self, method: str, template: str, params: dict[str, str]) -> tuple[str, Bucket]:
        """The bucket's published name, and the bucket itself, one for each channel, guild or webhook."""
        key = (method, template, *(params[name] for name in MAJOR if name in params))
        if key not in self._buckets:
            limit = self._limits.get((method, template))
            self._buckets[key] = Bucket(*limit, enforced=True) if limit else Bucket()
        return hashlib.sha256(f"{method} {template}".encode()).hexdigest()[:16], self._buckets[key]
