"""Backups: ``backup`` and ``restore``."""

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import say
from bot.cli.runner import finish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.backup.backup import Progress

SHOWN = 40  # characters of a source beside the count


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(backup)
    app.command()(restore)


def backup(folder: Annotated[Path, typer.Argument(help="A new or empty folder.")]) -> None:
    """Write everything that is kept into a folder, while footnote serve goes on.

    Documents with their passages and what they were made of, conversations, settings, grants, jobs, the audit. Not
    the configuration: .env with its tokens stays where it is.
    """
    finish(_backup(folder))


def restore(folder: Annotated[Path, typer.Argument(help="A folder that footnote backup has written.")]) -> None:
    """Bring a backup back into an empty FOOTNOTE_HOME, or empty stores."""
    finish(_restore(folder))


async def _backup(folder: Path) -> int:
    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.service.kb.text_spans import count

    settings = load_settings()
    _require_elsewhere(folder, settings.home)
    async with open_footnote(settings, models=False, upgrade=False) as footnote:
        with _progress() as progress:
            manifest = await footnote.backup.make(folder, progress)
    say(f"Backed up {count(manifest.documents, 'document')} with {count(manifest.passages, 'passage')}, "
               f"and {manifest.keys:,} records of conversations, settings and jobs, into {folder}.")  # fmt: skip
    return 0


def _require_elsewhere(folder: Path, home: Path) -> None:
    from core.model.errors import ConfigurationError

    if folder.resolve().is_relative_to(home.resolve()):
        raise ConfigurationError(
            f"{folder} is inside the data directory, and would be lost with it.",
            remedy="Name a folder elsewhere, best on another disk.",
        )


async def _restore(folder: Path) -> int:
    import asyncio

    from bot.container import open_footnote
    from bot.home import keep_installation
    from bot.settings import load_settings
    from core.service.kb.text_spans import count

    async with open_footnote(load_settings(), models=False) as footnote:
        with _progress() as progress:
            manifest = await footnote.backup.restore(folder, progress)
        if manifest.installation:
            await asyncio.to_thread(keep_installation, footnote.settings.home, manifest.installation)
    say(f"Restored {count(manifest.documents, 'document')} with {count(manifest.passages, 'passage')}, "
               f"and {manifest.keys:,} records, as of {manifest.made_at}. "
               "Questions that were waiting then are not answered again.")  # fmt: skip
    return 0


@contextmanager
def _progress() -> "Iterator[Progress]":
    """Yield a function that shows the progress, on a terminal."""
    from rich.text import Text

    from adapters.terminal.console import SafeConsole

    with SafeConsole(stderr=True).status("Opening the stores …") as line:

        def show(what: str, done: int, total: int) -> None:
            line.update(Text(f"{done:,} of {total:,}: {what if len(what) <= SHOWN else f'…{what[1 - SHOWN :]}'}"))

        yield show
