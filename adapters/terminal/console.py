"""The terminal as people read it: what a document or a model wrote can move no cursor, hide no link, turn no text."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from core.model.plain_text import remove_controls


class SafeConsole(Console):
    """A console all of whose text is only text: colours come from styles, and a link is the address that is shown."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Each segment without control characters of its text's own, and without a hidden link."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
                continue
            style = segment.style.update_link(None) if segment.style and segment.style.link else segment.style
            yield Segment(remove_controls(segment.text), style)
