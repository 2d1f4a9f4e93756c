"""The table of Web API methods and the words in which one refuses. The handlers themselves are in `methods_*`."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.world import Channel, Message

Handler = Callable[["FakeSlack", dict[str, Any]], Awaitable[dict[str, Any]]]
METHODS: dict[str, Handler] = {}


class Refused(Exception):
    """The method answers `ok: false` with this error. `broken_rule` says what the caller did wrong, if it did.

    A refusal with a broken rule is recorded in `slack.violations`: the caller could have known.
    """

    def __init__(self, error: str, *broken_rules: str, **extra: Any) -> None:
        super().__init__(error)
        self.error = error
        self.broken_rules = broken_rules
        self.extra = extra


@dataclass
class Call:
    """One call the bot made: `error` is None when it was answered with ok."""

    method: str
    args: dict[str, Any]
    error: str | None = None
    status: int = 200
    at: float = field(default_factory=time.monotonic)


def method(name: str) -> Callable[[Handler], Handler]:
    """Register a handler: `async def handler(slack, args) -> the fields beside ok`."""

    def register(handler: Handler) -> Handler:
        METHODS[name] = handler
        return handler

    return register


def truthy(value: Any) -> bool:
    """A boolean argument as forms, query strings and JSON bring it."""
    return value is True or str(value).lower() in {"true", "1"}


def page(items: list[Any], args: dict[str, Any], *, usual: int) -> tuple[list[Any], dict[str, Any]]:
    """One page of a list by `limit` and `cursor`, and the response_metadata that leads to the next."""
    cursor = str(args.get("cursor") or "")
    if cursor and not cursor.removeprefix("from:").isdigit():
        raise Refused("invalid_cursor")
    start = int(cursor.removeprefix("from:") or 0)
    size = int(args.get("limit") or 0) or usual
    more = f"from:{start + size}" if start + size < len(items) else ""
    return items[start : start + size], {"next_cursor": more}


def channel_of(slack: FakeSlack, channel_id: Any) -> Channel:
    """The channel the bot may know of; a private one it is not in does not exist for it."""
    channel = slack.world.channels.get(str(channel_id))
    if channel is None or (channel.kind != "public" and slack.world.bot.id not in channel.members):
        raise Refused("channel_not_found")
    return channel


def message_of(channel: Channel, ts: Any, error: str = "message_not_found") -> Message:
    """The message with this `ts` in the channel."""
    message = channel.find(str(ts))
    if message is None:
        raise Refused(error)
    return message
