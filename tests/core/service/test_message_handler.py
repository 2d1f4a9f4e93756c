"""Message handling: from a delivery to its one visible outcome, whatever happens."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.model.answer import Answer
from core.model.channel_settings import ChannelSettings, ReplyStyle
from core.model.clock import Days
from core.model.conversation import Audience, Person, ThreadKey
from core.model.errors import (
    WENT_WRONG,
    FootnoteError,
    ModelUnavailable,
    NotFound,
    PlatformUnavailable,
    StoreUnavailable,
)
from core.model.incoming_events import Deletion, FileReference, Incoming, IncomingChoice, IncomingMessage, MessageRoute
from core.model.inquiry import AnswerPolicy, AskBack, CheckpointKind, DailyLimits, Reply, Sufficient
from core.model.records import CheckpointState
from core.ports.answer_view import Step
from core.ports.inbox import Lease
from core.ports.index import DenseAndBm25Hits, Scope, Vectors
from core.ports.message_state import CancelReason
from core.ports.platform import MessageState
from core.service.actions.questions import QuestionActions
from core.service.actions.user_actions import MemoryControls
from core.service.actions.wording import CARD_OVER, CHOICE_GONE, EDITED_LATE, ThreadForgotten, outcome_text
from core.service.answer_run import MOST_RUNS, trace_of
from core.service.help import HELP_TEXT
from core.service.incoming import delivery, take_in_deletion
from core.service.message_handler import MessageHandler
from core.service.message_router import AnswerLimits
from core.service.workers import Worker
from tests.core.harness import Harness
from tests.fakes.memory.inbox import InProcessInbox
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.platform import RecordedAnswerView, RecordedPlatform, VisibleMessage
from tests.fakes.memory.stores import InProcessAnswerCounts, InProcessAudit

ALICE, BOB, ADA = Person("paper:alice", "Alice"), Person("paper:bob", "Bob"), Person("paper:ada", "Ada")
THREAD = ThreadKey("paper", "T", "C", "1")
REFUNDS = "Refunds are paid within 14 days."
PATIENCE = 60.0  # seconds for what takes a moment: a machine may be busy with something else


class Room:
    """A channel with people in it, an inbox, and workers that come and go."""

    def __init__(self) -> None:
        self.harness = Harness()
        self.paper = RecordedPlatform(admins=frozenset({ADA.id}))
        self.message_states = InProcessMessageStateStore(self.harness.state)
        self.inbox = InProcessInbox(self.harness.state, clock=self.harness.clock)
        self.audit = InProcessAudit()
        self.warming: Callable[[], bool] = lambda: False
        self.counts = InProcessAnswerCounts()
        self._messages = 0
        self.said: list[IncomingMessage] = []

    def worker(self, name: str = "w") -> Worker:
        message_handler = MessageHandler(
            question_service=self.harness.question_service,
            memory_controls=MemoryControls(self.harness.memory, self.audit),
            checkpoints=self.harness.checkpoints,
            message_states=self.message_states,
            inbox=self.inbox,
            platforms={"paper": self.paper},
            warming=self.warming,
            answer_limits=AnswerLimits(self.counts, Days(self.harness.clock, UTC)),
        )
        return Worker(name=name, inbox=self.inbox, message_handler=message_handler, clock=self.harness.clock, lanes=4)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        stop = asyncio.Event()
        running = asyncio.create_task(self.worker().run(stop))
        try:
            yield
        finally:
            stop.set()
            await running

    async def arrives(self, incoming: Incoming | Deletion, delivery_id: str = "") -> None:
        await self.inbox.put(delivery(delivery_id or f"e{id(incoming)}", incoming))

    def message(self, text: str, by: Person = ALICE, **more: object) -> IncomingMessage:
        self._messages += 1
        said = IncomingMessage(f"m{self._messages}", THREAD, text, by, mentions_us=True)
        self.said.append(replace(said, **more))  # type: ignore[arg-type]
        return self.said[-1]

    async def asks(self, text: str, by: Person = ALICE, **more: object) -> IncomingMessage:
        message = self.message(text, by, **more)
        await self.arrives(message, f"event-{message.id}")
        return message

    async def settled(self) -> None:
        async with asyncio.timeout(PATIENCE):
            while await self.inbox.count_waiting():
                await asyncio.sleep(0.01)

    async def until_open(self) -> VisibleMessage:
        async with asyncio.timeout(PATIENCE):
            while not self.paper.visible:
                await asyncio.sleep(0.01)
        return self.paper.visible[-1]


@pytest.fixture
async def room() -> Room:
    room = Room()
    await room.harness.knows(REFUNDS, title="Refund policy")
    return room


async def test_a_mention_is_answered_once(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
    (page,) = room.paper.visible
    assert page.text == f"{REFUNDS} [1]"


async def test_the_same_delivery_again_is_no_second_answer(room: Room) -> None:
    async with room.working():
        message = room.message("How long do refunds take?")
        for _ in range(4):
            await room.arrives(message, "event-1")
        await room.settled()
        await room.arrives(message, "another id for the same message")
        await room.settled()
    assert len(room.paper.visible) == 1


async def test_people_who_talk_to_each_other_are_left_alone(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.asks("I'd rather ask Sam about it", mentions_us=False, by=BOB)
        await room.asks("Sam, could you look?", mentions_us=False, mentions_others=True)
        await room.settled()
        assert len(room.paper.visible) == 1
        await room.asks("And who pays them?", mentions_us=False)
        await room.settled()
        assert len(room.paper.visible) == 1
        await room.asks("How long do refunds to customers take?", mentions_us=False, by=BOB)
        await room.settled()
    assert len(room.paper.visible) == 2


@pytest.mark.parametrize("grade", [1, 3, 7], ids=["nothing", "a card", "an answer of middling worth"])
async def test_what_colleagues_ask_each_other_gets_no_refusal_no_card_and_no_weak_answer(
    room: Room, grade: int
) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
        room.harness.script.always("grade", grade)
        await room.asks("Can you send me the customer's address?", mentions_us=False, by=BOB)
        await room.settled()
    assert len(room.paper.visible) == 1
    assert [turn.asker for turn in (await room.harness.memory.recall(THREAD)).turns] == [ALICE]


async def test_a_failure_over_a_question_that_nobody_asked_us_is_not_heard_of(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
        room.harness.script.enqueue("understand", RuntimeError("broken"))
        await room.asks("Can you send me the customer's address?", mentions_us=False, by=BOB)
        await room.settled()
    assert len(room.paper.visible) == 1
    assert not room.paper.told


async def test_muting_holds_until_it_is_lifted(room: Room) -> None:
    async with room.working():
        for text in ("How long do refunds take?", "mute", "and who pays them?", "unmute", "and who pays them?"):
            await room.asks(text, mentions_us=text.startswith("How"))
        await room.settled()
    assert room.paper.acknowledged == [MessageRoute.MUTE, MessageRoute.UNMUTE]
    assert len(room.paper.visible) == 2


async def test_a_file_on_the_question_is_read_for_it(room: Room) -> None:
    async with room.working():
        await room.asks("What does this say?", files=(FileReference("f1", "notes.txt"),))
        await room.settled()
    _, thread = room.harness.script.calls_of("understand")[0].given
    assert [attached.text for attached in thread.attachments] == ["text of notes.txt"]


async def test_a_file_is_read_for_the_questions_that_its_asker_asks_next(room: Room) -> None:
    async with room.working():
        await room.asks("What does this say?", files=(FileReference("f1", "notes.txt"),))
        await room.asks("And who wrote it?")
        await room.asks("And what do you say?", by=BOB)
        for n in range(5):
            await room.asks(f"And on page {n}?")
        await room.settled()
    threads = [call.given[1] for call in room.harness.script.calls_of("understand")]
    texts = [[attached.text for attached in thread.attachments] for thread in threads]
    assert texts == [["text of notes.txt"]] * 2 + [[]] + [["text of notes.txt"]] * 3 + [[]] * 2


async def test_a_file_whose_message_was_deleted_is_read_no_more(room: Room) -> None:
    async with room.working():
        asked = await room.asks("What does this say?", files=(FileReference("f1", "notes.txt"),))
        await room.settled()
        await room.arrives(Deletion(asked))
        await room.settled()
        await room.asks("And who wrote it?")
        await room.settled()
    _, thread = room.harness.script.calls_of("understand")[-1].given
    assert thread.attachments == ()


async def test_a_failure_is_said_with_its_trace_and_the_thread_goes_on(room: Room) -> None:
    room.harness.script.enqueue("understand", ModelUnavailable("The model is away."))
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.asks("And now?")
        await room.settled()
    failed, answered = room.paper.visible
    assert failed.text.startswith("The model is away. [")
    assert answered.text == f"{REFUNDS} [1]"


async def test_a_bug_is_said_in_one_line_without_its_traceback(room: Room) -> None:
    room.harness.script.enqueue("understand", ZeroDivisionError("secret details"))
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
    (page,) = room.paper.visible
    assert page.text.startswith("Something went wrong on my side.")
    assert "secret" not in "".join(page.history)


def held(room: Room) -> asyncio.Event:
    """Make the next plan wait until the event is set."""
    go_on = asyncio.Event()
    understand = room.harness.script.understand

    async def waiting(inquiry, thread, meter):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        plan = await understand(inquiry, thread, meter)
        if not go_on.is_set():
            await go_on.wait()
        return plan

    room.harness.script.understand = waiting  # type: ignore[method-assign]
    return go_on


async def test_an_edited_question_is_answered_as_edited_in_the_same_place(room: Room) -> None:
    go_on = held(room)
    async with room.working():
        first = await room.asks("How long do refunds tke?")
        await room.until_open()
        await room.message_states.request_cancel(str(THREAD), first.id, CancelReason.EDITED)
        edited = replace(first, text="How long do refunds take?", edited=True)
        await room.arrives(edited, "event-edit-1")
        await asyncio.sleep(0.6)
        go_on.set()
        await room.settled()
    (page,) = room.paper.visible
    assert page.text == f"{REFUNDS} [1]"
    assert [call.given[0].question for call in room.harness.script.calls_of("understand")][
        -1
    ] == "How long do refunds take?"


async def test_an_edit_after_the_answer_changes_nothing(room: Room) -> None:
    async with room.working():
        first = await room.asks("How long do refunds take?")
        await room.settled()
        await room.arrives(replace(first, text="Something else?", edited=True), "event-edit-1")
        await room.settled()
    assert len(room.harness.script.calls_of("understand")) == 1


async def test_a_deleted_question_takes_its_answer_with_it(room: Room) -> None:
    held(room)
    async with room.working():
        message = await room.asks("How long do refunds take?")
        await room.until_open()
        await room.message_states.request_cancel(str(THREAD), message.id, CancelReason.DELETED)
        await room.settled()
    assert room.paper.visible == []


async def test_stopping_before_anything_was_found_just_stops(room: Room) -> None:
    held(room)
    async with room.working():
        message = await room.asks("How long do refunds take?")
        await room.until_open()
        await room.message_states.request_cancel(str(THREAD), message.id, CancelReason.STOPPED)
        await room.settled()
    (page,) = room.paper.visible
    assert page.text.startswith("Stopped, as you asked.")


async def test_stopping_later_offers_what_was_found(room: Room) -> None:
    stuck = asyncio.Event()

    async def never(*_: object) -> None:
        await stuck.wait()

    room.harness.script.decide = never  # type: ignore[method-assign,assignment]
    async with room.working():
        message = await room.asks("How long do refunds take?")
        async with asyncio.timeout(PATIENCE):
            while not room.harness.script.calls_of("grade"):
                await asyncio.sleep(0.01)
        await room.message_states.request_cancel(str(THREAD), message.id, CancelReason.STOPPED)
        await room.settled()
        (page,) = room.paper.visible
        assert page.checkpoint is not None
        assert "Refund policy" in page.text
        pressed = IncomingChoice(page.checkpoint.id, "answer", ALICE, THREAD)
        await room.arrives(pressed, "press-1")
        await room.settled()
    assert page.text == f"{REFUNDS} [1]"
    assert len(room.paper.visible) == 1


@pytest.mark.parametrize("reason", [CancelReason.DELETED, CancelReason.EDITED])
async def test_of_a_question_that_is_withdrawn_nothing_stays_in_the_process(room: Room, reason: CancelReason) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    room.harness.script.decide = never  # type: ignore[method-assign,assignment]
    async with room.working():
        message = await room.asks("How long do refunds take?")
        async with asyncio.timeout(PATIENCE):
            while not room.harness.script.calls_of("grade"):
                await asyncio.sleep(0.01)
        await room.message_states.request_cancel(str(THREAD), message.id, reason)
        await room.settled()
    asked = Lease(delivery(f"event-{message.id}", message), 1)
    assert await room.harness.question_service.stop(trace_of(asked)) is None


async def parked(room: Room) -> VisibleMessage:
    readings = ("How long do refunds take?", "Who approves refunds?")
    room.harness.script.enqueue("decide", AskBack("Which do you mean?", readings))
    await room.asks("refunds?")
    await room.settled()
    page = room.paper.visible[-1]
    assert page.checkpoint is not None
    assert page.checkpoint.kind is CheckpointKind.CLARIFY
    return page


async def test_a_press_goes_on_in_the_same_place_with_another_worker(room: Room) -> None:
    async with room.working():
        page = await parked(room)
    checkpoint = page.checkpoint
    assert checkpoint is not None
    async with room.working():
        await room.arrives(IncomingChoice(checkpoint.id, "1", ALICE, THREAD), "press-1")
        await room.settled()
    assert len(room.paper.visible) == 1
    assert page.text == f"{REFUNDS} [1]"


async def test_a_second_press_and_a_strangers_press_explain_themselves(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        checkpoint = page.checkpoint
        assert checkpoint is not None
        await room.arrives(IncomingChoice(checkpoint.id, "1", BOB, THREAD), "press-bob")
        await room.settled()
        assert room.paper.told == ["Only the person who asked, or an admin, can choose here."]
        await room.arrives(IncomingChoice(checkpoint.id, "1", ADA, THREAD), "press-ada")
        await room.settled()
        await room.arrives(IncomingChoice(checkpoint.id, "2", ALICE, THREAD), "press-late")
        await room.settled()
    assert "already been made" in room.paper.told[-1]
    assert page.text == f"{REFUNDS} [1]"


@pytest.mark.parametrize(("by", "looked_up"), [(ALICE, 0), (ADA, 1), (BOB, 1)])
async def test_reads_the_thread_and_the_checkpoint_once_and_rights_only_for_other_people(
    room: Room, monkeypatch: pytest.MonkeyPatch, by: Person, looked_up: int
) -> None:
    calls: Counter[str] = Counter()

    def count(owner: object, name: str) -> None:
        real = getattr(owner, name)

        async def counted(*given: object, **more: object) -> object:
            calls[name] += 1
            return await real(*given, **more)

        monkeypatch.setattr(owner, name, counted)

    count(room.harness.memory, "recall")
    count(room.harness.checkpoints, "read")
    count(room.paper, "permissions")
    async with room.working():
        page = await parked(room)
        assert calls == {"recall": 1}
        assert page.checkpoint is not None
        calls.clear()
        await room.arrives(IncomingChoice(page.checkpoint.id, "1", by, THREAD), "press")
        await room.settled()
    assert calls == Counter(recall=0 if by is BOB else 1, read=1, permissions=looked_up)


async def test_a_worker_that_dies_leaves_its_page_to_the_next(room: Room) -> None:
    go_on = held(room)
    stop = asyncio.Event()
    dying = asyncio.create_task(room.worker("dying").run(stop))
    await room.asks("How long do refunds take?")
    await room.until_open()
    dying.cancel()
    with suppress(asyncio.CancelledError):
        await dying
    go_on.set()
    async with room.working():
        await room.settled()
    (page,) = room.paper.visible
    assert page.text == f"{REFUNDS} [1]"


async def test_killed_after_the_answer_was_shown_there_is_no_second(room: Room) -> None:
    async with room.working():
        message = await room.asks("How long do refunds take?")
        await room.settled()
    await room.arrives(message, "redelivered under another id, as after a crash before done")
    async with room.working():
        await room.settled()
    assert len(room.paper.visible) == 1
    assert len(room.harness.script.calls_of("understand")) == 1


async def test_when_nobody_chooses_the_card_is_closed_and_nothing_is_answered(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        room.harness.clock.advance(31 * 60)
        async with asyncio.timeout(PATIENCE * 3):
            while page.checkpoint is not None:
                await asyncio.sleep(0.05)
        await room.settled()
    assert page.text == CARD_OVER
    assert len(room.paper.visible) == 1
    assert page.answer is None


async def test_an_aside_leaves_the_card_open(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        for aside in ("sure, after lunch", "ok thanks", "I'll ask Bob first"):
            await room.asks(aside, mentions_us=False)
        await room.settled()
        assert page.checkpoint is not None
        await room.asks("the second one", mentions_us=False)
        await room.settled()
    assert page.checkpoint is not None
    assert room.paper.visible[-1].text == f"{REFUNDS} [1]"
    assert "Who approves refunds" in room.paper.notices[-1]


async def test_a_number_that_no_choice_has_is_said_and_keeps_the_card(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        await room.asks("9", mentions_us=False)
        await room.settled()
        assert "There is no choice 9 here" in room.paper.told[-1]
        assert page.checkpoint is not None
        await room.arrives(IncomingChoice(page.checkpoint.id, "1", ALICE, THREAD), "press-1")
        await room.settled()
    assert page.text == f"{REFUNDS} [1]"


async def test_of_two_buttons_at_once_the_card_names_the_one_that_is_answered(room: Room) -> None:
    async with room.working():
        page = await parked(room)
    assert page.checkpoint is not None
    choices = QuestionActions(room.harness.checkpoints, room.message_states, room.inbox, InProcessAudit())
    presses = [IncomingChoice(page.checkpoint.id, one.id, ALICE, THREAD) for one in page.checkpoint.choices[:2]]
    made = await asyncio.gather(
        *(choices.enqueue_choice(f"press-{n}", press, f"label {n}") for n, press in enumerate(presses)),
        return_exceptions=True,
    )
    assert [type(one) for one in made] == [bool, NotFound]
    card = await room.message_states.read(CheckpointState(thread=THREAD, checkpoint=page.checkpoint.id))
    assert card is not None
    assert card.chosen == "label 0"
    assert await room.inbox.count_waiting() == 1


async def test_a_typed_choice_is_kept_as_a_button_is_and_a_later_button_cannot_change_it(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        assert page.checkpoint is not None
        first, second = page.checkpoint.choices[:2]
        choices = QuestionActions(room.harness.checkpoints, room.message_states, room.inbox, InProcessAudit())
        await room.asks("1", mentions_us=False)
        await room.settled()
        with pytest.raises(NotFound):
            await choices.enqueue_choice(
                "press", IncomingChoice(page.checkpoint.id, second.id, ALICE, THREAD), second.label
            )
    card = await room.message_states.read(CheckpointState(thread=THREAD, checkpoint=page.checkpoint.id))
    assert card is not None
    assert card.chosen == first.label


async def test_a_typed_choice_that_fails_before_it_continues_can_be_made_again(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: IncomingMessage) -> Audience:
        raise FootnoteError("The readers are unknown.")

    async with room.working():
        page = await parked(room)
        assert page.checkpoint is not None
        with monkeypatch.context() as patch:
            patch.setattr(RecordedPlatform, "audience", lambda _, message: fails(message))
            await room.asks("1", mentions_us=False)
            await room.settled()
        card = await room.message_states.read(CheckpointState(thread=THREAD, checkpoint=page.checkpoint.id))
        assert card is not None
        assert card.chosen == ""
        await room.asks("2", mentions_us=False)
        await room.settled()
    card = await room.message_states.read(card)
    assert card is not None
    assert card.chosen == page.checkpoint.choices[1].label
    assert room.paper.visible[-1].text == f"{REFUNDS} [1]"


async def test_a_choice_typed_after_another_button_was_pressed_is_refused(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        assert page.checkpoint is not None
        pressed = page.checkpoint.choices[1]
        await room.message_states.save(
            CheckpointState(thread=THREAD, checkpoint=page.checkpoint.id, chosen=pressed.label)
        )
        await room.asks("1", mentions_us=False)
        await room.settled()
        assert room.paper.told[-1] == CHOICE_GONE
        await room.arrives(IncomingChoice(page.checkpoint.id, pressed.id, ALICE, THREAD), "press")
        await room.settled()
    assert page.text == f"{REFUNDS} [1]"


async def test_the_words_of_the_help_work_when_they_are_typed(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        for command in ("help", "settings", "forget", "forget me"):
            await room.settled()
            await room.asks(command)
        await room.settled()
    assert len(room.paper.visible) == 1
    assert room.paper.told[0] == HELP_TEXT
    assert "/footnote settings" in room.paper.told[1]
    assert room.paper.told[2] == outcome_text(ThreadForgotten(was_kept=True))
    assert room.paper.told[3].startswith("I have deleted everything you asked me")
    assert (await room.harness.memory.recall(THREAD)).total == 0


async def test_once_a_colleague_has_written_the_asker_may_mean_them_until_we_answer_again(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.asks("And who pays them?", mentions_us=False)
        await room.settled()
        assert len(room.paper.visible) == 2
        await room.asks("ah ok", mentions_us=False, by=BOB)
        await room.asks("When was that?", mentions_us=False)
        await room.settled()
        assert len(room.paper.visible) == 2
        await room.asks("How long do refunds take?")
        await room.asks("And who pays them?", mentions_us=False)
        await room.settled()
    assert len(room.paper.visible) == 4


async def test_threads_are_worked_on_side_by_side(room: Room) -> None:
    go_on = held(room)
    async with room.working():
        for number in range(3):
            await room.asks("How long do refunds take?", thread=replace(THREAD, thread=str(number)))
        async with asyncio.timeout(PATIENCE):
            while len(room.paper.visible) < 3:
                await asyncio.sleep(0.01)
        go_on.set()
        await room.settled()
    assert {page.text for page in room.paper.visible} == {f"{REFUNDS} [1]"}


async def test_while_the_index_opens_the_question_is_kept_and_answered_when_it_can_be(room: Room) -> None:
    cold = [True]
    room.warming = lambda: cold[0]
    async with room.working():
        await room.asks("How long do refunds take?")
        async with asyncio.timeout(PATIENCE):
            while not room.paper.steps:
                await asyncio.sleep(0.01)
        assert "still starting" in room.paper.steps[0].title
        assert room.harness.script.calls == []
        cold[0] = False
        await room.settled()
    (page,) = room.paper.visible
    assert page.text == f"{REFUNDS} [1]"


async def answered_once_back(room: Room, away: list[Any]) -> VisibleMessage:
    """Return the answer to a question whose first tries raise the errors in ``away``."""
    async with room.working():
        await room.asks("How long do refunds take?")
        async with asyncio.timeout(PATIENCE):
            while away:
                await asyncio.sleep(0.01)
        room.harness.clock.advance(60)
        await room.settled()
    (page,) = room.paper.visible
    return page


async def test_a_platform_that_is_away_in_the_middle_is_tried_again_and_stops_nobody(room: Room) -> None:
    away = [PlatformUnavailable("The platform is away.")]
    view = room.paper.answer_view

    def stumbling(incoming: Incoming, message_state: MessageState[Any], trace_id: str) -> RecordedAnswerView:
        if away:
            raise away.pop()
        return view(incoming, message_state, trace_id)

    room.paper.answer_view = stumbling  # type: ignore[method-assign]
    page = await answered_once_back(room, away)
    assert page.text == f"{REFUNDS} [1]"


async def test_retries_when_the_index_is_down_and_never_answers_with_its_error(room: Room) -> None:
    away = [StoreUnavailable("Milvus at /srv/footnote/milvus.db does not respond.")]
    search = room.harness.index.search

    async def stumbling(text: str, vector: Vectors, scope: Scope, limit: int) -> DenseAndBm25Hits:
        if away:
            raise away.pop()
        return await search(text, vector, scope, limit)

    room.harness.index.search = stumbling  # type: ignore[method-assign]
    page = await answered_once_back(room, away)
    assert page.text == f"{REFUNDS} [1]"
    assert "/srv" not in "".join(page.history)


# --- what no single event may do


class Refusing(RecordedAnswerView):
    """An answer view that fails as none should: with an error that nobody has named."""

    def __init__(self, platform: RecordedPlatform, message_state: MessageState[Any], at: str) -> None:
        super().__init__(platform, message_state)
        self._at = at

    def _refuse(self, at: str) -> None:
        if at in {self._at, "fail"}:
            raise ConnectionResetError("user_not_in_channel")

    async def open(self) -> None:
        self._refuse("open")
        await super().open()

    async def step(self, step: Step) -> None:
        self._refuse("step")

    async def conclude(self, answer: Answer, trace_id: str) -> None:
        self._refuse("conclude")
        await super().conclude(answer, trace_id)

    async def fail(self, message: str, trace_id: str) -> None:
        self._refuse("fail")


@pytest.mark.parametrize("at", ["open", "step", "conclude", "fail"])
async def test_an_error_of_one_delivery_ends_no_lane_and_its_asker_is_told_once(room: Room, at: str) -> None:
    view = room.paper.answer_view

    def refusing(incoming: Incoming, message_state: MessageState[Any], trace_id: str) -> RecordedAnswerView:
        return Refusing(room.paper, message_state, at)

    if at == "fail":
        room.harness.script.enqueue("understand", ZeroDivisionError("a bug"))
    async with room.working():
        room.paper.answer_view = refusing  # type: ignore[method-assign]
        for number in range(6):  # more than there are lanes
            await room.asks("How long do refunds take?", thread=replace(THREAD, thread=str(number)))
        await room.settled()
        assert len(room.paper.told) >= 1
        told = len(room.paper.told)
        room.paper.answer_view = view  # type: ignore[method-assign]
        await room.asks("How long do refunds take?")
        await room.settled()
    assert room.paper.visible[-1].text == f"{REFUNDS} [1]"
    assert len(room.paper.told) == told
    assert set(room.paper.told) == {WENT_WRONG}


async def test_even_an_asker_who_cannot_be_told_ends_no_lane(room: Room) -> None:
    async def untellable(incoming: Incoming, text: str) -> None:
        raise ConnectionResetError("nothing gets through")

    tell, view = room.paper.tell, room.paper.answer_view
    room.paper.tell = untellable  # type: ignore[method-assign]
    room.paper.answer_view = lambda *_: Refusing(room.paper, _[1], "open")  # type: ignore[method-assign]
    async with room.working():
        await room.asks("How long do refunds take?")
        async with asyncio.timeout(PATIENCE):
            while (await room.inbox.take("look", timedelta())) is not None:
                await asyncio.sleep(0.01)
        room.paper.tell, room.paper.answer_view = tell, view  # type: ignore[method-assign]
        await room.asks("And now?", thread=replace(THREAD, thread="2"))
        async with asyncio.timeout(PATIENCE):
            while not room.paper.visible or room.paper.visible[-1].answer is None:
                await asyncio.sleep(0.01)


async def test_a_delivery_of_a_platform_that_is_not_connected_here_is_left_to_others(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?", thread=replace(THREAD, platform="elsewhere"))
        await room.asks("How long do refunds take?")
        async with asyncio.timeout(PATIENCE):
            while await room.inbox.count_waiting() > 1:
                await asyncio.sleep(0.01)
    (page,) = room.paper.visible
    assert page.text == f"{REFUNDS} [1]"


# --- killed at the worst moments


async def test_killed_between_the_card_and_what_is_kept_of_it_there_is_one_card(room: Room) -> None:
    """What is visible and the outcome are one write: before it, the card is shown again in its place."""
    readings = ("How long do refunds take?", "Who approves refunds?")
    room.harness.script.always("decide", AskBack("Which do you mean?", readings))
    settle, kept = MessageState.settle, []

    async def dying(self: MessageState[Any], *_: object, **__: object) -> None:
        kept.append(self)
        await asyncio.sleep(3600)

    stop = asyncio.Event()
    worker = asyncio.create_task(room.worker("dying").run(stop))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(MessageState, "settle", dying)
        await room.asks("refunds?")
        async with asyncio.timeout(PATIENCE):
            while not kept:
                await asyncio.sleep(0.01)
        worker.cancel()
        with suppress(asyncio.CancelledError):
            await worker
    assert MessageState.settle is settle
    async with room.working():
        await room.settled()
        (page,) = room.paper.visible
        assert page.checkpoint is not None
        assert room.paper.notices == []  # its own earlier card is no other question that is set aside
        room.harness.script.always("decide", Sufficient())
        await room.arrives(IncomingChoice(page.checkpoint.id, "1", ALICE, THREAD), "press-1")
        await room.settled()
    assert room.paper.told == []
    assert page.text == f"{REFUNDS} [1]"


async def test_killed_after_a_choice_was_answered_there_is_no_second_answer(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        checkpoint = page.checkpoint
        assert checkpoint is not None
        pressed = IncomingChoice(checkpoint.id, "1", ALICE, THREAD)
        await room.arrives(pressed, "press-1")
        await room.settled()
    composed = len(room.harness.script.calls_of("compose"))
    lease = Lease(delivery("press-1", pressed), room.inbox.fences[str(THREAD)])
    await room.worker().message_handler.handle(
        lease
    )  # it died after the outcome, and before the inbox heard that it is done
    assert len(room.harness.script.calls_of("compose")) == composed
    assert room.paper.told == []
    assert page.text == f"{REFUNDS} [1]"


async def test_workers_that_die_while_the_index_opens_cost_a_question_nothing(room: Room) -> None:
    room.warming = lambda: True
    await room.asks("How long do refunds take?")
    for number in range(MOST_RUNS + 5):
        lease = await room.inbox.take(f"dies-{number}", timedelta(seconds=PATIENCE))
        assert lease is not None
        dying = asyncio.create_task(room.worker().message_handler.handle(lease))
        await room.until_open()
        await asyncio.sleep(0)
        dying.cancel()
        with suppress(asyncio.CancelledError):
            await dying
        room.harness.clock.advance(31)  # its lease runs out
    room.warming = lambda: False
    async with room.working():
        await room.settled()
    (page,) = room.paper.visible
    assert page.text == f"{REFUNDS} [1]"


# --- edits and deletions, at every moment


async def deleted(room: Room, message: IncomingMessage) -> None:
    await take_in_deletion(room.message_states, room.inbox, message)


async def test_a_question_deleted_while_its_first_sign_hangs_is_not_answered(room: Room) -> None:
    go_on, hanging = asyncio.Event(), asyncio.Event()
    opening = RecordedAnswerView.open

    class Hanging(RecordedAnswerView):
        async def open(self) -> None:
            hanging.set()
            await go_on.wait()
            await opening(self)

    room.paper.answer_view = lambda *given: Hanging(room.paper, given[1])  # type: ignore[method-assign]
    async with room.working():
        message = await room.asks("How long do refunds take?")
        await hanging.wait()
        await deleted(room, message)
        go_on.set()
        await room.settled()
    assert room.paper.visible == []
    assert room.harness.script.calls == []


@pytest.mark.parametrize("reason", [None, CancelReason.EDITED, CancelReason.STOPPED])
async def test_a_view_is_closed_however_its_run_ends(room: Room, reason: CancelReason | None) -> None:
    shown: list[str] = []

    class Closing(RecordedAnswerView):
        async def open(self) -> None:
            await super().open()
            if reason is not None:
                await room.message_states.request_cancel(str(THREAD), room.said[0].id, reason)

        async def close(self) -> None:
            shown.append("closed")

    room.paper.answer_view = lambda *given: Closing(room.paper, given[1])  # type: ignore[method-assign]
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
    assert shown == ["closed"]


async def test_a_question_deleted_while_its_answer_is_being_shown_takes_it_along(room: Room) -> None:
    class Late(RecordedAnswerView):
        async def conclude(self, answer: Answer, trace_id: str) -> None:
            await deleted(room, message)
            await super().conclude(answer, trace_id)

    room.paper.answer_view = lambda *given: Late(room.paper, given[1])  # type: ignore[method-assign]
    message = room.message("How long do refunds take?")
    async with room.working():
        await room.arrives(message, "event-1")
        await room.settled()
    assert room.paper.visible == []


async def test_a_question_deleted_after_its_answer_takes_it_along(room: Room) -> None:
    async with room.working():
        message = await room.asks("How long do refunds take?")
        await room.settled()
        assert len(room.paper.visible) == 1
        await deleted(room, message)
        await room.settled()
        await room.arrives(message, "the question once more, out of order")
        await room.settled()
    assert room.paper.visible == []


async def test_a_question_deleted_while_its_card_waits_is_never_answered(room: Room) -> None:
    async with room.working():
        await parked(room)
        question = next(iter(room.paper.pages.values()))
        await deleted(room, room.said[0])
        await room.settled()
        assert question.gone
        room.harness.clock.advance(31 * 60)
    assert await room.harness.checkpoints.due(room.harness.clock.now()) == []
    assert room.paper.visible == []


async def test_a_question_edited_while_its_card_waits_is_answered_as_edited(room: Room) -> None:
    async with room.working():
        page = await parked(room)
        edited = replace(room.said[0], text="How long do refunds take?", edited=True)
        await room.arrives(edited, "event-edit-1")
        await room.settled()
    assert page.text == f"{REFUNDS} [1]"
    assert len(room.paper.visible) == 1


async def test_who_edits_after_the_answer_is_told_once_how_to_ask_again(room: Room) -> None:
    async with room.working():
        first = await room.asks("How long do refunds take?")
        await room.settled()
        for number in range(2):
            await room.arrives(replace(first, text=f"Something else {number}?", edited=True), f"event-edit-{number}")
            await room.settled()
    assert room.paper.told == [EDITED_LATE]
    assert len(room.harness.script.calls_of("understand")) == 1


@pytest.mark.parametrize(
    ("text", "limit"),
    [("QUJD" * 2_000, "at most 4,000"), ("1," * 1_900, "at most 800")],
    ids=["characters", "figures"],
)
async def test_a_question_that_is_too_long_is_refused_without_repeating_it(room: Room, text: str, limit: str) -> None:
    async with room.working():
        await room.asks(f"what is {text}?")
        await room.settled()
    (told,) = room.paper.told
    assert limit in told
    assert len(told) < 200
    assert room.harness.script.calls_of("understand") == []


async def test_typed_commands_are_done_and_others_said_to_be_commands(room: Room) -> None:
    async with room.working():
        first = await room.asks("How long do refunds take?")
        await room.settled()
        for number, text in enumerate(("settings", "/footnote frobnicate", "Forget this thread.", "please forget me")):
            await room.arrives(replace(first, id=f"typed-{number}", text=text), f"event-typed-{number}")
            await room.settled()
    settings, slash, thread, person = room.paper.told
    assert "`/footnote settings`" in settings
    assert "choose the command" in slash
    assert thread == outcome_text(ThreadForgotten(was_kept=True))
    assert person.startswith("I have deleted everything you asked me")
    assert (await room.harness.memory.recall(first.thread)).turns == ()
    assert len(room.harness.script.calls_of("understand")) == 1


@pytest.mark.parametrize(
    ("style", "private", "kept"),
    [(ReplyStyle.THREAD, False, True), (ReplyStyle.THREAD, True, False), (ReplyStyle.PRIVATE, False, False)],
)
async def test_words_of_a_question_that_is_answered_in_private_are_not_logged(
    style: ReplyStyle, private: bool, kept: bool
) -> None:
    room = Room()
    room.paper = RecordedPlatform(settings=ChannelSettings(reply_style=style))
    room.paper.public = True
    await room.harness.knows(REFUNDS)
    async with room.working():
        await room.asks("How long do refunds take?", private=private)
        await room.settled()
    (logged,) = [question async for question in room.harness.questions.since(datetime(2000, 1, 1, tzinfo=UTC))]
    assert (logged.question != "", not logged.private) == (kept, kept)


async def test_why_explains_the_last_answer_and_asks_no_reasoner(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
        await room.asks("Why?")
        await room.settled()
    (told,) = room.paper.told
    assert told.startswith("“How long do refunds take?”")
    assert "I searched" in told
    assert len(room.paper.visible) == 1
    assert len(room.harness.script.calls_of("understand")) == 1


async def test_why_that_is_delivered_again_is_told_once(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
        why = room.message("why")
        for number in range(3):
            await room.arrives(why, f"delivery-{why.id}" if number else "delivery-first")
            await room.settled()
        await room.arrives(why, "delivery-first")
        await room.settled()
    assert len(room.paper.told) == 2  # of two deliveries, each once


async def test_why_is_not_told_of_what_not_everybody_there_may_read(room: Room) -> None:
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
        for base in await room.harness.catalog.bases():
            await room.harness.catalog.save_base(replace(base, grants=frozenset({"managers"})))
        await room.asks("why")
        await room.settled()
    assert room.paper.told == ["I have not answered anything here that I can explain."]


async def test_where_answers_are_for_their_asker_alone_why_explains_only_ones_own() -> None:
    room = Room()
    room.paper = RecordedPlatform(settings=ChannelSettings(reply_style=ReplyStyle.PRIVATE))
    await room.harness.knows(REFUNDS, title="Refund policy")
    async with room.working():
        await room.asks("How long do refunds take?")
        await room.settled()
        await room.asks("why", BOB)
        await room.asks("why", ALICE)
        await room.settled()
    assert room.paper.told[0] == "I have not answered anything here that I can explain."
    assert room.paper.told[1].startswith("“How long do refunds take?”")


# --- the answers of a day


def limited(room: Room, answers: int) -> None:
    policy = AnswerPolicy(limits=DailyLimits(person_answers=answers))
    room.paper = RecordedPlatform(settings=ChannelSettings(policy))


async def test_what_failed_or_needed_no_search_takes_none_of_a_days_answers(room: Room) -> None:
    limited(room, 1)
    room.harness.script.enqueue("understand", ModelUnavailable("The model is away."), ZeroDivisionError("a bug"))
    room.harness.script.enqueue("understand", Reply("Hello.", small_talk=True))
    async with room.working():
        for text in ("How long?", "How long now?", "good morning", "How long do refunds take?", "And for Bob?"):
            await room.asks(text)
            await room.settled()
    assert [page.text for page in room.paper.visible][2:] == ["Hello.", f"{REFUNDS} [1]"]
    assert room.paper.told[0].startswith("You have had 1 answer today")


async def test_a_question_edited_while_its_card_waits_counts_once(room: Room) -> None:
    limited(room, 2)
    async with room.working():
        await parked(room)
        await room.arrives(
            replace(room.said[0], text="When will refunds be paid in Italy?", edited=True), "event-edit-1"
        )
        await room.settled()
        await room.asks("How long do refunds take, again?")
        await room.settled()
    assert [page.text for page in room.paper.visible] == [f"{REFUNDS} [1]"] * 2
    assert room.paper.told == []


async def test_a_worker_killed_before_its_run_began_has_not_counted_twice(room: Room) -> None:
    limited(room, 1)
    opening = asyncio.Event()
    room.warming = lambda: not opening.is_set()
    killed = asyncio.create_task(room.worker("killed").run(asyncio.Event()))
    await room.asks("How long do refunds take?")
    await room.until_open()
    assert sum(room.counts.counts.values()) == 1
    killed.cancel()
    with suppress(asyncio.CancelledError):
        await killed
    opening.set()
    async with room.working():
        await room.settled()
    assert room.paper.told == []
    assert room.paper.visible[-1].text == f"{REFUNDS} [1]"
