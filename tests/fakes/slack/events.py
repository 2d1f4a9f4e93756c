"""The event objects and the envelope around them, in the shapes of the Events API reference."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from tests.fakes.slack.world import View

if TYPE_CHECKING:
    from tests.fakes.slack.world import Channel, Message, User, World

_ENTITY = re.compile(r"<(?:@[^>]+|#[^>]+|![^>]+|https?://[^>]+|mailto:[^>]+)>")
_NAMED = re.compile(r"<@([^>|]+)>|<#([^>|]+)>")


def wrap(world: World, event: dict[str, Any]) -> dict[str, Any]:
    """The event_callback around an event, under a fresh event id.

    In a channel that another workspace shares with ours, ``team_id`` is that one's; ours stands in ``authorizations``.
    https://github.com/slackapi/bolt-js/issues/687
    """
    channel = world.channels.get(str(event.get("channel")))
    host = channel.host_team if channel is not None else ""
    return {
        "token": "fake-verification-token", "team_id": host or world.team_id, "context_team_id": world.team_id,
        "context_enterprise_id": None, "api_app_id": world.app_id, "event": event, "type": "event_callback",
        "event_id": world.new_id("Ev"), "event_time": int(time.time()), "is_ext_shared_channel": bool(host),
        "authorizations": [{
            "enterprise_id": None, "team_id": world.team_id, "user_id": world.bot.id, "is_bot": True,
            "is_enterprise_install": False,
        }],
        "event_context": f"4-{world.new_id('ctx')}",
    }  # fmt: skip


def message(posted: Message) -> dict[str, Any]:
    """The `message` event of a new message."""
    shown = posted.to_json()
    for name in ("reply_count", "reply_users_count", "reply_users", "latest_reply", "is_locked", "subscribed"):
        shown.pop(name, None)
    if not posted.bot_id:
        shown |= {"client_msg_id": f"client-{posted.ts}", "blocks": rich_text(posted.text)}
    return shown | _place(posted.channel, posted.ts)


def app_mention(posted: Message) -> dict[str, Any]:
    """The `app_mention` event; reportedly it comes without `files`."""
    event = message(posted) | {"type": "app_mention"}
    for name in ("files", "subtype", "channel_type"):
        event.pop(name, None)
    return event


def message_changed(changed: Message, before: dict[str, Any]) -> dict[str, Any]:
    """The event of an edit; its own `ts` is new, the message's stays."""
    event = {"type": "message", "subtype": "message_changed", "hidden": True, "message": changed.to_json()}
    return event | {"previous_message": before} | _place(changed.channel, changed.channel.world.new_ts())


def message_deleted(gone: Message, before: dict[str, Any]) -> dict[str, Any]:
    """The event of a deletion."""
    event = {"type": "message", "subtype": "message_deleted", "hidden": True, "deleted_ts": gone.ts}
    return event | {"previous_message": before} | _place(gone.channel, gone.channel.world.new_ts())


def reaction_added(user: User, name: str, item: Message) -> dict[str, Any]:
    """The event of a reaction."""
    return {
        "type": "reaction_added", "user": user.id, "reaction": name, "item_user": item.user,
        "item": {"type": "message", "channel": item.channel.id, "ts": item.ts},
        "event_ts": item.channel.world.new_ts(),
    }  # fmt: skip


def app_home_opened(user: User, channel: Channel, tab: str, view: dict[str, Any] | None) -> dict[str, Any]:
    """The event of opening the app's Home (`home`) or its direct message (`messages`)."""
    event: dict[str, Any] = {"type": "app_home_opened", "user": user.id, "channel": channel.id, "tab": tab}
    event["event_ts"] = channel.world.new_ts()
    return event | ({"view": view} if view is not None and tab == "home" else {})


def member_joined(user: User, channel: Channel, inviter: User) -> dict[str, Any]:
    """The event of somebody entering a channel."""
    return {
        "type": "member_joined_channel", "user": user.id, "channel": channel.id, "team": channel.world.team_id,
        "channel_type": channel.id[0], "inviter": inviter.id, "event_ts": channel.world.new_ts(),
    }  # fmt: skip


def channel_id_changed(world: World, before: str, after: str) -> dict[str, Any]:
    """The event of a channel that has another id for good."""
    changed = {"old_channel_id": before, "new_channel_id": after}
    return {"type": "channel_id_changed", **changed, "event_ts": world.new_ts()}


def agent_session_stopped(user: User, channel: Channel, root: str, streams: list[Message]) -> dict[str, Any]:
    """The event of the stop button, with the streams Slack stopped."""
    return {
        "type": "agent_session_stopped", "channel": channel.id, "thread_ts": root, "user": user.id,
        "streaming_message_ts": [one.ts for one in streams], "event_ts": channel.world.new_ts(),
    }  # fmt: skip


def written(world: World, text: str) -> str:
    """What somebody typed as Slack stores it: names become ids, a bare `&`, `<` or `>` is escaped."""
    parts, end = [], 0
    for entity in _ENTITY.finditer(text):
        parts += [_escape(text[end : entity.start()]), _resolve(world, entity.group())]
        end = entity.end()
    return "".join([*parts, _escape(text[end:])])


def rich_text(text: str) -> list[dict[str, Any]]:
    """The rich_text block that a person's message comes with."""
    elements: list[dict[str, Any]] = []
    end = 0
    for entity in _ENTITY.finditer(text):
        elements += _plain(text[end : entity.start()])
        elements.append(_rich(entity.group()[1:-1]))
        end = entity.end()
    elements += _plain(text[end:])
    section = {"type": "rich_text_section", "elements": elements}
    return [{"type": "rich_text", "block_id": "rt", "elements": [section]}]


def _plain(text: str) -> list[dict[str, Any]]:
    plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return [{"type": "text", "text": plain}] if plain else []


def _rich(entity: str) -> dict[str, Any]:
    match entity[0]:
        case "@":
            return {"type": "user", "user_id": entity[1:].partition("|")[0]}
        case "#":
            return {"type": "channel", "channel_id": entity[1:].partition("|")[0]}
        case "!" if entity.startswith("!subteam^"):
            return {"type": "usergroup", "usergroup_id": entity.removeprefix("!subteam^").partition("|")[0]}
        case "!":
            return {"type": "broadcast", "range": entity[1:]}
        case _:
            return {"type": "link", "url": entity.partition("|")[0]}


def _resolve(world: World, entity: str) -> str:
    named = _NAMED.fullmatch(entity)
    if named is None:
        return entity
    if named[1]:
        user = world.bot if named[1] == "bot" else world.user_named(named[1])
        return f"<@{user.id}>" if user else entity
    channel = world.channel_named(named[2])
    return f"<#{channel.id}|{channel.name}>" if channel else entity


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _place(channel: Channel, ts: str) -> dict[str, Any]:
    return {"channel": channel.id, "channel_type": channel.channel_type, "ts": ts, "event_ts": ts}


def identity(world: World, user: User) -> dict[str, Any]:
    """The fields every interaction payload has: who, where, which app. ``team`` is that of the person.

    https://github.com/slackapi/bolt-js/issues/1614
    """
    team = user.home_team or world.team_id
    return {
        "user": {"id": user.id, "username": user.name, "name": user.name, "team_id": team},
        "api_app_id": world.app_id, "token": "fake-verification-token",
        "team": {"id": team, "domain": world.domain}, "enterprise": None, "is_enterprise_install": False,
    }  # fmt: skip


def place_of(channel: Channel) -> dict[str, str]:
    """The `channel` of an interaction payload."""
    return {"id": channel.id, "name": "directmessage" if channel.kind == "im" else channel.name}


def container_of(target: Message | View) -> dict[str, Any]:
    """The `container` of a press."""
    if isinstance(target, View):
        return {"type": "view", "view_id": target.id}
    container = {
        "type": "message", "message_ts": target.ts, "channel_id": target.channel.id,
        "is_ephemeral": target.ephemeral,
    }  # fmt: skip
    return container | ({"thread_ts": target.thread_ts} if target.thread_ts else {})
