"""Commands that somebody types to us as a message: "forget me", "settings", "/footnote why"."""

import re
from enum import StrEnum


class TypedCommand(StrEnum):
    """What is meant by a whole message."""

    FORGET_THREAD = "forget"
    FORGET_PERSON = "forget me"
    SETTINGS = "settings"
    SLASH = "slash"  # written like a command of the platform, and sent as a message


_PATTERNS = {
    TypedCommand.FORGET_PERSON: r"forget (?:me|everything(?: (?:i (?:asked|said)|about me))?)",
    TypedCommand.FORGET_THREAD: r"forget(?: (?:this|the) (?:thread|conversation|chat))?",
    TypedCommand.SETTINGS: r"settings",
    TypedCommand.SLASH: r"/(?:footnote|kb|ask)\b.*",
}
_COMMANDS = {
    command: re.compile(rf"(?is)(?:please )?{pattern}(?: please)?[\s.!]*") for command, pattern in _PATTERNS.items()
}

SETTINGS_HINT = "An admin changes my settings here with the command `/footnote settings`."
SLASH_HINT = "Commands are not answered in a message that mentions me. Type / in an empty message and choose one there."


def typed_command(text: str) -> TypedCommand | None:
    """The command that a message is; None where it asks something."""
    return next((command for command, said in _COMMANDS.items() if said.fullmatch(text.strip())), None)
