"""Translation of Discord's errors into ours. Every call goes through ``api_call``, with a deadline."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

import aiohttp
import discord
import structlog

from core.model.errors import Denied, FootnoteError, NotFound, PlatformUnavailable

CALL_SECONDS = 60.0  # for one call, including the library's retries and waits for rate limits

MISSING_ACCESS, CANNOT_WRITE_TO_PERSON, INVALID_TOKEN = 50001, 50007, 50027
ALREADY_ACKNOWLEDGED, NO_HISTORY, THREAD_EXISTS, ARCHIVED = 40060, 160002, 160004, 50083
# Codes that mean "retry later" for any status: write limits, temporarily disabled features, overload.
NOT_NOW = frozenset(
    {20016, 20022, 20028, 20029, 30046, 40003, 40004, 40006, 40062, 40333, 110000, 110001, 130000}
)  # fmt: skip
RESET_REMEDY = "Copy it again from the developer portal: your application, Bot, Reset Token."

Found = TypeVar("Found")

log = structlog.get_logger(__name__)


class RequestRefused(FootnoteError):
    """Discord rejects what we send. A retry would not help; the log has the details."""


class TokenRefused(PlatformUnavailable):
    """Discord refuses the bot's token. Nothing can be shown until there is a new one."""

    def __init__(self) -> None:
        super().__init__("Discord rejected DISCORD_BOT_TOKEN.", remedy=RESET_REMEDY)


@asynccontextmanager
async def api_call(doing: str, seconds: float = CALL_SECONDS) -> AsyncIterator[None]:
    """Make a call to Discord.

    Raises:
        NotFound: its subject was deleted.
        Denied: a permission is missing; the remedy names it.
        PlatformUnavailable: Discord gives no usable answer, or limits us for a long time.
        TokenRefused: Discord refuses our token; a PlatformUnavailable.
        RequestRefused: Discord rejects what we send.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except discord.HTTPException as error:
        raise _translate(error, doing) from error
    except (discord.RateLimited, aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PlatformUnavailable(f"Discord does not answer ({doing}).") from error
    except RuntimeError as error:
        if "closed" not in str(error):  # aiohttp's error for a session that was closed while we drain
            raise
        raise PlatformUnavailable(f"The connection to Discord is closed ({doing}).") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        # The library parses answers inside its calls. The answer was cut off or not in its documented form.
        log.exception("discord_misunderstood", doing=doing)
        raise PlatformUnavailable(f"Discord sent an unexpected reply ({doing}).") from error


async def find(doing: str, seconds: float, asking: Awaitable[Found]) -> Found | None:
    """Return the result, or None if Discord says that it does not exist or that we may not see it.

    Raises PlatformUnavailable, because no answer does not mean that it does not exist.
    """
    try:
        async with api_call(doing, seconds):
            return await asking
    except PlatformUnavailable:
        raise
    except FootnoteError:
        return None


def _translate(error: discord.HTTPException, doing: str) -> FootnoteError:
    if not error.response.headers.get("Content-Type", "").startswith("application/json"):
        return PlatformUnavailable(f"Something between Footnote and Discord replied with {error.status} ({doing}).")
    if error.status == 401 and error.code != INVALID_TOKEN:
        return TokenRefused()
    if error.status == 429 or error.status >= 500 or error.code in NOT_NOW:
        return PlatformUnavailable(f"Discord does not answer ({doing}).")
    if isinstance(error, discord.NotFound):
        return NotFound(f"I could not {doing}: Discord says that it no longer exists.")
    if isinstance(error, discord.Forbidden):
        return Denied(f"Discord does not let me {doing}.", remedy=remedy_for(error))
    log.warning("discord_refused", doing=doing, status=error.status, code=error.code, text=error.text[:500])
    return RequestRefused(f"I could not {doing}, because Discord refused it. My log says why.")


def remedy_for(error: discord.Forbidden) -> str:
    """Return what an admin can do about a refusal."""
    if error.code == MISSING_ACCESS:
        return "An admin can give my role View Channel there."
    if error.code == CANNOT_WRITE_TO_PERSON:
        return "Allow direct messages from members of this server, and ask again."
    return (
        "An admin can give my role View Channel, Send Messages, Create Public Threads, Send Messages in Threads and "
        "Read Message History there."
    )
