"""The connection to Discord's gateway. It passes events to their handlers in order and does nothing else.

Events come through discord.py. A resumed connection repeats some, which is harmless. Identifications are rate-limited,
and nothing we send can mention anybody.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import discord
import structlog
from discord import app_commands

from adapters.discord.api.errors import RESET_REMEDY, api_call
from adapters.discord.api.http import ApiResponses, host
from adapters.discord.inbound.identify_limiter import IdentifyLimiter
from adapters.discord.outbound.buttons import Interaction, Pressed
from adapters.discord.outbound.messages import NOBODY
from core.model.errors import ConfigurationError, FootnoteError, PlatformUnavailable

NO_CONTENT_REMEDY = (
    "Switch on “Message Content Intent” at https://discord.com/developers/applications, under Bot, Privileged Gateway "
    "Intents, and restart me."
)
LOGIN_SECONDS = 60.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class GatewayEvents:
    """Handlers of gateway events, including those of our own messages."""

    on_message: Callable[[discord.Message], None]
    on_edit: Callable[[discord.Message], None]
    on_delete: Callable[[int | None, int, int], None]  # server, channel, message
    on_thread_delete: Callable[[int, int, int], None]  # server, channel, thread
    on_member_change: Callable[[int, int], None]  # server, person: their roles changed or they left
    on_ready: Callable[[], Awaitable[None]]  # a new session: messages since the last one are not sent
    on_resume: Callable[[], None]
    on_disconnect: Callable[[], None]  # discord.py reconnects
    on_press: Callable[[Interaction, str], Awaitable[None]]  # a button or menu of ours, by its id
    on_submit: Callable[[Interaction], Awaitable[None]]


def intents(*, content: bool) -> discord.Intents:
    """Return the intents we subscribe to: servers and messages. Content is a privileged intent."""
    wanted = discord.Intents.none()
    wanted.guilds = wanted.guild_messages = wanted.dm_messages = True
    wanted.message_content = content
    return wanted


class FootnoteClient(discord.Client):
    """discord.py's client, which passes events on and registers our commands and buttons."""

    def __init__(self, *, events: GatewayEvents, identify_limiter: IdentifyLimiter, content: bool) -> None:
        self.responses = ApiResponses()
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # we do not use voice
        super().__init__(
            intents=intents(content=content),
            allowed_mentions=NOBODY,
            http_trace=self.responses.trace(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            guild_ready_timeout=0.2,  # the backfill reads servers that arrive later
        )
        self.events = events
        self.tree = app_commands.CommandTree(
            self, allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True)
        )
        self._identify_limiter = identify_limiter
        self.add_dynamic_items(Pressed)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for our turn, so that no loop can use up the day's identifications."""
        await self._identify_limiter.wait(initial=initial)

    async def on_ready(self) -> None:
        """Log that we are connected and know our servers."""
        log.info("discord_ready", user=str(self.user), guilds=len(self.guilds))
        await self.events.on_ready()

    async def on_resumed(self) -> None:
        """Log that the session resumed."""
        log.info("discord_resumed")
        self.events.on_resume()

    async def on_disconnect(self) -> None:
        """Record that the connection is lost; the library reconnects. Also called for every failed attempt."""
        self.events.on_disconnect()

    async def on_message(self, message: discord.Message) -> None:
        """Pass on a new message; our own are included."""
        self.events.on_message(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Pass on an edit. Without an edit time, Discord itself changed the message, such as by a preview."""
        if payload.message.edited_at is not None:
            self.events.on_edit(payload.message)

    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Pass on that one message was deleted."""
        self.events.on_delete(payload.guild_id, payload.channel_id, payload.message_id)

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """Pass on that several messages were deleted at once."""
        for message_id in payload.message_ids:
            self.events.on_delete(payload.guild_id, payload.channel_id, message_id)

    async def on_raw_thread_delete(self, payload: discord.RawThreadDeleteEvent) -> None:
        """Pass on that a thread was deleted, because Discord does not list its messages."""
        self.events.on_thread_delete(payload.guild_id, payload.parent_id, payload.thread_id)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Handle forms by their ids, because the library only knows forms that this process opened."""
        if interaction.type is discord.InteractionType.modal_submit:
            await self.events.on_submit(interaction)

    async def on_member_update(self, _: discord.Member, after: discord.Member) -> None:
        """Pass on that a member changed. Called only with the members intent."""
        self.events.on_member_change(after.guild.id, after.id)

    async def on_raw_member_remove(self, payload: discord.RawMemberRemoveEvent) -> None:
        """Pass on that a member left. Called only with the members intent."""
        self.events.on_member_change(payload.guild_id, payload.user.id)

    async def on_error(self, event_method: str, /, *_: object, **__: object) -> None:
        """Log an error that no handler caught, without message content."""
        log.error("event_failed", handler=event_method, exc_info=True)  # noqa: LOG014 - called while it is handled


def reads_content(client: discord.Client) -> bool:
    """Return whether the developer portal lets the application read message content. Call after login."""
    flags = client.application_flags
    return flags.gateway_message_content or flags.gateway_message_content_limited


async def log_in(client: discord.Client, token: str, seconds: float = LOGIN_SECONDS) -> None:
    """Log in over REST. On failure, the caller closes the client.

    Raises ConfigurationError if Discord refuses the token, and PlatformUnavailable without a usable answer.
    """
    try:
        async with api_call("log in", seconds):
            await client.login(token)
    except discord.LoginFailure:
        raise ConfigurationError(
            "Discord rejected DISCORD_BOT_TOKEN.",
            remedy=RESET_REMEDY,
        ) from None
    except FootnoteError as error:
        why = error.__cause__
        what = why.status if isinstance(why, discord.HTTPException) else type(why).__name__
        remedy = "Check the network, DNS, and DISCORD_API_URL if it is set."
        raise PlatformUnavailable(f"Discord at {host()} does not respond ({what}).", remedy=remedy) from error
