"""The terminal's socket, without a process: who can open it, who has it, and how requests end."""

import asyncio
import logging
import socket
import stat
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot import terminal_socket
from bot.settings import Settings
from bot.stores import cancel
from bot.terminal_socket import (
    OtherFootnote,
    RunningProcess,
    TerminalQuestion,
    ask_running_process,
    serve_terminal,
    settings_given,
)
from core.model.errors import FootnoteError
from core.model.events import AgentEvent, Noticed
from core.model.inquiry import AnswerPolicy


class Questions:
    """Answers with two notices, the second one once ``gate`` is open."""

    def __init__(self, *notices: str, error: Exception | None = None) -> None:
        self.notices = notices or ("first", "last")
        self.error = error
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.left = asyncio.Event()  # the answer's stream has ended
        self.reflected = asyncio.Event()

    async def ask(self, _question: object) -> AsyncGenerator[AgentEvent, None]:
        try:
            for notice in self.notices[:-1]:
                yield Noticed(notice)
            if self.error is not None:
                raise self.error
            self.begun.set()
            await self.gate.wait()
            yield Noticed(self.notices[-1])
        finally:
            self.left.set()

    async def reflect(self, *_of: object) -> None:
        await asyncio.sleep(0.2)
        self.reflected.set()


def footnote(home: Path, questions: Questions, **given: Any) -> Any:
    """The parts of Footnote that the socket uses."""

    async def only(_base: str | None) -> None:
        return None

    settings = Settings(_env_file=None, footnote_home=home, **given)  # type: ignore[call-arg]
    return SimpleNamespace(settings=settings, question_service=questions, policy=AnswerPolicy(), only=only)


@asynccontextmanager
async def serving(home: Path, questions: Questions, **given: Any) -> AsyncIterator["asyncio.Task[None]"]:
    before = inode(home)
    task = asyncio.create_task(serve_terminal(footnote(home, questions, **given), 20))
    while inode(home) == before:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.01)
    try:
        yield task
    finally:
        questions.gate.set()
        await cancel(task)


def inode(home: Path) -> int:
    address = home / "terminal.sock"
    return address.lstat().st_ino if address.is_socket() and not address.is_symlink() else 0


async def ask(home: Path, **given: str) -> RunningProcess:
    running = await ask_running_process(home, TerminalQuestion("When?", "thread"), given)
    assert running is not None
    return running


async def notices(running: RunningProcess) -> list[str]:
    return [event.text async for event in running.events() if isinstance(event, Noticed)]


@pytest.mark.parametrize("before", ["file", "link", "broken link", "socket"])
async def test_replaces_what_is_in_its_place_by_a_socket_for_the_owner(tmp_path: Path, before: str) -> None:
    address, other = tmp_path / "terminal.sock", tmp_path / "other"
    other.write_text("kept")
    if before == "file":
        address.write_text("")
    elif before == "socket":
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(address))
    else:
        address.symlink_to(other if before == "link" else tmp_path / "missing")
    questions = Questions()
    questions.gate.set()
    async with serving(tmp_path, questions):
        assert stat.S_IMODE(address.lstat().st_mode) == 0o600
        assert await notices(await ask(tmp_path)) == ["first", "last"]
    assert [one.name for one in tmp_path.iterdir()] == ["other"]
    assert other.read_text() == "kept"


async def test_serves_without_a_socket_where_none_can_be_made(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    deep = tmp_path / ("a" * 100)
    deep.mkdir()
    (tmp_path / "terminal.sock").mkdir()
    with caplog.at_level(logging.WARNING):
        for home in (deep, tmp_path):
            await serve_terminal(footnote(home, Questions()))
    assert [record.message for record in caplog.records] == ["terminal_socket_left_out"] * 2
    assert list(deep.iterdir()) == []
    assert await ask_running_process(deep, TerminalQuestion("When?", "thread")) is None


async def test_the_newest_process_has_the_socket_and_takes_it_away(tmp_path: Path) -> None:
    older, newer = Questions("older", "o"), Questions("newer", "n")
    newer.gate.set()
    async with serving(tmp_path, older) as first, serving(tmp_path, newer) as second:
        await cancel(first)
        assert await notices(await ask(tmp_path)) == ["newer", "n"]
        await cancel(second)
        assert await ask_running_process(tmp_path, TerminalQuestion("When?", "thread")) is None


async def test_a_running_question_is_answered_before_the_process_ends(tmp_path: Path) -> None:
    questions = Questions()
    async with serving(tmp_path, questions) as task:
        answer = asyncio.create_task(notices(await ask(tmp_path)))
        await questions.begun.wait()
        task.cancel()
        await asyncio.sleep(0.05)
        assert not (tmp_path / "terminal.sock").exists()
        questions.gate.set()
        assert await answer == ["first", "last"]
        await asyncio.wait({task})
    assert questions.reflected.is_set()


async def test_summarizes_the_thread_after_the_client_has_left(tmp_path: Path) -> None:
    questions = Questions()
    questions.gate.set()
    async with serving(tmp_path, questions):
        await notices(await ask(tmp_path))
        async with asyncio.timeout(20):
            await questions.reflected.wait()


async def test_a_client_that_leaves_ends_its_question(tmp_path: Path) -> None:
    questions = Questions()
    async with serving(tmp_path, questions):
        running = await ask(tmp_path)
        async for _ in running.events():
            break
        running.close()
        async with asyncio.timeout(20):
            await questions.left.wait()
    assert not questions.reflected.is_set()


async def test_a_client_that_does_not_read_ends_its_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_socket, "WRITE_SECONDS", 0.1)
    questions = Questions(*["a" * 500_000] * 20)
    async with serving(tmp_path, questions):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(tmp_path / "terminal.sock"))
            client.sendall(terminal_socket.call_line(TerminalQuestion("When?", "thread"), {}))
            async with asyncio.timeout(20):
                await questions.left.wait()
    assert not questions.begun.is_set()


async def test_reports_an_error_of_the_system_and_logs_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with serving(tmp_path, Questions(error=TimeoutError())):
        with pytest.raises(FootnoteError, match="failed unexpectedly"):
            await notices(await ask(tmp_path))
    assert "terminal_question_failed" in caplog.text


async def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(tmp_path, Questions()):
        line = terminal_socket.call_line(TerminalQuestion("When?", "thread"), {})
        monkeypatch.setattr(terminal_socket, "call_line", lambda *_: line.replace(b'"version":"', b'"version":"0.'))
        with pytest.raises(OtherFootnote, match="another version"):
            await ask(tmp_path)


async def test_settings_that_the_command_was_given_must_be_those_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = Questions()
    questions.gate.set()
    async with serving(tmp_path, questions, llm_model="house", llm_api_key="k", reasoner=""):
        monkeypatch.setenv("LLM_MODEL", "house")
        monkeypatch.setenv("HTTP_PORT", "9")  # decides no answer
        same = settings_given(Settings(_env_file=None))  # type: ignore[call-arg]
        assert await notices(await ask(tmp_path, **same)) == ["first", "last"]
        monkeypatch.setenv("LLM_API_KEY", "other-key")
        monkeypatch.setenv("MILVUS_URI", "http://other:19530")
        other = settings_given(Settings(_env_file=None))  # type: ignore[call-arg]
        assert "other-key" not in str(other)
        with pytest.raises(OtherFootnote, match="has another LLM_API_KEY and MILVUS_URI"):
            await ask(tmp_path, **other)
