"""The text of a Discord message as people see it: names for ids, dates for timestamps, embeds as text.

People post no embeds, so those below their words are link previews and not their own. The embeds of bots and webhooks
are their own words. A forward has no words except those that it forwards.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import discord

from adapters.discord.outbound.layouts import component_texts
from core.model.plain_text import one_line

_TOKEN = re.compile(
    r"<(?:@!?(?P<user>\d{1,20})|@&(?P<role>\d{1,20})|#(?P<channel>\d{1,20})|a?:(?P<emoji>\w{1,64}):\d{1,20}"
    r"|t:(?P<time>-?\d{1,14})(?::(?P<style>\w))?|/(?P<command>[^:>\n]{1,100}):\d{1,20}|id:(?P<guide>[\w-]{1,30}))>"
)
_MASKED_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(<?(https?://[^\s<>()]{1,2000})>?(?: \"[^\"\n]*\")?\)")
_SPOILER = re.compile(r"\|\|(.+?)\|\|", re.DOTALL)
_CODE = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_TIMES = {
    "t": "%H:%M UTC",
    "T": "%H:%M:%S UTC",
    "d": "%d %B %Y",
    "D": "%d %B %Y",
    "F": "%A, %d %B %Y %H:%M UTC",
}
_MINUTES = "%d %B %Y %H:%M UTC"  # for other styles too; a relative time would be wrong tomorrow
_GUIDES = {"browse": "Browse Channels", "customize": "Channels & Roles", "guide": "Server Guide"}


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Our identity: our user id, and the role that Discord made for us in this server."""

    user_id: int
    role_id: int | None = None


def bot_identity(client: discord.Client, guild: discord.Guild | None) -> BotIdentity:
    """Return our identity in this server. Before a connection the user id is 0."""
    role = guild.self_role if guild is not None else None
    return BotIdentity(client.user.id if client.user else 0, role.id if role is not None else None)


Said = discord.Message | discord.MessageSnapshot


def said_in(message: discord.Message) -> list[Said]:
    """Return a message and those that it forwards."""
    return [message, *message.message_snapshots]


def attachments_of(message: discord.Message) -> list[discord.Attachment]:
    """Return the files of a message and of those that it forwards."""
    return [file for one in said_in(message) for file in one.attachments]


def words_of(
    message: discord.Message, us: BotIdentity, people: Sequence[discord.abc.User] = (), *, ours: str = " "
) -> str:
    """Return a message's text, with forwards and embeds of bots, and with ``ours`` where it mentions us.

    ``people`` are those that a forwarded message mentions, because the forward has only their ids.
    """
    by_machine = message.author.bot or message.webhook_id is not None
    said = [_text_of(one, embeds=by_machine or one is not message) for one in said_in(message)]
    mention = rf"<@!?{us.user_id}>" + (rf"|<@&{us.role_id}>" if us.role_id else "")
    text = re.sub(mention, ours, "\n".join(filter(None, said)))
    return _readable(message, text, people)


def mentioned_ids(text: str) -> list[int]:
    """Return the ids of the people that a text mentions, each once."""
    return list(dict.fromkeys(int(found["user"]) for found in _TOKEN.finditer(text) if found["user"]))


def command_words(text: str, guild: discord.Guild | None, people: Sequence[discord.abc.User]) -> str:
    """Return the words typed into a command, with names for the mentioned ``people``."""
    return _readable_markup(text, guild, people).strip()


def previews_of(message: discord.Message) -> str:
    """Return a message's link previews as text."""
    by_machine = message.author.bot or message.webhook_id is not None
    shown = [_embed_text(one) for one in message.embeds if not (by_machine and _is_written(one))]
    return _readable(message, "\n".join(filter(None, shown)))


def _readable(message: discord.Message, text: str, people: Sequence[discord.abc.User] = ()) -> str:
    text = _readable_markup(text, message.guild, (*message.mentions, *people))
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def _readable_markup(text: str, guild: discord.Guild | None, people: Sequence[discord.abc.User]) -> str:
    """Render Discord's markup as people see it, with names from ``people`` and from the server's cached data."""
    users = {user.id: user for user in people}

    def shown(found: re.Match[str]) -> str:
        kind = found.lastgroup if found.lastgroup != "style" else "time"
        match kind:
            case "user" | "role" | "channel":
                return _name_of(guild, users, kind, int(found[kind]))
            case "emoji":
                return f":{found['emoji']}:"
            case "time":
                return _date(int(found["time"]), found["style"] or "")
            case "command":
                return f"/{found['command']}"
            case _:
                return _GUIDES.get(found["guide"], found["guide"])

    parts = _CODE.split(text)
    for number, part in enumerate(parts):
        if number % 2 == 0:
            opened = _MASKED_LINK.sub(r"\1 (\2)", _SPOILER.sub(r"\1", part))
            parts[number] = _TOKEN.sub(shown, opened)
    return "".join(parts)


def _date(seconds: int, style: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(_TIMES.get(style, _MINUTES)).removeprefix("0")
    except (ValueError, OverflowError, OSError):
        return "some time"


def _name_of(guild: discord.Guild | None, users: Mapping[int, discord.abc.User], kind: str, number: int) -> str:
    """Return a name from these users, or else from the server's cached data."""
    match kind:
        case "user":
            user = users.get(number) or (guild.get_member(number) if guild is not None else None)
            return f"@{_plain(user.display_name)}" if user is not None else "@someone"
        case "role":
            role = guild.get_role(number) if guild is not None else None
            return f"@{_plain(role.name)}" if role is not None else "@a role"
        case _:
            channel = guild.get_channel_or_thread(number) if guild is not None else None
            return f"#{_plain(channel.name)}" if channel is not None else "#a channel"


def _plain(name: str) -> str:
    return one_line(name).replace("\\", "")


def _text_of(said: Said, *, embeds: bool) -> str:
    written = [_embed_text(one) for one in said.embeds if embeds and _is_written(one)]
    return "\n".join(filter(None, (said.content, *written, *component_texts(said.components))))


def _is_written(embed: discord.Embed) -> bool:
    """Return whether a bot wrote an embed. Otherwise Discord made it from a link."""
    return embed.type == "rich" and not embed.provider.name


def _embed_text(embed: discord.Embed) -> str:
    """Return an embed's provider, author, title, description, fields and footer as lines."""
    fields = (": ".join(filter(None, (field.name, field.value))) for field in embed.fields)
    lines = (embed.provider.name, embed.author.name, embed.title, embed.description, *fields, embed.footer.text)
    return "\n".join(line for line in lines if line)
