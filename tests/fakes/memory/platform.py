"""An in-memory platform that records everything visible, for tests of message handling."""

from dataclasses import dataclass, replace

from core.model.answer import Answer
from core.model.channel_settings import ChannelSettings
from core.model.conversation import Audience, ContextMessage, Person, ThreadKey
from core.model.incoming_events import FileReference, Incoming, IncomingMessage, MessageRoute, Permissions
from core.model.inquiry import Checkpoint
from core.model.records import QuestionState
from core.ports.answer_view import Step
from core.ports.platform import MessageState
from core.service.actions.wording import CARD_OVER, EDITED_LATE


class VisibleMessage:
    """One visible message. ``history`` has every state it went through."""

    def __init__(self, page_id: str) -> None:
        """An empty message."""
        self.id = page_id
        self.history: list[str] = []
        self.checkpoint: Checkpoint | None = None
        self.answer: Answer | None = None
        self.gone = False

    @property
    def text(self) -> str:
        """The text as it stands after all pieces."""
        return self.history[-1] if self.history else ""


@dataclass(frozen=True, kw_only=True)
class RecordedQuestionState(QuestionState):
    """Which page shows a question's answer."""

    page: str = ""


class RecordedAnswerView:
    """Writes on one page, found again through the message state."""

    def __init__(self, platform: "RecordedPlatform", message_state: MessageState[RecordedQuestionState]) -> None:
        """Write for this platform."""
        self._platform = platform
        self._message_state = message_state
        self._streamed = ""

    @property
    def _page(self) -> VisibleMessage:
        return self._platform.pages[self._message_state.kept.page]

    async def open(self) -> None:
        """Begin a page, or take up the one that is there."""
        if self._message_state.kept.page not in self._platform.pages:
            page = self._platform.new_page()
            await self._message_state.keep(replace(self._message_state.kept, page=page.id))
        self._page.history.append("…")

    async def step(self, step: Step) -> None:
        """Written down as it came."""
        self._platform.steps.append(step)

    async def write(self, text: str) -> None:
        """Append a piece of the draft."""
        self._streamed += text
        self._page.history.append(self._streamed)

    async def rewrite(self, reason: str) -> None:
        """Drop what was streamed and begin with this text."""
        self._streamed = ""

    async def notice(self, text: str) -> None:
        """Keep a notice beside the answer."""
        self._platform.notices.append(text)

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        """Keep the final answer."""
        self._page.history.append(answer.text)
        self._page.answer, self._page.checkpoint = answer, None
        await self._message_state.settle(self._message_state.kept, answer.outcome)

    async def offer(self, checkpoint: Checkpoint, answer: Answer, trace_id: str) -> None:
        """Keep a checkpoint's card."""
        self._page.history.append(checkpoint.message)
        self._page.checkpoint = checkpoint
        await self._message_state.settle(self._message_state.kept, answer.outcome)

    async def fail(self, message: str, trace_id: str) -> None:
        """A failure, with its trace."""
        self._page.history.append(f"{message} [{trace_id}]")
        await self._message_state.settle(self._message_state.kept)

    async def close(self) -> None:
        """Nothing waits to be shown."""


class RecordedPlatform:
    """Remembers pages over the death of a worker, as a platform does."""

    name = "paper"

    def __init__(self, *, admins: frozenset[str] = frozenset(), settings: ChannelSettings | None = None) -> None:
        """With these admins, by person id."""
        self.pages: dict[str, VisibleMessage] = {}
        self.notices: list[str] = []
        self.steps: list[Step] = []
        self.told: list[str] = []
        self.acknowledged: list[MessageRoute] = []
        self.principals: frozenset[str] = frozenset()
        self.public = False
        self.above: tuple[FileReference, ...] = ()
        self._admins = admins
        self._settings = settings or ChannelSettings()

    @property
    def visible(self) -> list[VisibleMessage]:
        """The messages that are there now."""
        return [page for page in self.pages.values() if not page.gone]

    def new_page(self) -> VisibleMessage:
        """A new message in the thread."""
        page = VisibleMessage(f"page-{len(self.pages) + 1}")
        self.pages[page.id] = page
        return page

    @property
    def question_state(self) -> type[RecordedQuestionState]:
        """What it keeps of a question."""
        return RecordedQuestionState

    def answer_view(
        self, incoming: Incoming, message_state: MessageState[RecordedQuestionState], trace_id: str
    ) -> RecordedAnswerView:
        """A page for this question."""
        return RecordedAnswerView(self, message_state)

    async def settings(self, thread: ThreadKey) -> ChannelSettings:
        """The settings that the test gave."""
        return self._settings

    async def audience(self, incoming: Incoming) -> Audience:
        """The audience that the test gave."""
        return Audience(self.principals, public=self.public)

    async def permissions(self, person: Person, thread: ThreadKey) -> Permissions:
        """Admin rights for those whom the test named."""
        return Permissions(is_admin=person.id in self._admins)

    async def context(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """No earlier messages."""
        return ()

    async def attachments(self, message: IncomingMessage) -> tuple[ContextMessage, ...]:
        """The names of the files."""
        return tuple(ContextMessage(file.name, f"text of {file.name}") for file in message.files)

    async def complete(self, message: IncomingMessage) -> IncomingMessage:
        """The message as it is."""
        return message

    async def files(self, message: IncomingMessage, *, above: bool) -> tuple[FileReference, ...]:
        """The files on the message, else those that the test put above."""
        return message.files or (self.above if above else ())

    async def acknowledge(self, message: IncomingMessage, decided: MessageRoute) -> None:
        """Keep that this message was acknowledged."""
        self.acknowledged.append(decided)

    async def tell(self, incoming: Incoming, text: str) -> None:
        """Keep what a person was told privately."""
        self.told.append(text)

    async def offer_again(self, message: IncomingMessage, message_state: MessageState[RecordedQuestionState]) -> None:
        """Tell the writer how to ask again."""
        await self.tell(message, EDITED_LATE)

    async def close_card(
        self, message: IncomingMessage, message_state: MessageState[RecordedQuestionState], card: Checkpoint
    ) -> None:
        """Take the choices off the page."""
        page = self.pages[message_state.kept.page]
        page.checkpoint = None
        page.history.append(CARD_OVER)

    async def withdraw(self, message: IncomingMessage, message_state: MessageState[RecordedQuestionState]) -> None:
        """Remove the page of a message."""
        if (page := self.pages.get(message_state.kept.page)) is not None:
            page.gone = True
