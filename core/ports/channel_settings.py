"""What admins chose for a channel."""

from collections.abc import Mapping
from typing import Protocol


class ChannelSettingsStore(Protocol):
    """Settings of one place (a channel or category, by id), as the admins there chose them."""

    async def read(self, place: str) -> Mapping[str, str]:
        """What was chosen; empty where nothing was."""

    async def write(self, place: str, values: Mapping[str, str]) -> None:
        """Replace all that was chosen; nothing left means back to the defaults."""
