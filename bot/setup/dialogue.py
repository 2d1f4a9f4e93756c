"""The dialogue of the setup in the terminal: plain lines, and hidden input for secrets."""

import os
import sys
import webbrowser
from collections.abc import Sequence

import typer
from rich.text import Text

from adapters.terminal.console import SafeConsole
from bot.doctor import line_of
from core.model.errors import ConfigurationError
from core.model.health import Check


class Dialogue:
    """Prints and asks. Every question may be skipped with Enter; Ctrl-C raises ``typer.Abort``."""

    def __init__(self, *, browser: bool = True) -> None:
        """Raise ConfigurationError without a terminal."""
        if not sys.stdin.isatty():
            raise ConfigurationError(
                "footnote setup asks questions, and there is no terminal to answer in.",
                remedy="Write the settings into .env yourself: .env.example describes every one.",
            )
        self._console = SafeConsole()
        self._browser = browser and _has_browser()

    def heading(self, text: str) -> None:
        """Print the heading of a setup section."""
        self._console.print()
        self._console.print(Text(text, style="bold"))

    def say(self, text: str) -> None:
        """Print a line to the person."""
        self._console.print(Text(text))

    def show(self, checks: Sequence[Check]) -> None:
        """Print checks as ``footnote doctor`` does."""
        for check in checks:
            self._console.print(line_of(check, self._console.width))

    def link(self, address: str) -> None:
        """Print a link on one unbroken line, and open it if there is a browser."""
        typer.echo(f"\n{address}\n")
        if self._browser and typer.confirm("Open it in the browser?", default=True):
            webbrowser.open(address)

    def ask(self, question: str) -> str:
        """Return a line of input; empty if skipped."""
        return str(typer.prompt(f"{question} (Enter to skip)", default="", show_default=False)).strip()

    def ask_hidden(self) -> str:
        """Return a secret, which is neither shown nor in any history; empty if skipped."""
        prompt = "Paste it (hidden; Enter to skip)"
        return str(typer.prompt(prompt, default="", show_default=False, hide_input=True)).strip()

    def pause(self, until: str) -> bool:
        """Wait for a person to do something elsewhere; False if they postpone it."""
        return not typer.prompt(f"Enter when {until}; s: later", default="", show_default=False)

    def confirm(self, question: str, *, default: bool = False) -> bool:
        """Ask a yes-or-no question."""
        return typer.confirm(question, default=default)

    def choose(self, question: str, choices: Sequence[str]) -> int:
        """Return the index of the choice whose number is typed, by default the first."""
        self.heading(question)
        for number, choice in enumerate(choices, 1):
            self.say(f"  {number}  {choice}")
        while True:
            said = str(typer.prompt("Number", default="1")).strip()
            if said.isdecimal() and 1 <= int(said) <= len(choices):
                return int(said) - 1
            self.say(f"Enter a number from 1 to {len(choices)}.")


def _has_browser() -> bool:
    """Return whether a browser window can open. A text browser would take over the terminal."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
