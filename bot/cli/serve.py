"""Running as a bot or a page: ``serve``, ``web`` and ``manifest``."""

from typing import Annotated

import typer

from adapters.terminal.output import say
from bot.cli.runner import finish
from bot.roles import ProcessRole


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(web)
    app.command()(serve)
    app.command()(manifest)


def web(
    port: Annotated[int | None, typer.Option(help="The port to use instead of HTTP_PORT.", min=0, max=65535)] = None,
    make_hash: Annotated[
        bool, typer.Option("--hash", help="Ask for a password and print the setting with its hash.")
    ] = False,
    link: Annotated[
        bool, typer.Option("--link", help="Print a sign-in link for the page that is already running.")
    ] = False,
) -> None:
    """Serve a page to ask, read sources and manage knowledge bases."""
    if make_hash:
        _print_password_hash()
        return
    if link:
        finish(_print_link(port))
    from bot.server import run_page

    def announce(link: str) -> None:
        say("\n  Footnote is at\n")
        typer.echo(f"    {link}")  # in one piece, however narrow the terminal is
        say("\n  The link signs you in once.\n  Press Ctrl-C to stop.\n")

    finish(run_page(port, announce), quiet=False)


async def _print_link(port: int | None) -> int:
    from adapters.redis.web_stores import RedisWebSessions
    from adapters.web.access.sign_in import new_sign_in_path
    from bot.settings import load_settings
    from bot.stores import open_catalog

    settings = load_settings()
    address = settings.web_address.rstrip("/") or f"http://127.0.0.1:{port or settings.http_port}"
    async with open_catalog(settings) as opened:
        typer.echo(address + await new_sign_in_path(RedisWebSessions(opened.redis)))
    return 0


def _print_password_hash() -> None:
    """Ask for a password and print the line for ``.env``. Raises BadParameter if it is too short."""
    from adapters.web.access.rules import SHORTEST_PASSWORD, hash_password

    password = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    if len(password) < SHORTEST_PASSWORD:
        raise typer.BadParameter(f"The password is too short. Use at least {SHORTEST_PASSWORD} characters.")
    say(
        ("Add this line to .env, with its quotes. For the readers' password, name it WEB_READER_PASSWORD_HASH."),
        err=True,
    )
    typer.echo(f"WEB_PASSWORD_HASH='{hash_password(password)}'")


def serve(
    role: Annotated[
        ProcessRole,
        typer.Option(help="platform: hold the connections. worker: answer and run jobs. all: both."),
    ] = ProcessRole.ALL,
) -> None:
    """Answer on the platforms that are configured."""
    from bot.server import run

    finish(run(role), quiet=False)


def manifest(
    platform: Annotated[str, typer.Argument(help="The name of the platform.", metavar="PLATFORM")],
    http: Annotated[bool, typer.Option("--http/--socket", help="How the platform connects.")] = False,
) -> None:
    """Print what to paste into a platform to set the bot up."""
    from bot.plugins import installed_platforms
    from bot.settings import load_settings

    plugins = installed_platforms().plugins
    if platform not in plugins:
        raise typer.BadParameter(f"{platform!r} is not one of {', '.join(plugins)}.", param_hint="PLATFORM")
    plugin = plugins[platform]
    text = plugin.manifest(load_settings().of(plugin), http=http)
    whole = text.startswith("{")  # JSON
    for line in text.splitlines():
        (typer.echo if whole or "https://" in line else say)(line)  # a link stays whole
