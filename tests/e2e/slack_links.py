"""Active links and pings in messages to Slack, by Slack's rules and not ours.

Nothing of the bot's own code is used here. The rules, and where they are from:

- Text of a message and ``mrkdwn`` objects: ``<address>`` and ``<address|label>`` are links, ``<@U…>``, ``<!channel>``,
  ``<!here>``, ``<!everyone>``, ``<!subteam^S…>`` call people. ``&amp;``, ``&lt;`` and ``&gt;`` are the characters.
  https://docs.slack.dev/messaging/formatting-message-text
- Where ``verbatim`` is not true, addresses that merely stand there become links as well. What counts as one is the
  server's, and written down nowhere: old documentation has it find ``www.foo.com``. So everything counts that
  linkify-it finds, an implementation by others, with every option on: no scheme, e-mail, numbers of hosts.
  https://docs.slack.dev/reference/block-kit/composition-objects/text-object
- ``markdown`` blocks and a stream's ``markdown_text``: CommonMark, read by markdown-it, with the same linkify-it, which
  is applied inside code as well, since Slack's code blocks hold links. The pieces of a stream are one text.
  https://docs.slack.dev/reference/block-kit/blocks/markdown-block
- Titles, details and outputs of a stream's tasks: nothing says which of the two they are, so both.
- ``plain_text``: nothing. https://docs.slack.dev/reference/block-kit/composition-objects/text-object
- ``url``, ``image_url`` and their like in elements; ``link`` elements of rich text.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from typing import Any, Self

from linkify_it import LinkifyIt
from markdown_it import MarkdownIt

_ANGLED = re.compile(r"<([^<>\s][^<>]*)>")
_PEOPLE = re.compile(r"<(?:!(?:channel|here|everyone|group)\b|!subteam\^|@[UWB])[^<>]*>")
_HIDDEN = {"metadata", "private_metadata", "value", "action_id", "block_id", "callback_id", "initial_value"}
_TASK_TEXTS = ("title", "details", "output")
_KNOWN_DOMAINS = ["example", "dev", "app", "zip", "mov", "test", "local", "internal", "xyz", "link"]


@dataclass
class Active:
    """Links by their address, and calls of people as they were written."""

    links: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Active") -> Self:
        self.links += other.links
        self.calls += other.calls
        return self


def _eager_linkifier() -> LinkifyIt:
    linkifier = LinkifyIt(options={"fuzzy_link": True, "fuzzy_email": True, "fuzzy_ip": True})
    linkifier.tlds(_KNOWN_DOMAINS, True)
    rest = {"validate": re.compile(r"[^\s<>]+")}
    for scheme in ("tel:", "sms:", "slack:", "discord:", "steam:", "javascript:", "data:", "file:"):
        linkifier.add(scheme, rest)
    return linkifier


_LINKIFIER = _eager_linkifier()


def _markdown_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": True}).enable(["linkify", "table", "strikethrough"])
    parser.linkify = _LINKIFIER
    parser.validateLink = _any_link  # type: ignore[method-assign]  # to see what it would refuse to show
    return parser


def _any_link(url: str) -> bool:
    return bool(url)


_MARKDOWN = _markdown_parser()


@cache
def found_addresses(text: str) -> tuple[str, ...]:
    """What becomes a link although nobody marked it as one."""
    return tuple(str(match.url) for match in _LINKIFIER.match(text) or [])


def active_in_mrkdwn(text: str, *, verbatim: bool) -> Active:
    """What is active in Slack's own markup."""
    targets = [inside.partition("|")[0] for inside in _ANGLED.findall(text)]
    found = Active([unescape(one) for one in targets if not one.startswith(("@", "#", "!"))], _PEOPLE.findall(text))
    if not verbatim:
        found.links += found_addresses(unescape(_ANGLED.sub(" ", text)))
    return found


@cache
def active_in_markdown(text: str) -> Active:
    """What is active in a ``markdown`` block, or in a whole stream."""
    found = Active(calls=_PEOPLE.findall(text))
    for token in _tokens(_MARKDOWN.parse(text)):
        if token.type == "link_open":
            found.links.append(str(token.attrGet("href")))
        elif token.type == "image":
            found.links.append(str(token.attrGet("src")))
        elif token.type in ("code_inline", "fence", "code_block"):
            found.links += found_addresses(token.content)
    return found


def _tokens(tokens: Iterable[Any]) -> Iterator[Any]:
    for token in tokens:
        yield token
        yield from _tokens(token.children or ())


def active_in_calls(calls: Iterable[tuple[str, Mapping[str, Any]]]) -> Active:
    """What is active in anything that these calls show: each by its method and its arguments, in order."""
    found = Active()
    streams: dict[str, str] = {}
    for method, arguments in calls:
        found += _active_in(arguments)
        if method in ("chat.appendStream", "chat.stopStream"):
            texts = [one["text"] for one in arguments.get("chunks") or [] if one.get("type") == "markdown_text"]
            streams[str(arguments.get("ts"))] = streams.get(str(arguments.get("ts")), "") + "".join(texts)
    for text in streams.values():
        found += active_in_markdown(text)
    return found


def _active_in(shown: Any) -> Active:
    found = Active()
    if isinstance(shown, list | tuple):
        for one in shown:
            found += _active_in(one)
    if not isinstance(shown, Mapping):
        return found
    text = str(shown.get("text"))
    match shown.get("type"):
        case "mrkdwn":
            return active_in_mrkdwn(text, verbatim=shown.get("verbatim") is True)
        case "markdown" | "markdown_text":
            return active_in_markdown(text)
        case "plain_text" | "text":  # the latter of rich text: literal
            return found
        case "task_update" | "plan_update":
            tasks = [str(shown[name]) for name in _TASK_TEXTS if name in shown]
            for one in tasks:
                found += active_in_markdown(one)
                found += active_in_mrkdwn(one, verbatim=False)
            return found
    for name, value in shown.items():
        found += _active_in_field(name, value)
    return found


def _active_in_field(name: str, value: Any) -> Active:
    if name in _HIDDEN:
        return Active()
    if name == "url" or name.endswith("_url"):
        return Active([str(value)])
    if isinstance(value, str) and name in ("text", "pretext", "fallback", "footer"):
        return active_in_mrkdwn(value, verbatim=False)
    return active_in_markdown(value) if isinstance(value, str) and name == "markdown_text" else _active_in(value)
