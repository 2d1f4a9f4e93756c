"""Lines of the service in Discord's Markdown: what stands out is ours alone, and a name in it is only a name."""

from collections.abc import Iterable
from typing import assert_never

from adapters.discord.outbound.text import LAYOUT_TEXT_LIMIT, clip, escape, markdown, principal_name
from core.service.kb.text_spans import Line, Span, Style

SMALL_PRINT = 600  # characters of a message that are left for what stands beside the lines


def markdown_lines(lines: Iterable[Line]) -> str:
    """Lines as one text, with places and people by the names that Discord has; at most what a message takes."""
    return clip("\n".join("".join(map(_span, line)) for line in lines), LAYOUT_TEXT_LIMIT - SMALL_PRINT) or "…"


def _span(span: Span) -> str:
    match span.style:
        case Style.PLAIN | Style.LINK:  # which addresses are links is the sanitizer's to decide
            return markdown(span.text)
        case Style.STRONG:
            return f"**{words}**" if (words := escape(span.text)) else ""
        case Style.CODE:
            return f"`{markdown(span.text)}`"
        case Style.PRINCIPAL:
            return principal_name(span.text)
        case unknown:
            assert_never(unknown)
