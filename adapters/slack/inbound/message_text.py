"""The text of a message as people wrote it, read out of Slack's ``mrkdwn``.

Slack writes what was picked or linked as ``<@U1|ada>``, ``<#C1|general>``, ``<!subteam^S1>``, ``<https://…|label>``.
https://docs.slack.dev/messaging/formatting-message-text
"""

import re
from html import unescape

_ENTITY = re.compile(r"<([^<>]+)>")


def plain_message(text: str, bot_user_id: str, ours: str = "") -> str:
    """What somebody wrote, as plain text with ``ours`` where it mentions us."""

    def plain(match: re.Match[str]) -> str:
        target, _, label = match.group(1).partition("|")
        if target.startswith("@"):
            return ours if target[1:] == bot_user_id else f"@{label.removeprefix('@') or target[1:]}"
        if target.startswith("#"):
            return f"#{label or target[1:]}"
        if target.startswith("!"):
            return label or "@" + target[1:].partition("^")[0]
        return label if label and label != target else target.removeprefix("mailto:")

    return re.sub(r"[ \t]{2,}", " ", unescape(_ENTITY.sub(plain, text))).strip(" \t\n,:")


def mentions(text: str) -> frozenset[str]:
    """The ids of the people and groups that a message calls."""
    targets = (match.group(1).partition("|")[0] for match in _ENTITY.finditer(text))
    return frozenset(
        target.removeprefix("!subteam^").removeprefix("@")
        for target in targets
        if target.startswith(("@", "!subteam^"))
    )
