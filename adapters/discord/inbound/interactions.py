"""What commands, buttons and forms share: acknowledging, responding, reporting errors to the person, options."""

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
from adapters.discord.outbound.answer_records import AnsweredQuestion, AnswerIndex
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.messages import NOBODY
from adapters.discord.outbound.sanitizer import SanitizedView
from core.model.conversation import ThreadKey
from core.model.errors import WENT_WRONG, FootnoteError, NotFound, PlatformUnavailable
from core.model.incoming_events import IncomingMessage, ReplyMode, ReplyTarget
from core.service.actions.wording import GONE

LOOK_UP_SECONDS = 2.0  # of the 3 within which a press must be acknowledged
TELL_SECONDS = 30.0
PAUSES = (2.0, 30.0)  # seconds between tries to show what a press led to, while Discord takes nothing
TRY_AGAIN = "I cannot look that up right now. Please try again in a moment."
# What we note beside an interaction, in the place that the library leaves to its users.
_ACKNOWLEDGED, _THINKING = "acknowledged", "thinking"
FOR_ONE, FOR_ALL = "for one", "for all"  # who sees that we are thinking

log = structlog.get_logger(__name__)


async def tell(interaction: Interaction, text: str, *, mentions: bool = False) -> None:
    """Say something to the one who pressed, and to nobody else, whether or not it was acknowledged already."""
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
    """Show something to the one who pressed, once that is acknowledged; the message's id.

    It fills the message that says that we are thinking, or replaces the one whose button was pressed (``in_place``);
    else it is a further message. Tried again for a while, but not where a further message may stand there already.
    Where all see that we are thinking, that is taken back first. Raises what ``api_call`` raises.
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
    """Delete the note that we are thinking; where that fails, the next message fills it."""
    try:
        async with api_call("take back that I am thinking", TELL_SECONDS):
            await interaction.delete_original_response()
    except FootnoteError as error:
        log.info("not_taken_back", reason=str(error))
    else:
        interaction.extras.pop(_THINKING)


async def acknowledge(interaction: Interaction, *, alone: bool) -> str:
    """Say that an answer comes, for the one who asks ``alone`` or for all; the id of the message it will fill.

    Raises what the library raises.
    """
    answered = await _defer(interaction, alone=alone, thinking=True)
    interaction.extras[_THINKING] = FOR_ONE if alone else FOR_ALL
    return answered


async def acknowledge_press(interaction: Interaction) -> None:
    """Say that a press was heard, and nothing more: what it was pressed on stays. Raises what the library raises."""
    await _defer(interaction, alone=False, thinking=False)


async def _defer(interaction: Interaction, *, alone: bool, thinking: bool) -> str:
    """Acknowledge; return the id of the message that Discord shows for it.

    Where only the confirmation of that was lost, Discord shows that we are thinking, and the answer has to come: so it
    is looked up whether it does. The library's own repetition is then refused, as already acknowledged.
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
    """Send a first response, an answer or a form; one that Discord already has is no error.

    The library repeats what Discord failed at after it was done. Raises what the library raises.
    """
    try:
        await responding
    except discord.HTTPException as error:
        if error.code != ALREADY_ACKNOWLEDGED:
            raise


def _is_acknowledged(interaction: Interaction) -> bool:
    """Also where the library does not know of it, since the confirmation was lost."""
    return interaction.response.is_done() or _ACKNOWLEDGED in interaction.extras


@asynccontextmanager
async def report_errors(interaction: Interaction) -> AsyncIterator[None]:
    """Report every error of a press to the one who pressed."""
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
    """Return whether the one who pressed administers us here, by the rights that Discord itself says they have."""
    rights = interaction.permissions
    return interaction.guild_id is not None and (rights.administrator or rights.manage_guild)


async def administers(interaction: Interaction) -> bool:
    """Return the same, for callers that look it up only when it matters."""
    return is_admin(interaction)


def private_target(interaction: Interaction) -> ReplyTarget:
    """Return where to say something to the one who used a command or a button, and to nobody else."""
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
    """Return the question that a command or a button asks; the answer fills the message ``response``."""
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
    """Put a question into the inbox; say so to a person who has too many waiting."""
    await queue.put(f"discord:{interaction.id}", incoming, busy=lambda text: tell(interaction, text))


class PlaceOption(app_commands.Transformer):
    """A channel or category of the server, as its id. Of the kinds that Discord's published description knows."""

    @property
    def type(self) -> discord.AppCommandOptionType:
        """Return what Discord offers to choose from."""
        return discord.AppCommandOptionType.channel

    @property
    def channel_types(self) -> list[discord.ChannelType]:
        """Return the types of channels that have settings of their own."""
        kinds = discord.ChannelType
        return [kinds.text, kinds.news, kinds.voice, kinds.forum, kinds.category]

    async def transform(self, interaction: Interaction, value: Any, /) -> int:
        """Return the id; its user looks up whether there is such a channel."""
        return int(value.id)


def context_menu(
    name: str, callback: Callable[[Interaction, discord.Message], Awaitable[None]]
) -> app_commands.ContextMenu:
    """Make a command in the menu of every message."""

    async def on_message(interaction: Interaction, message: discord.Message) -> None:
        await callback(interaction, message)

    on_message.__annotations__ = {"interaction": discord.Interaction, "message": discord.Message}
    return app_commands.ContextMenu(name=name, callback=on_message)


async def find_answer(index: AnswerIndex, trace_id: str, gone: str = GONE) -> AnsweredQuestion:
    """Return where this trace's answer is shown. Raises NotFound, in these words, and TimeoutError."""
    async with asyncio.timeout(LOOK_UP_SECONDS):
        shown = await index.find(trace_id)
    if shown is None:
        raise NotFound(gone)
    return shown
