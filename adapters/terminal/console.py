"""A safe console: text of a document or a model cannot move the cursor, hide a link or reverse text."""

import os
import re
from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from core.model.plain_text import remove_controls

UNBROKEN = 10_000  # columns: programs that read the pipe get whole lines


class SafeConsole(Console):
    """A console that prints plain text only. Colours come from styles, and a link is its visible address.

    Into a pipe, lines are neither broken nor padded with spaces, unless COLUMNS or ``width`` sets a width.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not self.is_terminal and options.get("width") is None and not os.environ.get("COLUMNS"):
            self.width = UNBROKEN

    @property
    def file(self) -> IO[str]:
        """The output stream."""
        return _TrimmedConsole(super().file)  # type: ignore[return-value]

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield each segment without control characters from its text and without hidden links."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
                continue
            style = segment.style.update_link(None) if segment.style and segment.style.link else segment.style
            yield Segment(remove_controls(segment.text), style)


class _TrimmedConsole:
    """A stream that strips trailing spaces if it is not a terminal, because rich pads every line."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write lines. On a terminal they stay unchanged, because the cursor position depends on the spaces."""
        return self._stream.write(text if self._stream.isatty() else re.sub(r"[ \t]+(?=\n)", "", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
