"""What was filled into a submitted view, by the names of its input blocks; data of a client, which nobody judges here.

https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload
"""

from collections.abc import Mapping
from typing import Any


class FormValues:
    """The ``state`` of a view of ours, in which each input block has one element; of what is missing, nothing."""

    def __init__(self, view: Mapping[str, Any]) -> None:
        """``view`` as a ``view_submission`` or ``block_suggestion`` payload has it."""
        self._blocks: Mapping[str, Any] = (view.get("state") or {}).get("values") or {}

    def _element(self, name: str) -> Mapping[str, Any]:
        return next(iter((self._blocks.get(name) or {}).values()), None) or {}

    def asks(self, name: str) -> bool:
        """Whether there is such a field."""
        return name in self._blocks

    def text(self, name: str) -> str:
        """What was typed."""
        return str(self._element(name).get("value") or "").strip()

    def option(self, name: str) -> str:
        """The value of the option that was chosen; empty where none was."""
        return str((self._element(name).get("selected_option") or {}).get("value") or "")

    def options(self, name: str) -> tuple[str, ...]:
        """The values of the options that were chosen or ticked."""
        return tuple(str(option["value"]) for option in self._element(name).get("selected_options") or ())

    def channel(self, name: str) -> str:
        """The id of the one conversation that was picked."""
        return str(self._element(name).get("selected_conversation") or "")

    def channels(self, name: str) -> tuple[str, ...]:
        """The ids of the conversations that were picked."""
        return tuple(map(str, self._element(name).get("selected_conversations") or ()))

    def users(self, name: str) -> tuple[str, ...]:
        """The ids of the people that were picked."""
        return tuple(map(str, self._element(name).get("selected_users") or ()))

    def files(self, name: str) -> list[Mapping[str, Any]]:
        """What Slack says of the files that were attached."""
        return [one for one in self._element(name).get("files") or [] if isinstance(one, dict) and one.get("id")]
