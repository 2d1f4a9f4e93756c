"""One platform's part of the setup: its steps, and how to find out how each stands."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.setup.credentials import Credential
from core.model.health import Check
from core.model.setup_steps import SetupStep


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look at the platform found for a step, and the link by which it is mended."""

    check: Check
    link: str = ""


@dataclass(frozen=True, slots=True)
class PlatformSetup:
    """Steps in order; the first makes the app and is done when there is a token of it.

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
