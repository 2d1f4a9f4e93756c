"""What every command shares: running to an exit code, and printing JSON."""

import asyncio
import json
import sys
from collections.abc import Coroutine
from typing import Any

import typer

from bot import logs


def finish(work: Coroutine[Any, Any, int], *, quiet: bool = True) -> None:
    """Run a command's work to its end and leave with its exit code; logs stay silent where the command speaks."""
    if quiet:
        logs.configure("critical", "text")
    raise typer.Exit(asyncio.run(work))


def print_json(value: object) -> None:
    """One JSON document on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
