"""The two settings of an answer: its cost, and how readily evidence is searched for and accepted."""

from enum import StrEnum


class Profile(StrEnum):
    """How much effort an answer may take."""

    QUICK = "quick"
    BALANCED = "balanced"
    THOROUGH = "thorough"


class Behaviour(StrEnum):
    """How readily evidence is searched for and accepted. Conservative searches more and abstains sooner."""

    CONSERVATIVE = "conservative"
    BALANCED = "balanced"
    THOROUGH = "thorough"
