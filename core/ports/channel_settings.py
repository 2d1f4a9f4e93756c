"""What admins chose for a channel."""

from collections.abc import Sequence
from typing import Protocol

from core.model.channel_settings import ChosenSettings


class ChannelSettingsStore(Protocol):
    """Settings of one place (a channel or category, by id), as the admins there chose them."""

    async def read(self, place: str) -> ChosenSettings:
        """What was chosen; nothing where nothing was."""

    async def places(self) -> Sequence[str]:
        """Every place in which something is chosen, in no order."""

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace all that was chosen; nothing left means back to the defaults."""
