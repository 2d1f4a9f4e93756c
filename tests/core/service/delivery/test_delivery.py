"""The delivery engine over an in-memory chat: kills and refusals at every call, and fallback places."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from core.model.answer import Answer, Outcome
from core.model.conversation import ThreadKey
from core.model.errors import PlatformUnavailable
from core.model.incoming_events import ReplyMode
from core.model.records import AnswerStage, ChatQuestionState
from core.ports.answer_view import Step
from core.ports.chat import (
    AnswerPlace,
    CallRefused,
    DeliveryHooks,
    End,
    Manners,
    NoAnswer,
    PartKey,
    Refusal,
    Streaming,
    Work,
)
from core.ports.platform import MessageState
from core.service.delivery.delivery import AnswerDelivery
from core.service.delivery.pacing import PacingLimits
from tests.fakes.memory.chat import Killed, MemoryChat, TextRenderer
from tests.fakes.memory.message_state import InProcessMessageStateStore
from tests.fakes.memory.stores import InProcessState

THREAD = ThreadKey("chat", "S", "channel", "1")
TEXT = "Refunds are paid within fourteen days."
WHOLE = [TEXT[:20], TEXT[20:]]
MANNERS = Manners(edit_seconds=0.0, opening=(0.0,), editing=(0.0,), posting=(0.0, 0.0))
MOST_CALLS = 12  # of one delivery, and then some


class Worker:
    """Consecutive workers that answer one question in a chat, over the same stores."""

    def __init__(self, chat: MemoryChat, manners: Manners = MANNERS, streaming: Streaming[str] | None = None) -> None:
        self.chat, self.manners, self.streaming = chat, manners, streaming
        self.states = InProcessMessageStateStore(InProcessState())

    async def state(self) -> MessageState[ChatQuestionState]:
        blank = ChatQuestionState(thread=THREAD, message="1", asker="chat:S/A")
        return MessageState(self.states, await self.states.read(blank) or blank, delivery="d")

    async def delivery(self) -> AnswerDelivery[str]:
        return AnswerDelivery(
            surface=self.chat,
            renderer=TextRenderer(),
            hooks=DeliveryHooks(),
            manners=self.manners,
            streaming=self.streaming,
            message_state=await self.state(),
            trace_id="t",
            mode=self.chat.mode,
            limits=PacingLimits(late=()),
        )

    async def answer(self, text: str = TEXT) -> None:
        """Process the question once, as the message handler does."""
        if (await self.state()).is_settled:
            return
        delivery = await self.delivery()
        try:
            await delivery.open()
            await delivery.write(text[:10])
            await delivery.conclude(Answer(Outcome.ANSWERED, text, ()), "t")
        finally:
            await delivery.close()


@pytest.mark.parametrize("mode", [ReplyMode.POST, ReplyMode.START, ReplyMode.DIRECT])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_killed_at_any_call_the_answer_is_shown_once(mode: ReplyMode, when: str) -> None:
    killed = 0
    for at in range(1, MOST_CALLS):
        chat = MemoryChat(mode)
        worker = Worker(chat)

        def die(number: int, name: str, at: int = at) -> None:
            if number == at:
                raise Killed

        setattr(chat, when, die)
        with suppress(Killed):
            await worker.answer()
        killed += chat.calls >= at
        await worker.answer()
        assert chat.texts("thread" if mode is ReplyMode.START else "channel") == WHOLE
        assert (await worker.state()).kept.stage is AnswerStage.DONE
    assert killed >= 3


@pytest.mark.parametrize("refusal", list(Refusal))
@pytest.mark.parametrize("lasting", [False, True])
async def test_refused_at_any_call_the_answer_is_shown_once(refusal: Refusal, *, lasting: bool) -> None:
    for at in range(1, MOST_CALLS):
        chat = MemoryChat()

        def refuse(number: int, name: str, at: int = at) -> None:
            if number == at or (lasting and number > at and name == "edit"):
                raise CallRefused(refusal, "no")

        chat.before = refuse
        await Worker(chat).answer()
        said = [text.removeprefix("plain ").removeprefix("(not there: no) ") for text in chat.shown.values()]
        assert said == WHOLE, (refusal, at, chat.shown)


async def test_without_a_response_the_delivery_waits_and_then_shows_the_answer_once() -> None:
    for at in range(1, MOST_CALLS):
        chat = MemoryChat()
        worker = Worker(chat)

        def vanish(number: int, name: str, at: int = at) -> None:
            if number >= at:
                raise NoAnswer("no response")

        chat.after = vanish
        with suppress(PlatformUnavailable):
            await worker.answer()
        chat.after = lambda number, name: None
        await worker.answer()
        assert chat.texts("channel") == WHOLE, at


@pytest.mark.parametrize(
    ("mode", "closed", "where"),
    [
        (ReplyMode.START, {"thread"}, "channel"),
        (ReplyMode.START, {"thread", "channel"}, "direct"),
        (ReplyMode.POST, {"channel"}, "direct"),
        (ReplyMode.DIRECT, {"channel"}, None),
    ],
)
async def test_an_answer_goes_to_the_next_place_that_takes_it(
    mode: ReplyMode, closed: set[str], where: str | None
) -> None:
    chat = MemoryChat(mode, closed=closed)
    worker = Worker(chat)
    await worker.answer()
    said = [text.rpartition(") ")[2] for text in chat.shown.values()]
    assert said == (WHOLE if where else [])
    assert {channel for channel, _ in chat.shown} == ({where} if where else set())
    assert (await worker.state()).is_settled


class PrivateChat(MemoryChat):
    """A chat that shows nobody a private message, and streams in the channel."""

    seconds, longest = 0.0, 100

    @property
    def home(self) -> AnswerPlace:
        return AnswerPlace(ReplyMode.PRIVATE, "channel")

    async def post(self, place: AnswerPlace, payload: str, key: PartKey) -> str:
        if place.mode is ReplyMode.PRIVATE:
            self.calls += 1
            raise CallRefused(Refusal.OTHER, "not here")
        return await super().post(place, payload, key)

    def text(self, written: str) -> str:
        return written

    async def start(self, step: Step) -> str:
        self.shown["channel", "stream"] = step.title
        return "stream"

    async def append(self, message: str, steps: Sequence[Step], text: str) -> None:
        self.shown["channel", message] += text

    async def stop(self, message: str, steps: Sequence[Step] = (), text: str = "", below: str | None = None) -> None:
        pass

    def below(self, end: End, work: Work) -> None:
        return None


@pytest.mark.parametrize("when", ["before", "after"])
async def test_killed_while_a_private_answer_moves_nothing_of_it_is_shown_in_the_channel(when: str) -> None:
    manners = replace(MANNERS, blind=frozenset({ReplyMode.PRIVATE}), optional_sign=False, keeps_card=True)
    for at in range(1, MOST_CALLS):
        chat = PrivateChat(ReplyMode.PRIVATE)
        worker = Worker(chat, manners, streaming=chat)

        def die(number: int, name: str, at: int = at) -> None:
            if number == at:
                raise Killed

        setattr(chat, when, die)
        with suppress(Killed):
            await worker.answer()
        await worker.answer()
        assert chat.texts("channel") == []
        assert chat.texts("direct") == [f"(not there: not here) {WHOLE[0]}", WHOLE[1]]


@pytest.mark.parametrize("failure", [NoAnswer("no response"), CallRefused(Refusal.DENIED, "no")])
async def test_without_a_place_no_progress_is_posted(failure: Exception) -> None:
    chat = MemoryChat(ReplyMode.DIRECT)

    def fail(number: int, name: str) -> None:
        raise failure

    chat.before = fail
    delivery = await Worker(chat).delivery()
    await delivery.open()
    await delivery.write("Refunds")
    await asyncio.sleep(0.05)
    assert chat.calls == 1  # at the end the place is looked up again
    chat.before = lambda number, name: None
    await delivery.conclude(Answer(Outcome.ANSWERED, TEXT, ()), "t")
    assert list(chat.shown.values()) == WHOLE
    assert chat.texts("channel") == WHOLE


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("refused", ["edit", "first posts"])
@pytest.mark.parametrize("has_nonces", [True, False])
async def test_killed_while_calls_are_refused_the_answer_is_shown_once_and_no_stub_is_left(
    refused: str, when: str, *, has_nonces: bool
) -> None:
    for at in range(1, MOST_CALLS):
        chat = MemoryChat(has_nonces=has_nonces)
        worker = Worker(chat, replace(MANNERS, optional_sign=False))
        posts: list[int] = []

        def refuse(number: int, name: str, posts: list[int] = posts) -> None:
            posts += [number] if name == "post" else []
            if name == "edit" if refused == "edit" else number in posts[:2]:
                raise CallRefused(Refusal.OTHER, "no")

        def die(number: int, name: str, at: int = at) -> None:
            if number == at:
                raise Killed

        def refuse_or_die(number: int, name: str, at: int = at) -> None:
            die(number, name, at)
            refuse(number, name)

        chat.before = refuse_or_die if when == "before" else refuse
        chat.after = die if when == "after" else chat.after
        with suppress(Killed):
            await worker.answer()
        await worker.answer()
        assert sorted(chat.texts("channel")) == sorted(WHOLE), at  # a repost comes last


async def test_a_shorter_answer_leaves_nothing_of_a_longer_one() -> None:
    chat = MemoryChat()
    worker = Worker(chat)

    def die(number: int, name: str) -> None:
        if len(chat.shown) == 4:
            raise Killed

    chat.before = die
    with suppress(Killed):
        await worker.answer(TEXT * 3)
    chat.before = lambda number, name: None
    await worker.answer("Within 14 days.")
    assert chat.texts("channel") == ["Within 14 days."]


async def test_withdrawn_nothing_is_left() -> None:
    chat = MemoryChat()
    worker = Worker(chat)
    await worker.answer()
    for _ in range(2):
        await (await worker.delivery()).withdraw()
        assert not chat.shown
