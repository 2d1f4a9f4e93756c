"""The interface of a platform for tests: people who write and press buttons, and what they see."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from core.ports.inbox import Inbox
from core.ports.memory import Checkpoints
from core.ports.message_state import MessageStateStore
from core.ports.platform import Platform
from core.service.actions.user_actions import UserActions


@dataclass(frozen=True)
class Seen:
    """A message or a form as someone sees it now. ``raw`` is the platform's own."""

    text: str
    buttons: tuple[str, ...]
    raw: Any = None


class Running(Platform, Protocol):
    """A platform adapter that can be connected."""

    async def run(self, stop: Any) -> None:
        """Stay connected until the event is set."""

    def readiness_problem(self) -> str:
        """Return why it is not ready; empty if it is."""


class PlatformDriver(Protocol):
    """A fake platform with people. The result of ``says`` identifies a message."""

    name: str
    person_id: str  # how the platform's people are qualified, with {} for the own id

    def connecting(
        self,
        inbox: Inbox,
        message_states: MessageStateStore,
        checkpoints: Checkpoints,
        user_actions: UserActions,
        **more: Any,
    ) -> AbstractAsyncContextManager[Running]:
        """The adapter under test, connected to the fake platform."""

    async def says(
        self,
        person: str,
        text: str,
        *,
        mention: bool = True,
        thread: Any = None,
        place: str = "general",
        files: Sequence[tuple[str, bytes]] = (),
    ) -> Any:
        """Write in a channel or thread; ``mention`` puts the bot's name before it."""

    async def says_directly(self, person: str, text: str, *, thread: Any = None) -> Any:
        """Write a direct message."""

    async def bot_says(self, name: str, text: str, *, thread: Any = None) -> Any:
        """Another bot writes, mentioning ours."""

    async def edits(self, person: str, said: Any, text: str) -> None:
        """Change an own message; the mention stays."""

    async def deletes(self, person: str, said: Any) -> None:
        """Take an own message away."""

    async def stops(self, person: str, said: Any) -> None:
        """Press stop."""

    async def redelivers(self, said: Any, times: int = 4) -> None:
        """Bring the same event again."""

    async def reply(self, said: Any, containing: str = "", within: float = 60.0) -> Seen:
        """Return the bot's last visible message in answer to this, once it is final."""

    async def replies(self, said: Any) -> list[Seen]:
        """All the bot's visible messages in answer to this, as of now."""

    async def sign(self, said: Any, within: float = 60.0) -> Seen:
        """The first visible sign."""

    async def showing(self, said: Any, text: str, within: float = 60.0) -> Seen:
        """A visible message in answer that shows this text, finished or not."""

    async def presses(self, person: str, seen: Seen, label: str, *, stale: bool = False) -> None:
        """Press a button by its label."""

    async def private(self, person: str) -> Seen:
        """The next message that only this person sees."""

    async def form(self, person: str) -> Seen:
        """The next form or view that opens before this person."""

    async def submits(self, person: str, form: Seen, values: dict[str, Any]) -> None:
        """Fill in a form and send it."""

    async def commands(self, person: str, words: str, place: str = "general") -> Seen | None:
        """Give our command; what it privately answers, or None when a form opened."""

    def rating(self, helpful: bool) -> str:
        """The label of the feedback button."""

    def configure(self, user_actions: UserActions, **values: str) -> Any:
        """Settings of the channel ``general``, awaitable."""

    def pings(self) -> list[Any]:
        """Everybody that the bot ever called."""

    @property
    def broken_rules(self) -> list[str]:
        """Return violations of the platform's rules: calls, layouts, pings."""
