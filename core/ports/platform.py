"""What a chat platform must know how to do beside rendering: the seam that Slack, Discord and the next one fill."""

from dataclasses import dataclass
from typing import Protocol

from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.incoming_events import Incoming, IncomingMessage, MessageRoute, Permissions
from core.ports.answer_view import AnswerView
from core.ports.message_state import MessageStateStore


@dataclass(slots=True)
class MessageState:
    """What is posted for one question: outlives its worker, so that the next one edits instead of posting again."""

    store: MessageStateStore
    thread: str
    subject: str
    values: dict[str, str]
    fence: int | None = None
    person: str = ""  # whose question it is; without it the store asks whose the lease is

    def get(self, name: str) -> str:
        """A kept value, or empty."""
        return self.values.get(name, "")

    async def keep(self, **values: str) -> None:
        """Keep values before they are relied on. Raises LeaseLost when another worker has taken over."""
        self.values.update(values)
        await self.store.keep(self.thread, self.subject, values, fence=self.fence, person=self.person)


class Platform(Protocol):
    """One connected platform."""

    @property
    def name(self) -> str:
        """Its name in thread keys."""

    def surface(self, incoming: Incoming, posting: MessageState, trace_id: str) -> AnswerView:
        """Where the answer to this will be visible."""

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """What applies in this place."""

    async def audience(self, incoming: Incoming) -> Audience:
        """Who will be able to read the answer there, as of now."""

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """What this person may do there, as of now."""

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """What was said in the thread before, oldest first; called when we are new to it."""

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """The text of the files that hang on the message."""

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Show that we were muted or unmuted."""

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Say something to the one who wrote or pressed, privately where the platform can."""

    async def withdraw(self, message: IncomingMessage, posting: MessageState) -> None:
        """Remove what was posted for a question that was deleted."""
