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
    """What is posted for one question: outlives its worker, so that the next one edits instead of posting again.

    ``delivery`` is what is worked on: the question, a choice over its card, an expiry. Each has one visible outcome.
    """

    store: MessageStateStore
    thread: str
    subject: str
    values: dict[str, str]
    fence: int | None = None
    person: str = ""  # whose question it is; without it the store asks whose the lease is
    delivery: str = ""

    def get(self, name: str) -> str:
        """A kept value, or empty."""
        return self.values.get(name, "")

    async def keep(self, **values: str) -> None:
        """Keep values before they are relied on. Raises LeaseLost when another worker has taken over."""
        self.values.update(values)
        await self.store.keep(self.thread, self.subject, values, fence=self.fence, person=self.person)

    async def settle(self, outcome: str = "", **values: str) -> None:
        """Keep, in one write, that this delivery has its visible outcome, how it ended, and what shows it.

        A worker that dies before this write shows the outcome once more in the same place; one that dies after it is
        followed by nobody. Without an ``outcome`` it failed: the question may be asked again by an edit.
        """
        ended = {"outcome": outcome} if outcome else {}
        await self.keep(**values, **ended, settled_by=self.delivery)

    @property
    def settled(self) -> bool:
        """Whether this delivery has had its visible outcome already."""
        return bool(self.delivery) and self.get("settled_by") == self.delivery


class Platform(Protocol):
    """One connected platform."""

    @property
    def name(self) -> str:
        """Its name in thread keys."""

    def answer_view(self, incoming: Incoming, message_state: MessageState, trace_id: str) -> AnswerView:
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
        """Say something to the one who wrote or pressed: privately where the platform can, else directly to them.

        Where nothing reaches them it is logged. Raises PlatformUnavailable, and nothing else.
        """

    async def withdraw(self, message: IncomingMessage, message_state: MessageState) -> None:
        """Remove everything that was posted for a question that was deleted; again, it changes nothing.

        Raises PlatformUnavailable when it has to be tried again; what the platform will not remove is logged.
        """
