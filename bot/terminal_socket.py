"""A Unix socket in the data directory, where a serving process answers the questions typed in a terminal.

The process has its models loaded already, so an answer takes a fraction of a second. Only the owner of the data
directory can open the socket, and has the rights of the person at the terminal. The client sends one line of JSON, the
request. The process sends lines back: one that accepts or refuses it, the answer's events or an error, then the end.
"""

import asyncio
import errno
import hashlib
import logging
import secrets
import socket
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

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
    from bot.settings import Settings

ACCEPT_SECONDS = 2.0  # then the command loads the models itself
REQUEST_SECONDS = 5.0
WRITE_SECONDS = 10.0
SPARE_SECONDS = 30.0  # beyond ANSWER_DEADLINE, for a checkpoint's text or a slow machine
MOST_REQUESTS = 8  # at once
MOST_REQUEST_BYTES = 64 * 1024  # a question has at most 4,000 characters
MOST_EVENT_BYTES = 8 * 1024 * 1024
MOST_PATH_BYTES = 100  # a socket's address holds 104 bytes on macOS, 108 on Linux
EVERYTHING = Audience(unrestricted=True)
COMPARED = (  # settings that decide an answer begin like this
    *("redis_", "milvus_", "blob_store_", "reasoner", "llm_", "embedding_", "reranker_"),
    *("profile", "behaviour", "follow_ups", "answer_"),
)
NOT_ANSWERING = "The running Footnote does not answer here."
OTHER_VERSION = "The running Footnote has another version."
LOADING = "Loading the models instead, which takes some seconds."
FAILED = "The running Footnote failed unexpectedly; its log has the details."

log = logging.getLogger(__name__)


class WrongCall(FootnoteError):
    """The request names something that does not exist."""


class OtherFootnote(FootnoteError):
    """The process that serves has another version, or other settings than the client was given."""


class _ClientGone(ConnectionError):
    """The client does not read."""


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
    """One line to the client: an event, an error with its remedy, or the end. Without any, the request is accepted.

    ``deadline``: seconds an answer may take, when it is accepted.
    """

    event: AgentEvent | None = None
    error: str = ""
    remedy: str | None = None
    wrong_call: bool = False
    is_end: bool = False
    deadline: float = 0.0


Request = TerminalQuestion | TerminalChoice


@dataclass(frozen=True, slots=True)
class _Call:
    """A request, with the client's version and digests of the settings that it was given."""

    request: Request
    version: str
    settings: Mapping[str, str]


def settings_given(settings: "Settings") -> dict[str, str]:
    """Return digests of the settings that somebody set and that decide an answer."""
    return _digests(settings, [name for name in settings.model_fields_set if name.startswith(COMPARED)])


def _digests(settings: "Settings", names: Collection[str]) -> dict[str, str]:
    return {name: hashlib.sha256(_plain(getattr(settings, name, None)).encode()).hexdigest() for name in names}


def _plain(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


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


async def serve_terminal(footnote: "Footnote", drain_seconds: float = 0.0) -> None:
    """Answer requests on the socket until cancelled; running ones may then go on for ``drain_seconds``.

    The newest process of a data directory has the socket. Without one, commands load the models themselves.
    """
    address = _address(footnote.settings.home)
    try:
        listening = _bind(address)
    except OSError as error:  # a file system without sockets, a long path, a folder in its place
        log.warning("terminal_socket_left_out", extra={"reason": error.strerror or str(error)})
        return
    own = address.lstat().st_ino
    desk = _Desk(footnote)
    server = await asyncio.start_unix_server(desk.receive, sock=listening, limit=MOST_REQUEST_BYTES)
    try:
        await asyncio.Event().wait()
    finally:
        with suppress(OSError):
            if address.lstat().st_ino == own:
                address.unlink()
        server.close()
        await desk.drain(drain_seconds)


def _address(home: Path) -> Path:
    return home / "terminal.sock"


def _bind(address: Path) -> socket.socket:
    """Return a socket that only its owner can open, in place of what was at the address. Raises OSError.

    It has its mode before its name, and its name before it listens.
    """
    if len(bytes(address)) > MOST_PATH_BYTES:
        raise OSError(errno.ENAMETOOLONG, "the data directory's path is too long")
    first = address.with_name(f"{secrets.token_hex(4)}.sock")  # as long as the final name
    bound = socket.socket(socket.AF_UNIX)
    try:
        bound.bind(bytes(first))
        first.chmod(0o600)
        first.replace(address)
    except OSError:
        bound.close()
        first.unlink(missing_ok=True)
        raise
    return bound


@dataclass(eq=False, slots=True)
class _Desk:
    """The connections of one serving process."""

    footnote: "Footnote"
    working: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def receive(self, reader: "StreamReader", writer: "StreamWriter") -> None:
        """Answer one connection; stop when the client closes it."""
        task = asyncio.current_task()
        try:
            if task is not None and len(self.working) < MOST_REQUESTS:
                self.working.add(task)
                task.add_done_callback(self.working.discard)
                await self._answer(reader, writer)
        except (ValueError, OSError, EOFError, asyncio.LimitOverrunError):  # not our client, or a slow one
            return
        except asyncio.CancelledError:  # by ``drain``; Python 3.11 would log the cancelled task as an error
            return
        finally:
            writer.close()

    async def drain(self, seconds: float) -> None:
        """Let running requests end, then cancel them."""
        working = set(self.working)
        try:
            if working:
                await asyncio.wait(working, timeout=seconds)
        finally:
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    async def _answer(self, reader: "StreamReader", writer: "StreamWriter") -> None:
        from bot.stores import cancel

        async with asyncio.timeout(REQUEST_SECONDS):
            call: _Call = from_json(_Call, await reader.readuntil(b"\n"))
        refusal = self._refusal(call)
        await _send(writer, _Reply(error=refusal, deadline=self.footnote.settings.answer_deadline))
        if refusal:
            return
        answering = asyncio.create_task(self._stream(call.request, writer))
        closed = asyncio.create_task(reader.read(1))  # ends when the client closes or sends more
        try:
            ended, _ = await asyncio.wait({answering, closed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel(answering)
            closed.cancel()
        if answering in ended and (thread := answering.result()) is not None:
            await _send(writer, _Reply(is_end=True))
            await self._reflect(thread)  # the client does not wait for it

    def _refusal(self, call: _Call) -> str:
        """Return why the client must not be answered here; empty if it may."""
        if call.version != version("footnote"):
            return OTHER_VERSION
        own = _digests(self.footnote.settings, call.settings)
        other = sorted(name.upper() for name, digest in call.settings.items() if own[name] != digest)
        return f"The running Footnote has another {' and '.join(other)}." if other else ""

    async def _stream(self, request: Request, writer: "StreamWriter") -> ThreadKey | None:
        """Send the events of a request, or its error. Return its thread if it was answered."""
        try:
            thread, events = await open_request(self.footnote, request)
            async with aclosing(events) as stream:
                async for event in stream:
                    await _send(writer, _Reply(event))
        except _ClientGone:
            raise
        except FootnoteError as error:
            wrong = isinstance(error, WrongCall)
            await _send(writer, _Reply(error=error.args[0], remedy=error.remedy, wrong_call=wrong))
        except Exception:
            log.exception("terminal_question_failed")
            await _send(writer, _Reply(error=FAILED))
        else:
            return thread
        return None

    async def _reflect(self, thread: ThreadKey) -> None:
        try:
            await self.footnote.question_service.reflect(thread, EVERYTHING)
        except Exception:
            log.exception("terminal_reflection_failed")


async def _send(writer: "StreamWriter", reply: _Reply) -> None:
    """Send one line. Raises _ClientGone if the client does not take it."""
    writer.write(to_json(reply).encode() + b"\n")
    try:
        async with asyncio.timeout(WRITE_SECONDS):
            await writer.drain()
    except OSError:
        writer.transport.abort()  # closing it would wait for the client
        raise _ClientGone from None


# --- the command


@dataclass(eq=False, slots=True)
class RunningProcess:
    """A connection to the serving process, which has accepted a request."""

    _reader: "StreamReader"
    _writer: "StreamWriter"
    _deadline: float = 0.0

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
            async with asyncio.timeout(self._deadline + SPARE_SECONDS):
                reply: _Reply = from_json(_Reply, await self._reader.readline())
        except (OSError, ValueError):  # silent, or ended, which is an empty line
            raise Unavailable("The running Footnote stopped answering.", remedy="Ask again.") from None
        return reply

    def close(self) -> None:
        """End the request, which the process then stops."""
        self._writer.close()

    async def accept(self) -> None:
        """Wait for the first line. Raises TimeoutError if it does not come in time, and OtherFootnote."""
        try:
            async with asyncio.timeout(ACCEPT_SECONDS):
                reply: _Reply = from_json(_Reply, await self._reader.readline())
        except (OSError, ValueError):
            self._writer.close()
            raise TimeoutError from None
        if reply.error:
            self._writer.close()
            raise OtherFootnote(reply.error)
        self._deadline = reply.deadline


def call_line(request: Request, settings: Mapping[str, str]) -> bytes:
    """Return the line that asks for an answer by a process of this version with these settings."""
    return to_json(_Call(request, version("footnote"), settings)).encode() + b"\n"


async def ask_running_process(
    home: Path, request: Request, settings: Mapping[str, str] | None = None
) -> RunningProcess | None:
    """Send a request to the process that serves this data directory. Return None if there is none.

    ``settings``: ``settings_given`` to the client, which the process must have too. Raises TimeoutError if a process is
    there and does not accept the request, and OtherFootnote.
    """
    try:
        async with asyncio.timeout(ACCEPT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(_address(home), limit=MOST_EVENT_BYTES)
    except TimeoutError:
        raise
    except OSError:  # no socket, or one that a killed process left
        return None
    running = RunningProcess(reader, writer)
    with suppress(OSError):
        writer.write(call_line(request, settings or {}))
    await running.accept()
    return running
