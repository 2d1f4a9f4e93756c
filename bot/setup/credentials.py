"""What a token looks like, what else it may have been taken for, and who is asked whether it works."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from core.model.health import Check, Health
from core.model.setup_steps import TokenField


@dataclass(frozen=True, slots=True)
class Credential:
    """A token as a person finds it. ``check`` asks the platform: its first check is about the token itself."""

    field: TokenField
    shape: re.Pattern[str]
    mistaken: Mapping[str, str]  # what other tokens begin with, and what they are
    check: Callable[[str], Awaitable[Sequence[Check]]]

    def clean(self, pasted: str) -> str:
        """The token alone, where it was pasted with its setting's name, in quotes, or after ``Bot``."""
        value = pasted.strip().removeprefix(f"{self.field.setting}=").strip("\"' ")
        return value.removeprefix("Bot ").strip()

    def find_mistake(self, value: str) -> str:
        """Why it cannot be this token, judged by its look alone; empty when it can."""
        for beginning, what in self.mistaken.items():
            if value.startswith(beginning):
                return f"That is {what}. The {self.field.name} {self.field.looks}."
        return "" if self.shape.fullmatch(value) else f"That is not it: the {self.field.name} {self.field.looks}."


def works(checks: Sequence[Check]) -> bool:
    """Whether the platform lets a token in."""
    return bool(checks) and checks[0].health is not Health.FAILED
