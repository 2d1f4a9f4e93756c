"""A Unix socket in the data directory, where a serving process answers the questions typed in a terminal.

The process has its models loaded already, so an answer takes a fraction of a second. Only the owner of the data
directory can open the socket, and has the rights of the person at the terminal. The client sends one line of JSON, the
request. The process sends lines back: one that accepts the request, then the answer's events or an error, then the end.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.terminal.operator import OPERATOR, terminal_thread
from core.model.conversation import Audience, ThreadKey
from core.model.errors import FootnoteError, NotFound, Unavailable
from core.model.events import AgentEvent
from core.model.json_codec import from_json, to_json
from core.model.profile import Profile
from core.service.typed_choice import choices_of, match_typed_choice

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from bot.container import Footnote

ACCEPT_SECONDS = 2.0  # then the command loads the models itself
REQUEST_SECONDS = 5.0
WRITE_SECONDS = 10.0
SPARE_SECONDS = 30.0  # beyond ANSWER_DEADLINE, for a checkpoint's text or a slow machine
MOST_REQUESTS = 8  # at once
MOST_REQUEST_BYTES = 64 * 1024  # a question has at most 4,000 characters
MOST_EVENT_BYTES = 8 * 1024 * 1024
MOST_PATH_BYTES = 100  # a socket's address holds 104 bytes on macOS, 108 on Linux
EVERYTHING = Audience(unrestricted=True)
NOT_ANSWERING = "The running Footnote does not answer here. Loading the models instead, which takes some seconds."
FAILED = "The running Footnote failed unexpectedly; its log has the details."

log = logging.getLogger(__name__)


class WrongCall(FootnoteError):
    """The request names something that does not exist."""


@dataclass(frozen=True, slots=True)
class TerminalQuestion:
    """A question, in a thread of the terminal. Empty ``base``: all of them."""

    text: str
    thread: str
    base: str | None = None
    profile: Profile | None = None


@dataclass(frozen=True, slots=True)
class TerminalChoice:
    """An answer to a checkpoint: a choice by number, id or label, or other text."""

    checkpoint: str
    pressed: str


@dataclass(frozen=True, slots=True)
class _Reply:
    """One line to the client: an event, an error with its remedy, or the end. Otherwise, the request is accepted."""

    event: AgentEvent | None = None
    error: str = ""
    remedy: str | None = None
    wrong_call: bool = False
    is_end: bool = False


Request = TerminalQuestion | TerminalChoice


async def open_request(footnote: "Footnote", request: Request) -> tuple[ThreadKey, AsyncGenerator[AgentEvent, None]]:
    """Return the thread and the events of a request by the person at the terminal.

    Raises WrongCall for an unknown base or choice, and NotFound for an unknown checkpoint.
    """
    from core.service.question_service import Question

    service = footnote.question_service
    if isinstance(request, TerminalQuestion):
        try:
            bases = await footnote.only(request.base)
        except NotFound as error:
            raise WrongCall(str(error)) from None
        policy = replace(footnote.policy, profile=request.profile or footnote.policy.profile)
        thread = terminal_thread(request.thread)
        return thread, service.ask(Question(request.text, thread, OPERATOR, EVERYTHING, policy, bases))
    parked = await footnote.checkpoints.read(request.checkpoint)
    if parked is None:
        raise NotFound(
            f"There is no open checkpoint {request.checkpoint}.", remedy="It may have been answered already."
        )
    understood = match_typed_choice(request.pressed, parked.checkpoint)
    if understood is None:
        there = choices_of(parked.checkpoint)
        raise WrongCall(f"There is no choice {request.pressed!r} here. There are: {there}.")
    events = service.choose(request.checkpoint, understood, OPERATOR, audience=EVERYTHING, is_admin=True)
    return parked.checkpoint.thread, events


# --- the serving process


async def serve_terminal(footnote: "Footnote") -> None:
    """Answer requests on the socket until cancelled. The newest process of a data directory has it."""
    address = _address(footnote.settings.home)
    if len(bytes(address)) > MOST_PATH_BYTES:
        log.warning("terminal_socket_left_out", extra={"reason": "the data directory's path is too long"})
        return
    desk = _Desk(footnote)
    server = await asyncio.start_unix_server(desk.receive, address, limit=MOST_REQUEST_BYTES)
    address.chmod(0o600)
    own = address.stat().st_ino
    try:
        await asyncio.Event().wait()
    finally:
        server.close()
        for task in filter(None, desk.working):
            task.cancel()
        with suppress(OSError):
            if address.stat().st_ino == own:
                address.unlink()


def _address(home: Path) -> Path:
    return home / "terminal.sock"


@dataclass(eq=False, slots=True)
class _Desk:
    """The connections of one serving process."""

    footnote: "Footnote"
    working: "set[asyncio.Task[None] | None]" = field(default_factory=set)

    async def receive(self, reader: "StreamReader", writer: "StreamWriter") -> None:
        """Answer one connection; stop when the client closes it."""
        task = asyncio.current_task()
        try:
            if len(self.working) < MOST_REQUESTS:
                self.working.add(task)
                await self._answer(reader, writer)
        except (ValueError, OSError, EOFError, asyncio.LimitOverrunError):  # not our client, or a slow one
            return
        finally:
            self.working.discard(task)
            writer.close()

    async def _answer(self, reader: "StreamReader", writer: "StreamWriter") -> None:
        from bot.stores import cancel

        async with asyncio.timeout(REQUEST_SECONDS):
            request: Request = from_json(Request, await reader.readuntil(b"\n"))
        await _send(writer, _Reply())
        answering = asyncio.create_task(self._stream(request, writer))
        closed = asyncio.create_task(reader.read())  # ends when the client closes
        try:
            await asyncio.wait({answering, closed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel(answering)
            closed.cancel()

    async def _stream(self, request: Request, writer: "StreamWriter") -> None:
        try:
            thread, events = await open_request(self.footnote, request)
            async with aclosing(events) as stream:
                async for event in stream:
                    await _send(writer, _Reply(event))
            await _send(writer, _Reply(is_end=True))
            await self.footnote.question_service.reflect(thread, EVERYTHING)
        except FootnoteError as error:
            wrong = isinstance(error, WrongCall)
            await _send(writer, _Reply(error=error.args[0], remedy=error.remedy, wrong_call=wrong))
        except OSError:  # the client does not read
            return
        except Exception:
            log.exception("terminal_question_failed")
            await _send(writer, _Reply(error=FAILED))


async def _send(writer: "StreamWriter", reply: _Reply) -> None:
    """Send one line. Raises OSError (TimeoutError) if the client does not take it."""
    writer.write(to_json(reply).encode() + b"\n")
    async with asyncio.timeout(WRITE_SECONDS):
        await writer.drain()


# --- the command


@dataclass(eq=False, slots=True)
class RunningProcess:
    """A connection to the serving process, which has accepted a request."""

    _reader: "StreamReader"
    _writer: "StreamWriter"
    _patience: float  # seconds between two lines

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Stream the answer's events. Raises what ``open_request`` raises, and Unavailable if the process ends."""
        try:
            while not (reply := await self._reply()).is_end:
                if reply.error:
                    kind = WrongCall if reply.wrong_call else FootnoteError
                    raise kind(reply.error, remedy=reply.remedy)
                if reply.event is not None:
                    yield reply.event
        finally:
            self._writer.close()

    async def _reply(self) -> _Reply:
        try:
            async with asyncio.timeout(self._patience):
                reply: _Reply = from_json(_Reply, await self._reader.readline())
        except (OSError, ValueError):  # silent, or ended, which is an empty line
            raise Unavailable("The running Footnote stopped answering.", remedy="Ask again.") from None
        return reply

    async def is_accepted(self) -> bool:
        """Return whether the first line came in time."""
        with suppress(OSError, ValueError):
            async with asyncio.timeout(ACCEPT_SECONDS):
                return bool(await self._reader.readline())
        self._writer.close()
        return False


async def ask_running_process(home: Path, request: Request, deadline: float) -> RunningProcess | None:
    """Send a request to the process that serves this data directory. Return None if there is none.

    ``deadline``: seconds an answer may take. Raises TimeoutError if a process is there and does not accept it.
    """
    try:
        async with asyncio.timeout(ACCEPT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(_address(home), limit=MOST_EVENT_BYTES)
    except TimeoutError:
        raise
    except OSError:  # no socket, or one that a killed process left
        return None
    running = RunningProcess(reader, writer, deadline + SPARE_SECONDS)
    with suppress(OSError):
        writer.write(to_json(request, Request).encode() + b"\n")
    if not await running.is_accepted():
        raise TimeoutError
    return running
