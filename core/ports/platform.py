"""What a platform must know how to do beside rendering: rights, settings of places, files, transcripts, job cards."""

from collections.abc import AsyncIterator, Sequence
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
    """Settings of one place (a channel or category, by id), as the admins there chose them."""

    async def read(self, place: str) -> ChosenSettings:
        """Return what was chosen; nothing where nothing was."""

    async def places(self) -> Sequence[str]:
        """Return every place in which something is chosen, in no order."""

    async def write(self, place: str, chosen: ChosenSettings) -> None:
        """Replace all that was chosen; nothing left means back to the defaults."""


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
        """Return where the answer to this will be visible."""

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """Return what applies in this place."""

    async def audience(self, incoming: Incoming) -> Audience:
        """Return who will be able to read the answer there, as of now."""

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Return what this person may do there, as of now."""

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return what was said in the thread before, oldest first; called when we are new to it."""

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """Return the text of the files that hang on the message."""

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """Return the message with what its event left out: names for ids, and what a bare pointer points at.

        What cannot be looked up stays as it is.
        """

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """Return the files on the message.

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
        """Take the choices off a question's card whose time is over, where it is; nothing is posted for it.

        What the platform will not edit any more is logged. Raises PlatformUnavailable.
        """

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[Any]) -> None:
        """Remove everything that was posted for a question that was deleted; again, it changes nothing.

        Raises PlatformUnavailable when it has to be tried again; what the platform will not remove is logged.
        """


class Download(Protocol):
    """How a platform brings the bytes of a file that was attached."""

    async def __call__(self, reference: str) -> tuple[str, bytes]:
        """(name, bytes). Raises DocumentRejected or FetchRefused with the reason, PlatformUnavailable."""


class ConversationGone(NotFound):
    """A conversation was deleted on its platform: the first message of a thread, or everything that people wrote."""


class Transcript(Protocol):
    """How a platform reads what was said. Names instead of codes, without our own messages' buttons."""

    async def conversation(self, reference: str) -> Conversation:
        """Return one thread. Raises NotFound when it is not there (any more), PlatformUnavailable."""

    async def read_again(self, source: str) -> Conversation:
        """Return the conversation of this source as it is now.

        Raises ConversationGone where it was deleted, NotFound where we may not read it any more, PlatformUnavailable.
        """

    def reference_of(self, thread: ThreadKey) -> str:
        """Return the reference to a thread in which we were asked."""

    def conversations(self, channel: str, limit: int) -> AsyncIterator[Conversation]:
        """Yield the newest conversations of a channel, at most ``limit``. Raises as ``conversation``."""


class JobCardView(Protocol):
    """Where a job's progress is visible."""

    async def show(self, job: Job) -> None:
        """Show this state in place of the last: called at a bounded rate, always once when the job is over.

        May be called in another process than the one that accepted the job, and after a restart. What it raises is
        logged and forgotten: a card that no longer exists does not stop the work.
        """


class Announcements(Protocol):
    """How a platform says something in a channel that nobody asked for there."""

    @property
    def proposals_command(self) -> str:
        """The command that lists proposals there."""

    async def readers(self, channel: ThreadKey) -> Audience:
        """Return who reads there. Raises Denied where people of other workspaces do, NotFound, PlatformUnavailable."""

    async def has_posted(self, channel: ThreadKey, beginning: str, *, since: datetime) -> bool:
        """Whether one of our newest messages there, not older than this, begins so; false where none can be read.

        Raises PlatformUnavailable.
        """

    async def post(self, channel: ThreadKey, text: str) -> None:
        """Say it, for everyone there, with no ping and no link. Raises Denied, NotFound, PlatformUnavailable."""


class Offers(Protocol):
    """How a platform asks one person something, with buttons, and disturbs nobody."""

    async def ask(self, offer: Offer) -> None:
        """Ask it: for their eyes alone where the platform can, else without a ping. It may be lost.

        Raises PlatformUnavailable, Denied, NotFound.
        """


@dataclass(frozen=True, slots=True)
class ReadersToday:
    """What a person may read in a channel today, and what everybody who reads there may."""

    person: Audience
    place: Audience


@dataclass(frozen=True, slots=True)
class Notice:
    """One direct message about an answer that has changed. ``lines`` are plain text, ``link`` leads to the answer."""

    key: str  # the answer, when its change was found, and the versions: never told twice
    lines: tuple[str, ...]
    citation: Citation
    link: str = ""


class PersonalNotices(Protocol):
    """How a platform tells one person something that they have not asked for."""

    async def settings(self, channel: ThreadKey) -> ChannelSettings:
        """Return what applies in a channel. Raises PlatformUnavailable."""

    async def readers(self, person: Person, channel: ThreadKey) -> ReadersToday | None:
        """Return what this person and the channel may read now; None where the person does not read it any more.

        Raises PlatformUnavailable.
        """

    async def link(self, thread: ThreadKey, trace: str) -> str:
        """Return the address of an answer; empty where there is none. Raises PlatformUnavailable."""

    async def has_sent(self, person: Person, notice: Notice, *, since: datetime) -> bool:
        """Return whether the person has this notice already, not older than this. Raises PlatformUnavailable."""

    async def send(self, person: Person, notice: Notice) -> None:
        """Send it by direct message. Raises Denied, NotFound and PlatformUnavailable."""


@dataclass(frozen=True, slots=True)
class PlatformCapabilities:
    """What others can use of one platform; ``None`` where it has no such thing."""

    download: Download | None = None
    transcript: Transcript | None = None
    card: JobCardView | None = None
    announcements: Announcements | None = None
    offers: Offers | None = None
    notices: PersonalNotices | None = None


@runtime_checkable
class OffersKnowledge(Protocol):
    """A platform from which knowledge can be brought in; the job runner asks for its capabilities once."""

    def capabilities(self) -> PlatformCapabilities:
        """Return what this platform can do for knowledge commands and jobs."""
