"""One press of a button, as Slack tells of it: who, where, on what. What it stands for is looked up by others."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.slack.inbound.event_listener import PLATFORM, person_id
from adapters.slack.outbound import blocks
from core.model.conversation import ThreadKey

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Press:
    """One press: who, where, on what."""

    thread: ThreadKey
    user: str
    value: str
    action_ts: str
    message_ts: str
    trigger: str
    ephemeral: bool
    action: str = ""
    shown: tuple[blocks.Block, ...] = ()
    home: bool = False  # on the presser's Home tab, which is no channel

    @classmethod
    def of(cls, body: Body) -> "Press":
        """The press that a ``block_actions`` payload tells of."""
        container, message = body.get("container") or {}, body.get("message") or {}
        action = body["actions"][0]
        channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
        ts = str(container.get("message_ts") or message.get("ts") or "")
        root = str(container.get("thread_ts") or message.get("thread_ts") or ts)
        return cls(
            thread=ThreadKey(PLATFORM, str(body["team"]["id"]), channel, root),
            user=str(body["user"]["id"]),
            value=str(action.get("value") or ""),
            action_ts=str(action.get("action_ts") or ""),
            message_ts=ts,
            trigger=str(body.get("trigger_id") or ""),
            ephemeral=bool(container.get("is_ephemeral")),
            action=str(action.get("action_id") or ""),
            shown=tuple(message.get("blocks") or ()),
            home=(body.get("view") or {}).get("type") == "home",
        )

    @property
    def place(self) -> ThreadKey:
        """The channel that it was pressed in, as a place without a thread."""
        return replace(self.thread, thread="")

    @property
    def person(self) -> str:
        """The presser's qualified id."""
        return person_id(self.thread.space, self.user)


def who_sent(body: Body) -> tuple[str, str]:
    """(workspace, user) of a submitted form."""
    user: Mapping[str, Any] = body["user"]
    return str((body.get("team") or {}).get("id") or user.get("team_id") or ""), str(user["id"])
