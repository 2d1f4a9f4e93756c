"""Active links and pings in a Markdown text, as read by programs that are not ours.

Marko, an implementation of CommonMark and of GitHub's dialect (which makes links of bare addresses as well), and plain
patterns for HTML and for what Slack and Discord take for a call. Nothing of the bot's own code is used.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from marko import Markdown
from marko.ext.gfm import GFM

_ATTRIBUTE = re.compile(
    r"<[a-z][^<>]*?\b(?:href|src|srcset|action|poster|data|style|on\w+)\s*=\s*['\"]?([^\s'\">]*)", re.IGNORECASE
)
_RUNNING = re.compile(r"<(?:script|iframe|style|object|embed|form|meta|base|link|svg)\b", re.IGNORECASE)
_LEADS_AWAY = re.compile(r"(?!mailto:)[a-z][a-z0-9+.-]*:|//|\\\\|www\.", re.IGNORECASE)
_CALLS = re.compile(r"<!(?:channel|here|everyone|group)|<!subteam\^|<@[!&UWB\d]|@(?:channel|here|everyone)\b")
_SLACK_LINK = re.compile(r"<([a-z][a-z0-9+.-]*:[^<>\s]+?)(?:\|[^<>\n]*)?>", re.IGNORECASE)


@cache
def _readers() -> tuple[Markdown, Markdown]:
    return Markdown(), Markdown(extensions=[GFM])


def active_in(text: str) -> list[str]:
    """Every address that is followed from a text, raw HTML and calls as they are written. A mail address is none."""
    found: list[str] = []
    html: list[str] = []
    for reader in _readers():
        for element in _elements(reader.parse(text)):
            match type(element).__name__:
                case "Link" | "Image" | "AutoLink" | "Url":
                    found.append(str(element.dest))
                case "LinkRefDef":
                    found.append(str(element.dest))
                case "InlineHTML" | "HTMLBlock":
                    tags = str(element.children if isinstance(element.children, str) else element.body)
                    html += _ATTRIBUTE.findall(tags) + _RUNNING.findall(tags)
    found = [one for one in found if _LEADS_AWAY.match(one)]
    return found + html + _CALLS.findall(text)


def slack_links_in(text: str) -> list[str]:
    """What Slack would make a link of if a program passed the text on in its own markup."""
    return _SLACK_LINK.findall(text)


def _elements(element: Any) -> Iterator[Any]:
    yield element
    children = getattr(element, "children", None)
    if isinstance(children, list):
        for child in children:
            yield from _elements(child)
