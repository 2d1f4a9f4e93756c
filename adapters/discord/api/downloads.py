"""Attached files, from Discord's own file servers: as many bytes as are wanted, and no more."""

import asyncio
from urllib.parse import unquote, urlsplit

import aiohttp
from discord.http import Route

from core.model.errors import DocumentRejected, FetchRefused, PlatformUnavailable

HOSTS = frozenset({"cdn.discordapp.com", "media.discordapp.net"})
ATTACH_AGAIN = "Attach it again."


def file_name(address: str) -> str:
    """What the file at an address is called."""
    return unquote(urlsplit(address).path.rsplit("/", 1)[-1]) or "file"


async def download(address: str, limit: int, seconds: float) -> bytes:
    """An attached file, by the address that Discord gave us; it leads elsewhere for nobody.

    More than ``limit`` bytes are refused, not cut, whatever was announced. Raises FetchRefused when it is gone,
    DocumentRejected, PlatformUnavailable.
    """
    name = file_name(address)
    if not _is_discord(address):
        raise FetchRefused(f"{name} is not kept by Discord.", remedy=ATTACH_AGAIN)
    try:
        async with (
            asyncio.timeout(seconds),
            aiohttp.ClientSession() as session,
            session.get(address, allow_redirects=False) as answer,
        ):
            if answer.status == 429 or answer.status >= 500:
                raise PlatformUnavailable(f"Discord does not answer (download {name}).")
            if answer.status != 200:  # addresses run out after a day
                raise FetchRefused(f"{name} is gone.", remedy=ATTACH_AGAIN)
            data = bytearray()
            while len(data) <= limit and (more := await answer.content.read(limit + 1 - len(data))):
                data += more
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        raise PlatformUnavailable(f"Discord does not answer (download {name}).") from error
    if len(data) > limit:
        raise DocumentRejected(f"{name} is larger than {limit // 2**20} MB.")
    return bytes(data)


def _is_discord(address: str) -> bool:
    """Whether it is one of Discord's file servers, or the compatible server that is configured."""
    there, ours = urlsplit(address), urlsplit(Route.BASE)
    return (there.scheme == "https" and there.netloc in HOSTS) or (
        (there.scheme, there.netloc) == (ours.scheme, ours.netloc)
    )
