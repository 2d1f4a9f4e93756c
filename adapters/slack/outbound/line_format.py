"""Lines of the service as ``mrkdwn``: everything escaped, so that only our own bold and code survive.

Addresses are not made into links (the blocks are ``verbatim``): a document's title may be one. Those of Slack's own
messages are.
"""

import re
from typing import assert_never

from adapters.slack.api.message_links import HOST
from adapters.slack.outbound.text import escape
from core.service.kb.text_spans import Line, Span, Style

_MESSAGE = re.compile(HOST + r"/archives/[A-Z0-9]+/p\d+(?:\?[\w.=&;]*)?")


def mrkdwn(line: Line) -> str:
    """One line, safe to show."""
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    words = escape(" ".join(span.text.splitlines()))
    match span.style:
        case Style.PLAIN | Style.PRINCIPAL:
            return words
        case Style.STRONG:
            return f"*{words}*" if words.strip() else words
        case Style.CODE:
            return f"`{words}`"
        case Style.LINK:
            return f"<{words}>" if _MESSAGE.fullmatch(words) else words
        case unknown:
            assert_never(unknown)
