"""The state of an installation: checks of its parts, and the steps of its setup."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Health(StrEnum):
    """How a check came out."""

    OK = "ok"
    NOTE = "note"  # works, but a person should know
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    health: Health
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class PlatformCheck:
    """One thing that a platform's preflight looked at. Not ``fatal``: it works without, but less well."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    fatal: bool = True
    link: str = ""  # where the remedy begins

    def as_check(self) -> Check:
        """Return it as a check of the doctor."""
        health = Health.OK if self.ok else Health.FAILED if self.fatal else Health.NOTE
        return Check(self.name, health, self.detail, self.remedy)


TERMINAL = "terminal"  # where to set it up, instead of a platform: here alone
MODEL = "model"  # only the model that writes the answers


@dataclass(frozen=True, slots=True)
class TokenField:
    """A token to ask for: the setting that keeps it, what the platform calls it, and how it ``looks``."""

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
class Credential:
    """A token as a person finds it. ``check`` asks the platform: its first check is about the token itself."""

    field: TokenField
    shape: re.Pattern[str]
    mistaken: Mapping[str, str]  # what the platform's other tokens begin with, and what they are
    check: Callable[[str], Awaitable[Sequence[Check]]]

    def clean(self, pasted: str) -> str:
        """Return the token alone, where it was pasted with its setting's name, in quotes, or after ``Bot``."""
        value = pasted.strip().removeprefix(f"{self.field.setting}=").strip("\"' ")
        return value.removeprefix("Bot ").strip()

    def find_mistake(self, value: str) -> str:
        """Return why it cannot be this token, judged by its look alone; empty when it can."""
        for beginning, what in self.mistaken.items():
            if value.startswith(beginning):
                return f"That is {what}. The {self.field.name} {self.field.looks}."
        return "" if self.shape.fullmatch(value) else f"That is not it: the {self.field.name} {self.field.looks}."


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look at the platform found for a step, and the link by which it is mended."""

    check: Check
    link: str = ""


@dataclass(frozen=True, slots=True)
class PlatformSetup:
    """One platform's steps in order; the first makes the app and is done when there is a token of it.

    ``first_messages`` are what to write in a channel then; ``credentials`` by their settings; ``findings`` by the
    step's id, asked with the first credential's token: None where the platform could not be asked.
    """

    steps: Sequence[SetupStep]
    first_messages: Sequence[str]
    credentials: Mapping[str, Credential]
    findings: Mapping[str, Callable[[str], Awaitable[Finding | None]]] = field(default_factory=dict)

    @property
    def first_setting(self) -> str:
        """The setting whose token says that the app is there."""
        return next(iter(self.credentials))

    def is_token(self, value: str) -> bool:
        """Return whether this begins like a token of this platform, or is as long as one and looks like it."""
        return any(
            value.startswith(tuple(one.mistaken)) or (len(value) > 40 and one.shape.fullmatch(value) is not None)
            for one in self.credentials.values()
        )


@dataclass(frozen=True, slots=True)
class SetupStepState:
    """How a step is now.

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


def works(checks: Sequence[Check]) -> bool:
    """Return whether the platform accepts a token."""
    return bool(checks) and checks[0].health is not Health.FAILED
