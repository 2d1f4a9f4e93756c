"""Markdown of answers in the terminal, with headings at the left and short rules."""

from typing import ClassVar

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import Heading, HorizontalRule, Markdown, MarkdownElement
from rich.text import Text


class LeftHeading(Heading):
    """A left-aligned heading, because the output of a pipe has no middle."""

    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = dict.fromkeys(Heading.LEVEL_ALIGN, "left")


class ShortRule(HorizontalRule):
    """A rule that is as short in a pipe as on the narrowest screen."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw three dashes."""
        yield Text("───", style=console.get_style("markdown.hr", default="none"))


class AnswerMarkdown(Markdown):
    """Markdown in the form of answers."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": LeftHeading,
        "hr": ShortRule,
    }
