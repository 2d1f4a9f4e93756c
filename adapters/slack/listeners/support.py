"""Helpers of all listeners: error reports, modals whose content takes a moment, and background tasks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import structlog

from adapters.slack.api.sanitizer import acknowledge
from adapters.slack.inbound.interactions import Ack, Body, sender_of
from adapters.slack.kb.forms import FormResult
from adapters.slack.outbound import views
from adapters.slack.outbound.workspace import SlackWorkspace
from core.model.errors import WENT_WRONG, FootnoteError, Unavailable

TRY_AGAIN = "I cannot reach my data store right now. Please try again in a moment."
# Slack requires an answer within 3 seconds: https://docs.slack.dev/interactivity/handling-user-interaction
ACKNOWLEDGE_SECONDS = 2.5

log = structlog.get_logger(__name__)


@asynccontextmanager
async def report_errors(report: Callable[[str], Awaitable[object]]) -> AsyncIterator[None]:
    """Report to ``report`` why the body failed. Never raises."""
    words = ""
    try:
        yield
    except (Unavailable, TimeoutError) as error:
        log.warning("listener_failed", reason=str(error) or "timeout")
        words = TRY_AGAIN
    except FootnoteError as error:
        words = str(error)
    except Exception:
        log.exception("listener_failed")
        words = WENT_WRONG
    if not words:
        return
    try:
        await report(words)
    except Exception:
        log.exception("failure_not_told")


async def ignore(_: str) -> None:
    """Report nothing, because the person has already read it."""


def form_listener(
    submit: Callable[[Body], Awaitable[FormResult]],
    reopen: Callable[[Body], Awaitable[None]],
    announce: Callable[[FormResult, str], Awaitable[None]],
    field: str,
) -> Callable[..., Awaitable[None]]:
    """Return a form's listener, which acknowledges once ``submit`` has stored the content.

    If that takes too long, ``field`` shows an error and ``reopen`` lets the person submit again.
    """

    async def listener(ack: Ack, body: Body) -> None:
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                result = await submit(body)
        except (Unavailable, TimeoutError) as error:
            log.warning("form_not_kept", reason=str(error) or "timeout")
            await acknowledge(ack, errors={field: TRY_AGAIN})
            async with report_errors(ignore):  # the form already says it
                await reopen(body)
            return
        if result.errors:
            await acknowledge(ack, errors=result.errors)
            return
        await ack()
        async with report_errors(ignore):  # the content is stored, and its card follows
            await announce(result, sender_of(body)[1])

    return listener


ONE_MOMENT = "One moment…"


async def show_in_modal(
    workspace: SlackWorkspace, trigger_id: str, title: str, make: Callable[[], Awaitable[views.View]]
) -> None:
    """Open a modal, then show in it the view from ``make`` or why that failed. Raises ViewNotOpened."""
    view_id = await workspace.open_view(trigger_id, views.note(title, ONE_MOMENT))

    async def show(view: views.View) -> None:
        await workspace.web.call("views.update", view_id=view_id, view=view)

    async with report_errors(lambda text: show(views.note(title, text))):
        await show(await make())


MOST_TASKS = 200  # Home tabs and private notes: if one is dropped, Slack or the person asks again


class BackgroundTasks:
    """Background tasks that nobody waits for. Failures are logged."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start the task now. If MOST_TASKS are running, drop it and log that."""
        if len(self._tasks) >= MOST_TASKS:
            work.close()
            log.warning("too_many_background_tasks")
            return
        task = asyncio.create_task(_run_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel all running tasks."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _run_logged(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except Exception:
        log.exception("background_task_failed")
