"""Asking for one token: what it looks like and where it stands, checked before it is kept."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.setup.dialogue import Dialogue
from bot.setup.saved_settings import SavedSettings
from core.model.health import Check, Health


@dataclass(frozen=True, slots=True)
class Credential:
    """A token as a person finds it. ``check`` asks the platform: its first check is about the token itself."""

    setting: str
    name: str
    place: str
    shape: re.Pattern[str]
    looks: str
    mistaken: Mapping[str, str]  # what other tokens begin with, and what they are
    check: Callable[[str], Awaitable[Sequence[Check]]]

    def cleaned(self, pasted: str) -> str:
        """The token alone, where it was pasted with its setting's name, in quotes, or after ``Bot``."""
        value = pasted.strip().removeprefix(f"{self.setting}=").strip("\"' ")
        return value.removeprefix("Bot ").strip()

    def mistake(self, value: str) -> str:
        """Why it cannot be this token, judged by its look alone; empty when it can."""
        for beginning, what in self.mistaken.items():
            if value.startswith(beginning):
                return f"That is {what}. The {self.name} {self.looks}."
        return "" if self.shape.fullmatch(value) else f"That is not it: the {self.name} {self.looks}."


def obtain(credential: Credential, dialogue: Dialogue, saved: SavedSettings) -> str:
    """The token, set already or asked for until it works; empty when it is left for later."""
    known = saved.value(credential.setting)
    if known:
        checks = _check(credential, known)
        dialogue.say(f"{credential.setting} is set in {saved.origin(credential.setting)}.")
        dialogue.show(checks)
        if _works(checks):
            return known
        if not saved.can_save(credential.setting):
            dialogue.say("Change it there: it wins over what I could write.")
            return ""
    dialogue.say(credential.place)
    return _ask(credential, dialogue, saved)


def _ask(credential: Credential, dialogue: Dialogue, saved: SavedSettings) -> str:
    while pasted := dialogue.ask_hidden():
        value = credential.cleaned(pasted)
        if mistake := credential.mistake(value):
            dialogue.say(mistake)
            continue
        checks = _check(credential, value)
        dialogue.show(checks)
        if _works(checks):
            saved.save(credential.setting, value)
            dialogue.say(f"Kept as {credential.setting} in {saved.file}.")
            return value
    return ""


def _check(credential: Credential, value: str) -> Sequence[Check]:
    async def check() -> Sequence[Check]:
        return await credential.check(value)

    return asyncio.run(check())


def _works(checks: Sequence[Check]) -> bool:
    return bool(checks) and checks[0].health is not Health.FAILED
