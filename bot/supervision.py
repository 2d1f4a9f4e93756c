"""Supervision of a server: platforms that end are restarted, and a blocked event loop is logged."""

import asyncio
import sys
import threading
import time
import traceback
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Self

import structlog

from adapters.observability.prometheus import LOOP_BLOCKED
from adapters.platform_plugin import ConnectedPlatform
from core.model.errors import ConfigurationError, FootnoteError
from core.service.leases import pause

RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)  # the last one repeats

log = structlog.get_logger(__name__)


class SupervisedPlatform:
    """One connected platform, with the reason while it is unavailable."""

    def __init__(self, platform: ConnectedPlatform, *, alone: bool) -> None:
        """Supervise a platform. ``alone``: nothing else is served, so rejected credentials end the process."""
        self._platform = platform
        self._alone = alone
        self._away = ""

    @property
    def name(self) -> str:
        """The platform's name."""
        return self._platform.name

    def readiness_problem(self) -> str:
        """Return why people cannot reach it right now; empty if they can."""
        return self._away or self._platform.readiness_problem()

    async def run(self, stop: asyncio.Event) -> None:
        """Run it until ``stop`` is set. Raises ConfigurationError if it is alone and rejects our credentials."""
        failures = 0
        while not stop.is_set():
            started = asyncio.get_running_loop().time()
            try:
                await self._platform.run(stop)
            except ConfigurationError as error:
                if self._alone:
                    raise
                self._record_failure(error)
            except Exception as error:  # noqa: BLE001 - no error of one platform ends the service
                self._record_failure(error)
            else:
                return
            lasted = asyncio.get_running_loop().time() - started
            failures = 0 if lasted > RETRY_SECONDS[-1] else failures
            await pause(stop, RETRY_SECONDS[min(failures, len(RETRY_SECONDS) - 1)])
            failures += 1
            self._away = ""

    def _record_failure(self, error: Exception) -> None:
        ours = isinstance(error, FootnoteError)
        self._away = str(error) if ours else "it failed; the log says why"
        log.error("platform_failed", platform=self.name, reason=str(error), exc_info=None if ours else error)


LIMIT = 0.1  # seconds within which the loop has to respond
INTERVAL = 0.05  # seconds between two probes
QUIET_SECONDS = 10.0  # between two log lines; the metric counts every time
MOST_FRAMES = 15  # of the stack, the innermost

log = structlog.get_logger(__name__)


def report_block(stack: str) -> None:
    """Log where the loop is blocked."""
    log.info("event_loop_blocked", over_seconds=LIMIT, stack=stack)


class LoopWatch:
    """Context manager that watches the event loop of the thread that enters it."""

    def __init__(
        self, loop: AbstractEventLoop, report: Callable[[str], None] = report_block, limit: float = LIMIT
    ) -> None:
        """Call ``report`` in the watching thread with the stack of the loop's thread."""
        self._loop = loop
        self._report = report
        self._limit = limit
        self._watched = threading.get_ident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="loop-watch", daemon=True)
        self._reported = float("-inf")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL):
            answered, asked = threading.Event(), time.monotonic()
            try:
                self._loop.call_soon_threadsafe(answered.set)
            except RuntimeError:  # it is closed
                return
            if answered.wait(self._limit):
                continue
            is_blocked = self._look()
            while not answered.wait(self._limit) and not self._stop.is_set():
                is_blocked = is_blocked or self._look()
            if is_blocked:
                LOOP_BLOCKED.observe(time.monotonic() - asked)

    def _look(self) -> bool:
        """Report the stack of the loop's thread. Return False if it only waits in ``select`` and blocks nothing."""
        frame = sys._current_frames().get(self._watched)  # noqa: SLF001 - documented, for exactly this
        if frame is None or frame.f_code.co_name == "select":
            return False
        if time.monotonic() - self._reported > QUIET_SECONDS:
            self._reported = time.monotonic()
            self._report("".join(traceback.format_stack(frame)[-MOST_FRAMES:]))
        return True
