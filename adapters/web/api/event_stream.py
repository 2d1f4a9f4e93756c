"""Server-sent events: one run, event by event, to a program that may hang up at any moment."""

import asyncio
from contextlib import suppress
from typing import Self

from aiohttp import web

HEARTBEAT_SECONDS = 15.0  # a comment, so that a program that hung up is noticed, and a proxy keeps the line


class EventStream:
    """A prepared response. Raises ConnectionResetError when the program has gone."""

    def __init__(self, request: web.Request) -> None:
        self._request = request
        self._response = web.StreamResponse(
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no", "X-Content-Type-Options": "nosniff"}
        )
        self._response.content_type = "text/event-stream"
        self._response.charset = "utf-8"
        self._writing = asyncio.Lock()
        self._beating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._response.prepare(self._request)
        self._beating = asyncio.create_task(self._beat(asyncio.current_task()))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._beating is not None:
            self._beating.cancel()
            with suppress(asyncio.CancelledError):
                await self._beating

    async def send(self, data: str, event: str = "") -> None:
        """One event; ``data`` is JSON, which has no line break. Without a name it is data alone."""
        name = f"event: {event}\n" if event else ""
        async with self._writing:
            await self._response.write(f"{name}data: {data}\n\n".encode())

    async def close(self) -> web.StreamResponse:
        """Nothing follows."""
        await self._response.write_eof()
        return self._response

    async def _beat(self, owner: "asyncio.Task[object] | None") -> None:
        """Keep the line; when nobody is there any more, end the work that is done for them."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            try:
                async with self._writing:
                    await self._response.write(b": still at it\n\n")
            except ConnectionResetError:
                if owner is not None:
                    owner.cancel()
                return
