"""The terminal as people read it: what a document or a model wrote can move no cursor, hide no link, turn no text."""

import os
import re
from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from core.model.plain_text import remove_controls

UNBROKEN = 10_000  # columns: whoever reads on behind a pipe gets each line whole


class SafeConsole(Console):
    """A console all of whose text is only text: colours come from styles, and a link is the address that is shown.

    Behind a pipe no line is broken and none is filled up with spaces, unless COLUMNS or ``width`` says how wide it is.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not self.is_terminal and options.get("width") is None and not os.environ.get("COLUMNS"):
            self.width = UNBROKEN

    @property
    def file(self) -> IO[str]:
        """The stream that is written to."""
        return _TrimmedConsole(super().file)  # type: ignore[return-value]

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Each segment without control characters of its text's own, and without a hidden link."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
                continue
            style = segment.style.update_link(None) if segment.style and segment.style.link else segment.style
            yield Segment(remove_controls(segment.text), style)


class _TrimmedConsole:
    """A stream without spaces at the ends of lines, where it is no terminal: rich fills every line up."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write whole lines; a terminal gets them as they are, for what moves its cursor."""
        return self._stream.write(text if self._stream.isatty() else re.sub(r"[ \t]+(?=\n)", "", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
