"""Helpers for commands, buttons and forms: acknowledgements, responses, error reports and options."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import discord
import structlog
from discord import app_commands

from adapters.discord.api.errors import ALREADY_ACKNOWLEDGED, api_call
from adapters.discord.api.http import LimitedForLong
from adapters.discord.api.ids import person_of
from adapters.discord.inbound.ordered_queue import OrderedQueue
from adapters.discord.outbound import layouts
from adapters.discord.outbound.answer_records import AnsweredTrace, AnswerIndex
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.messages import NOBODY
from adapters.discord.outbound.sanitizer import SanitizedView
from core.model.conversation import ThreadKey
from core.model.errors import WENT_WRONG, FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import IncomingMessage, ReplyMode, ReplyTarget
from core.service.actions.wording import GONE

LOOK_UP_SECONDS = 2.0  # of the 3 seconds within which a press must be acknowledged
TELL_SECONDS = 30.0
PAUSES = (2.0, 30.0)  # seconds between attempts to show a result while Discord accepts nothing
TRY_AGAIN = "I cannot look that up right now. Please try again in a moment."
# Keys of our notes in ``interaction.extras``, which the library leaves to its users.
_ACKNOWLEDGED, _THINKING = "acknowledged", "thinking"
FOR_ONE, FOR_ALL = "for one", "for all"  # who sees the "thinking" state

log = structlog.get_logger(__name__)


async def tell(interaction: Interaction, text: str, *, mentions: bool = False) -> None:
    """Tell something to the presser only, whether or not the interaction was acknowledged."""
    shown = layouts.text_layout(text, mentions=mentions)
    try:
        if _is_acknowledged(interaction):
            await show(interaction, shown)
            return
        async with api_call("answer you", TELL_SECONDS):
            await respond(interaction.response.send_message(view=shown, ephemeral=True, allowed_mentions=NOBODY))
    except FootnoteError as error:
        log.warning("not_told", reason=str(error))


async def show(interaction: Interaction, view: SanitizedView, *, in_place: bool = False) -> int:
    """Show something to the presser after the acknowledgement, and return the message's id.

    It fills the "thinking" message, or replaces the message with the pressed button (``in_place``), or is a new
    message. It retries for a while, unless that could post a new message twice. A "thinking" message that everyone sees
    is deleted first. Raises what ``api_call`` raises.
    """
    if interaction.extras.get(_THINKING) == FOR_ALL:
        await _take_back(interaction)
    fills = in_place or _THINKING in interaction.extras

    async def send() -> int:
        async with api_call("answer you", TELL_SECONDS):
            if fills:
                return (await interaction.edit_original_response(view=view, allowed_mentions=NOBODY)).id
            return (await interaction.followup.send(view=view, ephemeral=True, allowed_mentions=NOBODY, wait=True)).id

    for pause in PAUSES:
        try:
            shown = await send()
            break
        except PlatformUnavailable as error:
            if not (fills or isinstance(error.__cause__, discord.HTTPException | LimitedForLong)):
                raise
            await asyncio.sleep(pause)
    else:
        shown = await send()
    interaction.extras.pop(_THINKING, None)
    return shown


async def _take_back(interaction: Interaction) -> None:
    """Delete the "thinking" message. If that fails, the next message fills it."""
    try:
        async with api_call("take back that I am thinking", TELL_SECONDS):
            await interaction.delete_original_response()
    except FootnoteError as error:
        log.info("not_taken_back", reason=str(error))
    else:
        interaction.extras.pop(_THINKING)


async def acknowledge(interaction: Interaction, *, alone: bool) -> str:
    """Show "thinking", to the asker only (``alone``) or to everyone, and return the id of the message to fill.

    Raises what the library raises.
    """
    answered = await _defer(interaction, alone=alone, thinking=True)
    interaction.extras[_THINKING] = FOR_ONE if alone else FOR_ALL
    return answered


async def acknowledge_press(interaction: Interaction) -> None:
    """Acknowledge a press without changing its message. Raises what the library raises."""
    await _defer(interaction, alone=False, thinking=False)


async def _defer(interaction: Interaction, *, alone: bool, thinking: bool) -> str:
    """Acknowledge, and return the id of the message that Discord shows for it.

    If only Discord's confirmation is lost, Discord shows "thinking" and an answer must follow. So we look up that
    message. Discord refuses the library's own retry as already acknowledged.
    """
    try:
        answered = await interaction.response.defer(ephemeral=alone, thinking=thinking)
    except (discord.HTTPException, aiohttp.ClientError):
        try:
            original = await interaction.original_response()
        except (discord.DiscordException, aiohttp.ClientError):
            log.info("not_acknowledged", interaction=interaction.id)
        else:
            interaction.extras[_ACKNOWLEDGED] = True
            return str(original.id)
        raise
    return str(answered.message_id or "") if answered is not None else ""


async def respond(responding: Awaitable[object]) -> None:
    """Send a first response, an answer or a form. It is no error if Discord already has it.

    The library retries after Discord fails, even if the first attempt took effect. Raises what the library raises.
    """
    try:
        await responding
    except discord.HTTPException as error:
        if error.code != ALREADY_ACKNOWLEDGED:
            raise


def _is_acknowledged(interaction: Interaction) -> bool:
    """Return whether it was acknowledged, even if the library does not know because the confirmation was lost."""
    return interaction.response.is_done() or _ACKNOWLEDGED in interaction.extras


@asynccontextmanager
async def report_errors(interaction: Interaction) -> AsyncIterator[None]:
    """Report every error of a press to the presser."""
    try:
        yield
    except TimeoutError:
        await tell(interaction, TRY_AGAIN)
    except FootnoteError as error:
        await tell(interaction, str(error))
    except (discord.HTTPException, discord.InteractionResponded, aiohttp.ClientError) as error:
        log.warning("press_not_answered", reason=str(error)[:200])
        if _is_acknowledged(interaction):
            await tell(interaction, WENT_WRONG)
    except Exception:
        log.exception("press_failed")
        await tell(interaction, WENT_WRONG)


def is_admin(interaction: Interaction) -> bool:
    """Return whether the presser administers us here, by the permissions in Discord's payload."""
    rights = interaction.permissions
    return interaction.guild_id is not None and (rights.administrator or rights.manage_guild)


async def administers(interaction: Interaction) -> bool:
    """Return ``is_admin``, for callers that need a coroutine."""
    return is_admin(interaction)


def private_target(interaction: Interaction) -> ReplyTarget:
    """Return the target for an ephemeral reply to a command or a button."""
    return ReplyTarget(
        mode=ReplyMode.PRIVATE,
        channel=str(interaction.channel_id or 0),
        message=str(interaction.id),
        guild=str(interaction.guild_id or ""),
        asker=str(interaction.user.id),
        token=interaction.token,
    )


def asked_by(
    interaction: Interaction, thread: ThreadKey, text: str, *, alone: bool, response: str = ""
) -> IncomingMessage:
    """Return the question of a command or a button. The answer fills the message ``response``."""
    mode = ReplyMode.PRIVATE if alone else ReplyMode.RESPONSE
    return IncomingMessage(
        id=str(interaction.id),
        thread=thread,
        text=text,
        asker=person_of(interaction.user),
        reply_target=replace(private_target(interaction), mode=mode, response=response),
        mentions_us=True,
        direct=interaction.guild_id is None,
        private=alone,
    )


async def enqueue(queue: OrderedQueue, interaction: Interaction, incoming: IncomingMessage) -> None:
    """Put a question into the inbox. Tell a person who has too many questions waiting."""
    await queue.put(f"discord:{interaction.id}", incoming, busy=lambda text: tell(interaction, text))


class PlaceOption(app_commands.Transformer):
    """A channel or category of the server, by its id. The types are those in Discord's published API description."""

    @property
    def type(self) -> discord.AppCommandOptionType:
        """Return the type of option that Discord offers."""
        return discord.AppCommandOptionType.channel

    @property
    def channel_types(self) -> list[discord.ChannelType]:
        """Return the channel types that have settings of their own."""
        kinds = discord.ChannelType
        return [kinds.text, kinds.news, kinds.voice, kinds.forum, kinds.category]

    async def transform(self, interaction: Interaction, value: Any, /) -> int:
        """Return the id. The caller checks whether the channel exists."""
        return int(value.id)


def context_menu(
    name: str, callback: Callable[[Interaction, discord.Message], Awaitable[None]]
) -> app_commands.ContextMenu:
    """Return a command for the menu of every message."""

    async def on_message(interaction: Interaction, message: discord.Message) -> None:
        await callback(interaction, message)

    on_message.__annotations__ = {"interaction": discord.Interaction, "message": discord.Message}
    return app_commands.ContextMenu(name=name, callback=on_message)


async def find_answer(index: AnswerIndex, trace_id: str, gone: str = GONE) -> AnsweredTrace:
    """Return where this trace's answer is shown. Raises NotFound with the text ``gone``, and TimeoutError."""
    async with asyncio.timeout(LOOK_UP_SECONDS):
        shown = await index.find(trace_id)
    if shown is None:
        raise NotFound(gone)
    return shown
