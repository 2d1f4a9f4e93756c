"""What a person reads when a listener fails: one line, in a place of theirs, never silence and never a traceback."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import structlog

from core.model.errors import WENT_WRONG, FootnoteError, Unavailable

TRY_AGAIN = "I cannot reach my memory right now. Please try again in a moment."
# Slack wants to be answered within 3 seconds:
# https://docs.slack.dev/interactivity/handling-user-interaction
ACKNOWLEDGE_SECONDS = 2.5

log = structlog.get_logger(__name__)


@asynccontextmanager
async def report_errors(report: Callable[[str], Awaitable[object]]) -> AsyncIterator[None]:
    """Tell ``report`` why the body failed; nothing is raised from here."""
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
    """Nobody is told: who asked has been told already."""
