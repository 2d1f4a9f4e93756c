"""Nothing holds the event loop up: no step of a task on its thread takes more than 50 ms of a quiet machine's time.

A step is what a task does between two waits. What counts is the processor time of the loop's own thread, not the
clock's, as a multiple of a fixed piece of work of the same run: a busy machine, a thread that holds the interpreter or
many steps that are due at once do not fail this.
"""

import asyncio
import gc
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import pytest

from adapters.terminal.operator import OPERATOR
from bot.container import Footnote
from bot.garbage_collection import freeze_loaded_objects
from core.ingestion.ingestor import Change
from core.ingestion.originals import Material
from core.model.conversation import Audience, ThreadKey
from core.service.question_service import Question

LONGEST = 9  # pieces of fixed work, 5.6 ms each on a quiet machine

pytestmark = [pytest.mark.live, pytest.mark.asyncio(loop_scope="session")]


def longest_allowed() -> float:
    """Seconds of processor time, as this machine is now."""
    pieces = []
    for _ in range(5):
        began = time.thread_time()
        sum(n * n for n in range(200_000))
        pieces.append(time.thread_time() - began)
    return LONGEST * max(pieces)


@pytest.fixture(autouse=True)
def _frozen() -> Iterator[None]:
    """As in a process that serves, where the collector has no reason to walk what is loaded."""
    gc.collect()  # of the tests before
    freeze_loaded_objects()
    yield
    gc.unfreeze()


class StepTimes:
    """The longest step that a task took which was started under it, in seconds of processor time."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.count = 0

    @contextmanager
    def measured(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        before = loop.get_task_factory()
        loop.set_task_factory(lambda loop, coro, **options: asyncio.Task(_Timed(coro, self), loop=loop, **options))
        try:
            yield
        finally:
            loop.set_task_factory(before)

    def take(self, step: Callable[[], Any]) -> Any:
        began = time.thread_time()
        try:
            return step()
        finally:
            self.count += 1
            self.longest = max(self.longest, time.thread_time() - began)


class _Timed(Coroutine[Any, Any, Any]):
    def __init__(self, coroutine: Any, times: StepTimes) -> None:
        self._coroutine = coroutine
        self._times = times

    def send(self, value: Any, /) -> Any:
        return self._times.take(lambda: self._coroutine.send(value))

    def throw(self, kind: Any, value: Any = None, traceback: TracebackType | None = None, /) -> Any:
        return self._times.take(lambda: self._coroutine.throw(kind if value is None else value))

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Iterator[Any]:  # type: ignore[override]  # tasks send to it, nobody awaits it
        raise NotImplementedError


async def test_a_step_that_holds_the_loop_up_is_seen_wherever_in_a_task_it_comes() -> None:
    async def hold_up() -> None:
        await asyncio.sleep(0)
        until = time.thread_time() + 2 * longest_allowed()
        while time.thread_time() < until:
            pass
        await asyncio.sleep(0)

    times = StepTimes()
    with times.measured():
        await asyncio.create_task(hold_up())
    assert times.count == 3
    assert times.longest > longest_allowed()


async def test_asking_while_a_large_document_comes_in_holds_nothing_up(footnote: Footnote) -> None:
    await footnote.ingestor.ensure_base("large")
    text = "\n\n".join(
        f"## Part {n}\n\nPart {n} says that widget {n} weighs {n} grams and is blue." for n in range(400)
    )
    material = Material("large.md", "large.md", text.encode())
    key = ThreadKey("console", "", "terminal", "loop")

    async def ask(number: int) -> None:
        question = Question(f"How much does widget {number} weigh?", key, OPERATOR, Audience(unrestricted=True))
        async for _ in footnote.question_service.ask(question):
            pass

    await ask(0)  # what is imported and loaded at the first use is not what this is about
    times = StepTimes()
    with times.measured():
        ingesting = asyncio.create_task(footnote.ingestor.ingest(material, "large"))
        for number in range(5):
            await asyncio.create_task(ask(number))
        assert (await ingesting).change is Change.ADDED
    assert times.longest <= longest_allowed()


async def test_fifty_people_asking_at_once_hold_nothing_up(footnote: Footnote) -> None:
    questions = ("How long do refunds take?", "How many days off do I get?", "Who is on call?", "What is the VPN for?")

    async def ask(number: int) -> None:
        key = ThreadKey("console", "", "terminal", f"crowd-{number}")
        text = f"{questions[number % len(questions)]} I ask for team {number}."
        async for _ in footnote.question_service.ask(Question(text, key, OPERATOR, Audience(unrestricted=True))):
            pass

    await ask(0)
    times = StepTimes()
    with times.measured():
        async with asyncio.TaskGroup() as group:
            for number in range(1, 51):
                group.create_task(ask(number))
    assert times.longest <= longest_allowed()
