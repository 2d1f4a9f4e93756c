"""Questions and their answers for the templates, re-read for each visitor every time."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from adapters.web.ask.answer_view import AnswerStage, ShownAnswer, WebQuestionState
from adapters.web.markdown import render_answer, render_quote
from adapters.web.routing import Visitor
from core.model.answer import Answer, Citation, FollowUp, Outcome, Support
from core.model.conversation import ThreadKey
from core.model.errors import NotFound
from core.model.incoming_events import IncomingMessage
from core.model.inquiry import Checkpoint
from core.ports.memory import Checkpoints
from core.ports.message_state import MessageStateStore
from core.service.actions.user_actions import UserActions

_CHECKED_ONE = {True: "checked against its source", False: "not found word for word in its source"}
NOT_READABLE = "You no longer have permission to read this answer's documents, or the answer was deleted."


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A source below an answer. ``url`` is its original address, if that can be opened."""

    n: int
    title: str
    place: str
    dated: str
    quote: Markup
    link: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class TurnView:
    """The data of one question for a template. ``path`` is its address; forms post below it."""

    id: str
    path: str
    question: str
    files: tuple[str, ...] = ()  # names of attached files
    working: bool = False
    text: Markup = field(default_factory=Markup)
    plain: str = ""  # the text without markup, for the clipboard and screen readers
    sources: tuple[SourceLine, ...] = ()
    nearest: tuple[SourceLine, ...] = ()
    notices: tuple[str, ...] = ()
    failure: str = ""
    checkpoint: Checkpoint | None = None  # set while a choice is still possible
    chosen: str = ""
    outcome: Outcome | None = None
    trace_id: str = ""
    took: str = ""
    checked: str = ""
    rating: str = ""
    follow_ups: tuple[FollowUp, ...] = ()  # suggested next questions
    differs: bool = False  # two of its sources disagree

    @property
    def conversation(self) -> str:
        """The address of the conversation, where further questions are posted."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class TurnViews:
    """Reads the current state of questions."""

    message_states: MessageStateStore
    checkpoints: Checkpoints
    actions: UserActions

    async def of(self, visitor: Visitor, messages: Sequence[IncomingMessage]) -> list[TurnView]:
        """Return the turns of these questions, in order."""
        return [await self.one(visitor, message) for message in messages]

    async def one(self, visitor: Visitor, message: IncomingMessage) -> TurnView:
        """Return one question with its stored answer, as far as the visitor may see it now."""
        kept = await self._state(message.thread, message.id)
        path = f"/ask/{message.thread.thread}/{message.id}"
        names = tuple(file.name for file in message.files)
        turn = TurnView(message.id, path, message.text, names, working=True, chosen=kept.chosen)
        if kept.stage is not AnswerStage.ENDED:
            return turn
        shown = kept.shown or ShownAnswer("")
        told = (kept.told,) if kept.told else ()
        notices = (*shown.notices, *(shown.answer.notices if shown.answer else ()), *told)
        if shown.answer is None:
            return _with(turn, trace_id=shown.trace_id, failure=shown.failure, notices=notices)
        try:
            remembered = await self.actions.answers.read(message.thread, shown.trace_id, visitor.audience)
        except NotFound:
            return _with(turn, trace_id=shown.trace_id, failure=NOT_READABLE)
        visible = await self.actions.bases.names(visitor.audience)
        near = [one for one in shown.answer.nearest if one.knowledge_base in visible]
        nearest = () if remembered.citations else near
        return _with(
            turn,
            trace_id=shown.trace_id,
            text=self._text(path, shown, remembered.answer, remembered.citations),
            plain=remembered.answer,
            sources=_lines(path, remembered.citations),
            nearest=_lines(path, nearest),
            notices=notices,
            checkpoint=await self._open(shown.checkpoint),
            outcome=shown.answer.outcome,
            took=took(shown.answer),
            checked=support_summary(shown.answer),
            rating=kept.rating,
            follow_ups=shown.answer.follow_ups,
            differs=shown.answer.dispute is not None,
        )

    async def trace_of(self, message: IncomingMessage) -> str:
        """Return the trace id of a question's answer; empty until there is one."""
        return (await self._state(message.thread, message.id)).trace

    async def nearest(self, thread: ThreadKey, message_id: str) -> tuple[Citation, ...]:
        """Return the nearest passages of a question without an answer."""
        shown = (await self._state(thread, message_id)).shown
        return shown.answer.nearest if shown is not None and shown.answer is not None else ()

    async def _state(self, thread: ThreadKey, message_id: str) -> WebQuestionState:
        blank = WebQuestionState(thread=thread, message=message_id)
        return await self.message_states.read(blank) or blank

    def _text(self, path: str, shown: ShownAnswer, text: str, citations: Sequence[Citation]) -> Markup:
        words = shown.checkpoint.message if shown.checkpoint else text
        allowed = {link for source in citations for link in source.addresses}
        return render_answer(words, [source.n for source in citations], lambda n: f"{path}/source/{n}", allowed)

    async def _open(self, checkpoint: Checkpoint | None) -> Checkpoint | None:
        """Return the checkpoint if it is still open."""
        if checkpoint is None or await self.checkpoints.read(checkpoint.id) is None:
            return None
        return checkpoint


def _with(turn: TurnView, **changes: object) -> TurnView:
    return replace(turn, working=False, **changes)  # type: ignore[arg-type]


def _lines(path: str, citations: Sequence[Citation]) -> tuple[SourceLine, ...]:
    return tuple(
        SourceLine(
            n=source.n,
            title=source.title,
            place=source.locator,
            dated=source.dated,
            quote=render_quote(source.quote),
            link=f"{path}/source/{source.n}",
            url=source.url if source.url and source.url.startswith(("http://", "https://")) else "",
        )
        for source in citations
    )


def took(answer: Answer) -> str:
    """Return the cost of an answer, in one line."""
    spent = answer.spent
    parts = [f"{spent.searches} search{'' if spent.searches == 1 else 'es'}", f"{spent.seconds:.1f} s"]
    if spent.calls:
        parts.append(f"{spent.calls} model call{'' if spent.calls == 1 else 's'}, {spent.tokens:,} tokens")
    if spent.cost:
        parts.append(f"cost {spent.cost:.4f}")
    return " · ".join(parts)


def support_summary(answer: Answer) -> str:
    """Return how many of an answer's sentences are supported."""
    if answer.verdict is None or answer.outcome is not Outcome.ANSWERED or not answer.verdict.claims:
        return ""
    held = sum(claim.support is Support.SUPPORTED for claim in answer.verdict.claims)
    count = len(answer.verdict.claims)
    return f"{held} of {count} sentences checked against their source" if count > 1 else _CHECKED_ONE[bool(held)]
