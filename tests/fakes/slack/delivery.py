"""How Slack brings something to the app: an attempt, an acknowledgement within three seconds, or another attempt.

The two ways there are in `sockets` (Socket Mode) and `http_push` (request URLs).
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from tests.fakes.slack.world import Message

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Sequence

    from tests.fakes.slack.world import World

Kind = Literal["events_api", "interactive", "slash_commands"]


@dataclass
class Attempt:
    """One try. `via` names the socket or the URL."""

    number: int
    reason: str | None = None
    via: str = ""
    envelope_id: str = ""
    status: int | None = None
    acknowledged_at: float | None = None
    response: Any = None
    failure: str = ""
    final: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)

    def acknowledge(self, response: Any = None) -> None:
        """Note that the app took it."""
        if self.acknowledged_at is None:
            self.acknowledged_at = time.monotonic()
            self.response = response
        self.done.set()

    def fail(self, failure: str) -> None:
        """Note that it did not arrive."""
        self.failure = failure
        self.done.set()


@dataclass
class Delivery:
    """Something the app is to learn, with every attempt to bring it."""

    kind: Kind
    payload: dict[str, Any]
    message: Message | None = None
    attempts: list[Attempt] = field(default_factory=list)
    finished: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def event_id(self) -> str:
        """The id that stays the same through all attempts; empty for what is not an event."""
        return str(self.payload.get("event_id", ""))

    @property
    def event_type(self) -> str:
        """`app_mention`, `message`, ..., or the payload's own type, or the command."""
        event = self.payload.get("event") or {}
        return str(event.get("type") or self.payload.get("type") or self.payload.get("command") or "")

    @property
    def acknowledged(self) -> bool:
        """Whether the app took it."""
        return any(attempt.acknowledged_at is not None for attempt in self.attempts)

    @property
    def response(self) -> Any:
        """What came with the first acknowledgement."""
        return next((one.response for one in self.attempts if one.acknowledged_at is not None), None)


class Road(Protocol):
    """A way to the app."""

    async def attempt(self, delivery: Delivery, attempt: Attempt) -> None:
        """Send it once; the attempt's `done` is set when it is acknowledged or has failed."""


class Courier:
    """Brings deliveries, again and again where Slack would.

    Only events are brought again, after `retry_delays` seconds; a press or a command that was not acknowledged
    within `deadline` seconds has failed for the person who made it.
    """

    def __init__(self, world: World, *, deadline: float, retry_delays: Sequence[float]) -> None:
        self.world = world
        self.deadline = deadline
        self.retry_delays = tuple(retry_delays)
        self.road: Road
        self.deliveries: list[Delivery] = []
        self.copies = 1
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, kind: Kind, payload: dict[str, Any], message: Message | None = None) -> Delivery:
        """Start bringing it; returns at once. Several copies go out where `faults.redeliver()` asked for them."""
        delivery = Delivery(kind, payload, message)
        self.deliveries.append(delivery)
        self.own(self._bring(delivery))
        if kind == "events_api":
            for number in range(1, self.copies):
                self.own(self._try(delivery, Attempt(number, "http_timeout")))
        return delivery

    def redeliver(self, what: Message | Delivery | None, times: int, *, at_once: bool) -> list[Delivery]:
        """See `Faults.redeliver`."""
        if what is None:
            self.copies = times
            return []
        chosen = [what] if isinstance(what, Delivery) else [one for one in self.deliveries if one.message is what]
        events = [one for one in chosen if one.kind == "events_api"]
        assert events, "there is no event of that to deliver again"
        for delivery in events:
            attempts = [Attempt(number, "http_timeout") for number in range(1, times + 1)]
            if at_once:
                for attempt in attempts:
                    self.own(self._try(delivery, attempt))
            else:
                self.own(self._one_by_one(delivery, attempts))
        return events

    def own(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it beside the rest, until it ends or the workspace closes."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Stop bringing anything."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _bring(self, delivery: Delivery) -> None:
        attempt = Attempt(0)
        await self._try(delivery, attempt)
        delays = self.retry_delays if delivery.kind == "events_api" else ()
        for number, delay in enumerate(delays, start=1):
            if attempt.acknowledged_at is not None or attempt.final:
                break
            await asyncio.sleep(delay)
            attempt = Attempt(number, attempt.failure)
            await self._try(delivery, attempt)
        delivery.finished.set()

    async def _one_by_one(self, delivery: Delivery, attempts: Iterable[Attempt]) -> None:
        for attempt in attempts:
            await self._try(delivery, attempt)

    async def _try(self, delivery: Delivery, attempt: Attempt) -> None:
        delivery.attempts.append(attempt)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.deadline):
                    await self.road.attempt(delivery, attempt)
                    await attempt.done.wait()
            if attempt.acknowledged_at is None and not attempt.failure:
                attempt.failure = "http_timeout"
        finally:
            self.world.note_change()
