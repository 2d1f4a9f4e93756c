"""What a chat platform must know how to do beside rendering; Slack, Discord and the page implement it."""

from dataclasses import dataclass, fields, replace
from typing import Any, Generic, Protocol, TypeVar

from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.incoming_events import FileReference, Incoming, IncomingMessage, MessageRoute, Permissions
from core.model.inquiry import Checkpoint
from core.model.message_records import QuestionState
from core.model.records import Record
from core.ports.answer_view import AnswerView
from core.ports.message_state import MessageStateStore

S = TypeVar("S", bound=QuestionState)


@dataclass(slots=True)
class MessageState(Generic[S]):
    """What is kept of one question while it is worked on, so that the next worker edits instead of posting again.

    ``delivery`` is what is worked on: the question, a choice over its card, an expiry. Each has one visible outcome.
    """

    store: MessageStateStore
    kept: S
    fence: int | None = None
    delivery: str = ""

    async def keep(self, now: S, *beside: Record) -> None:
        """Keep what differs from before, before it is relied on; what others keep meanwhile stays.

        ``beside`` is what is kept of the same thread in the same step. Raises LeaseLost when another worker has taken
        over, also where nothing differs.
        """
        was = self.kept
        await self.store.save(now, *beside, was=was, fence=self.fence)
        changed = {one.name: getattr(now, one.name) for one in fields(now)}
        changed = {name: value for name, value in changed.items() if value != getattr(was, name)}
        self.kept = replace(self.kept, **changed)

    async def settle(self, now: S, outcome: str = "") -> None:
        """Keep, in one write, that this delivery has its visible outcome, how it ended, and what shows it.

        A worker that dies before this write shows the outcome once more in the same place; one that dies after it is
        followed by nobody. Without an ``outcome`` it failed: the question may be asked again by an edit.
        """
        await self.keep(replace(now, outcome=outcome or now.outcome, settled_by=self.delivery))

    @property
    def is_settled(self) -> bool:
        """Whether this delivery has had its visible outcome already."""
        return bool(self.delivery) and self.kept.settled_by == self.delivery


class Platform(Protocol):
    """One connected platform."""

    @property
    def name(self) -> str:
        """Its name in thread keys."""

    @property
    def question_state(self) -> type[QuestionState]:
        """What it keeps of a question."""

    def answer_view(self, incoming: Incoming, message_state: MessageState[Any], trace_id: str) -> AnswerView:
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

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """The message with what its event left out: names for ids, and what it points at where it says nothing else.

        What cannot be looked up stays as it is.
        """

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """The files on the message.

        With ``above``, where it has none, those on the message that it replies to and on the one that its thread began
        with.
        """

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Show that we were muted or unmuted."""

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Say something to the one who wrote or pressed: privately where the platform can, else directly to them.

        Where nothing reaches them it is logged. Raises PlatformUnavailable, and nothing else.
        """

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[Any]) -> None:
        """Offer the writer of a question that was edited after its answer to have it answered again, and nobody else.

        The edited question is kept in the state, as ``late_edit``. Raises PlatformUnavailable, and nothing else.
        """

    async def close_card(self, message: IncomingMessage, message_state: MessageState[Any], card: Checkpoint) -> None:
        """Take the choices off a question's card whose time is over, where it stands; nothing is posted for it.

        What the platform will not edit any more is logged. Raises PlatformUnavailable.
        """

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[Any]) -> None:
        """Remove everything that was posted for a question that was deleted; again, it changes nothing.

        Raises PlatformUnavailable when it has to be tried again; what the platform will not remove is logged.
        """
