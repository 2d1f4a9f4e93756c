"""Content of a Slack message: ``mrkdwn`` as plain text, blocks, attachments and shared messages.

Slack writes mentions and links as ``<@U1|ada>``, ``<#C1|general>``, ``<!subteam^S1>``, ``<https://…|label>``. Labels
are usually missing, so names must be looked up. https://docs.slack.dev/messaging/formatting-message-text

A person writes text. The attachments of their message are shared messages or link previews, never their own words. An
app writes blocks and attachments, often with an empty or shortened copy as text. All texts are ``mrkdwn``.
https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from typing import Any

from core.model.incoming_events import FileReference
from core.model.plain_text import one_line

_ENTITY = re.compile(r"<([^<>]+)>")
_NAMELESS = re.compile(r"<(?:@([UW][A-Z0-9]{1,20})|#([CDG][A-Z0-9]{1,20})\|?|!subteam\^(S[A-Z0-9]{1,20}))>")
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_MARKED = re.compile(
    r"(?<![\w*_~])([*_~])(?=[^\s*_~])([^*_~\n]{1,500})(?<=\S)\1(?![\w*_~])"
)  # *bold*, _italic_, ~struck~
_LEADING = re.compile(r"^[\s,]*(?::(?![\w+-]+:))?[\s,]*")  # "@Footnote: why?"
_UNKNOWN = {"U": "@someone", "W": "@someone", "S": "@a group"}


def plain_message(text: str, bot_user_id: str, names: Mapping[str, str] | None = None, *, ours: str = "") -> str:
    """Return a message as plain text, with ``ours`` where it mentions us.

    ``names`` maps ids of people, channels and groups to names. Without it, ids stay in the text for ``with_names``.
    """

    def plain(match: re.Match[str]) -> str:
        target, _, label = match.group(1).partition("|")
        if target == f"@{bot_user_id}":
            return ours
        if not label and _NAMELESS.fullmatch(match.group()):
            return match.group()
        if target.startswith(("@", "#")):
            return target[0] + label.removeprefix(target[0]) if label else f"{target[0]}unknown"
        if target.startswith("!date^"):
            return label or _date(target)
        if target.startswith("!"):
            return label or "@" + target[1:].partition("^")[0]
        return label if label and label != target else target.removeprefix("mailto:")

    said = unescape(_ENTITY.sub(plain, text))
    said = _LEADING.sub("", re.sub(r"[ \t]{2,}", " ", said)).strip(" \t\n,")
    return said if names is None else with_names(said, names)


def without_marks(text: str) -> str:
    """Return a text without the marks of bold, italic and struck words. Code stays unchanged."""
    parts = _CODE.split(text)
    parts[::2] = [_MARKED.sub(r"\2", part) for part in parts[::2]]
    return "".join(parts)


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return the text with names in place of ids. An id without a name becomes its kind, such as "@someone"."""

    def named(match: re.Match[str]) -> str:
        found = match[1] or match[2] or match[3]
        sign = "#" if match[2] else "@"
        return f"{sign}{one_line(names[found])}" if found in names else _UNKNOWN.get(found[0], "#a channel")

    return _NAMELESS.sub(named, text)


def ids_in(text: str) -> frozenset[str]:
    """Return the ids in a text that have no label."""
    return frozenset(found for match in _NAMELESS.finditer(text) for found in match.groups() if found)


def mentions(text: str) -> frozenset[str]:
    """Return the ids of the people and groups that a message mentions."""
    targets = (match.group(1).partition("|")[0] for match in _ENTITY.finditer(text))
    return frozenset(
        target.removeprefix("!subteam^").removeprefix("@")
        for target in targets
        if target.startswith(("@", "!subteam^"))
    )


def _date(target: str) -> str:
    """Return the time of ``!date^1392734382^{date_num}``, which has no fallback text."""
    try:
        at = datetime.fromtimestamp(int(target.split("^")[1]), UTC)
    except (ValueError, OverflowError, OSError):
        return "some time"
    return f"{at.day} {at:%B %Y %H:%M} UTC"


MOST_FILES = 10  # of one message
MOST_DEPTH = 6  # of blocks within blocks

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SharedMessage:
    """A message that another message shares, through Slack's *Forward* or as a link."""

    author: str  # a name, or empty if Slack does not say
    author_id: str
    text: str


def is_by_app(message: Message) -> bool:
    """Return whether an app or a bot wrote the message."""
    return bool(message.get("bot_id") or message.get("bot_profile") or message.get("subtype") == "bot_message")


def own_text(message: Message) -> str:
    """Return the writer's own words."""
    text = str(message.get("text") or "")
    if not is_by_app(message):
        return text
    lines = list(_block_lines(message.get("blocks")))
    for attachment in _attachments(message):
        if not (_is_shared(attachment) or _is_preview(attachment)):
            lines += _attachment_lines(attachment)
    lines = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    said = "\n".join(lines)
    if not said or _is_within(said, text):
        return text
    return said if _is_within(text, said) else f"{text}\n{said}"


def shared_messages(message: Message) -> tuple[SharedMessage, ...]:
    """Return the messages that it shares, with their authors."""
    return tuple(_shared(one) for one in _attachments(message) if _is_shared(one))


def previews(message: Message) -> str:
    """Return the link previews below the message."""
    by_app = is_by_app(message)
    found = (one for one in _attachments(message) if not _is_shared(one) and (not by_app or _is_preview(one)))
    return "\n".join(line for one in found for line in _attachment_lines(one))


def has_more(message: Message) -> bool:
    """Return whether the message shares messages or shows previews."""
    return bool(shared_messages(message) or previews(message))


def file_references(message: Message) -> tuple[FileReference, ...]:
    """Return the files of the message and of the messages that it shares."""
    shared = [file for one in _attachments(message) if _is_shared(one) for file in one.get("files") or []]
    files = [*(message.get("files") or []), *shared]
    found = [one for one in files if one.get("id") and one.get("mode") != "tombstone"][:MOST_FILES]
    return tuple(FileReference(str(one["id"]), str(one.get("name") or ""), int(one.get("size") or 0)) for one in found)


def _attachments(message: Message) -> list[Message]:
    return [one for one in message.get("attachments") or [] if isinstance(one, Mapping)]


def _is_shared(attachment: Message) -> bool:
    return bool(attachment.get("is_share") or attachment.get("is_msg_unfurl"))


def _is_preview(attachment: Message) -> bool:
    return bool(attachment.get("is_app_unfurl") or attachment.get("from_url") or attachment.get("original_url"))


def _shared(attachment: Message) -> SharedMessage:
    nested = (one.get("message") or {} for one in attachment.get("message_blocks") or [])
    laid_out = [line for one in nested for line in _block_lines(one.get("blocks"))]
    named = (attachment.get(name) for name in ("author_name", "author_subname"))
    author = next((str(one) for one in named if one), "")
    without = {name: value for name, value in attachment.items() if name not in {"author_name", "footer", "fallback"}}
    lines = list(_attachment_lines(without)) or laid_out or [str(attachment.get("fallback") or "")]
    return SharedMessage(author, str(attachment.get("author_id") or ""), "\n".join(lines))


def _attachment_lines(attachment: Message) -> list[str]:
    """Return an attachment's author, title, text, fields, blocks and footer as lines."""
    fields = [
        ": ".join(filter(None, (str(one.get("title") or ""), str(one.get("value") or ""))))
        for one in attachment.get("fields") or []
    ]
    before = [str(attachment.get(name) or "") for name in ("service_name", "author_name", "pretext", "title", "text")]
    lines = [*before, *fields, *_block_lines(attachment.get("blocks")), str(attachment.get("footer") or "")]
    said = [line for line in dict.fromkeys(lines) if line.strip()]
    return said or [line for line in (str(attachment.get("fallback") or ""),) if line.strip()]


def _block_lines(blocks: object) -> Iterator[str]:
    """Return the texts of blocks, one line each. Buttons and other controls have none."""
    for block in _mappings(blocks):
        match block.get("type"):
            case "section" | "header" | "markdown" | "alert":
                yield from _texts([block.get("text"), *(block.get("fields") or [])])
            case "context":
                yield from _texts(block.get("elements"))
            case "image" | "video":
                yield from _texts([block.get("title")])
            case "rich_text":
                yield from _rich_lines(block)
            case "table":
                rows = (row for row in block.get("rows") or [] if isinstance(row, Sequence))
                yield from (" | ".join(_cell(cell) for cell in _mappings(row)) for row in rows)
            case _:
                pass


def _texts(elements: object) -> Iterator[str]:
    for one in elements if isinstance(elements, Sequence) and not isinstance(elements, str) else ():
        text = one.get("text") if isinstance(one, Mapping) else one
        if isinstance(text, str) and text.strip():
            yield text


def _cell(cell: Message) -> str:
    return " ".join(_rich_lines(cell)) if cell.get("type") == "rich_text" else str(cell.get("text") or "")


def _rich_lines(block: Message, depth: int = MOST_DEPTH) -> Iterator[str]:
    """Return rich text as lines: one per section, list item, quote or code block."""
    for element in _mappings(block.get("elements")):
        if element.get("type") == "rich_text_list" and depth:
            yield from _rich_lines(element, depth - 1)
        else:
            yield "".join(_rich_words(_mappings(element.get("elements"))))


def _rich_words(elements: Iterable[Message]) -> Iterator[str]:
    for one in elements:
        match one.get("type"):
            case "user":
                yield f"<@{one.get('user_id')}>"
            case "channel":
                yield f"<#{one.get('channel_id')}>"
            case "usergroup":
                yield f"<!subteam^{one.get('usergroup_id')}>"
            case "broadcast":
                yield f"@{one.get('range')}"
            case "emoji":
                yield f":{one.get('name')}:"
            case "link":
                yield str(one.get("text") or one.get("url") or "")
            case "date":
                yield f"<!date^{one.get('timestamp')}^|{one.get('fallback') or ''}>".replace("^|>", "^>")
            case _:
                yield str(one.get("text") or "")


def _mappings(found: object) -> list[Message]:
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def _is_within(part: str, whole: str) -> bool:
    """Return whether ``whole`` contains all letters and digits of ``part``."""
    return "".join(filter(str.isalnum, part)) in "".join(filter(str.isalnum, whole))
