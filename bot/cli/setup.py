"""Setting it up for a platform: ``setup``."""

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.observability import logs
from core.model.setup_steps import Place

if TYPE_CHECKING:
    from pathlib import Path


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command()(setup)


def setup(
    place: Annotated[Place | None, typer.Argument(help="Where it shall answer; asked for when it is left out.")] = None,
    browser: Annotated[bool, typer.Option(help="Open links in the browser, where there is one.")] = True,
) -> None:
    """Put it into Slack or Discord, or set up a language model, step by step.

    What is set already is passed over.
    """
    from bot.setup.wizard import set_up

    logs.configure("critical", "text")
    raise typer.Exit(set_up(place, _ingest, browser=browser))


def _ingest(paths: "list[Path]") -> int:
    import asyncio

    from bot.cli.documents import ingest_paths

    return asyncio.run(ingest_paths(paths, "default"))
