"""Running as a bot or as a page: ``serve``, ``web`` and ``manifest``."""

from enum import StrEnum
from typing import Annotated

import typer

from bot.cli.runner import finish, say
from bot.roles import ProcessRole


class PlatformName(StrEnum):
    """The platforms there are."""

    SLACK = "slack"
    DISCORD = "discord"


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(web)
    app.command()(serve)
    app.command()(manifest)


def web(
    port: Annotated[int | None, typer.Option(help="Listen there instead of on HTTP_PORT.", min=0, max=65535)] = None,
    make_hash: Annotated[
        bool, typer.Option("--hash", help="Ask for a password and print the setting with its hash.")
    ] = False,
) -> None:
    """A page to ask, read sources, and look after the knowledge."""
    if make_hash:
        _print_password_hash()
        return
    from bot.server import run_page

    def announce(link: str) -> None:
        say("\n  Footnote is at\n")
        typer.echo(f"    {link}")  # whole, however narrow the terminal is
        say("\n  The link signs you in, once.\n  Ctrl-C ends it.\n")

    finish(run_page(port, announce), quiet=False)


def _print_password_hash() -> None:
    """Ask for a password and print the line for ``.env``. Raises BadParameter where it is too short."""
    from adapters.web.access.rules import SHORTEST_PASSWORD, hash_password

    password = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    if len(password) < SHORTEST_PASSWORD:
        raise typer.BadParameter(f"The password is too short. Use at least {SHORTEST_PASSWORD} characters.")
    say("Put this line into .env, with its quotes. For readers, name it WEB_READER_PASSWORD_HASH.", err=True)
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
    platform: Annotated[PlatformName, typer.Argument(help="slack or discord.")],
    http: Annotated[bool, typer.Option("--http/--socket", help="Slack: over HTTP, or by Socket Mode.")] = False,
) -> None:
    """What to paste into a platform to set the bot up."""
    if platform is PlatformName.SLACK:
        from adapters.slack.manifest import manifest as slack_manifest

        typer.echo(slack_manifest("http" if http else "socket"))
        return
    from adapters.discord.manifest import manifest as discord_manifest
    from bot.settings import load_settings

    token = load_settings().discord_bot_token
    for line in discord_manifest(token.get_secret_value() if token else None).splitlines():
        (typer.echo if "https://" in line else say)(line)  # a link stays whole
