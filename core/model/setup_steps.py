"""Putting it into Slack or Discord, step by step, as terminal and page both show it."""

from dataclasses import dataclass
from enum import StrEnum

from core.model.health import Check


class Place(StrEnum):
    """Where it can be set up: a platform, the terminal alone, or only the model that writes the answers."""

    SLACK = "slack"
    DISCORD = "discord"
    TERMINAL = "terminal"
    MODEL = "model"


PLATFORMS = {Place.SLACK: "Slack", Place.DISCORD: "Discord"}


@dataclass(frozen=True, slots=True)
class TokenField:
    """A token that is asked for: the setting it is kept as, what the platform calls it, and how it ``looks``."""

    setting: str
    name: str
    looks: str


@dataclass(frozen=True, slots=True)
class SetupStep:
    """One thing for a person to do.

    ``text`` says what, ``link`` where it is done, ``token`` what is brought back from there; ``until`` ends "go on
    when", where only a look at the platform tells. Without an ``optional`` one it works as well, but for something.
    """

    id: str
    title: str
    text: str = ""
    link: str = ""
    token: TokenField | None = None
    until: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class SetupStepState:
    """How a step stands now.

    ``origin`` is where its token is set, empty where it is not; what is ``fixed`` there cannot be changed by the setup.
    ``link`` is what the checks ask to open. None of it holds a token.
    """

    done: bool
    checks: tuple[Check, ...] = ()
    origin: str = ""
    fixed: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class TokenOutcome:
    """What became of a token that was given: kept in ``file``, or why not."""

    kept: bool
    checks: tuple[Check, ...] = ()
    mistake: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class RunningOptions:
    """How it is started and kept running: commands, and the file of a systemd ``unit``, empty where there is none."""

    start: str
    unit: str
    unit_written: bool
    unit_commands: tuple[str, ...]
    compose_commands: tuple[str, ...]
