"""The outer edge of a press or a command: what goes wrong is said to the one who pressed, and to nobody else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import discord
import structlog

from adapters.discord.api.errors import api_call
from adapters.discord.outbound import layouts
from adapters.discord.outbound.buttons import Interaction
from adapters.discord.outbound.messages import NOBODY
from core.model.errors import FootnoteError
from core.model.reply_target import ReplyMode, ReplyTarget

LOOK_UP_SECONDS = 2.0  # of the 3 within which a press must be acknowledged
TELL_SECONDS = 30.0
TRY_AGAIN = "I cannot look that up right now. Please try again in a moment."
WENT_WRONG = "Something went wrong on my side. Please try again."

log = structlog.get_logger(__name__)


async def tell(interaction: Interaction, text: str, *, mentions: bool = False) -> None:
    """Say something to the one who pressed, and to nobody else, whether or not it was acknowledged already."""
    shown = layouts.text_layout(text, mentions=mentions)
    try:
        async with api_call("answer you", TELL_SECONDS):
            if interaction.response.is_done():
                await interaction.followup.send(view=shown, ephemeral=True, allowed_mentions=NOBODY)
            else:
                await interaction.response.send_message(view=shown, ephemeral=True, allowed_mentions=NOBODY)
    except FootnoteError as error:
        log.warning("not_told", reason=str(error))


async def acknowledge(interaction: Interaction, *, alone: bool) -> str:
    """Say that an answer comes, for the one who asks ``alone`` or for all; the id of the message it will fill.

    Where only the confirmation of that was lost, Discord shows that we are thinking, and the answer has to come: so it
    is looked up whether it does. Raises what the library raises.
    """
    try:
        answered = await interaction.response.defer(ephemeral=alone, thinking=True)
    except (discord.HTTPException, aiohttp.ClientError):
        try:
            return str((await interaction.original_response()).id)
        except (discord.DiscordException, aiohttp.ClientError):
            log.info("not_acknowledged", interaction=interaction.id)
        raise
    return str(answered.message_id or "") if answered is not None else ""


@asynccontextmanager
async def report_errors(interaction: Interaction) -> AsyncIterator[None]:
    """The outer edge of a press: whatever goes wrong is said to the one who pressed."""
    try:
        yield
    except TimeoutError:
        await tell(interaction, TRY_AGAIN)
    except FootnoteError as error:
        await tell(interaction, str(error))
    except (discord.HTTPException, discord.InteractionResponded, aiohttp.ClientError) as error:
        log.warning("press_not_answered", reason=str(error)[:200])
    except Exception:
        log.exception("press_failed")
        await tell(interaction, WENT_WRONG)


def is_admin(interaction: Interaction) -> bool:
    """Whether the one who pressed administers us here, by the rights that Discord itself says they have."""
    rights = interaction.permissions
    return interaction.guild_id is not None and (rights.administrator or rights.manage_guild)


async def administers(interaction: Interaction) -> bool:
    """The same, to be awaited by who looks it up only when it matters."""
    return is_admin(interaction)


def private_target(interaction: Interaction) -> ReplyTarget:
    """Where to say something to the one who used a command or a button, and to nobody else."""
    return ReplyTarget(
        mode=ReplyMode.PRIVATE,
        channel=str(interaction.channel_id or 0),
        message=str(interaction.id),
        guild=str(interaction.guild_id or ""),
        asker=str(interaction.user.id),
        token=interaction.token,
    )
