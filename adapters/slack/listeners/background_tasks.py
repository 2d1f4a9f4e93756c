"""What is done beside an acknowledgement: bounded, owned, and ended with the platform."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

MOST_TASKS = 200  # a Home tab, a word to one person: of more, Slack asks again or the person does

log = structlog.get_logger(__name__)


class BackgroundTasks:
    """Tasks that nobody waits for; what fails in one is logged."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin it now; with MOST_TASKS under way it is dropped, which is logged."""
        if len(self._tasks) >= MOST_TASKS:
            work.close()
            log.warning("too_many_background_tasks")
            return
        task = asyncio.create_task(_run_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all that are under way."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _run_logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("background_task_failed")
