"""Answers in the making, sent to open pages as server-sent events: drawn from the store, so that any process can."""

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
    """What has been shown so far."""

    steps: dict[str, Step] = field(default_factory=dict)
    text: str = ""
    notices: list[str] = field(default_factory=list)
    ended: bool = False  # perhaps: what is kept says for certain

    def apply(self, updates: Iterable[AnswerUpdate]) -> None:
        """Bring the answer up to these events."""
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
        """What is being done, in one line."""
        running = [step.title for step in self.steps.values() if step.state is StepState.RUNNING]
        done = [step.title for step in self.steps.values()]
        return (running or done or ["Looking at your question"])[-1]


LOOK_SECONDS = 0.15  # between two looks into the store
LOOKS_TO_KEPT = 10  # after so many, what is kept is looked at: a worker may die before it says that it is done
LONGEST_SECONDS = 600.0  # for which one connection is held; the browser connects again by itself
MOST_AT_ONCE = 20  # streams of one person


@dataclass(slots=True)
class LiveStreams:
    """Follows answers. ``close`` ends every stream, so that a server that is to end is not held up."""

    stream: AnswerStream
    turns: TurnViews
    pages: Pages
    _closing: asyncio.Event = field(default_factory=asyncio.Event)
    _open: Counter[str] = field(default_factory=Counter)

    def close(self) -> None:
        """End every stream; browsers come back when there is a server again."""
        self._closing.set()

    async def send(self, request: web.Request, visitor: Visitor, message: IncomingMessage) -> web.StreamResponse:
        """Send what happens to this question until its end. Raises Busy for who has too many pages open."""
        if self._open[visitor.person.id] >= MOST_AT_ONCE:
            raise Busy("You have too many answers open at once.", remedy="Close some of the pages.")
        headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=SECURITY_HEADERS | headers)
        await response.prepare(request)
        self._open[visitor.person.id] += 1
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                async for name, data in self._events(visitor, message):
                    await response.write(encode_event(name, data))
        except (TimeoutError, FootnoteError, ConnectionError):
            pass  # the browser connects again, from the beginning
        finally:
            self._open[visitor.person.id] -= 1
            self._open += Counter()  # those at zero are gone
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
        """Return the parts of the page that change; the line for those who listen has only what is being done."""
        return [
            ("steps", self.pages.fragment("_steps.html", steps=live.steps.values(), notices=live.notices)),
            ("text", self._draft(live.text)),
            ("now", self.pages.fragment("_now.html", now=live.now)),
        ]

    def _draft(self, text: str) -> str:
        """Return the text so far, under a line that says what it is; the answer takes the place of both."""
        written = render_answer(text, (), lambda _: "")
        return self.pages.fragment("_draft.html", text=written) if written else ""


def encode_event(name: str, data: str) -> bytes:
    """One server-sent event, as https://html.spec.whatwg.org/multipage/server-sent-events.html frames it."""
    lines = "".join(f"data: {line}\n" for line in data.splitlines() or [""])
    return f"event: {name}\n{lines}\n".encode()
