"""Printing for people and for programs, without loading what draws tables and colours before it is needed."""

import json
import sys

import typer


def say(text: str, *, err: bool = False) -> None:
    """Print a message for a person, without control characters.

    On a terminal it is broken between words; behind a pipe every line of it stays whole.
    """
    if (sys.stderr if err else sys.stdout).isatty():
        from rich.text import Text

        from adapters.terminal.console import SafeConsole

        SafeConsole(stderr=err).print(Text(text))
    else:
        from core.model.plain_text import remove_controls

        typer.echo(remove_controls(text), err=err)


def print_json(value: object) -> None:
    """One JSON document on standard output, escaped where its encoding does not hold every sign."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    sys.stdout.write(json.dumps(value, ensure_ascii=not unicode, indent=2) + "\n")
