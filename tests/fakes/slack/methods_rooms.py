"""conversations.*, users.*, usergroups.*, files.*, reactions.*, team.info, bots.info and auth.test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fakes.slack.methods import Refused, channel_of, message_of, method, page, truthy
from tests.fakes.slack.world import File

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.world import Channel, Message, UserGroup

_KIND_NAMES = {"public": "public_channel", "private": "private_channel", "im": "im", "mpim": "mpim"}


@method("auth.test")
async def auth_test(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Who the token is; the granted scopes are in the x-oauth-scopes header."""
    world = slack.world
    return {
        "url": f"https://{world.domain}.slack.com/", "team": world.team_name, "user": world.bot.name,
        "team_id": world.team_id, "user_id": world.bot.id, "bot_id": world.bot.bot_id,
        "is_enterprise_install": False,
    }  # fmt: skip


@method("apps.connections.open")
async def connections_open(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A wss address for Socket Mode."""
    return {"url": slack.sockets.issue_url()}


@method("team.info")
async def team_info(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The workspace."""
    world = slack.world
    if args.get("team") not in (None, world.team_id):
        raise Refused("team_not_found")
    return {"team": {"id": world.team_id, "name": world.team_name, "domain": world.domain, "icon": {}}}


@method("bots.info")
async def bots_info(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A bot by its bot id, such as a message names it."""
    wanted = args.get("bot") or slack.world.bot.bot_id
    user = next((one for one in slack.world.users.values() if one.bot_id == wanted), None)
    if user is None:
        raise Refused("bot_not_found")
    profile = slack.world.bot_profile(str(wanted))
    return {"bot": {name: profile[name] for name in ("id", "deleted", "name", "app_id", "user_id", "icons")}}


@method("users.info")
async def users_info(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A person, with `is_admin`."""
    user = slack.world.users.get(str(args["user"]))
    if user is None:
        raise Refused("user_not_found")
    found = user.to_json(slack.world.team_id)
    if "users:read.email" not in slack.scopes:
        del found["profile"]["email"], found["is_email_confirmed"]
    return {"user": found}


@method("users.conversations")
async def users_conversations(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The conversations the bot (or the person named) is in."""
    wanted = str(args.get("types") or "public_channel").split(",")
    who = str(args.get("user") or slack.world.bot.id)
    found = [
        channel.to_json()
        for channel in slack.world.channels.values()
        if _KIND_NAMES[channel.kind] in wanted
        and who in channel.members
        and not (truthy(args.get("exclude_archived")) and channel.archived)
    ]
    channels, metadata = page(found, args, usual=100)
    return {"channels": channels, "response_metadata": metadata}


@method("conversations.info")
async def conversations_info(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A channel."""
    channel = channel_of(slack, args["channel"])
    shown = channel.to_json()
    if truthy(args.get("include_num_members")):
        shown["num_members"] = len(channel.members)
    return {"channel": shown}


@method("conversations.members")
async def conversations_members(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Who is in a channel."""
    members, metadata = page(channel_of(slack, args["channel"]).members, args, usual=100)
    return {"members": members, "response_metadata": metadata}


@method("conversations.join")
async def conversations_join(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The bot enters a public channel."""
    channel = channel_of(slack, args["channel"])
    if channel.kind != "public":
        raise Refused("method_not_supported_for_channel_type")
    if slack.world.bot.id not in channel.members:
        channel.members.append(slack.world.bot.id)
    return {"channel": channel.to_json()}


@method("conversations.open")
async def conversations_open(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The direct or group message with these people."""
    world = slack.world
    if args.get("channel"):
        channel = channel_of(slack, args["channel"])
    else:
        people = [one for one in str(args["users"]).split(",") if one]
        if any(one not in world.users for one in people):
            raise Refused("user_not_found")
        channel = world.direct_message(world.bot.id, *people)
    shown = channel.to_json() if truthy(args.get("return_im")) else {"id": channel.id}
    return {"channel": shown, "no_op": False, "already_open": True}


@method("conversations.history")
async def conversations_history(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The messages of a channel, the newest first; replies are not among them."""
    channel = _readable(slack, args["channel"])
    found = [one for one in channel.messages if one.visible and not one.ephemeral and not one.is_reply]
    shown, metadata = page(list(reversed(_between(found, args))), args, usual=100)
    return _messages(shown, metadata, args)


@method("conversations.replies")
async def conversations_replies(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A thread, its parent first, then the replies from old to new."""
    channel = _readable(slack, args["channel"])
    root = message_of(channel, args["ts"], "thread_not_found")
    found = [root] if root.is_reply else channel.thread(root.ts)
    shown, metadata = page([root, *_between([one for one in found if one is not root], args)], args, usual=1000)
    return _messages(shown, metadata, args)


def _readable(slack: FakeSlack, channel_id: Any) -> Channel:
    channel = channel_of(slack, channel_id)
    if slack.world.bot.id not in channel.members:
        raise Refused("not_in_channel")
    return channel


def _between(messages: list[Message], args: dict[str, Any]) -> list[Message]:
    inclusive = truthy(args.get("inclusive"))
    oldest, latest = float(args.get("oldest") or 0), args.get("latest")
    upper = float("inf") if latest in (None, "", "now") else float(str(latest))
    return [
        one for one in messages if oldest < float(one.ts) < upper or (inclusive and float(one.ts) in {oldest, upper})
    ]


def _messages(shown: list[Message], metadata: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    with_metadata = truthy(args.get("include_all_metadata"))
    return {
        "messages": [one.to_json(with_metadata=with_metadata) for one in shown],
        "has_more": bool(metadata["next_cursor"]), "response_metadata": metadata,
    }  # fmt: skip


# --- reactions and groups


@method("reactions.add")
async def reactions_add(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The bot puts an emoji on a message."""
    message = message_of(channel_of(slack, args["channel"]), args["timestamp"])
    users = message.reactions.setdefault(str(args["name"]), [])
    if slack.world.bot.id in users:
        raise Refused("already_reacted")
    users.append(slack.world.bot.id)
    slack.world.note_change()
    return {}


@method("reactions.remove")
async def reactions_remove(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The bot takes its emoji away."""
    message = message_of(channel_of(slack, args.get("channel")), args.get("timestamp"))
    users = message.reactions.get(str(args["name"]), [])
    if slack.world.bot.id not in users:
        raise Refused("no_reaction")
    users.remove(slack.world.bot.id)
    if not users:
        del message.reactions[str(args["name"])]
    slack.world.note_change()
    return {}


@method("usergroups.list")
async def usergroups_list(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The user groups."""
    return {"usergroups": [_group(slack, group, args) for group in slack.world.groups.values()]}


@method("usergroups.users.list")
async def usergroups_users_list(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Who is in a group."""
    group = slack.world.groups.get(str(args["usergroup"]))
    if group is None:
        raise Refused("no_such_subteam")
    return {"users": group.members}


def _group(slack: FakeSlack, group: UserGroup, args: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": group.id, "team_id": slack.world.team_id, "is_usergroup": True, "name": group.name,
        "handle": group.handle, "description": "", "date_delete": 0,
    }  # fmt: skip
    if truthy(args.get("include_users")):
        shown["users"] = group.members
    if truthy(args.get("include_count")):
        shown["user_count"] = len(group.members)
    return shown


# --- files


@method("files.info")
async def files_info(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A file; its content is at url_private, for bearers of the bot token."""
    file = slack.world.files.get(str(args["file"]))
    seen = file is not None and (not file.shared_in or any(slack.world.bot.id in one.members for one in file.shared_in))
    if file is None or not seen:
        raise Refused("file_not_found")
    return {"file": file.to_json(), "comments": [], "response_metadata": {"next_cursor": ""}}


@method("files.getUploadURLExternal")
async def files_get_upload_url(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Where to post the bytes of a new file."""
    world = slack.world
    file = File(world.new_id("F"), str(args["filename"]), world.bot.id, b"", world.origin, 1_700_000_000)
    world.uploads[file.id] = file
    return {"upload_url": f"{world.origin}/upload/{file.id}", "file_id": file.id}


@method("files.completeUploadExternal")
async def files_complete_upload(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Share the uploaded files, in a channel where one is named."""
    world = slack.world
    files = [world.uploads.pop(str(one["id"]), None) for one in args["files"]]
    known = [file for file in files if file is not None]
    if len(known) < len(files) or any(not file.content for file in known):
        raise Refused("file_not_found")
    world.files.update({file.id: file for file in known})
    if args.get("channel_id"):
        slack.share_as_bot(channel_of(slack, args["channel_id"]), known, args)
    return {"files": [file.to_json() for file in known]}
