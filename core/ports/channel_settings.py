"""What admins chose for a channel."""

from collections.abc import Mapping
from typing import Protocol

from core.model.channel_settings import ChosenSettings


class ChannelSettingsStore(Protocol):
    """Settings of one place (a channel or category, by id), as the admins there chose them."""

    async def read(self, place: str) -> ChosenSettings:
        """What was chosen; nothing where nothing was."""

    async def every(self) -> Mapping[str, ChosenSettings]:
        """What was chosen, by place, wherever anything was. It may read all that is kept: for who looks after it."""

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace all that was chosen; nothing left means back to the defaults."""
