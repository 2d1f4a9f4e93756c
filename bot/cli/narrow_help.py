"""Help on a narrow terminal: what a word means stands below it, whole, instead of beside it in two or three words."""

import shutil
import textwrap
from collections.abc import Sequence
from typing import Any

import typer

NARROW = 60  # columns, below which two of them do not fit side by side
_WHOLE = 10_000  # what the library takes for the width, so that it shortens nothing itself
_MEANING = 2  # columns that what is below a word is set in

# The library's own formatter, by the door that it documents for another one: Context.formatter_class.
_Formatter: Any = typer.Context.formatter_class


class NarrowHelp(_Formatter):  # type: ignore[misc]
    """Lists one below the other, in as many columns as there are; a word that is longer than that stays whole."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, _WHOLE, max_width)
        self._columns = shutil.get_terminal_size().columns

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """How it is called."""
        self._fill(f"{'Usage: ' if prefix is None else prefix}{prog} {args}", hanging=4)

    def write_text(self, text: str) -> None:
        r"""Paragraphs; one that begins with \b keeps its lines."""
        paragraphs = text.split("\n\n")
        for number, paragraph in enumerate(paragraphs):
            if number:
                self.write("\n")
            first, *lines = paragraph.split("\n")
            if first.strip() == "\b":
                self.write("".join(f"{'':{self.current_indent}}{line}\n" for line in lines))
            else:
                self._fill(" ".join(paragraph.split()))

    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Words and what they mean."""
        for word, meaning in rows:
            self._fill(word)
            if meaning:
                self._fill(" ".join(meaning.split()), further=_MEANING)

    def _fill(self, text: str, *, further: int = 0, hanging: int = 0) -> None:
        begin = " " * (self.current_indent + further)
        filled = textwrap.fill(
            text,
            self._columns,
            initial_indent=begin,
            subsequent_indent=begin + " " * hanging,
            break_long_words=False,
            break_on_hyphens=False,
        )
        self.write(f"{filled}\n")


def use_narrow_help() -> None:
    """Write help so from now on, where the terminal is narrow."""
    if shutil.get_terminal_size().columns < NARROW:
        for context in typer.Context.__mro__:
            if "formatter_class" in vars(context):
                context.formatter_class = NarrowHelp  # type: ignore[attr-defined]
