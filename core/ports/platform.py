"""A platform's duties besides rendering: permissions, settings of places, files, transcripts, job cards."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from core.model.answer import Citation
from core.model.channel_settings import ChannelSettings, ChosenSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.document_content import Conversation
from core.model.errors import NotFound
from core.model.incoming_events import FileReference, Incoming, IncomingMessage, MessageRoute, Permissions
from core.model.inquiry import Checkpoint
from core.model.jobs import Job
from core.model.person_answers import Offer
from core.model.records import QuestionState, Record
from core.ports.answer_view import AnswerView
from core.ports.message_state import MessageStateStore


class ChannelSettingsStore(Protocol):
    """Store of settings by place (a channel's or category's id), as the admins there chose them."""

    async def read(self, place: str) -> ChosenSettings:
        """Return the choices of a place; empty if nothing was chosen."""

    async def places(self) -> Sequence[str]:
        """Return every place with a choice, in no order."""

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace all choices. An empty set returns to the defaults."""


S = TypeVar("S", bound=QuestionState)


@dataclass(slots=True)
class MessageState(Generic[S]):
    """The saved state of one question in progress, so that the next worker edits rather than posts a second time.

    ``delivery`` is the item in progress: the question, a choice on its card, or an expiry. Each has one visible
    outcome.
    """

    store: MessageStateStore
    kept: S
    fence: int | None = None
    delivery: str = ""

    async def keep(self, now: S, *beside: Record) -> None:
        """Save the changed fields before relying on them. Concurrent changes to other fields stay.

        ``beside`` are records of the same thread to save in the same step. Raises LeaseLost if another worker has taken
        over, even if nothing differs.
        """
        was = self.kept
        await self.store.save(now, *beside, was=was, fence=self.fence)
        changed = {one.name: getattr(now, one.name) for one in fields(now)}
        changed = {name: value for name, value in changed.items() if value != getattr(was, name)}
        self.kept = replace(self.kept, **changed)

    async def settle(self, now: S, outcome: str = "") -> None:
        """Save in one write that this delivery has its visible outcome, how it ended, and what shows it.

        If a worker dies before this write, the outcome is shown once more in the same place. If it dies afterwards,
        nothing is repeated. Without an ``outcome`` it failed, and an edit may ask the question again.
        """
        await self.keep(replace(now, outcome=outcome or now.outcome, settled_by=self.delivery))

    @property
    def is_settled(self) -> bool:
        """Whether this delivery already has its visible outcome."""
        return bool(self.delivery) and self.kept.settled_by == self.delivery


class Platform(Protocol):
    """One connected platform."""

    @property
    def name(self) -> str:
        """The platform's name in thread keys."""

    @property
    def question_state(self) -> type[QuestionState]:
        """The record type of a question's state."""

    def answer_view(self, incoming: Incoming, message_state: MessageState[Any], trace_id: str) -> AnswerView:
        """Return the view that will show the answer."""

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return the settings in force in this place."""

    async def audience(self, incoming: Incoming) -> Audience:
        """Return who will be able to read the answer there, as of now."""

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return this person's permissions there, as of now."""

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the earlier messages of the thread, oldest first. Called when the bot is new to the thread."""

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the text of the files attached to the message."""

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message completed by lookups: names for ids, and the message that a bare mention refers to.

        What cannot be looked up stays as it is.
        """

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return the files attached to the message.

        With ``above``, if it has none, return those of the message it replies to and of the thread's first message.
        """

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Show that the bot was muted or unmuted."""

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Send a text to the person who wrote or pressed: privately if the platform can, otherwise directly.

        If nothing reaches them, it is logged. Raises only PlatformUnavailable.
        """

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[Any]) -> None:
        """Offer a new answer to the author of a question that was edited after its answer, and to nobody else.

        The edited question is saved in the state as ``late_edit``. Raises only PlatformUnavailable.
        """

    async def close_card(self, message: IncomingMessage, message_state: MessageState[Any], card: Checkpoint) -> None:
        """Remove the choices from a question's expired card in place, without posting anything.

        If the platform no longer allows the edit, it is logged. Raises PlatformUnavailable.
        """

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[Any]) -> None:
        """Delete everything posted for a deleted question. Idempotent.

        Raises PlatformUnavailable if it must be retried. What the platform refuses to delete is logged.
        """


Download = Callable[[str], Awaitable[tuple[str, bytes]]]
"""Returns the name and bytes of an attached file. Raises DocumentRejected, FetchRefused, PlatformUnavailable."""


class ConversationGone(NotFound):
    """A conversation was deleted on its platform: a thread's first message, or everything that people wrote."""


class Transcript(Protocol):
    """Reading of conversations on a platform, with names in place of ids and without the bot's buttons."""

    async def conversation(self, reference: str) -> Conversation:
        """Return one thread. Raises NotFound if it does not exist (any more), PlatformUnavailable."""

    async def read_again(self, source: str) -> Conversation:
        """Return the current conversation of this source.

        Raises ConversationGone if it was deleted, NotFound if we may no longer read it, PlatformUnavailable.
        """

    def reference_of(self, thread: ThreadKey) -> str:
        """Return the reference to a thread in which the bot was asked."""

    def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        """Yield the newest conversations of a channel, at most ``limit``. Raises like ``conversation``."""


class JobCardView(Protocol):
    """The card that shows a job's progress."""

    async def show(self, job: Job) -> None:
        """Show this state in place of the last. Called at a bounded rate, and always once when the job is over.

        May be called in a process other than the one that accepted the job, and after a restart. Exceptions are logged
        and ignored, because a deleted card must not stop the work.
        """


class Announcements(Protocol):
    """Posting of unsolicited announcements in a channel."""

    @property
    def proposals_command(self) -> str:
        """The command that lists proposals on this platform."""

    async def readers(self, channel: ThreadKey) -> Audience:
        """Return who reads there. Raises Denied if people of other workspaces do, NotFound, PlatformUnavailable."""

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Return whether a recent message of the bot, since ``since``, begins like this; false if none can be read.

        Raises PlatformUnavailable.
        """

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Post a text for everyone there, without pings and links. Raises Denied, NotFound, PlatformUnavailable."""


class Offers(Protocol):
    """Questions to one person, with buttons, that disturb nobody else."""

    async def ask(self, offer: Offer) -> None:
        """Ask it visibly only to them if the platform can, otherwise without a ping. It may be lost.

        Raises PlatformUnavailable, Denied, NotFound.
        """


@dataclass(frozen=True, slots=True)
class ReadersToday:
    """The audience of one person in a channel today, and the audience of all its readers."""

    person: Audience
    place: Audience


@dataclass(frozen=True, slots=True)
class Notice:
    """One direct message about a changed answer. ``lines`` are plain text; ``link`` is the answer's address."""

    key: str  # the answer, when its change was found, and the versions; each key is sent only once
    lines: tuple[str, ...]
    citation: Citation
    link: str = ""


class PersonalNotices(Protocol):
    """Unsolicited direct messages to one person."""

    async def settings(self, channel: ThreadKey) -> ChannelSettings:
        """Return the settings in force in a channel. Raises PlatformUnavailable."""

    async def readers(self, person: Person, channel: ThreadKey) -> ReadersToday | None:
        """Return what this person and the channel may read now; None if the person no longer reads the channel.

        Raises PlatformUnavailable.
        """

    async def link(self, thread: ThreadKey, trace: str) -> str:
        """Return the address of an answer; empty if it has none. Raises PlatformUnavailable."""

    async def has_sent(self, person: Person, notice: Notice, *, since: datetime) -> bool:
        """Return whether the person was sent this notice since ``since``. Raises PlatformUnavailable."""

    async def send(self, person: Person, notice: Notice) -> None:
        """Send it by direct message. Raises Denied, NotFound and PlatformUnavailable."""


@dataclass(frozen=True, slots=True)
class PlatformCapabilities:
    """The capabilities of one platform; ``None`` if it lacks one."""

    download: Download | None = None
    transcript: Transcript | None = None
    card: JobCardView | None = None
    announcements: Announcements | None = None
    offers: Offers | None = None
    notices: PersonalNotices | None = None


@runtime_checkable
class OffersKnowledge(Protocol):
    """A platform that documents can come from. The job runner asks for its capabilities once."""

    def capabilities(self) -> PlatformCapabilities:
        """Return the platform's capabilities for knowledge commands and jobs."""
