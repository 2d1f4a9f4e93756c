"""The two scales on which answers are chosen: what they may cost, and how readily evidence is looked for."""

from enum import StrEnum


class Profile(StrEnum):
    """How much an answer may cost."""

    QUICK = "quick"
    BALANCED = "balanced"
    THOROUGH = "thorough"


class Behaviour(StrEnum):
    """How readily evidence is looked for and believed: conservative searches more readily and abstains sooner."""

    CONSERVATIVE = "conservative"
    BALANCED = "balanced"
    THOROUGH = "thorough"
