"""When to edit a message that shows work in progress, and how its final edit stays the last one.

Progress edits are coalesced: at most one is in flight and at most one waits for its time. At the end the waiting edit
is dropped and the one in flight is awaited. Neither Slack nor Discord keeps two requests in order, so an edit whose
response never came may still be applied. The final edit is then repeated until that has become impossible.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from core.model.errors import FootnoteError, PlatformUnavailable

Result = TypeVar("Result")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PacingLimits:
    """How long pacing waits, in seconds."""

    edit: float = 8.0  # for the response to a progress edit
    in_flight: float = 5.0  # for the same, once the final edit is ready
    late: tuple[float, ...] = (1.0, 4.0, 10.0)  # from giving up a request to each repetition of the final edit


LIMITS = PacingLimits()


class Pacing:
    """Paces the edits of one message."""

    def __init__(
        self, edit: Callable[[], Awaitable[float]], pause: Callable[[], float], limits: PacingLimits = LIMITS
    ) -> None:
        """Show progress with ``edit``, at least ``pause()`` seconds apart.

        ``edit`` makes one attempt to show everything new. It returns 0, or after how many seconds to try again, and
        raises PlatformUnavailable where it got no response.
        """
        self._edit = edit
        self._pause = pause
        self._limits = limits
        self._has_news = False
        self._next_at = 0.0  # on the clock of the event loop
        self._given_up_at: float | None = None  # when a request was last left without a response
        self._waiting: asyncio.Task[None] | None = None
        self._in_flight: asyncio.Task[Any] | None = None
        self._is_over = False

    def request(self) -> None:
        """Show what is new once the pause is over, together with later updates."""
        self._has_news = True
        if not self._is_over and (self._waiting is None or self._waiting.done()):
            self._waiting = asyncio.create_task(self._edit_when_due())

    async def run(self, edit: Callable[[], Awaitable[Result]]) -> Result:
        """Make this edit now, after the one in flight. It continues if the caller is cancelled."""
        while self._in_flight is not None and not self._in_flight.done():
            await asyncio.wait({self._in_flight})
        task = self._in_flight = asyncio.create_task(self._track(edit))
        task.add_done_callback(_log_unexpected)  # its waiter may have been cancelled
        return await asyncio.shield(task)

    async def finish(self, show_final: Callable[[], Awaitable[None]]) -> None:
        """Show the final text so that no earlier edit overwrites it. ``show_final`` must be idempotent."""
        await self.stop()
        started = _now()
        given_up_at = self._given_up_at
        repeat_at = [] if given_up_at is None else [given_up_at + seconds for seconds in self._limits.late]
        await show_final()
        for at in repeat_at:
            if at > started:
                await asyncio.sleep(at - _now())
                log.info("final_edit_repeated")
                await show_final()

    async def stop(self) -> None:
        """Drop the waiting edit, and wait a limited time for the one in flight."""
        self._is_over = True
        if self._waiting is not None:
            self._waiting.cancel()
        if self._in_flight is not None and not self._in_flight.done():
            await asyncio.wait({self._in_flight}, timeout=self._limits.in_flight)
            self._in_flight.cancel()
            await asyncio.wait({self._in_flight})

    def restart_pause(self) -> None:
        """Count the pause before the next edit from now: the message was just shown or edited."""
        self._next_at = _now() + self._pause()

    def expect_late_edit(self) -> None:
        """Note that a request got no response and may still be applied."""
        self._given_up_at = _now()

    async def _edit_when_due(self) -> None:
        while self._has_news:
            await asyncio.sleep(self._next_at - _now())
            self._has_news = False
            with suppress(FootnoteError):  # the next edit, or the final one, shows it all
                if again := await self.run(self._edit_in_time):
                    self._has_news, self._next_at = True, _now() + again

    async def _edit_in_time(self) -> float:
        try:
            async with asyncio.timeout(self._limits.edit):
                return await self._edit()
        except TimeoutError:
            raise PlatformUnavailable("A progress edit got no response.") from None

    async def _track(self, edit: Callable[[], Awaitable[Result]]) -> Result:
        try:
            return await edit()
        except (PlatformUnavailable, asyncio.CancelledError) as error:
            log.info("edit_without_response", extra={"reason": str(error)})
            self.expect_late_edit()
            raise
        finally:
            self.restart_pause()


def _log_unexpected(edit: asyncio.Task[Any]) -> None:
    error = None if edit.cancelled() else edit.exception()
    if error is not None and not isinstance(error, FootnoteError):
        log.error("edit_failed", exc_info=error)


def _now() -> float:
    return asyncio.get_running_loop().time()
