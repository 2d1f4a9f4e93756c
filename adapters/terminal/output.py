"""Printing for people and programs. Libraries for tables and colours are imported only when needed."""

import json
import sys

import typer


def say(text: str, *, err: bool = False) -> None:
    """Print a message for a person, without control characters.

    On a terminal it wraps between words; in a pipe every line stays whole.
    """
    if (sys.stderr if err else sys.stdout).isatty():
        from rich.text import Text

        from adapters.terminal.console import SafeConsole

        SafeConsole(stderr=err).print(Text(text))
    else:
        from core.model.plain_text import remove_controls

        typer.echo(remove_controls(text), err=err)


def print_json(value: object) -> None:
    """Print a JSON document, with ASCII escapes if the output's encoding is not UTF."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=not unicode, indent=2) + "\n")
