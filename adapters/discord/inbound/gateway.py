"""The connection to Discord's gateway: events go to their handlers, in order, and nothing is done here.

Events come through discord.py; a resumed connection repeats some of them, which does no harm. How often we identify
is bounded, and nothing we send can mention anybody.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import discord
import structlog
from discord import app_commands

from adapters.discord.api.errors import RESET_REMEDY, api_call
from adapters.discord.api.http import ApiResponses, host
from adapters.discord.inbound.identify_limiter import IdentifyLimiter
from adapters.discord.outbound.buttons import ButtonHandlers, Pressed
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
    """Who handles what the gateway tells, our own messages included."""

    on_message: Callable[[discord.Message], None]
    on_edit: Callable[[discord.Message], None]
    on_delete: Callable[[int | None, int, int], None]  # server, channel, message
    on_thread_delete: Callable[[int, int, int], None]  # server, channel, thread
    on_member_change: Callable[[int, int], None]  # server, person: roles have changed, or they have left
    on_ready: Callable[[], Awaitable[None]]  # a new session: what was said since the last one is not told
    on_resume: Callable[[], None]
    on_disconnect: Callable[[], None]  # discord.py reconnects


def intents(*, content: bool) -> discord.Intents:
    """Return the events we subscribe to: servers and messages. Content is a privileged intent."""
    wanted = discord.Intents.none()
    wanted.guilds = wanted.guild_messages = wanted.dm_messages = True
    wanted.message_content = content
    return wanted


class FootnoteClient(discord.Client):
    """discord.py's client: it passes events on, and knows our commands and our buttons."""

    def __init__(
        self,
        *,
        events: GatewayEvents,
        button_handlers: ButtonHandlers,
        identify_limiter: IdentifyLimiter,
        content: bool,
    ) -> None:
        self.responses = ApiResponses()
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # there is no voice here to miss
        super().__init__(
            intents=intents(content=content),
            allowed_mentions=NOBODY,
            http_trace=self.responses.trace(),
            chunk_guilds_at_startup=False,
            max_messages=None,
            guild_ready_timeout=0.2,  # what a server that comes later has to tell is looked back for then
        )
        self.events = events
        self.button_handlers = button_handlers
        self.tree = app_commands.CommandTree(
            self, allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True)
        )
        self._identify_limiter = identify_limiter
        self.add_dynamic_items(Pressed)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait for our turn, so that no loop of ours uses up the day's identifications."""
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
        """Note that the connection is lost; the library comes back by itself. Called for every failed try, too."""
        self.events.on_disconnect()

    async def on_message(self, message: discord.Message) -> None:
        """Every message of the gateway, our own included."""
        self.events.on_message(message)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Something reads otherwise now. Without a time of editing it is only Discord's own doing, like a preview."""
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
        """Pass on that a thread was deleted, for Discord does not list its messages."""
        self.events.on_thread_delete(payload.guild_id, payload.parent_id, payload.thread_id)

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Forms are answered here, by their ids alone: the library would only know those this process has opened."""
        if interaction.type is discord.InteractionType.modal_submit:
            await self.button_handlers.on_submit(interaction)

    async def on_member_update(self, _: discord.Member, after: discord.Member) -> None:
        """Told only where the members intent is on."""
        self.events.on_member_change(after.guild.id, after.id)

    async def on_raw_member_remove(self, payload: discord.RawMemberRemoveEvent) -> None:
        """Told only where the members intent is on."""
        self.events.on_member_change(payload.guild_id, payload.user.id)

    async def on_error(self, event_method: str, /, *_: object, **__: object) -> None:
        """Whatever a handler did not catch: the log has it, without what was said."""
        log.error("event_failed", handler=event_method, exc_info=True)  # noqa: LOG014 - called while it is handled


def reads_content(client: discord.Client) -> bool:
    """Return whether the application may read what people write, as the developer portal has it. After login only."""
    flags = client.application_flags
    return flags.gateway_message_content or flags.gateway_message_content_limited


async def log_in(client: discord.Client, token: str, seconds: float = LOGIN_SECONDS) -> None:
    """Log in over REST; a client that could not is closed by who made it.

    Raises ConfigurationError for a token that Discord refuses, PlatformUnavailable when nothing useful answers.
    """
    try:
        async with api_call("log in", seconds):
            await client.login(token)
    except discord.LoginFailure:
        raise ConfigurationError(
            "Discord refuses DISCORD_BOT_TOKEN.",
            remedy=RESET_REMEDY,
        ) from None
    except FootnoteError as error:
        why = error.__cause__
        what = why.status if isinstance(why, discord.HTTPException) else type(why).__name__
        remedy = "Check the network and its name service, and DISCORD_API_URL if it is set."
        raise PlatformUnavailable(f"Discord at {host()} does not answer ({what}).", remedy=remedy) from error
