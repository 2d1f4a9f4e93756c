"""For other agents: ``mcp``."""

from typing import Annotated

import typer

from bot.cli.runner import finish

PORT = 8090


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command()(mcp)


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Over streamable HTTP, for programs that hold a token.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --http: the port; 0 takes a free one.")] = PORT,
) -> None:
    """Let other agents search and ask, by the Model Context Protocol.

    Without --http over standard input and output: as whoever starts it, or as the token in MCP_TOKEN.
    """
    finish(_over_http(port) if http else _over_stdio())


async def _over_stdio() -> int:
    from bot.container import open_footnote
    from bot.programs import local_mcp
    from bot.settings import load_settings

    settings = load_settings()
    async with open_footnote(settings) as footnote:
        await (await local_mcp(settings, footnote)).run_stdio_async()
    return 0


async def _over_http(port: int) -> int:
    from adapters.http_bounds import HttpBounds
    from adapters.mcp.server import serve_http
    from adapters.platform_plugin import split_names
    from bot.container import open_footnote
    from bot.programs import remote_mcp
    from bot.settings import load_settings

    settings = load_settings()
    async with open_footnote(settings) as footnote:
        bounds = HttpBounds(proxies=split_names(settings.web_proxies))
        await serve_http(remote_mcp(footnote), settings.http_host, port, typer.echo, bounds)
    return 0
