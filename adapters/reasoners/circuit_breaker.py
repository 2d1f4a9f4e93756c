"""A circuit breaker: after several failures in a row nothing is asked until a cool-down is over, then one call only.

The pattern is M. Nygard's ("Release It!", ch. 5).
"""

from enum import StrEnum

from core.model.clock import Clock


class BreakerState(StrEnum):
    """Closed lets calls through, open does not, half-open lets one through to see."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class CircuitBreaker:
    """Counts failures in a row. Belongs to one event loop."""

    def __init__(self, clock: Clock, failures: int, cool_down_seconds: float) -> None:
        """Start closed."""
        self._clock = clock
        self._most = failures
        self._cool_down = cool_down_seconds
        self._failures = 0
        self._opened_at = 0.0
        self._trying = False

    @property
    def state(self) -> BreakerState:
        """Closed, open, or half-open: one call may try."""
        if self._failures < self._most:
            return BreakerState.CLOSED
        over = self._clock.monotonic() - self._opened_at >= self._cool_down
        return BreakerState.HALF_OPEN if over or self._trying else BreakerState.OPEN

    @property
    def failures(self) -> int:
        """How many calls have failed since one succeeded."""
        return self._failures

    def admits(self) -> bool:
        """Whether a call may go through now; one that may must end in one of the three methods below."""
        if self.state is BreakerState.HALF_OPEN and not self._trying:
            self._trying = True
            return True
        return self.state is BreakerState.CLOSED

    def record_success(self) -> None:
        """Close the breaker after a call that succeeded."""
        self._failures, self._trying = 0, False

    def record_failure(self) -> None:
        """Count a failed call; enough of them in a row open the breaker."""
        self._failures += 1
        self._opened_at, self._trying = self._clock.monotonic(), False

    def release(self) -> None:
        """End a call that says nothing about the endpoint."""
        self._trying = False
