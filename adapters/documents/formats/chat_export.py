"""Exports of Slack and Discord: messages of a channel with names, by day, each thread together.

Slack exports a ZIP with one JSON file per day and channel; other Slack tools export single files of messages. Discord
has no export of its own, so the JSON of DiscordChatExporter is read.
"""

import html
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from adapters.documents.encodings import decode
from adapters.documents.format import Format, Package
from adapters.documents.titles import choose_title, escape_hash, safe_link, stem, with_address
from adapters.documents.zip_package import open_package, part
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected, NoText

MAX_MESSAGES = 200_000
STRETCH_CHARS = 1_200
"""Size up to which messages outside of threads are grouped for citation."""

_DAY = re.compile(r"(?:.*/)?(?P<channel>[^/]+)/\d{4}-\d\d-\d\d\.json")
_MENTION = re.compile(r"<(?P<mark>[@#!])(?P<id>[^<>|]{1,80})(?:\|(?P<label>[^<>]{0,200}))?>")
_LINK = re.compile(r"<(?P<address>(?:https?|mailto):[^<>|\s]{1,2000})(?:\|(?P<label>[^<>]{0,300}))?>")
_SILENT = re.compile(
    r"(?:channel|group)_(?:join|leave|purpose|topic|name|archive|unarchive)|bot_(?:add|remove)|pinned_item|tombstone"
)
_SAID_ON_DISCORD = frozenset(("Default", "Reply", "ThreadStarterMessage", "0", "19", "20", "21", "23"))


@dataclass(frozen=True, slots=True)
class _Message:
    """One message, independent of the platform."""

    id: str
    author: str
    moment: datetime
    text: str
    thread: str = ""
    """The id of the message that it answers, or of its thread's first message."""


def read_slack_export(name: str, data: bytes) -> ParsedDocument:
    """Return the channels of a workspace export, each under its name."""
    blocks: list[Block] = []
    with open_package(data) as package:
        names = _names(_json(package, "users.json")) if _member(package, "users.json") else {}
        channels: dict[str, list[_Message]] = {}
        total = damaged = 0
        for path in sorted(package.namelist()):
            day = _DAY.fullmatch(path)
            if day and total < MAX_MESSAGES:
                listed = _json(package, path)
                damaged += not isinstance(listed, list)
                messages = list(_slack_messages(listed, names))
                channels.setdefault(day["channel"], []).extend(messages)
                total += len(messages)
    for channel, messages in channels.items():
        blocks.extend(_blocks(f"#{channel}", messages))
    if not blocks:
        raise NoText("There are no messages in this export.")
    notes = [f"only the first {MAX_MESSAGES:,} messages were read"] if total >= MAX_MESSAGES else []
    notes += [f"days that could not be read: {damaged}"] if damaged else []
    if any("[File: " in block.text for block in blocks):
        notes.append("files that were shared in these messages are named, not read")
    return ParsedDocument(stem(name), tuple(blocks), "application/x-slack-export+zip", notes=tuple(notes))


def read_messages(name: str, data: bytes) -> ParsedDocument:
    """Return the messages of one channel: a list of Slack messages, or an export of DiscordChatExporter."""
    try:
        value = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise DocumentRejected("This export of messages is damaged: it is not JSON.") from error
    if isinstance(value, dict) and isinstance(value.get("channel"), dict):
        channel = f"#{_word(value['channel'].get('name')) or stem(name)}"
        place = " ".join(filter(None, (_word(_object(value.get("guild")).get("name")), channel)))
        messages = list(_discord_messages(value.get("messages")))
    else:
        listed = value.get("messages") if isinstance(value, dict) else value
        place = channel = stem(name)
        messages = list(_slack_messages(listed, {}))
    if not messages:
        raise NoText("There are no messages in this export.")
    return ParsedDocument(choose_title(name, place), tuple(_blocks(channel, messages)), "application/x-messages+json")


# --- Slack


def _member(package: zipfile.ZipFile, name: str) -> str:
    return next((path for path in package.namelist() if PurePosixPath(path).name == name), "")


def _json(package: zipfile.ZipFile, name: str) -> Any:
    path = name if "/" in name else _member(package, name)
    try:
        return json.loads(decode(part(package, path)))
    except (ValueError, RecursionError):
        return None  # a damaged day is skipped


def _names(users: Any) -> dict[str, str]:
    """Return the display name of each member by id."""
    return {_word(user.get("id")): _slack_name(_object(user.get("profile")), user) for user in _objects(users)}


def _slack_name(profile: Mapping[str, Any], user: Mapping[str, Any]) -> str:
    stated = (profile.get("real_name"), user.get("real_name"), profile.get("display_name"), user.get("name"))
    return next(filter(None, map(_word, stated)), "")


def _slack_messages(listed: Any, names: Mapping[str, str]) -> Iterator[_Message]:
    for message in _objects(listed):
        moment = _from_timestamp(message.get("ts"))
        if moment is None or _SILENT.fullmatch(_word(message.get("subtype"))):
            continue
        text = _slack_text(message, names)
        author = names.get(_word(message.get("user"))) or _slack_name(_object(message.get("user_profile")), {})
        author = author or _word(message.get("username")) or _word(_object(message.get("bot_profile")).get("name"))
        if text:
            thread = _word(message.get("thread_ts")) or _word(message.get("ts"))
            yield _Message(_word(message.get("ts")), author or "Somebody", moment, text, thread)


def _slack_text(message: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return the text of a message, its attachments from other apps, and its file names."""
    pieces = [_word(message.get("text"))]
    for attached in _objects(message.get("attachments")):
        shown = [_word(attached.get(key)) for key in ("pretext", "title", "text")]
        fields = [f"{_word(one.get('title'))}: {_word(one.get('value'))}" for one in _objects(attached.get("fields"))]
        pieces.append("\n".join(filter(None, [*shown, *fields])) or _word(attached.get("fallback")))
    files = [_word(file.get("title")) or _word(file.get("name")) for file in _objects(message.get("files"))]
    pieces.extend(f"[File: {file}]" for file in files if file)
    return _plain("\n".join(dict.fromkeys(filter(None, pieces))), names)


def _plain(text: str, names: Mapping[str, str]) -> str:
    """Convert Slack's markup to plain text: people and channels by name, links with their addresses."""

    def called(match: re.Match[str]) -> str:
        known = match["label"] or names.get(match["id"]) or ("" if match["mark"] == "@" else match["id"])
        if match["mark"] == "!":
            return f"@{(match['label'] or match['id'].partition('^')[0]).lstrip('@')}"
        return f"{match['mark']}{known or 'somebody'}"

    def linked(match: re.Match[str]) -> str:
        address = html.unescape(match["address"])
        shown = match["label"] or address.removeprefix("mailto:")
        return with_address(shown, address) if safe_link(address) else shown

    return html.unescape(_LINK.sub(linked, _MENTION.sub(called, text))).strip()


def _from_timestamp(stamp: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(stamp), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


# --- Discord


def _discord_messages(listed: Any) -> Iterator[_Message]:
    for message in _objects(listed):
        moment = _from_iso(message.get("timestamp"))
        if moment is None or _word(message.get("type")) not in _SAID_ON_DISCORD:
            continue
        author = _object(message.get("author"))
        pieces = [_word(message.get("content"))]
        for embed in _objects(message.get("embeds")):
            fields = [f"{_word(one.get('name'))}: {_word(one.get('value'))}" for one in _objects(embed.get("fields"))]
            pieces.append(
                "\n".join(filter(None, [_word(embed.get("title")), _word(embed.get("description")), *fields]))
            )
        files = (_word(file.get("fileName")) for file in _objects(message.get("attachments")))
        pieces.extend(f"[File: {file}]" for file in files if file)
        text = "\n".join(filter(None, pieces)).strip()
        if text:
            said_by = _word(author.get("nickname")) or _word(author.get("name")) or "Somebody"
            answers = _word(_object(message.get("reference")).get("messageId"))
            yield _Message(_word(message.get("id")), said_by, moment, text, answers)


def _from_iso(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None


# --- both


def _blocks(channel: str, messages: Sequence[_Message]) -> Iterator[Block]:
    """Yield one block per thread, and blocks of other messages by day."""
    heading = f"# {channel}\n\n"
    for group in _groups(messages):
        first = group[0]
        said = [(one, re.sub(r"\n\s*\n+", "\n", one.text)) for one in group]
        text = "\n\n".join(f"{one.author}, {one.moment:%H:%M}: {escape_hash(words)}" for one, words in said)
        day, place = f"{first.moment:%Y-%m-%d}", f"{channel}, {first.moment:%Y-%m-%d %H:%M}"
        yield Block(f"{heading}## {channel}, {day}\n\n{text}", label=place)
        heading = ""


def _groups(messages: Iterable[_Message]) -> Iterator[list[_Message]]:
    """Yield groups of messages, oldest first: one with all its answers, or several of one day."""
    ordered = sorted({message.id: message for message in messages}.values(), key=lambda message: message.moment)
    by_id = {message.id: message for message in ordered}
    threads: dict[str, list[_Message]] = {}
    for message in ordered:
        threads.setdefault(_root(message, by_id), []).append(message)
    alone: list[_Message] = []
    for thread in threads.values():
        if len(thread) == 1 and (not alone or _goes_with(alone, thread[0])):
            alone += thread
            continue
        if alone:
            yield alone
        alone = thread if len(thread) == 1 else []
        if len(thread) > 1:
            yield thread
    if alone:
        yield alone


def _root(message: _Message, by_id: Mapping[str, _Message]) -> str:
    """Return the id of the message that starts the thread of this one."""
    seen: set[str] = set()
    while message.thread and message.thread != message.id and message.id not in seen:
        seen.add(message.id)
        if (before := by_id.get(message.thread)) is None:
            return message.thread
        message = before
    return message.id


def _goes_with(group: Sequence[_Message], message: _Message) -> bool:
    same_day = group[-1].moment.date() == message.moment.date()
    return same_day and sum(len(one.text) for one in group) + len(message.text) < STRETCH_CHARS


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str:
    return str(value).strip() if isinstance(value, (str, int, float)) else ""


def _is_slack_export(package: Package) -> bool:
    listed = {PurePosixPath(name).name for name in package.names}
    return "users.json" in listed and any(_DAY.fullmatch(name) for name in package.names)


_SLACK = re.compile(r'\A\s*(?:\{\s*(?:"[^"]{1,40}"\s*:\s*[^\[{]{0,200},\s*)*"messages"\s*:\s*)?\[\s*\{')
_STAMP = re.compile(r'"ts"\s*:\s*"\d{10}\.\d{4,6}"')


def _are_messages(known: str | None, head: str) -> bool:
    """Return whether JSON contains messages of Slack, or of a Discord channel."""
    if known not in (None, "application/json") or head.lstrip()[:1] not in ("{", "["):
        return False
    slack = _SLACK.match(head) and _STAMP.search(head[:8_000]) and '"text"' in head[:8_000]
    start = head[:4_000]
    return bool(slack) or all(f'"{key}"' in start for key in ("guild", "channel", "messages", "dateRange"))


FORMATS = (
    Format(
        media_type="application/x-slack-export+zip",
        read=read_slack_export,
        label="exports of Slack and Discord",
        in_package=_is_slack_export,
    ),
    Format(media_type="application/x-messages+json", read=read_messages, in_text=_are_messages, rank=1),
)
