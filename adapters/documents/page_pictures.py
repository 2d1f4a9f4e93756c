"""Pages drawn in a sandbox of its own, one at a time: looking at a page holds up nobody who reads files in."""

import base64
import json
from types import TracebackType
from typing import Self

from adapters.documents.sandbox.pool import MB, Sandbox, SandboxLimits
from core.model.errors import DocumentRejected
from core.ports.sources import Box, PagePicture, PagePictures

DRAWING = SandboxLimits(memory=768 * MB, seconds=15.0, cpu_seconds=15, output_bytes=16 * MB, documents=50)
MOST_MARKS = 200


class SandboxedPagePictures(PagePictures):
    """Use it as ``async with SandboxedPagePictures() as pictures``; a process is started with the first page."""

    def __init__(self) -> None:
        self._sandbox = Sandbox(workers=1, limits=DRAWING, task="draw")

    async def __aenter__(self) -> Self:
        await self._sandbox.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._sandbox.__aexit__(kind, error, trace)

    async def draw(self, name: str, data: bytes, page: int, quote: str = "") -> PagePicture:
        """One page, counted from 1. Raises DocumentRejected."""
        return picture_of(await self._sandbox.draw_page(name, data, page, quote))


def picture_of(body: bytes) -> PagePicture:
    """The picture in a worker's answer, of which nothing is taken on trust.

    Raises:
        DocumentRejected: the worker's reason, or that its answer makes no sense.
    """
    try:
        answer = json.loads(body)
        if reason := answer.get("rejected"):
            raise DocumentRejected(str(reason)[:1_000])
        png = base64.b64decode(answer["png"], validate=True)
        if not png.startswith(b"\x89PNG\r\n\x1a\n"):
            raise ValueError("no PNG")  # noqa: TRY301 - it makes no sense, like the others
        marks = tuple(Box(*map(float, box)) for box in answer["marks"][:MOST_MARKS])
        return PagePicture(png, int(answer["width"]), int(answer["height"]), int(answer["pages"]), marks)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DocumentRejected("This page could not be drawn.") from error
