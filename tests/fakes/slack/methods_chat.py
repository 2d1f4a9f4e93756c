"""chat.*: posting, updating, deleting, streaming, and the same through a response_url."""

from __future__ import annotations

import copy
import time
from typing import TYPE_CHECKING, Any

from tests.fakes.slack import block_rules
from tests.fakes.slack.methods import Refused, channel_of, message_of, method, truthy
from tests.fakes.slack.world import Channel, Message, ResponseUrl

if TYPE_CHECKING:
    from tests.fakes.slack.server import FakeSlack

_RESPONSE_FIELDS = {
    "text", "attachments", "blocks", "response_type", "replace_original", "delete_original", "unfurl_links",
    "unfurl_media", "thread_ts", "metadata", "mrkdwn", "markdown_text",
}  # fmt: skip


# --- posting


@method("chat.postMessage")
async def post_message(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A new message; a user id as the channel opens the direct message with that person."""
    channel = _writable(slack, args["channel"], may_be_user=True)
    thread_ts = _thread(channel, args.get("thread_ts"), "cannot_reply_to_message")
    message = _new_message(slack, channel, thread_ts)
    fill(slack, message, args, longest_text=block_rules.TEXT_CHARACTERS)
    message.unfurls = not all(args.get(name) in (False, "false", "0", 0) for name in ("unfurl_links", "unfurl_media"))
    publish(slack, message)
    return {"channel": channel.id, "ts": message.ts, "message": message.to_json(with_metadata=True)}


@method("chat.postEphemeral")
async def post_ephemeral(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A message only one person sees; it has no place in the history and cannot be updated by its ts.

    "Ephemeral messages in threads are only shown if there is already an active thread": to one that is not, Slack says
    ok and nobody sees it. https://docs.slack.dev/reference/methods/chat.postEphemeral
    """
    channel = _writable(slack, args["channel"])
    if args["user"] not in channel.members:
        raise Refused("user_not_in_channel")
    thread_ts = _thread(channel, args.get("thread_ts"), "cannot_reply_to_message")
    message = _new_message(slack, channel, thread_ts)
    message.visible_to = str(args["user"])
    fill(slack, message, args, longest_text=block_rules.TEXT_CHARACTERS)
    if thread_ts is None or len(channel.thread(thread_ts)) > 1:
        publish(slack, message)
    return {"message_ts": message.ts}


@method("chat.update")
async def update(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Another content for an own message. Without `blocks`, a new text takes the old blocks away."""
    channel = channel_of(slack, args["channel"])
    message = _own(slack, channel, args["ts"], "cant_update_message")
    if message.streaming:
        raise Refused("streaming_state_conflict")
    before = message.to_json()
    fill(slack, message, args, longest_text=block_rules.UPDATED_TEXT_CHARACTERS)
    if args.get("text") and not args.get("blocks"):
        message.edited = {"user": slack.world.bot.id, "ts": slack.world.new_ts()}
    message.record("edited")
    slack.tell_changed(message, before)
    shown = message.to_json(with_metadata=True)
    return {"channel": channel.id, "ts": message.ts, "text": message.text, "message": shown}


@method("chat.delete")
async def delete(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """Take an own message away."""
    channel = channel_of(slack, args["channel"])
    slack.take_away(_own(slack, channel, args["ts"], "cant_delete_message"))
    return {"channel": channel.id, "ts": str(args["ts"])}


@method("chat.getPermalink")
async def permalink(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The address of a message."""
    channel = channel_of(slack, args["channel"])
    return {"channel": channel.id, "permalink": slack.world.permalink(message_of(channel, args["message_ts"]))}


def _writable(slack: FakeSlack, channel_id: Any, *, may_be_user: bool = False) -> Channel:
    world = slack.world
    if may_be_user and str(channel_id) in world.users:
        return world.direct_message(world.bot.id, str(channel_id))
    channel = channel_of(slack, channel_id)
    if channel.archived:
        raise Refused("is_archived")
    if world.bot.id not in channel.members and "chat:write.public" not in slack.scopes:
        raise Refused("not_in_channel")
    return channel


def _thread(channel: Channel, thread_ts: Any, error: str) -> str | None:
    if not thread_ts:
        return None
    root = message_of(channel, thread_ts, error)
    if root.is_reply:
        raise Refused(error, f"thread_ts {thread_ts} names a reply; a thread is named by its parent")
    return root.ts


def _new_message(slack: FakeSlack, channel: Channel, thread_ts: str | None) -> Message:
    world = slack.world
    bot = world.bot
    return Message(channel, world.new_ts(), bot.id, thread_ts=thread_ts, bot_id=bot.bot_id, app_id=world.app_id)


def _own(slack: FakeSlack, channel: Channel, ts: Any, error: str) -> Message:
    message = message_of(channel, ts)
    if message.bot_id != slack.world.bot.bot_id:
        raise Refused(error)
    return message


def publish(slack: FakeSlack, message: Message) -> None:
    """Put a finished message where people see it."""
    message.channel.add(message)
    message.record("posted")
    if not message.ephemeral:
        slack.world.assistant_status.pop((message.channel.id, message.root), None)
        slack.tell_posted(message)


# --- content


def fill(slack: FakeSlack, message: Message, args: dict[str, Any], *, longest_text: int) -> None:
    """Give the message the content of these arguments; Refused when Slack or this product's rules forbid it."""
    text, markdown = str(args.get("text") or ""), str(args.get("markdown_text") or "")
    blocks, attachments = args.get("blocks"), args.get("attachments") or []
    if markdown and (text or blocks):
        raise Refused("markdown_text_conflict", "markdown_text stands beside text or blocks")
    _check_text(text, markdown, longest_text, has_layout=bool(blocks or attachments))
    if len(attachments) > 100:
        raise Refused("too_many_attachments", f"{len(attachments)} attachments, at most 100 are allowed")
    if blocks is not None:
        _check_blocks(blocks)
    if text or markdown or blocks is not None:
        _replace_layout(slack, message, blocks if not markdown else [{"type": "markdown", "text": markdown}])
        message.text = text or markdown or message.text
    message.attachments = attachments or message.attachments
    message.metadata = args.get("metadata") or message.metadata
    message.linkify = truthy(args.get("link_names")) or args.get("parse") == "full"


def _check_text(text: str, markdown: str, longest: int, *, has_layout: bool) -> None:
    if not text.strip() and not markdown.strip():
        rule = "blocks stand without text: notifications and screen readers have nothing" if has_layout else "no text"
        raise Refused("no_text", rule)
    if len(text) > longest:
        raise Refused("msg_too_long", f"text is {len(text)} characters, at most {longest} are allowed")
    if len(markdown) > block_rules.MARKDOWN_CHARACTERS:
        rule = f"markdown_text is {len(markdown)} characters, at most {block_rules.MARKDOWN_CHARACTERS} are allowed"
        raise Refused("msg_too_long", rule)


def _check_blocks(blocks: Any) -> None:
    faults = block_rules.faults_of_blocks(blocks, "message")
    if faults:
        raise Refused("invalid_blocks", *faults, errors=faults)
    total = block_rules.characters_of(blocks)
    if total > block_rules.MESSAGE_CHARACTERS:
        rule = f"the blocks hold {total} characters, a message fails near {block_rules.MESSAGE_CHARACTERS}"
        raise Refused("msg_blocks_too_long", rule)


def _replace_layout(slack: FakeSlack, message: Message, blocks: list[dict[str, Any]] | None) -> None:
    message.blocks = with_ids(slack, blocks or [])
    message.stream_text, message.plan_title = "", None
    message.tasks.clear()


def with_ids(slack: FakeSlack, blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A copy of the blocks, in which those without a block_id or action_id got one, as in Slack."""
    copied = copy.deepcopy(blocks)
    for block in copied:
        block.setdefault("block_id", slack.world.new_id("b").lower())
        for element in [*(block.get("elements") or []), block.get("accessory"), block.get("element")]:
            if isinstance(element, dict) and _is_interactive(str(element.get("type"))):
                element.setdefault("action_id", slack.world.new_id("a").lower())
    return copied


def _is_interactive(kind: str) -> bool:
    return not kind.startswith("rich_text") and kind not in {"None", "image", "mrkdwn", "plain_text", "card"}


# --- streaming


@method("chat.startStream")
async def start_stream(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """A message that grows. In channels the one person who sees it live has to be named."""
    if slack.faults.streaming_refused:
        raise Refused(slack.faults.streaming_refused)
    channel = _writable(slack, args["channel"])
    if channel.kind != "im":
        if not args.get("recipient_user_id"):
            raise Refused("missing_recipient_user_id", "recipient_user_id is required when streaming to channels")
        if not args.get("recipient_team_id"):
            raise Refused("missing_recipient_team_id", "recipient_team_id is required when streaming to channels")
    if args.get("recipient_user_id") and args["recipient_user_id"] not in slack.world.users:
        raise Refused("user_not_found")
    thread_ts = _thread(channel, args["thread_ts"], "messaging_processing_failed")
    message = _new_message(slack, channel, thread_ts)
    message.stream, message.stream_started = "streaming", time.monotonic()
    _append(slack, message, args)
    publish(slack, message)
    return {"channel": channel.id, "ts": message.ts}


@method("chat.appendStream")
async def append_stream(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """More of it."""
    message = _streaming(slack, args)
    most = slack.faults.expire_after_appends
    if most is not None and message.stream_appends >= most:
        expire(message)
        raise Refused("message_not_in_streaming_state")
    _append(slack, message, args)
    message.stream_appends += 1
    message.record("appended")
    return {"channel": message.channel.id, "ts": message.ts}


@method("chat.stopStream")
async def stop_stream(slack: FakeSlack, args: dict[str, Any]) -> dict[str, Any]:
    """The end of it, with blocks beneath. The agent session becomes active unless told otherwise."""
    message = _streaming(slack, args)
    before = message.to_json()
    blocks = args.get("blocks")
    if blocks:
        _check_blocks(blocks)
    _append(slack, message, args)
    if not (message.stream_text.strip() or message.tasks or message.blocks or blocks):
        raise Refused("no_text", "the stream ends without ever having shown anything")
    message.blocks += with_ids(slack, blocks or [])
    message.metadata = args.get("metadata") or message.metadata
    message.stream = "done"
    message.record("stopped")
    key = (message.channel.id, message.root)
    if key in slack.world.session_status or args.get("session_status"):
        slack.set_session(key, str(args.get("session_status") or "active"))
    slack.tell_changed(message, before)
    return {"channel": message.channel.id, "ts": message.ts, "message": message.to_json(with_metadata=True)}


def expire(message: Message) -> None:
    """End a stream as if its time had run out: what was shown stays, more is refused."""
    if message.streaming:
        message.stream = "expired"
        message.record("expired")


def _streaming(slack: FakeSlack, args: dict[str, Any]) -> Message:
    channel = channel_of(slack, args["channel"])
    message = message_of(channel, args["ts"])
    if message.bot_id != slack.world.bot.bot_id:
        raise Refused("message_not_owned_by_app")
    if message.stream == "stopped_by_user":
        raise Refused("stopped_by_user")
    if message.streaming and time.monotonic() - message.stream_started > slack.faults.expire_after_seconds:
        expire(message)
    if not message.streaming:
        raise Refused("message_not_in_streaming_state")
    return message


def _append(slack: FakeSlack, message: Message, args: dict[str, Any]) -> None:
    markdown, chunks = str(args.get("markdown_text") or ""), args.get("chunks") or []
    if len(markdown) > block_rules.MARKDOWN_CHARACTERS:
        rule = f"markdown_text is {len(markdown)} characters, at most {block_rules.MARKDOWN_CHARACTERS} are allowed"
        raise Refused("invalid_arguments", rule)
    if faults := block_rules.faults_of_chunks(chunks):
        raise Refused("invalid_chunks", *faults)
    added = markdown + "".join(chunk["text"] for chunk in chunks if chunk["type"] == "markdown_text")
    total = len(message.stream_text) + len(added)
    if total > block_rules.MESSAGE_CHARACTERS:
        rule = f"the stream would hold {total} characters, a message fails near {block_rules.MESSAGE_CHARACTERS}"
        raise Refused("msg_blocks_too_long", rule)
    message.stream_text += added
    message.text = message.stream_text
    for chunk in chunks:
        _apply(slack, message, chunk)


def _apply(slack: FakeSlack, message: Message, chunk: dict[str, Any]) -> None:
    match chunk["type"]:
        case "task_update":
            new = {name: value for name, value in chunk.items() if name != "type" and value is not None}
            message.tasks[chunk["id"]] = message.tasks.get(chunk["id"], {}) | new
        case "plan_update":
            message.plan_title = str(chunk["title"])
        case "blocks":
            message.blocks += with_ids(slack, chunk["blocks"])


# --- response_url


async def respond(slack: FakeSlack, hook: ResponseUrl, body: dict[str, Any]) -> str | None:
    """Do what a post to a response_url asks for. Answers None when it is done, else the error."""
    if unknown := set(body) - _RESPONSE_FIELDS:
        slack.violate(f"response_url: unknown field {min(unknown)!r}")
        return "invalid_payload"
    if slack.faults.responses_refused:
        return slack.faults.responses_refused
    if hook.left <= 0:
        return "used_url"
    hook.left -= 1
    try:
        _respond(slack, hook, body)
    except Refused as refusal:
        for rule in refusal.broken_rules:
            slack.violate(f"response_url: {rule}")
        return refusal.error
    return None


def _respond(slack: FakeSlack, hook: ResponseUrl, body: dict[str, Any]) -> None:
    original = hook.message
    if truthy(body.get("delete_original")):
        if original is not None:
            slack.take_away(original)
    elif truthy(body.get("replace_original")) and original is not None:
        before = original.to_json()
        fill(slack, original, body, longest_text=block_rules.TEXT_CHARACTERS)
        original.record("edited")
        slack.tell_changed(original, before)
    else:
        in_thread = body.get("thread_ts") or (original.thread_ts if original else None)
        message = _new_message(slack, hook.channel, in_thread)
        message.visible_to = None if body.get("response_type") == "in_channel" else hook.user
        fill(slack, message, body, longest_text=block_rules.TEXT_CHARACTERS)
        publish(slack, message)
