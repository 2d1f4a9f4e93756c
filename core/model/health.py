"""The state of an installation: checks of its parts, and the steps of its setup."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Health(StrEnum):
    """Results of a check."""

    OK = "ok"
    NOTE = "note"  # works, but a person should know
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check."""

    name: str
    health: Health
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class PlatformCheck:
    """The result of one preflight check of a platform. If not ``fatal``, the platform works without it, less well."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    fatal: bool = True
    link: str = ""  # where the remedy begins

    def as_check(self) -> Check:
        """Return it as a check for ``footnote doctor``."""
        health = Health.OK if self.ok else Health.FAILED if self.fatal else Health.NOTE
        return Check(self.name, health, self.detail, self.remedy)


TERMINAL = "terminal"  # set up the terminal only, instead of a platform
MODEL = "model"  # set up only the model that writes the answers


@dataclass(frozen=True, slots=True)
class TokenField:
    """A token to ask for: its setting, its name on the platform, and what it looks like."""

    setting: str
    name: str
    looks: str


@dataclass(frozen=True, slots=True)
class SetupStep:
    """One setup step for a person.

    ``text`` says what to do, ``link`` where, and ``token`` which token to bring back. ``until`` completes the sentence
    "go on when", if only a check at the platform shows that the step is done. Setup also works without an ``optional``
    step, but without that step's feature.
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
    """A token with its format and checks. ``check`` calls the platform; its first check is about the token itself."""

    field: TokenField
    shape: re.Pattern[str]
    mistaken: Mapping[str, str]  # prefixes of the platform's other tokens, and what those are
    check: Callable[[str], Awaitable[Sequence[Check]]]

    def clean(self, pasted: str) -> str:
        """Return the bare token, without its setting's name, quotes or the prefix ``Bot``."""
        value = pasted.strip().removeprefix(f"{self.field.setting}=").strip("\"' ")
        return value.removeprefix("Bot ").strip()

    def find_mistake(self, value: str) -> str:
        """Return why it cannot be this token, judged by its format only; empty if it can."""
        for beginning, what in self.mistaken.items():
            if value.startswith(beginning):
                return f"That is {what}. The {self.field.name} {self.field.looks}."
        return "" if self.shape.fullmatch(value) else f"This is not valid. The {self.field.name} {self.field.looks}."


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of checking a step at the platform, and a link to fix it."""

    check: Check
    link: str = ""


@dataclass(frozen=True, slots=True)
class PlatformSetup:
    """One platform's setup steps in order. The first creates the app and is done once there is a token of it.

    ``first_messages`` are messages to write in a channel afterwards. ``credentials`` are keyed by setting. ``findings``
    are checks keyed by step id. They run with the first credential's token and return None if the platform did not
    answer.
    """

    steps: Sequence[SetupStep]
    first_messages: Sequence[str]
    credentials: Mapping[str, Credential]
    findings: Mapping[str, Callable[[str], Awaitable[Finding | None]]] = field(default_factory=dict)

    @property
    def first_setting(self) -> str:
        """The setting whose token shows that the app exists."""
        return next(iter(self.credentials))

    def is_token(self, value: str) -> bool:
        """Return whether this looks like a token of this platform, by its prefix or by its length and format."""
        return any(
            value.startswith(tuple(one.mistaken)) or (len(value) > 40 and one.shape.fullmatch(value) is not None)
            for one in self.credentials.values()
        )


@dataclass(frozen=True, slots=True)
class SetupStepState:
    """The current state of a step.

    ``origin`` is where its token is set; empty if it is not. Setup cannot change a token that is ``fixed`` there.
    ``link`` is a page that the checks ask to open. None of these fields contains a token.
    """

    done: bool
    checks: tuple[Check, ...] = ()
    origin: str = ""
    fixed: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class TokenOutcome:
    """The result of submitting a token: saved in ``file``, or the reason why not."""

    kept: bool
    checks: tuple[Check, ...] = ()
    mistake: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class RunningOptions:
    """Ways to start Footnote and keep it running.

    They are commands, and the file of a systemd ``unit``, empty if there is none.
    """

    start: str
    unit: str
    unit_written: bool
    unit_commands: tuple[str, ...]
    compose_commands: tuple[str, ...]


def works(checks: Sequence[Check]) -> bool:
    """Return whether the platform accepts a token."""
    return bool(checks) and checks[0].health is not Health.FAILED
