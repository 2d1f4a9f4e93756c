"""What every command shares: running to an exit code, and opening Footnote to read."""

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
    """Something that is not done unasked, and nobody is there to ask."""


def finish(work: Coroutine[Any, Any, int], *, quiet: bool = True) -> None:
    """Run a command's work to its end and leave with its exit code; logs stay silent where the command speaks."""
    if quiet:
        from adapters.observability import logs

        logs.configure("critical", "text")
    import asyncio

    raise typer.Exit(asyncio.run(work))


@asynccontextmanager
async def open_to_read(
    console: "Console | None" = None, *, models: bool = True, index: bool = True
) -> AsyncIterator["Footnote"]:
    """Footnote as configured, or with the sample company while nothing else is indexed, which is said.

    Loading the models takes seconds: a console that is given says so meanwhile.
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
    """Say what the stores lost, before anything else."""
    for notice in footnote.take_notices():
        say(notice, err=True)


def require_paths(names: Iterable[str | Path]) -> None:
    """Raise BadParameter in one line when one of these files and folders is not there, or may not be looked at."""
    missing = []
    for name in names:
        try:
            missing += [] if Path(name).exists() else [str(name)]
        except OSError as error:
            raise typer.BadParameter(f"{name} cannot be looked at: {error.strerror}.") from None
    if missing:
        raise typer.BadParameter(f"There is no file or folder {', '.join(missing)}.")
