"""The text of a message as people see it, read out of Slack's ``mrkdwn``.

Slack writes what was picked or linked as ``<@U1|ada>``, ``<#C1|general>``, ``<!subteam^S1>``, ``<https://…|label>``.
As a rule the labels are left out: the names have to be looked up.
https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from html import unescape

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
    """What somebody wrote, as plain text with ``ours`` where it mentions us.

    ``names`` are those of people, channels and groups by their ids. Without them each id stays, for ``with_names``.
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
    """A plain text without the marks of bold, italic and struck words; in code they stay."""
    parts = _CODE.split(text)
    parts[::2] = [_MARKED.sub(r"\2", part) for part in parts[::2]]
    return "".join(parts)


def with_names(text: str, names: Mapping[str, str]) -> str:
    """The text with names in place of ids; of what has none here it says what it is."""

    def named(match: re.Match[str]) -> str:
        found = match[1] or match[2] or match[3]
        sign = "#" if match[2] else "@"
        return f"{sign}{one_line(names[found])}" if found in names else _UNKNOWN.get(found[0], "#a channel")

    return _NAMELESS.sub(named, text)


def ids_in(text: str) -> frozenset[str]:
    """The ids in a text that have no name there."""
    return frozenset(found for match in _NAMELESS.finditer(text) for found in match.groups() if found)


def mentions(text: str) -> frozenset[str]:
    """The ids of the people and groups that a message calls."""
    targets = (match.group(1).partition("|")[0] for match in _ENTITY.finditer(text))
    return frozenset(
        target.removeprefix("!subteam^").removeprefix("@")
        for target in targets
        if target.startswith(("@", "!subteam^"))
    )


def _date(target: str) -> str:
    """``!date^1392734382^{date_num}`` without its fallback."""
    try:
        at = datetime.fromtimestamp(int(target.split("^")[1]), UTC)
    except (ValueError, OverflowError, OSError):
        return "some time"
    return f"{at.day} {at:%B %Y %H:%M} UTC"
