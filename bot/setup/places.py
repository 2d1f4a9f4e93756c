"""Where Footnote can be set up to answer."""

from enum import StrEnum


class Place(StrEnum):
    """A platform, or the terminal alone."""

    SLACK = "slack"
    DISCORD = "discord"
    TERMINAL = "terminal"
