"""Help: an example for every command, which a test parses as the shell would, and a layout for narrow terminals.

On a narrow terminal, descriptions go below their words, rather than beside them in a column of two or three words.
"""

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import typer

EXAMPLES: dict[str, str] = {
    "ask": 'footnote ask "Who approves refunds?"',
    "audit": "footnote audit -n 20",
    "backup": "footnote backup /backups/today",
    "chat": "footnote chat --kb handbook",
    "connections list": "footnote connections list",
    "connections map": "footnote connections map wiki GROUP slack:team:T0AB12",
    "connections remove": "footnote connections remove wiki",
    "connections show": "footnote connections show wiki",
    "connections sync": "footnote connections sync wiki --dry-run",
    "connect": "footnote connect confluence --name wiki",
    "check": "footnote check tests.yaml --junit report.xml",
    "demo": "footnote demo",
    "doctor": "footnote doctor",
    "eval": "footnote eval our-answers.jsonl",
    "feedback export": "footnote feedback export liked.yaml",
    "forget": "footnote forget --person slack:T0AB12/U0CD34",
    "gaps": "footnote gaps --since 12w --csv gaps.csv",
    "ingest": "footnote ingest handbook/ prices.xlsx --kb sales",
    "kb approve": "footnote kb approve 3f2a",
    "kb cancel": "footnote kb cancel 3f2a",
    "kb confirm": "footnote kb confirm handbook",
    "kb create": 'footnote kb create handbook "How we work" --grant slack:channel:T0AB12/C0EF56',
    "kb describe": 'footnote kb describe handbook "How we work"',
    "kb grant": "footnote kb grant handbook slack:channel:T0AB12/C0EF56",
    "kb ingest": "footnote kb ingest https://example.com/docs --limit 50 --kb product",
    "kb jobs": "footnote kb jobs",
    "kb list": "footnote kb list",
    "kb proposals": "footnote kb proposals",
    "kb refresh": "footnote kb refresh --kb product",
    "kb reject": "footnote kb reject 3f2a",
    "kb remove": "footnote kb remove prices.xlsx --kb sales",
    "kb repair": "footnote kb repair",
    "kb restore": "footnote kb restore prices.xlsx --kb sales",
    "kb revoke": "footnote kb revoke handbook slack:channel:T0AB12/C0EF56",
    "kb schedule": "footnote kb schedule https://example.com/docs daily --kb product",
    "kb show": "footnote kb show --kb product",
    "kb status": "footnote kb status",
    "manifest": "footnote manifest slack",
    "mcp": "footnote mcp --http --port 8090",
    "restore": "footnote restore /backups/today",
    "resume": "footnote resume 9c41d0 2",
    "search": 'footnote search "refund approval" -k 5',
    "serve": "footnote serve",
    "service install": "footnote service install --system",
    "setup": "footnote setup slack",
    "sources list": "footnote sources list --kb sales",
    "sources remove": "footnote sources remove prices.xlsx",
    "sources show": "footnote sources show prices.xlsx",
    "token create": "footnote token create --name wiki --kb handbook",
    "token list": "footnote token list",
    "token revoke": "footnote token revoke 3f2a",
    "trace": "footnote trace 596002ff5ee946a6",
    "usage": "footnote usage --days 7",
    "web": "footnote web",
}


def add_examples(app: typer.Typer) -> None:
    """Add each command's example below its help."""
    for name, command in commands_of(app):
        if name in EXAMPLES:
            command.epilog = f"Example:\n\n\b\n  {EXAMPLES[name]}"


def commands_of(app: typer.Typer, group: str = "") -> Iterator[tuple[str, typer.models.CommandInfo]]:
    """Yield every command with its name as typed, including those of groups."""
    for command in app.registered_commands:
        callback = command.callback.__name__ if command.callback is not None else ""
        yield f"{group}{command.name or callback.rstrip('_')}", command
    for inner in app.registered_groups:
        if inner.typer_instance is not None:
            yield from commands_of(inner.typer_instance, f"{group}{inner.name} ")


NARROW = 60  # terminal columns below which two columns do not fit
_WHOLE = 10_000  # the width given to the library, so that it shortens nothing itself
_MEANING = 2  # indentation of descriptions

# The library's own formatter, replaced by the documented hook Context.formatter_class.
_Formatter: Any = typer.Context.formatter_class


class NarrowHelp(_Formatter):  # type: ignore[misc]
    """Formatter that puts descriptions below words and wraps at the terminal's width. Long words stay whole."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, _WHOLE, max_width)
        self._columns = shutil.get_terminal_size().columns

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the usage line."""
        self._fill(f"{'Usage: ' if prefix is None else prefix}{prog} {args}", hanging=4)

    def write_text(self, text: str) -> None:
        r"""Write paragraphs. One that begins with \b keeps its lines."""
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
        """Write words with their descriptions."""
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
    """Use this formatter if the terminal is narrow."""
    if shutil.get_terminal_size().columns < NARROW:
        for context in typer.Context.__mro__:
            if "formatter_class" in vars(context):
                context.formatter_class = NarrowHelp  # type: ignore[attr-defined]
