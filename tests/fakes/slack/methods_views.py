"""views.*, and the surface of agents: agents.sessions.* and assistant.threads.*."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

from tests.fakes.slack import block_rules
from tests.fakes.slack.methods import Refused, channel_of, message_of, method
from tests.fakes.slack.methods_chat import with_ids
from tests.fakes.slack.world import View

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack
    from tests.fakes.slack.world import Trigger

_DEEPEST = 3  # views in one modal's stack


@method("views.open")
async def views_open(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A modal before the person whose press made the trigger."""
    trigger = _exchange(slack, args)
    _check(args["view"], "modal")
    return {"view": shown(slack, put_up(slack, trigger.user, args["view"]))}


@method("views.push")
async def views_push(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Another modal on top of the one in which the press was made."""
    trigger = _exchange(slack, args)
    below = slack.world.views.get(trigger.view_id or "")
    if below is None or not below.open:
        raise Refused("not_found")
    if len(slack.stack_of(trigger.user)) >= _DEEPEST:
        raise Refused("push_limit_reached")
    _check(args["view"], "modal")
    return {"view": shown(slack, put_up(slack, trigger.user, args["view"], below=below))}


@method("views.update")
async def views_update(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Another content for a view that is still open."""
    view = _find(slack, args)
    if args.get("hash") not in (None, view.hash):
        raise Refused("hash_conflict")
    _check(args["view"], "home" if view.payload.get("type") == "home" else "modal")
    replace(slack, view, args["view"])
    return {"view": shown(slack, view)}


@method("views.publish")
async def views_publish(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The Home tab of one person."""
    world, user = slack.world, str(args["user_id"])
    if user not in world.users:
        raise Refused("invalid_arguments", f"user_id {user!r} is nobody here")
    before = world.homes.get(user)
    if before is not None and args.get("hash") not in (None, before.hash):
        raise Refused("hash_conflict")
    _check(args["view"], "home")
    if before is None:
        view = _new(slack, user, args["view"])
        world.homes[user] = view
    else:
        view = before
        replace(slack, view, args["view"])
    world.note_change()
    return {"view": shown(slack, view)}


def put_up(slack: FakeSlack, user: str, payload: dict[str, Any], below: View | None = None) -> View:
    """Open a view for this person; without `below` it takes the place of every other modal of theirs."""
    if below is None:
        for other in slack.stack_of(user):
            other.open = False
    view = _new(slack, user, payload, below)
    slack.world.note_change()
    return view


def replace(slack: FakeSlack, view: View, payload: dict[str, Any]) -> None:
    """Give a view another content; what was typed stays where block and action ids stay."""
    view.payload = copy.deepcopy(payload) | {"blocks": with_ids(slack, payload.get("blocks") or [])}
    view.hash = _hash(slack)
    slack.world.note_change()


def checked(payload: dict[str, Any]) -> list[str]:
    """What is wrong with a modal that came in the answer to a submission."""
    return block_rules.faults_of_view(payload, "modal")


def shown(slack: FakeSlack, view: View) -> dict[str, Any]:
    """The view object as interaction payloads and answers carry it."""
    world, given = slack.world, view.payload
    return {
        "id": view.id, "team_id": world.team_id, "type": given.get("type"), "blocks": view.blocks,
        "private_metadata": given.get("private_metadata", ""), "callback_id": given.get("callback_id", ""),
        "state": {"values": slack.form_of(view)}, "hash": view.hash, "title": given.get("title"),
        "clear_on_close": given.get("clear_on_close", False), "notify_on_close": given.get("notify_on_close", False),
        "close": given.get("close"), "submit": given.get("submit"), "previous_view_id": view.previous_id,
        "root_view_id": view.root_id, "app_id": world.app_id, "external_id": given.get("external_id", ""),
        "app_installed_team_id": world.team_id, "bot_id": world.bot.bot_id,
    }  # fmt: skip


def _new(slack: FakeSlack, user: str, payload: dict[str, Any], below: View | None = None) -> View:
    world = slack.world
    external = payload.get("external_id")
    if external and any(one.open and one.payload.get("external_id") == external for one in world.views.values()):
        raise Refused("duplicate_external_id")
    view_id = world.new_id("V")
    view = View(
        view_id, user, {}, "", root_id=below.root_id if below else view_id, previous_id=below.id if below else None
    )
    world.views[view_id] = view
    replace(slack, view, payload)
    return view


def _hash(slack: FakeSlack) -> str:
    return f"{int(time.time())}.{slack.world.new_id('h').lower()}"


def _check(view: Any, surface: block_rules.Surface) -> None:
    if faults := block_rules.faults_of_view(view, surface):
        raise Refused("invalid_arguments", *faults, response_metadata={"messages": faults})


def _find(slack: FakeSlack, args: dict[str, Any]) -> View:
    for view in slack.world.views.values():
        by_external = args.get("external_id") and view.payload.get("external_id") == args["external_id"]
        if view.open and (view.id == args.get("view_id") or by_external):
            return view
    raise Refused("not_found")


def _exchange(slack: FakeSlack, args: dict[str, Any]) -> Trigger:
    trigger = slack.world.triggers.get(str(args.get("trigger_id") or args.get("interactivity_pointer")))
    if trigger is None:
        raise Refused("invalid_trigger_id", "the trigger_id was never issued")
    if trigger.used:
        raise Refused("exchanged_trigger_id", "the trigger_id was used before")
    if time.monotonic() - trigger.made_at > slack.trigger_lifetime:
        raise Refused("expired_trigger_id")
    trigger.used = True
    return trigger


# --- the agent surface


@method("agents.sessions.setStatus")
async def sessions_set_status(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The state of the session in a thread; the first call makes the session."""
    key = _session_key(slack, args)
    world = slack.world
    if key not in world.session_status and args.get("title"):
        world.session_titles[key] = _title(args)
    slack.set_session(key, str(args["status"]))
    title = world.session_titles.get(key, "")
    return {"status": args["status"], "agent_status": args["status"], "title": title}


@method("agents.sessions.rename")
async def sessions_rename(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Another title for a session that exists."""
    key = _session_key(slack, args)
    if key not in slack.world.session_status:
        raise Refused("session_not_found")
    slack.world.session_titles[key] = _title(args)
    slack.world.note_change()
    return {"title": args["title"]}


@method("assistant.threads.setStatus")
async def assistant_set_status(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The line beneath a thread ("is thinking..."); a message of the app, or an empty status, takes it away."""
    _agent_only(slack)
    channel = channel_of(slack, args["channel_id"])
    message_of(channel, args["thread_ts"], "invalid_thread_ts")
    key = (channel.id, str(args["thread_ts"]))
    slack.world.assistant_status[key] = str(args["status"])
    if not args["status"]:
        slack.world.assistant_status.pop(key)
    slack.world.note_change()
    return {}


@method("assistant.threads.setTitle")
async def assistant_set_title(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The title of an assistant thread."""
    _agent_only(slack)
    channel = channel_of(slack, args["channel_id"])
    message_of(channel, args["thread_ts"], "invalid_thread_ts")
    slack.world.session_titles[channel.id, str(args["thread_ts"])] = str(args["title"])
    slack.world.note_change()
    return {}


@method("assistant.threads.setSuggestedPrompts")
async def assistant_set_prompts(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The prompts a person may press, at most four; in an agent app they belong to the whole direct message."""
    if not slack.agent:
        raise Refused("not_agent_app")
    channel = channel_of(slack, args["channel_id"])
    if args.get("thread_ts"):
        raise Refused("invalid_thread_ts", "in an agent app the prompts take no thread_ts")
    prompts = args["prompts"]
    faults = [f"a prompt needs a title and a message: {one!r}" for one in prompts if not _is_prompt(one)]
    if not 1 <= len(prompts) <= 4:
        faults.append(f"{len(prompts)} prompts, 1 to 4 are allowed")
    if faults:
        raise Refused("invalid_arguments", *faults)
    slack.world.suggested_prompts[channel.id, None] = prompts
    slack.world.note_change()
    return {}


def _is_prompt(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"title", "message"} and all(value.values())


def _agent_only(slack: FakeSlack) -> None:
    if not slack.agent:
        raise Refused("not_authorized")


def _session_key(slack: FakeSlack, args: dict[str, Any]) -> tuple[str, str]:
    _agent_only(slack)
    channel = channel_of(slack, args["channel_id"])
    if not args.get("thread_ts"):
        raise Refused("thread_ts_required", "a session in a channel or direct message belongs to a thread")
    root = message_of(channel, args["thread_ts"], "channel_not_found")
    return channel.id, root.ts


def _title(args: dict[str, Any]) -> str:
    title = str(args["title"])
    if not 1 <= len(title) <= 200:
        raise Refused("invalid_name", f"a title has 1 to 200 characters, not {len(title)}")
    return title
