"""The command line: one module for each family of commands, imported when its command runs."""

import importlib
import sys
from collections.abc import Sequence

import click
import typer

HELP = "Answers questions from your team's own documents, with citations people can check."

# command -> (module, function, one line of help). The functions are typer commands.
COMMANDS = {
    "demo": ("bot.commands.demo", "demo", "Ingest the sample documents and start a conversation."),
    "chat": ("bot.commands.chat", "chat", "A conversation in the terminal."),
    "ask": ("bot.commands.ask", "ask", "Ask one question."),
    "resume": ("bot.commands.ask", "resume", "Press a checkpoint's button."),
    "search": ("bot.commands.search", "search", "Retrieval alone: passages with the score of each leg."),
    "ingest": ("bot.commands.ingest", "ingest", "Bring files and folders in."),
    "sources": ("bot.commands.sources", "app", "What is indexed: list, show, remove."),
    "trace": ("bot.commands.trace", "trace", "What happened, step by step."),
    "forget": ("bot.commands.trace", "forget", "Remove a thread, or everything about a person."),
    "doctor": ("bot.commands.doctor", "doctor", "Check every dependency and setting."),
    "serve": ("bot.commands.serve", "serve", "Answer on Slack and Discord."),
    "manifest": ("bot.commands.manifest", "manifest", "What to paste into a platform to set the bot up."),
}


class _Lazy(click.Group):
    """Lists every command, imports only the one that runs."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[name]
        found = getattr(importlib.import_module(module), attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        app.command(name)(found)
        return typer.main.get_command(app)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


@click.group(cls=_Lazy, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="footnote", prog_name="footnote")
def _cli() -> None:
    """Hold the commands together."""


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit code. Failures of ours are one line on standard error, never a traceback."""
    from core.errors import FootnoteError

    try:
        outcome = _cli.main(list(arguments), prog_name="footnote", standalone_mode=False)
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except FootnoteError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except BrokenPipeError:
        return 0
    return outcome if isinstance(outcome, int) else 0
