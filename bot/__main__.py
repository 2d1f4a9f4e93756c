"""The commands. Heavy modules are imported only when a command needs them, so that ``footnote --help`` is instant."""

import io
import sys
from importlib.metadata import version
from typing import Annotated, Any, NoReturn

import typer

from adapters.terminal.output import print_json, say
from bot.cli import ask as asking
from bot.cli import backup as keeping
from bot.cli import check as checking
from bot.cli import connect as connecting
from bot.cli import documents
from bot.cli import gaps as lacking
from bot.cli import inspect as inspecting
from bot.cli import kb as knowledge
from bot.cli import measure as measuring
from bot.cli import programs as admitting
from bot.cli import serve as serving
from bot.cli import setup as preparing
from bot.cli.help import add_examples, use_narrow_help
from bot.signals import interrupt_on_ending_signals
from core.model.errors import FootnoteError
from core.model.plain_text import remove_controls

app = typer.Typer(
    name="footnote",
    help="Answers questions from your team's own documents, with citations people can check.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
INTERRUPTED = 130  # the shell's exit code for a command ended by Ctrl-C


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"footnote {version('footnote')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Take the options that stand before any command."""


for family in (
    asking,
    documents,
    knowledge,
    connecting,
    lacking,
    inspecting,
    keeping,
    preparing,
    serving,
    admitting,
    measuring,
    checking,
):
    family.register(app)
add_examples(app)


# typer does not export it; BadParameter is the one of its kind that it does
UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def main() -> None:
    """Run the command line. An error is one clear line on standard error, never a traceback.

    With ``--json`` it is a document on standard output with the error and its remedy.
    """
    _speak_as_the_terminal_can()
    use_narrow_help()
    interrupt_on_ending_signals()
    try:
        code = app(prog_name="footnote", standalone_mode=False)
    except FootnoteError as error:
        _fail(error.args[0], error.remedy or "")
    except typer.Abort:
        _fail("Nothing was changed.")
    except UsageError as error:
        _wrongly_called(error)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the outermost handler reports unexpected errors too
        from bot.cli.failures import explain_failure

        _fail(explain_failure(error).rstrip("\n"))
    if code == INTERRUPTED:
        sys.stderr.write("Stopped.\n")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, remedy: str = "", code: int = 1) -> NoReturn:
    """Print an error in the requested format, and exit."""
    if "--json" in sys.argv[1:]:
        print_json({"error": remove_controls(message), "remedy": remove_controls(remedy)})
    else:
        say(" ".join(filter(None, (message, remedy))), err=True)
    sys.exit(code)


def _speak_as_the_terminal_can() -> None:
    """Show ? for characters that a terminal without UTF-8 lacks, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _wrongly_called(error: Any) -> NoReturn:
    """Print what was wrong with the call and where to look, in one line. A command without arguments shows its help."""
    message = error.format_message().removeprefix("Invalid value: ").replace("Value error, ", "")
    if "\n" in message.strip():
        error.show()
        sys.exit(2)
    called = error.ctx.command_path if error.ctx is not None else "footnote"
    ended = message.rstrip(".")
    _fail(ended if ended.endswith(("?", "!")) else f"{ended}.", f"See: {called} --help", code=2)


if __name__ == "__main__":
    main()
