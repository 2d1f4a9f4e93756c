"""Where Footnote can be set up to answer."""

from enum import StrEnum


class Place(StrEnum):
    """A platform, the terminal alone, or only the model that writes the answers."""

    SLACK = "slack"
    DISCORD = "discord"
    TERMINAL = "terminal"
    MODEL = "model"
