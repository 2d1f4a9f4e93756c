"""Events of one thread are kept in the order in which they came, though each is taken in by a task of its own."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any


class ThreadOrder:
    """One after another within a thread; threads do not wait for each other."""

    def __init__(self) -> None:
        self._last: dict[str, asyncio.Event] = {}  # set when the latest event of a thread is kept, or given up

    @asynccontextmanager
    async def turn(self, thread: str) -> AsyncIterator[None]:
        """Waits until all that came before in this thread is done with."""
        before, done = self._last.get(thread), asyncio.Event()
        self._last[thread] = done
        try:
            if before is not None:
                await before.wait()
            yield
        finally:
            done.set()
            if self._last.get(thread) is done:
                del self._last[thread]


def thread_of(event: Mapping[str, Any]) -> str:
    """The channel and thread of an event, as far as it has them; edits and deletions carry the message inside."""
    message = event.get("message") or event.get("previous_message") or event
    return f"{event.get('channel', '')}/{message.get('thread_ts') or message.get('ts') or ''}"
