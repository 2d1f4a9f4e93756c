"""Which Discord we talk to: the real one, or a proxy or compatible server that is configured."""

from urllib.parse import urlsplit

import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from core.model.errors import ConfigurationError

__all__ = ["configure_endpoints", "host"]


def configure_endpoints(api_url: str | None, gateway_url: str | None) -> None:
    """Use these bases for the whole process: once, before the first client is made. None leaves Discord's own.

    ``api_url`` ends with the version (``…/api/v10``). Raises ConfigurationError for what is no such address.
    """
    if api_url:
        Route.BASE = _check_url("DISCORD_API_URL", api_url, ("http", "https")).rstrip("/")
    if gateway_url:
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(_check_url("DISCORD_GATEWAY_URL", gateway_url, ("ws", "wss")))


def host() -> str:
    """Where the REST API is, for people to read."""
    return urlsplit(Route.BASE).netloc.rpartition("@")[2]


def _check_url(name: str, url: str, schemes: tuple[str, ...]) -> str:
    parts = urlsplit(url)
    if parts.scheme not in schemes or not parts.netloc:
        raise ConfigurationError(f"{name} is no address of the form {schemes[-1]}://….", remedy="See .env.example.")
    return url
