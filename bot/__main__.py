"""The commands. Nothing heavy is imported here: ``footnote --help`` must be instant."""

import sys


def main() -> None:
    """Run the command line; every failure is one clear line."""
    from bot.commands import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
