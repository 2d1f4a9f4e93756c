"""How many calls this process makes in a minute, so that what is nice to have leaves room for what has to arrive."""

import time
from collections import defaultdict, deque

# Calls a minute that all streams of this process may make together, below Slack's tiers so that the ends still fit.
# https://docs.slack.dev/apis/web-api/rate-limits: Tier 2 is 20, Tier 3 is 50, Tier 4 is 100 a minute.
CALLS_A_MINUTE = {"chat.startStream": 18, "chat.appendStream": 85, "chat.update": 30}
UNLIMITED = 1_000_000  # calls in a window


class RateLimiter:
    """A sliding window of calls for each method; methods without a limit are never held back."""

    def __init__(self, limits: dict[str, int] | None = None, window: float = 60.0) -> None:
        """At most ``limits`` calls of each method in any ``window`` seconds; CALLS_A_MINUTE unless told otherwise."""
        self._limits = CALLS_A_MINUTE if limits is None else limits
        self._window = window
        self._calls: dict[str, deque[float]] = defaultdict(deque)
        self._blocked_until: dict[str, float] = {}

    def try_acquire(self, method: str) -> bool:
        """Whether one more call fits now; if so, it is counted."""
        now = time.monotonic()
        if now < self._blocked_until.get(method, 0.0):
            return False
        calls = self._calls[method]
        while calls and calls[0] <= now - self._window:
            calls.popleft()
        if len(calls) >= self._limits.get(method, UNLIMITED):
            return False
        calls.append(now)
        return True

    def block(self, method: str, seconds: float) -> None:
        """Let no call of this method through for so long: Slack's ``Retry-After``."""
        self._blocked_until[method] = time.monotonic() + seconds
