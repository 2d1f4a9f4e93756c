"""Reads a streamed reply as it comes: its text, why it ended, and what it cost.

Models send a word at a time, and each piece costs every layer above a step and most of them a timer. So a task of its
own reads the chunks, and whoever writes takes the text that has come since it last looked as one piece.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Self

from adapters.reasoners.openai import reply as replies


class ReportedError(Exception):
    """An error that the endpoint reports in the middle of a stream, or in a reply with status 200."""

    def __init__(self, error: object) -> None:
        """Of any shape."""
        super().__init__(str(error))
        self.error = error


class StreamReader:
    """The chunks of one reply, read while the block lasts. Belongs to one event loop."""

    def __init__(self, chunks: AsyncGenerator[object, None], most: int) -> None:
        """Reads up to ``most`` characters: not every endpoint keeps to the length that was asked for."""
        self.finish = ""  # the model's last word on why it ended
        self.written = 0  # characters
        self.usage = (0, 0, 0, 0)
        self.refusal = ""
        self.thought = False  # unseen, before what was written
        self._chunks = chunks
        self._most = most
        self._pieces: list[str] = []  # come, and not taken yet; a thought is an empty one
        self._changed = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._reading = asyncio.create_task(self._read())
        self._reading.add_done_callback(lambda _: self._changed.set())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def take(self) -> str | None:
        """Wait for content, and all of its text so far; None at the end.

        Empty where the model only thought. Keep-alives are no content. Raises what reading raises, after the text
        that came before: ReportedError, TypeError for what is no chunk, and what the client raises.
        """
        assert self._reading is not None, "outside of its block"
        await self._changed.wait()
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            if not self._reading.done():
                self._changed.clear()
            return text
        self._reading.result()
        return None

    async def _read(self) -> None:
        async with aclosing(self._chunks) as chunks:
            async for chunk in chunks:
                if (reported := replies.error_in(chunk)) is not None:
                    raise ReportedError(reported)
                self._keep(chunk)
                if self.written > self._most:
                    self.finish = "length"
                    return

    def _keep(self, chunk: object) -> None:
        if isinstance(chunk, str | int | float | list):
            raise TypeError("not a chunk")
        usage = replies.usage_of(chunk)
        self.usage = usage if any(usage) else self.usage
        choice = replies.first_choice(chunk)
        self.finish = replies.finish_of(choice) or self.finish
        delta = replies.field_of(choice, "delta") or replies.field_of(choice, "message")
        text, thought = replies.text_of(replies.field_of(delta, "content")), replies.reasoning_of(delta)
        self.refusal += replies.refusal_of(delta)
        self.thought = self.thought or bool(thought or self.usage[3])
        if text or thought:
            self.written += len(text)
            self._pieces.append(text)
            self._changed.set()
