"""A message always ends with the final edit, in whatever order a platform applies edits."""

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from core.model.errors import PlatformUnavailable
from core.service.delivery.pacing import LIMITS, Pacing
from tests.core.service.delivery.virtual_time import run_in_virtual_time

ORDERS = 1_000
FINAL = "final"
PAUSE = 1.2


class RateLimited(Exception):
    """A 429: nothing was applied."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after


@dataclass
class Surface:
    """A message on a platform that applies edits as they arrive: slow, out of order, or after the sender gave up."""

    rng: random.Random
    shown: str = ""
    sent: list[str] = field(default_factory=list)

    async def edit(self, text: str) -> None:
        """Send one edit. Raises RateLimited and PlatformUnavailable."""
        self.sent.append(text)
        arrival, response = self.rng.uniform(0, 0.3), self.rng.uniform(0, 0.3)
        match self.rng.choice(["quick", "slow", "overtaken", "limited", "error", "reset", "silent"]):
            case "quick":
                await self._answer(text, arrival, arrival + response)
            case "slow":  # applied at once, answered late
                await self._answer(text, arrival, arrival + self.rng.uniform(0, 14))
            case "overtaken":  # applied late, so that a later edit can arrive before it
                arrival = self.rng.uniform(0, 14)
                await self._answer(text, arrival, arrival + response)
            case "limited":
                await asyncio.sleep(response)
                raise RateLimited(self.rng.uniform(0.1, 5))
            case "error":  # a 500, before or after the text was applied
                if self.rng.random() < 0.5:
                    self._apply_at(text, arrival)
                await asyncio.sleep(arrival + response)
                raise PlatformUnavailable("500")
            case "reset":  # the connection ends, and the text is applied before or after that, or never
                end = self.rng.uniform(0, LIMITS.in_flight)
                self._lose(text, end)
                await asyncio.sleep(end)
                raise PlatformUnavailable("connection reset")
            case _:  # no response, until the sender gives up
                self._lose(text, LIMITS.in_flight)
                await asyncio.sleep(3_600)

    async def _answer(self, text: str, arrival: float, response: float) -> None:
        self._apply_at(text, arrival)
        await asyncio.sleep(response)

    def _lose(self, text: str, given_up: float) -> None:
        """Apply it within the time for which a request may be late, counted from the earliest end of waiting for it."""
        if self.rng.random() < 0.8:
            self._apply_at(text, self.rng.uniform(0, given_up + 0.95 * LIMITS.late[-1]))

    def _apply_at(self, text: str, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, setattr, self, "shown", text)


class Sender:
    """Shows numbered progress on a surface, and the final text until it is accepted."""

    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.progress = 0
        self.pacing = Pacing(self._edit, lambda: PAUSE)

    async def _edit(self) -> float:
        try:
            await self.surface.edit(f"progress {self.progress}")
        except RateLimited as limited:
            return limited.retry_after
        return 0.0

    def go_on(self) -> None:
        self.progress += 1
        self.pacing.request()

    async def show_final(self) -> None:
        while True:
            try:
                async with asyncio.timeout(LIMITS.edit):
                    return await self.surface.edit(FINAL)
            except RateLimited as limited:
                await asyncio.sleep(limited.retry_after)
            except (PlatformUnavailable, TimeoutError):
                await asyncio.sleep(1.0)


async def answer_once(seed: int) -> Surface:
    """Show progress for some seconds, then the final text, and wait until nothing can arrive any more."""
    rng = random.Random(seed)
    sender = Sender(Surface(rng))
    if rng.random() < 0.3:
        opening = asyncio.create_task(sender.pacing.run(lambda: sender.surface.edit("opening")))
        await asyncio.wait({opening}, timeout=rng.uniform(0, 5))
        opening.cancel()
    for _ in range(rng.randrange(12)):
        sender.go_on()
        await asyncio.sleep(rng.uniform(0, 3))
    await sender.pacing.finish(sender.show_final)
    await sender.pacing.stop()
    sender.go_on()
    await asyncio.sleep(120)
    return sender.surface


@pytest.mark.parametrize("first", range(0, ORDERS, 100))
def test_final_text_is_shown_last_in_every_order_of_edits(first: int) -> None:
    wrong = [seed for seed in range(first, first + 100) if run_in_virtual_time(answer_once(seed)).shown != FINAL]
    assert wrong == []


@pytest.mark.parametrize("first", range(0, ORDERS, 100))
def test_begins_no_progress_edit_after_the_final_one(first: int) -> None:
    for seed in range(first, first + 100):
        sent = run_in_virtual_time(answer_once(seed)).sent
        assert set(sent[sent.index(FINAL) :]) == {FINAL}, seed


class Recorder:
    """A surface that answers after a fixed time, and records what it was sent when."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.sent: list[tuple[float, str]] = []

    async def edit(self, text: str) -> None:
        self.sent.append((asyncio.get_running_loop().time(), text))
        await asyncio.sleep(self.seconds)


def test_coalesces_what_comes_between_two_edits() -> None:
    async def progress() -> list[tuple[float, str]]:
        recorder, texts = Recorder(), ["a"]

        async def edit() -> float:
            await recorder.edit("".join(texts))
            return 0.0

        pacing = Pacing(edit, lambda: PAUSE)
        pacing.request()
        await asyncio.sleep(0.1)
        for letter in "bcd":
            texts.append(letter)
            pacing.request()
            await asyncio.sleep(0.1)
        await asyncio.sleep(10)
        return recorder.sent

    assert run_in_virtual_time(progress()) == [(0.0, "a"), (PAUSE, "abcd")]


def test_tries_a_refused_edit_again_after_the_given_pause() -> None:
    async def progress() -> list[float]:
        times: list[float] = []

        async def edit() -> float:
            times.append(asyncio.get_running_loop().time())
            return 5.0 if len(times) == 1 else 0.0

        Pacing(edit, lambda: PAUSE).request()
        await asyncio.sleep(60)
        return times

    assert run_in_virtual_time(progress()) == [0.0, 5.0]


def test_drops_the_waiting_edit_and_awaits_the_one_in_flight() -> None:
    async def answer() -> list[tuple[float, str]]:
        recorder = Recorder(3.0)

        async def edit() -> float:
            await recorder.edit("progress")
            return 0.0

        pacing = Pacing(edit, lambda: PAUSE)
        pacing.request()
        await asyncio.sleep(1.0)
        pacing.request()
        await pacing.finish(lambda: recorder.edit(FINAL))
        await asyncio.sleep(60)
        return recorder.sent

    assert run_in_virtual_time(answer()) == [(0.0, "progress"), (3.0, FINAL)]


def test_repeats_the_final_edit_after_giving_up_the_one_in_flight() -> None:
    async def answer() -> list[tuple[float, str]]:
        recorder = Recorder(3_600.0)

        async def edit() -> float:
            await recorder.edit("progress")
            return 0.0

        async def show_final() -> None:
            recorder.seconds = 0.0
            await recorder.edit(FINAL)

        pacing = Pacing(edit, lambda: PAUSE)
        pacing.request()
        await asyncio.sleep(1.0)
        await pacing.finish(show_final)
        return recorder.sent

    first = 1.0 + LIMITS.in_flight
    assert run_in_virtual_time(answer()) == [
        (0.0, "progress"),
        (first, FINAL),
        *((first + seconds, FINAL) for seconds in LIMITS.late),
    ]
