"""Running Footnote as a service of the machine: ``service install``."""

from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import say

if TYPE_CHECKING:
    from bot.setup.service_unit import ServiceUnit

System = Annotated[
    bool, typer.Option("--system", help="For the whole machine, hardened, instead of for you alone; needs root.")
]
Show = Annotated[bool, typer.Option("--print", help="Print the unit and write nothing.")]

service = typer.Typer(help="Keep Footnote running with systemd.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.add_typer(service, name="service")


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
        say(f"Put the settings into {SYSTEM_ENVIRONMENT}, readable by root alone. These commands start the service:")
    else:
        say("These commands start the service, also after you log out and after a restart:")
    for command in unit.commands:
        say(f"  {command}")


def _unit(*, system: bool) -> "ServiceUnit":
    from bot.settings import load_settings
    from bot.setup.service_unit import system_unit, user_unit

    return system_unit() if system else user_unit(load_settings().home)
