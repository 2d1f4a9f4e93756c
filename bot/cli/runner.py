"""What every command shares: running to an exit code, and printing JSON."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from adapters.observability import logs

if TYPE_CHECKING:
    from rich.console import Console

    from bot.container import Footnote


def finish(work: Coroutine[Any, Any, int], *, quiet: bool = True) -> None:
    """Run a command's work to its end and leave with its exit code; logs stay silent where the command speaks."""
    if quiet:
        logs.configure("critical", "text")
    raise typer.Exit(asyncio.run(work))


@asynccontextmanager
async def open_console_footnote(console: "Console") -> AsyncIterator["Footnote"]:
    """Footnote as configured; while stores and model open, which takes seconds, a terminal says so."""
    from bot.container import open_footnote
    from bot.settings import load_settings

    async with AsyncExitStack() as stack:
        with console.status("Opening the stores and the model …"):
            footnote = await stack.enter_async_context(open_footnote(load_settings()))
        yield footnote


def there(names: Iterable[str | Path]) -> None:
    """Raises BadParameter in one line when one of these files and folders is not there, or may not be looked at."""
    missing = []
    for name in names:
        try:
            missing += [] if Path(name).exists() else [str(name)]
        except OSError as error:
            raise typer.BadParameter(f"{name} cannot be looked at: {error.strerror}.") from None
    if missing:
        raise typer.BadParameter(f"There is no file or folder {', '.join(missing)}.")


def print_json(value: object) -> None:
    """One JSON document on standard output, escaped where its encoding does not hold every sign."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=not unicode, indent=2) + "\n")
