"""The commands. Nothing heavy is imported until a command needs it: ``footnote --help`` must be instant."""

import sys

import typer

from bot.commands import asking, documents, inspecting, knowledge, measuring, serving
from core.errors import FootnoteError

app = typer.Typer(
    name="footnote",
    help="Answers questions from your team's own documents, with citations people can check.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for family in (asking, documents, knowledge, inspecting, serving, measuring):
    family.register(app)


def main() -> None:
    """Run the command line; a failure of ours is one clear line on standard error, never a traceback."""
    try:
        app()
    except FootnoteError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
