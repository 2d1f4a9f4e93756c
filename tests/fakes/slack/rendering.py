"""The visible text of a message, and its pings.

Slack's rule (formatting of message text): only `<!channel>`, `<!here>`, `<!everyone>`, `<!subteam^ID>` and
`<@ID>` call somebody. The same letters with `&lt;` and `&gt;` are plain text, and a bare `@channel` is plain text
too unless the message was sent with `parse=full` or `link_names`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

PingKind = Literal["broadcast", "group", "user"]

_BROADCAST = re.compile(r"<!(channel|here|everyone|group)(?:\|[^>]*)?>", re.IGNORECASE)
_GROUP = re.compile(r"<!subteam\^([A-Z0-9]+)(?:\|[^>]*)?>")
_USER = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^>]*)?>")
_LINKED = re.compile(r"(?<![\w.])@(channel|here|everyone)\b")
_READ_KEYS = ("title", "text", "details", "output", "pretext", "fallback")


@dataclass(frozen=True)
class State:
    """One state a message was in. `how` is posted, edited, appended, stopped, expired or deleted."""

    how: str
    text: str
    markdown: str
    stream_text: str
    blocks: list[dict[str, Any]]
    tasks: list[dict[str, Any]]
    attachments: list[dict[str, Any]]
    linkify: bool = False
    visible: bool = True


@dataclass(frozen=True)
class Button:
    """A button as it stands in a block. `element` is its own JSON, `block` that of the block around it."""

    text: str
    action_id: str
    element: dict[str, Any]
    block: dict[str, Any]
    choice: dict[str, Any] | None = None


class Rendered(Protocol):
    """Anything with blocks before a reader: a message or a view."""

    @property
    def text(self) -> str:
        """The notification text."""

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The layout."""


def render(shown: Rendered) -> str:
    """All the text a reader sees: streamed text, then the blocks' texts; `text` only where there is neither."""
    streamed = str(getattr(shown, "stream_text", ""))
    parts = [streamed] if streamed else []
    parts += [text for block in shown.blocks for text in _texts(block)]
    return "\n".join(parts) if parts else shown.text


def _texts(node: Any) -> Iterator[str]:
    """The visible strings of a block, in reading order; ids, values and urls are not visible."""
    if isinstance(node, list):
        for one in node:
            yield from _texts(one)
    elif isinstance(node, dict) and node.get("type") == "rich_text_section":
        yield "".join(_texts(node.get("elements") or []))
    elif isinstance(node, dict):
        yield from _mention(node)
        for key, value in node.items():
            if isinstance(value, str) and key in {"text", "title", "alt_text"}:
                yield value
            elif isinstance(value, dict | list):
                yield from _texts(value)


def _mention(node: dict[str, Any]) -> Iterator[str]:
    match node.get("type"):
        case "broadcast":
            yield f"@{node.get('range')}"
        case "user":
            yield f"<@{node.get('user_id')}>"
        case "emoji":
            yield f":{node.get('name')}:"


def buttons_of(blocks: list[dict[str, Any]]) -> list[Button]:
    """Every button in these blocks; feedback buttons are two, sharing an action_id."""
    found: list[Button] = []
    for block in blocks:
        for element in _elements(block):
            found.extend(_as_buttons(element, block))
    return found


def _elements(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in ("elements", "actions"):
        yield from (one for one in block.get(key) or [] if isinstance(one, dict))
    for key in ("accessory", "element"):
        if isinstance(block.get(key), dict):
            yield block[key]
    for nested in ("child_blocks", "tasks"):
        for child in block.get(nested) or []:
            yield from _elements(child)
    if block.get("type") == "carousel":
        for card in block.get("elements") or []:
            yield from _elements(card)


def elements_of(blocks: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every interactive element with the block around it."""
    for block in blocks:
        for element in _elements(block):
            if "action_id" in element:
                yield element, block


def _as_buttons(element: dict[str, Any], block: dict[str, Any]) -> Iterator[Button]:
    action_id = str(element.get("action_id", ""))
    match element.get("type"):
        case "button" | "icon_button" | "workflow_button":
            yield Button(str((element.get("text") or {}).get("text", "")), action_id, element, block)
        case "feedback_buttons":
            for side in ("positive_button", "negative_button"):
                choice = element.get(side) or {}
                yield Button(str((choice.get("text") or {}).get("text", "")), action_id, element, block, choice)


def pings_in(state: State) -> set[tuple[PingKind, str]]:
    """Whom this state calls. Text of type `plain_text` calls nobody; everything else is read as Slack would."""
    found: set[tuple[PingKind, str]] = set()
    for text in _live_texts(state):
        found |= {("broadcast", match.group(1).lower()) for match in _BROADCAST.finditer(text)}
        found |= {("group", match.group(1)) for match in _GROUP.finditer(text)}
        found |= {("user", match.group(1)) for match in _USER.finditer(text)}
        if state.linkify:
            found |= {("broadcast", match.group(1)) for match in _LINKED.finditer(text)}
    for node in _nodes(state.blocks):
        found |= _rich_text_ping(node)
    return found


def _live_texts(state: State) -> Iterator[str]:
    # The streamed text is joined here, so that a call which two appends complete between them is seen.
    yield state.text
    yield state.stream_text
    for node in _nodes([state.blocks, state.tasks, state.attachments]):
        if node.get("type") != "plain_text":
            yield from (node[key] for key in _READ_KEYS if isinstance(node.get(key), str))


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for one in value:
            yield from _nodes(one)
    elif isinstance(value, dict):
        yield value
        for one in value.values():
            yield from _nodes(one)


def _rich_text_ping(node: dict[str, Any]) -> set[tuple[PingKind, str]]:
    match node.get("type"):
        case "broadcast":
            return {("broadcast", str(node.get("range")))}
        case "usergroup":
            return {("group", str(node.get("usergroup_id")))}
        case "user":
            return {("user", str(node.get("user_id")))}
        case _:
            return set()
