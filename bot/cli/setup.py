"""Setup for a platform, and running as a service: ``setup`` and ``service install``."""

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import say

if TYPE_CHECKING:
    from pathlib import Path

    from bot.setup.service_unit import ServiceUnit


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(setup)
    app.add_typer(service, name="service")


def setup(
    place: Annotated[
        str | None,
        typer.Argument(help="A platform, terminal or model. Without it, the command asks.", metavar="PLACE"),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open links in the browser.")] = True,
) -> None:
    """Put it into a chat platform, or set up a language model, step by step.

    What is set already is passed over.
    """
    from adapters.observability import logs
    from bot.setup.wizard import set_up

    logs.configure("critical", "text")
    raise typer.Exit(set_up(place, _ingest, browser=browser))


def _ingest(paths: "list[Path]") -> int:
    import asyncio

    from bot.cli.documents import ingest_paths

    return asyncio.run(ingest_paths(paths, "default"))


System = Annotated[bool, typer.Option("--system", help="Install for the whole machine, hardened. Needs root.")]
Show = Annotated[bool, typer.Option("--print", help="Print the unit without writing it.")]

service = typer.Typer(help="Keep Footnote running with systemd.", no_args_is_help=True)


@service.callback()
def _family() -> None:
    """Keep ``install`` a command of its own: typer would drop the name of an only command."""


@service.command()
def install(*, system: System = False, show: Show = False) -> None:
    """Write a systemd unit that starts footnote serve after a restart, and say how to start it now."""
    from bot.setup.service_unit import SYSTEM_ENVIRONMENT, write_unit

    unit = _unit(system=system)
    if show:
        typer.echo(unit.text, nl=False)
        return
    write_unit(unit)
    say(f"Written: {unit.path}")
    if system:
        say(f"Put the settings into {SYSTEM_ENVIRONMENT}, readable only by root. These commands start the service:")
    else:
        say("These commands start the service and keep it running after you log out and after a restart:")
    for command in unit.commands:
        say(f"  {command}")


def _unit(*, system: bool) -> "ServiceUnit":
    from bot.settings import load_settings
    from bot.setup.service_unit import system_unit, user_unit

    return system_unit() if system else user_unit(load_settings().home)
