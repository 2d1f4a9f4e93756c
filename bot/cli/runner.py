"""Shared by all commands: running to an exit code, and opening Footnote to read."""

from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from adapters.terminal.output import say
from core.model.errors import FootnoteError

if TYPE_CHECKING:
    from rich.console import Console

    from bot.container import Footnote


class ConfirmationMissing(FootnoteError):
    """An action needs a confirmation, and there is no terminal to ask in."""


def finish(work: Coroutine[Any, Any, int], *, quiet: bool = True) -> None:
    """Run a command and exit with its code. Logs are silent unless ``quiet`` is false."""
    if quiet:
        from adapters.observability import logs

        logs.configure("critical", "text")
    import asyncio

    raise typer.Exit(asyncio.run(work))


@asynccontextmanager
async def open_to_read(
    console: "Console | None" = None, *, models: bool = True, index: bool = True
) -> AsyncIterator["Footnote"]:
    """Yield Footnote as configured or, with a notice, the sample company while nothing else is indexed.

    Loading the models takes seconds. Meanwhile, ``console`` shows a status if given.
    """
    from adapters.terminal.console import SafeConsole
    from bot.container import open_footnote
    from bot.garbage_collection import freeze_loaded_objects
    from bot.sample_company import NOTICE, sample_settings, stands_in
    from bot.settings import load_settings

    settings = load_settings()
    if await stands_in(settings):
        settings = sample_settings(settings)
        SafeConsole(stderr=True).print(NOTICE, highlight=False)
    async with AsyncExitStack() as stack:
        with nullcontext() if console is None else console.status("Opening the stores and the model …"):
            footnote = await stack.enter_async_context(open_footnote(settings, models=models, index=index))
        freeze_loaded_objects()
        say_losses(footnote)
        yield footnote


def say_losses(footnote: "Footnote") -> None:
    """Print what the stores have lost, before anything else."""
    for notice in footnote.take_notices():
        say(notice, err=True)


def require_paths(names: Iterable[str | Path]) -> None:
    """Raise BadParameter if one of these files and folders does not exist or is not accessible."""
    missing = []
    for name in names:
        try:
            missing += [] if Path(name).exists() else [str(name)]
        except OSError as error:
            raise typer.BadParameter(f"{name} cannot be opened: {error.strerror}.") from None
    if missing:
        raise typer.BadParameter(f"There is no file or folder {', '.join(missing)}.")
