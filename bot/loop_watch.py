"""Watches the event loop from a thread: says where it is blocked, while it is, and counts for how long."""

import sys
import threading
import time
import traceback
from asyncio import AbstractEventLoop
from collections.abc import Callable
from typing import Self

import structlog

from adapters.observability.prometheus import LOOP_BLOCKED

LIMIT = 0.1  # seconds in which the loop has to answer
INTERVAL = 0.05  # seconds between two questions to it
QUIET_SECONDS = 10.0  # between two log lines; the metric counts every time
MOST_FRAMES = 15  # of the stack, the innermost

log = structlog.get_logger(__name__)


def report_block(stack: str) -> None:
    """Log where the loop is blocked."""
    log.info("event_loop_blocked", over_seconds=LIMIT, stack=stack)


class LoopWatch:
    """A context manager: watches the loop of the thread that enters it until it is left."""

    def __init__(
        self, loop: AbstractEventLoop, report: Callable[[str], None] = report_block, limit: float = LIMIT
    ) -> None:
        """``report`` is called in the watching thread with the stack of the loop's thread."""
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
        """Report what the loop's thread does; False where it waits for the processor, and blocks nothing itself."""
        frame = sys._current_frames().get(self._watched)  # noqa: SLF001 - documented, for exactly this
        if frame is None or frame.f_code.co_name == "select":
            return False
        if time.monotonic() - self._reported > QUIET_SECONDS:
            self._reported = time.monotonic()
            self._report("".join(traceback.format_stack(frame)[-MOST_FRAMES:]))
        return True
