"""Lines of the service in Discord's Markdown: what stands out is ours alone, and a name in it is only a name."""

from collections.abc import Iterable
from typing import assert_never

from adapters.discord.outbound import layouts
from adapters.discord.outbound.text import plain
from core.service.kb.text_spans import Line, Span, Style


def markdown_lines(lines: Iterable[Line]) -> str:
    """Lines as one text, with places and people by the names that Discord has; at most what a message takes."""
    return layouts.reply_text("\n".join("".join(map(_span, line)) for line in lines))


def _span(span: Span) -> str:
    match span.style:
        case Style.PLAIN | Style.LINK:  # which addresses are links is the sanitizer's to decide
            return span.text
        case Style.STRONG:
            return f"**{words}**" if (words := plain(span.text)) else ""
        case Style.CODE:
            return f"`{span.text}`"
        case unknown:
            assert_never(unknown)
