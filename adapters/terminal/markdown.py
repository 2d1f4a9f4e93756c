"""An answer's Markdown at the terminal: headings on the left, and no line that is drawn to the edge of the screen."""

from typing import ClassVar

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import Heading, HorizontalRule, Markdown, MarkdownElement
from rich.text import Text


class LeftHeading(Heading):
    """A heading where reading begins: behind a pipe there is no middle."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class ShortRule(HorizontalRule):
    """A division that is as long behind a pipe as on the narrowest screen."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Three strokes."""
        yield Text("───", style=console.get_style("markdown.hr", default="none"))


class AnswerMarkdown(Markdown):
    """Markdown as answers are written in it."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "hr": ShortRule,
    }
