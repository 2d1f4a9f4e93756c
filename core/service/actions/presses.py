"""Buttons below an answer for every client: each button's label, when it is offered, and what a press does.

A client shows the buttons that ``buttons_below`` names, says who pressed one (``AnswerPress``), and renders the result
of ``press_button``. A new button needs an ``AnswerButton``, a row in ``ROWS`` and, if necessary, an outcome. Type
checking then names every client that does not show it yet.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum

from core.model.answer import Answer, Outcome
from core.model.conversation import Audience, Person, ThreadKey, Turn
from core.service.actions.answers import AnswerActions, Quotes
from core.service.explanations import Explanation

LookUp = Callable[[], Awaitable[Audience]]


class AnswerButton(StrEnum):
    """A button of an answer. Its value is stored in posted buttons, which outlive a restart."""

    QUOTES = "quotes"
    WHY = "why"
    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    HANDOFF = "handoff"
    OWNER = "owner"
    SHARE = "share"


RATINGS = frozenset({AnswerButton.HELPFUL, AnswerButton.UNHELPFUL})


@dataclass(frozen=True, slots=True)
class AnswerPress:
    """Who pressed a button on an answer. The platform looks the audiences up when they are needed."""

    thread: ThreadKey
    trace_id: str
    person: Person
    reader: LookUp  # what this person may read
    place: LookUp  # what everybody in this place may read
    reason: str = ""  # for a rating


@dataclass(frozen=True, slots=True)
class Rated:
    """Thank the person. Someone whom the answer did not help may be asked why."""

    helpful: bool


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Call a person to look at this answer."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Shared:
    """Show this answer to everybody in the place."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class OwnerTold:
    """Say that admins will decide between two sources."""


PressResult = Quotes | Explanation | Rated | HandedOver | Shared | OwnerTold


@dataclass(frozen=True, slots=True)
class Below:
    """An answer with buttons below it. ``handoff``: there is somebody to ask. ``private``: only the asker sees it."""

    answer: Answer
    handoff: bool = False
    private: bool = False


@dataclass(frozen=True, slots=True)
class ButtonRow:
    """One button: its label, when it is offered, and what a press does."""

    label: str
    when: Callable[[Below], bool]
    do: Callable[[AnswerActions, AnswerPress], AbstractAsyncContextManager[PressResult]]


@asynccontextmanager
async def _quotes(answers: AnswerActions, press: AnswerPress) -> AsyncIterator[PressResult]:
    yield await answers.quotes(press.thread, press.trace_id, await press.reader())


@asynccontextmanager
async def _why(answers: AnswerActions, press: AnswerPress) -> AsyncIterator[PressResult]:
    yield await answers.explain(press.thread, await press.reader(), press.trace_id)


def _rate(*, helpful: bool) -> Callable[[AnswerActions, AnswerPress], AbstractAsyncContextManager[PressResult]]:
    @asynccontextmanager
    async def rate(answers: AnswerActions, press: AnswerPress) -> AsyncIterator[PressResult]:
        await answers.rate(press.thread, press.trace_id, press.person, helpful=helpful, reason=press.reason)
        yield Rated(helpful)

    return rate


@asynccontextmanager
async def _hand_over(answers: AnswerActions, press: AnswerPress) -> AsyncIterator[PressResult]:
    audience = await press.place()
    async with answers.hand_over(press.thread, press.trace_id, press.person, audience) as turn:
        yield HandedOver(turn)


@asynccontextmanager
async def _share(answers: AnswerActions, press: AnswerPress) -> AsyncIterator[PressResult]:
    async with answers.share(press.thread, press.trace_id, press.person, press.place) as turn:
        yield Shared(turn)


@asynccontextmanager
async def _tell_owner(answers: AnswerActions, press: AnswerPress) -> AsyncIterator[PressResult]:
    await answers.tell_owner(press.thread, press.trace_id, press.person, await press.reader())
    yield OwnerTold()


ROWS = {
    AnswerButton.QUOTES: ButtonRow("Show quotes", lambda below: bool(below.answer.citations), _quotes),
    AnswerButton.WHY: ButtonRow("Why", lambda below: below.answer.is_rateable, _why),
    AnswerButton.OWNER: ButtonRow(
        "Tell the document's owner", lambda below: below.answer.dispute is not None, _tell_owner
    ),
    AnswerButton.HELPFUL: ButtonRow("Helpful", lambda below: below.answer.is_rateable, _rate(helpful=True)),
    AnswerButton.UNHELPFUL: ButtonRow("Not helpful", lambda below: below.answer.is_rateable, _rate(helpful=False)),
    AnswerButton.SHARE: ButtonRow(
        "Share with channel",
        lambda below: below.private and below.answer.outcome is Outcome.ANSWERED,
        _share,
    ),
    AnswerButton.HANDOFF: ButtonRow(
        "Ask a person",
        lambda below: below.handoff and below.answer.outcome is not Outcome.CLARIFIED,
        _hand_over,
    ),
}  # in the order in which they are shown


def buttons_below(answer: Answer, *, handoff: bool = False, private: bool = False) -> tuple[AnswerButton, ...]:
    """Return the buttons to offer, in order."""
    below = Below(answer, handoff, private)
    return tuple(button for button, row in ROWS.items() if row.when(below))


def press_button(
    answers: AnswerActions, button: AnswerButton, press: AnswerPress
) -> AbstractAsyncContextManager[PressResult]:
    """Run a button's action. The caller shows the outcome inside the context; if that fails, it can be pressed again.

    Raises NotFound, Denied and AlreadyDone.
    """
    return ROWS[button].do(answers, press)
