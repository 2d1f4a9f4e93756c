"""Lines of the set as the platforms' own parsers read them: Slack events, Discord messages."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import discord

from adapters.discord.inbound.message_parser import parse_message
from adapters.discord.inbound.message_words import BotIdentity
from adapters.slack.api.directory import Identity
from adapters.slack.inbound.event_listener import EventListener
from core.model.incoming_events import IncomingMessage

BOT = 1
SERVER, CHANNEL, THREAD = 10, 20, 30
OTHER_BOTS = frozenset({"pagerbot", "deploybot", "ticketbot", "statusbot", "alertas"})


@dataclass(frozen=True, slots=True)
class Line:
    """One message of the set."""

    who: str
    text: str
    files: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    reply_to: int | None = None
    answered: bool = False

    @classmethod
    def of(cls, said: dict[str, Any]) -> "Line":
        """Return a line as the set writes it."""
        files = tuple(_FILE.findall(said["text"]))
        return cls(
            said["who"],
            _FILE.sub("", said["text"]).strip(),
            files,
            tuple(said.get("mentions") or ()),
            said.get("reply_to"),
            bool(said.get("answered")),
        )


_FILE = re.compile(r"(?i)\[(?:image|file|archivo|datei|fichier|bild|imagen|screenshot): ([^\]]+)\]")
Parse = Callable[[dict[str, Any], Sequence[Line], int], IncomingMessage | None]


def _number(who: str) -> int:
    return BOT if who == "bot" else 100 + sum(ord(letter) * 31**place for place, letter in enumerate(who)) % 1_000_000


def _marked(line: Line, mark: Callable[[str], str]) -> str:
    text = line.text
    for name in line.mentions:
        shown = "Footnote" if name == "bot" else name
        at = text.casefold().find(f"@{shown.casefold()}")
        if at >= 0:
            text = f"{text[:at]}{mark(name)}{text[at + 1 + len(shown) :]}"
    return text


class _Names:
    """What Slack's listener asks of its directory when it parses."""

    def cached_name(self, user: str) -> str:
        return user


def parse_slack(case: dict[str, Any], lines: Sequence[Line], number: int) -> IncomingMessage | None:
    """Return a line as Slack's event."""
    line, place = lines[number], case["place"]
    workspace: Any = SimpleNamespace(directory=_Names())
    nobody: Any = None
    listener = EventListener(workspace, nobody, nobody)
    root = 0 if place in ("thread", "forum") else number
    event: dict[str, object] = {
        "type": "message",
        "channel": "D1" if place == "direct" else "C1",
        "channel_type": "im" if place == "direct" else "channel",
        "user": f"U{_number(line.who)}",
        "text": _marked(line, lambda name: f"<@U{_number(name)}>"),
        "ts": f"{1000 + number}.0",
    }
    if line.files:
        event["files"] = [{"id": f"F{n}", "name": name, "size": 1} for n, name in enumerate(line.files)]
    if line.who in OTHER_BOTS:
        event["bot_id"] = f"B{_number(line.who)}"
    if root != number:
        event["thread_ts"] = f"{1000 + root}.0"
    return listener.parse_message(event, "T1", Identity("T1", f"U{BOT}", "B1"), unaddressed=True)


def parse_discord(case: dict[str, Any], lines: Sequence[Line], number: int) -> IncomingMessage | None:
    """Return a line as Discord's message."""
    line, place = lines[number], case["place"]
    state = discord.Client(intents=discord.Intents.default())._connection  # noqa: SLF001 - what messages are built on
    guild = discord.Guild(data={"id": SERVER, "name": "Brindlepost"}, state=state)  # type: ignore[typeddict-item]
    channel = _channel(place, number, state, guild)
    data = _payload(line, 1000 + number, channel)
    if line.reply_to is not None:
        data["type"] = 19
        data["message_reference"] = {"message_id": 1000 + line.reply_to, "channel_id": channel.id}
        data["referenced_message"] = _payload(lines[line.reply_to], 1000 + line.reply_to, channel)
    message = discord.Message(state=state, channel=channel, data=data)  # type: ignore[arg-type]
    return parse_message(message, BotIdentity(BOT))


def _channel(place: str, number: int, state: Any, guild: discord.Guild) -> Any:
    if place == "direct":
        me = discord.ClientUser(state=state, data=_user("bot"))  # type: ignore[arg-type]
        return discord.DMChannel(me=me, state=state, data={"id": CHANNEL, "type": 1, "recipients": [_user("asker")]})  # type: ignore[typeddict-item]
    data = {"id": CHANNEL, "name": "ops", "type": 0, "position": 0, "permission_overwrites": []}
    text = discord.TextChannel(state=state, guild=guild, data=data)  # type: ignore[arg-type]
    # Where nobody has made a thread, the message stands in the channel.
    if place == "channel" or (place == "thread" and number == 0):
        return text
    meta = {"archived": False, "auto_archive_duration": 60, "archive_timestamp": "2026-01-01T00:00:00+00:00"}
    thread = {
        "id": 1000 if place == "forum" else THREAD,
        "parent_id": CHANNEL,
        "owner_id": _number("asker"),
        "name": "t",
    }
    counts = {"type": 11, "message_count": 1, "member_count": 1, "thread_metadata": meta, "guild_id": SERVER}
    return discord.Thread(guild=guild, state=state, data={**thread, **counts})  # type: ignore[typeddict-item]


def _user(who: str) -> dict[str, Any]:
    bot = who == "bot" or who in OTHER_BOTS
    return {"id": _number(who), "username": who, "discriminator": "0", "avatar": None, "global_name": who, "bot": bot}


def _payload(line: Line, ident: int, channel: Any) -> dict[str, Any]:
    return {
        "id": ident,
        "channel_id": channel.id,
        "author": _user(line.who),
        "content": _marked(line, lambda name: f"<@{_number(name)}>"),
        "timestamp": "2026-04-01T00:00:00+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": any(word in line.text for word in ("@here", "@everyone")),
        "mentions": [_user(name) for name in line.mentions],
        "mention_roles": [],
        "attachments": [
            {
                "id": n + 1,
                "filename": name,
                "size": 1,
                "url": "https://cdn.invalid/f",
                "proxy_url": "https://cdn.invalid/f",
            }
            for n, name in enumerate(line.files)
        ],
        "embeds": [],
        "pinned": False,
        "type": 0,
        "components": [],
    }


PARSERS: dict[str, Parse] = {"slack": parse_slack, "discord": parse_discord}
