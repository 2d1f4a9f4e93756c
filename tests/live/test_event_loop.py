"""Nothing holds the event loop up: no stretch of work on its thread takes more than 50 ms of a quiet machine's time.

Processor time of the loop's own thread, not the clock's, as a multiple of a fixed piece of work of the same run: a busy
machine, or a thread that holds the interpreter, does not fail this. A watching thread looks at the thread's processor
clock and at a heartbeat that only a live loop gives.
"""

import asyncio
import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from adapters.terminal.chat import OPERATOR
from bot.container import Footnote
from bot.garbage_collection import freeze_loaded_objects
from core.ingestion.ingestor import Change
from core.ingestion.material import Material
from core.model.conversation import Audience, ThreadKey
from core.service.question_service import Question

LONGEST = 9  # pieces of fixed work, 5.6 ms each on a quiet machine
GLANCE = 0.002

pytestmark = [
    pytest.mark.live,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(
        not hasattr(time, "pthread_getcpuclockid"), reason="this system tells no thread's processor time"
    ),
]


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
    gc.collect()  # of the scenes before
    freeze_loaded_objects()
    yield
    gc.unfreeze()


class Watch:
    """The longest stretch of the loop thread's processor time between two heartbeats."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._beats = 0
        self._over = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        clock = time.pthread_getcpuclockid(threading.get_ident())
        beating = asyncio.ensure_future(self._beat())
        watcher = threading.Thread(target=self._look, args=(clock,), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self._over.set()
            watcher.join()
            beating.cancel()

    async def _beat(self) -> None:
        while True:
            self._beats += 1
            await asyncio.sleep(0)

    def _look(self, clock: int) -> None:
        beats, since = self._beats, time.clock_gettime(clock)
        while not self._over.wait(GLANCE):
            now = time.clock_gettime(clock)
            if self._beats == beats:
                self.longest = max(self.longest, now - since)
            else:
                beats, since = self._beats, now


async def test_the_watch_sees_a_loop_that_is_held_up() -> None:
    watch = Watch()
    with watch.watching():
        await asyncio.sleep(0.05)
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            pass
        await asyncio.sleep(0.05)
    assert watch.longest > longest_allowed()


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
    watch = Watch()
    with watch.watching():
        ingesting = asyncio.create_task(footnote.ingestor.ingest(material, "large"))
        for number in range(5):
            await ask(number)
        assert (await ingesting).change is Change.ADDED
    assert watch.longest <= longest_allowed()


async def test_fifty_people_asking_at_once_hold_nothing_up(footnote: Footnote) -> None:
    questions = ("How long do refunds take?", "How many days off do I get?", "Who is on call?", "What is the VPN for?")

    async def ask(number: int) -> None:
        key = ThreadKey("console", "", "terminal", f"crowd-{number}")
        text = f"{questions[number % len(questions)]} I ask for team {number}."
        async for _ in footnote.question_service.ask(Question(text, key, OPERATOR, Audience(unrestricted=True))):
            pass

    await ask(0)
    watch = Watch()
    with watch.watching():
        async with asyncio.TaskGroup() as group:
            for number in range(1, 51):
                group.create_task(ask(number))
    assert watch.longest <= longest_allowed()
