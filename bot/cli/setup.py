"""Setting it up for a platform: ``setup``."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command()(setup)


def setup(
    place: Annotated[
        str | None,
        typer.Argument(help="A platform, terminal or model; asked for when it is left out.", metavar="PLACE"),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open links in the browser, where there is one.")] = True,
) -> None:
    """Put it into a chat platform, or set up a language model, step by step.

    What is set already is passed over.
    """
    from adapters.observability import logs
    from bot.setup.wizard import set_up

    logs.configure("critical", "text")
    raise typer.Exit(set_up(place, _ingest, browser=browser))


def _ingest(paths: "list[Path]") -> int:
    import asyncio

    from bot.cli.documents import ingest_paths

    return asyncio.run(ingest_paths(paths, "default"))
