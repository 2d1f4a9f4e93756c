"""Running as a bot: ``serve``."""

import typer

from bot.commands.running import finish


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(serve)


def serve() -> None:
    """Answer on the platforms that are configured."""
    from bot.serve import run

    finish(run())
