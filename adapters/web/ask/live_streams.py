"""Live answers as server-sent events. They are read from the store, so that any process can send them."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import assert_never

from aiohttp import web

from adapters.web.ask.turn_views import TurnViews
from adapters.web.markdown import render_answer
from adapters.web.pages import SECURITY_HEADERS, Pages
from adapters.web.routing import Visitor
from core.model.errors import Busy, FootnoteError
from core.model.incoming_events import IncomingMessage
from core.ports.answer_view import (
    AnswerStream,
    AnswerUpdate,
    Begun,
    Ended,
    NoticeShown,
    Step,
    StepShown,
    StepState,
    TextAdded,
    TextVoided,
)


@dataclass(slots=True)
class LiveAnswer:
    """The state of an answer so far."""

    steps: dict[str, Step] = field(default_factory=dict)
    text: str = ""
    notices: list[str] = field(default_factory=list)
    ended: bool = False  # perhaps; the stored state decides

    def apply(self, updates: Iterable[AnswerUpdate]) -> None:
        """Apply these updates."""
        for update in updates:
            self._apply(update)

    def _apply(self, update: AnswerUpdate) -> None:
        match update:
            case Begun():
                self.steps, self.text, self.notices, self.ended = {}, "", [], False
            case StepShown():
                self.steps[update.step.id] = update.step
            case TextAdded():
                self.text += update.text
            case TextVoided():
                self.text = ""
            case NoticeShown():
                self.notices.append(update.text)
            case Ended():
                self.ended = True
            case _:
                assert_never(update)

    @property
    def now(self) -> str:
        """The current step, in one line."""
        running = [step.title for step in self.steps.values() if step.state is StepState.RUNNING]
        done = [step.title for step in self.steps.values()]
        return (running or done or ["Reading your question"])[-1]


LOOK_SECONDS = 0.15  # between two reads of the store
LOOKS_TO_KEPT = 10  # reads until the stored state is checked: a worker may die without an end event
LONGEST_SECONDS = 600.0  # maximum time of one connection; the browser reconnects
MOST_AT_ONCE = 20  # streams of one person at once


@dataclass(slots=True)
class LiveStreams:
    """Streams of live answers. ``close`` ends all of them, so that they do not delay a shutdown."""

    stream: AnswerStream
    turns: TurnViews
    pages: Pages
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _open: Counter[str] = field(default_factory=Counter)

    def close(self) -> None:
        """End every stream. Browsers reconnect once a server is running."""
        self._closing.set()

    async def send(self, request: web.Request, visitor: Visitor, message: IncomingMessage) -> web.StreamResponse:
        """Stream a question's updates until its end. Raises Busy if the person has too many pages open."""
        if self._open[visitor.person.id] >= MOST_AT_ONCE:
            raise Busy("You have too many answers open at the same time.", remedy="Close some of the pages.")
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=SECURITY_HEADERS | headers)
        await response.prepare(request)
        self._open[visitor.person.id] += 1
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                async for name, data in self._events(visitor, message):
                    await response.write(encode_event(name, data))
        except (TimeoutError, FootnoteError, ConnectionError):
            pass  # the browser reconnects and starts over
        finally:
            self._open[visitor.person.id] -= 1
            self._open += Counter()  # drops entries at zero
        return response

    async def _events(self, visitor: Visitor, message: IncomingMessage) -> AsyncIterator[tuple[str, str]]:
        live, place, looks = LiveAnswer(), "", 0
        while not self._closing.is_set():
            found = await self.stream.read(str(message.thread), message.id, place)
            place = found.place
            live.apply(found.updates)
            if found.updates and not live.ended:
                for event in self.render(live):
                    yield event
            if live.ended or looks % LOOKS_TO_KEPT == 0:
                turn = await self.turns.one(visitor, message)
                if not turn.working:
                    yield "done", self.pages.fragment("_turn.html", turn=turn, visitor=visitor, fresh=True)
                    return
                live.ended = False
            looks += 1
            await self._pause()

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self._closing.wait()
        except TimeoutError:
            return

    def render(self, live: LiveAnswer) -> list[tuple[str, str]]:
        """Return the changed parts of the page. The line for screen readers has only the current step."""
        return [
            ("steps", self.pages.fragment("_steps.html", steps=live.steps.values(), notices=live.notices)),
            ("text", self._draft(live.text)),
            ("now", self.pages.fragment("_now.html", now=live.now)),
        ]

    def _draft(self, text: str) -> str:
        """Return the text so far, marked as a draft. The answer replaces it."""
        written = render_answer(text, (), lambda _: "")
        return self.pages.fragment("_draft.html", text=written) if written else ""


def encode_event(name: str, data: str) -> bytes:
    """Return one server-sent event, framed as in https://html.spec.whatwg.org/multipage/server-sent-events.html."""
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {name}\n{lines}\n".encode()
