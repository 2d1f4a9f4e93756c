"""Slack's interaction payloads: presses, slash commands and submitted forms.

They say who acted, where and on what. The listeners look up what a press means and whether the person may do it. The
team is our own workspace, set by ``EventMiddleware``, because Slack names the person's workspace.
https://docs.slack.dev/reference/interaction-payloads
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.slack.api.ids import PLATFORM, person_id
from adapters.slack.outbound.blocks import Block
from adapters.slack.outbound.payloads import ThreadBlock
from core.model.conversation import Person, ThreadKey

Body = Mapping[str, Any]  # a payload from Slack, as Bolt passes it
Ack = Callable[..., Awaitable[Any]]  # Bolt's ``ack`` and ``respond``


@dataclass(frozen=True, slots=True)
class Press:
    """One press of a button: who, where, on what."""

    thread: ThreadKey
    user: str
    value: str
    action_ts: str
    message_ts: str
    trigger_id: str
    ephemeral: bool
    action: str = ""
    message_blocks: tuple[Block, ...] = ()  # of the message with the button
    on_home_tab: bool = False  # pressed on a Home tab, which has no channel

    @classmethod
    def of(cls, body: Body) -> "Press":
        """Parse a ``block_actions`` payload."""
        container, message = body.get("container") or {}, body.get("message") or {}
        action = body["actions"][0]
        channel = str((body.get("channel") or {}).get("id") or container.get("channel_id") or "")
        ts = str(container.get("message_ts") or message.get("ts") or "")
        named = ThreadBlock.decode(str(action.get("block_id") or "")).root
        root = str(named or container.get("thread_ts") or message.get("thread_ts") or ts)
        return cls(
            thread=ThreadKey(PLATFORM, str(body["team"]["id"]), channel, root),
            user=str(body["user"]["id"]),
            value=str(action.get("value") or ""),
            action_ts=str(action.get("action_ts") or ""),
            message_ts=ts,
            trigger_id=str(body.get("trigger_id") or ""),
            ephemeral=bool(container.get("is_ephemeral")),
            action=str(action.get("action_id") or ""),
            message_blocks=tuple(message.get("blocks") or ()),
            on_home_tab=(body.get("view") or {}).get("type") == "home",
        )

    @property
    def place(self) -> ThreadKey:
        """The channel of the press, without a thread."""
        return replace(self.thread, thread="")

    @property
    def person_id(self) -> str:
        """The presser's qualified id."""
        return person_id(self.thread.space, self.user)

    @property
    def person(self) -> Person:
        """The presser, without a name."""
        return Person(self.person_id)


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """A slash command. ``text`` is what follows its name."""

    team: str
    channel: str
    user: str
    text: str
    trigger_id: str

    @classmethod
    def of(cls, body: Body) -> "SlashCommand":
        """Parse a ``slash_commands`` payload."""
        return cls(
            team=str(body["team_id"]),
            channel=str(body["channel_id"]),
            user=str(body["user_id"]),
            text=str(body.get("text") or "").strip(),
            trigger_id=str(body.get("trigger_id") or ""),
        )

    @property
    def place(self) -> ThreadKey:
        """The channel of the command, without a thread."""
        return ThreadKey(PLATFORM, self.team, self.channel, "")

    @property
    def person(self) -> Person:
        """The caller, without a name."""
        return Person(person_id(self.team, self.user))


def sender_of(body: Body) -> tuple[str, str]:
    """Return (workspace, user) of a submitted form."""
    return str(body["team"]["id"]), str(body["user"]["id"])
