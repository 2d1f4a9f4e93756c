"""What a Discord message says, as people see it: names instead of ids, dates instead of timestamps, embeds as text.

A person posts no embeds: those below their words are previews of links, which are never theirs. Bots and webhooks put
what they say into embeds, so those are their words. A forward has no words of its own but those that it forwards.
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
_MINUTES = "%d %B %Y %H:%M UTC"  # for every other style, the relative one included: it would be wrong tomorrow
_GUIDES = {"browse": "Browse Channels", "customize": "Channels & Roles", "guide": "Server Guide"}


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who we are: our user's id, and the role that Discord made for us in this server."""

    user_id: int
    role_id: int | None = None


def bot_identity(client: discord.Client, guild: discord.Guild | None) -> BotIdentity:
    """Return who we are in this server; before a connection nobody, whose id is 0."""
    role = guild.self_role if guild is not None else None
    return BotIdentity(client.user.id if client.user else 0, role.id if role is not None else None)


Said = discord.Message | discord.MessageSnapshot


def said_in(message: discord.Message) -> list[Said]:
    """Return a message, and those that it forwards."""
    return [message, *message.message_snapshots]


def attachments_of(message: discord.Message) -> list[discord.Attachment]:
    """Return the files that hang on a message, and on those that it forwards."""
    return [file for one in said_in(message) for file in one.attachments]


def words_of(
    message: discord.Message, us: BotIdentity, people: Sequence[discord.abc.User] = (), *, ours: str = " "
) -> str:
    """Return what a message says, forwards and embeds of bots included, with ``ours`` where it mentions us.

    ``people`` are those that a forwarded message mentions: the forward has their ids alone.
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
    """Return the words typed into a command, which brings no names along: it mentions ``people``."""
    return _readable_markup(text, guild, people).strip()


def previews_of(message: discord.Message) -> str:
    """Return the previews of links below a message, as text."""
    by_machine = message.author.bot or message.webhook_id is not None
    shown = [_embed_text(one) for one in message.embeds if not (by_machine and _is_written(one))]
    return _readable(message, "\n".join(filter(None, shown)))


def _readable(message: discord.Message, text: str, people: Sequence[discord.abc.User] = ()) -> str:
    text = _readable_markup(text, message.guild, (*message.mentions, *people))
    return re.sub(r"[ \t]{2,}", " ", text).strip()


def _readable_markup(text: str, guild: discord.Guild | None, people: Sequence[discord.abc.User]) -> str:
    """Write Discord's markup as people see it, with the names of these people and of what is known of the server."""
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
    """Return a name in a message: of these users, else of what is known of its server."""
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
    """Return whether a bot wrote an embed; else Discord made it of a link."""
    return embed.type == "rich" and not embed.provider.name


def _embed_text(embed: discord.Embed) -> str:
    """Return an embed line by line: whose it is, its title, its text, its fields by name, and what is below."""
    fields = (": ".join(filter(None, (field.name, field.value))) for field in embed.fields)
    lines = (embed.provider.name, embed.author.name, embed.title, embed.description, *fields, embed.footer.text)
    return "\n".join(line for line in lines if line)
