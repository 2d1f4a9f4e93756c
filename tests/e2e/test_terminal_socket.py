"""``footnote ask`` answered by the process that serves the data directory, over its socket."""

import asyncio
import json
import re
import socket
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.terminal_socket import MOST_REQUEST_BYTES, MOST_REQUESTS, TerminalQuestion, ask_running_process
from core.model.errors import Unavailable
from tests.e2e.test_slack_process import ROOT, STARTING, end_server, environment, free_port
from tests.sample_home import copy_sample_home

pytestmark = [pytest.mark.e2e, pytest.mark.live, pytest.mark.timeout(400)]
QUESTION = "When are refunds paid?"
LIBRARY = "torch\n"  # loading it is what takes seconds


def footnote(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command; standard error lists the modules it imports, too."""
    command = [sys.executable, "-X", "importtime", "-m", "bot", *words]
    return subprocess.run(
        command, env=environment(home), cwd=ROOT, capture_output=True, text=True, check=False, timeout=200
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    home = tmp_path_factory.mktemp("served") / "home"
    copy_sample_home(tmp_path_factory, worker_id, home)
    return home


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Path]:
    """A data directory with a serving process whose models are loaded."""
    env = environment(home) | {"HTTP_PORT": str(free_port())}
    process = subprocess.Popen([sys.executable, "-m", "bot", "web"], env=env, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        asyncio.run(_until_listening(home / "terminal.sock", process))
        yield home
    finally:
        process.terminate()
        process.wait(timeout=60)
    assert not (home / "terminal.sock").exists()
    asyncio.run(end_server(home))


async def _until_listening(address: Path, process: "subprocess.Popen[bytes]") -> None:
    async with asyncio.timeout(STARTING):
        while not address.exists():
            assert process.poll() is None
            await asyncio.sleep(0.2)


def test_the_socket_is_for_the_owner_alone(served: Path) -> None:
    assert stat.S_IMODE((served / "terminal.sock").stat().st_mode) == 0o600


def test_a_question_is_answered_without_loading_a_model(served: Path) -> None:
    asked = footnote(served, "ask", QUESTION, "--json")
    assert asked.returncode == 0
    answer = json.loads(asked.stdout)
    assert answer["outcome"] == "answered"
    assert "five working days" in answer["answer"]
    assert LIBRARY not in asked.stderr


def test_a_thread_goes_on(served: Path) -> None:
    footnote(served, "ask", QUESTION, "--thread", "refunds")
    kept = footnote(served, "forget", "--thread", "refunds")
    assert kept.stdout == "Forgot the thread refunds.\n"


def test_an_unknown_base_and_an_unknown_checkpoint_are_named(served: Path) -> None:
    refused = footnote(served, "ask", QUESTION, "--kb", "nope")
    assert refused.returncode == 2
    assert "There is no knowledge base called 'nope'. Available: samples. See: footnote ask --help" in refused.stderr
    gone = footnote(served, "resume", "nope", "1")
    assert gone.returncode == 1
    assert "There is no open checkpoint nope. It may have been answered already." in gone.stderr


async def test_other_clients_are_disconnected_and_the_next_question_is_answered(served: Path) -> None:
    for sent in (b"\n", b"{}\n", b"GET / HTTP/1.1\r\n\r\n", b"x" * (MOST_REQUEST_BYTES + 1)):
        reader, writer = await asyncio.open_unix_connection(served / "terminal.sock")
        writer.write(sent)
        async with asyncio.timeout(20):
            assert await _rest(reader) == b""
        writer.close()
    assert await answered(served) == "AGENT_COMPLETED"


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionResetError:  # it closed before it had read everything
        return b""


async def test_connections_are_bounded_and_free_again_once_closed(served: Path) -> None:
    idle = [await asyncio.open_unix_connection(served / "terminal.sock") for _ in range(MOST_REQUESTS)]
    with pytest.raises(TimeoutError):
        await ask_running_process(served, TerminalQuestion(QUESTION, "one-more"))
    for _, writer in idle:
        writer.close()
    await asyncio.sleep(0.5)
    assert await answered(served) == "AGENT_COMPLETED"


async def answered(home: Path) -> str:
    running = await ask_running_process(home, TerminalQuestion(QUESTION, "direct"))
    assert running is not None
    return [event.kind async for event in running.events()][-1]


@pytest.fixture
async def silent(home: Path) -> AsyncIterator[Path]:
    """A process on the socket that accepts connections and never answers."""
    (home / "terminal.sock").unlink(missing_ok=True)

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_unix_server(wait, home / "terminal.sock"):
        yield home
    (home / "terminal.sock").unlink(missing_ok=True)


async def test_a_silent_process_is_reported_in_one_line_and_the_models_are_loaded(silent: Path) -> None:
    asked = await asyncio.to_thread(footnote, silent, "ask", QUESTION, "--json")
    lines = [line for line in asked.stderr.splitlines() if not re.match(r"import time: ", line)]
    assert lines[:1] == [
        "The running Footnote does not answer here. Loading the models instead, which takes some seconds."
    ]
    assert json.loads(asked.stdout)["outcome"] == "answered"
    assert LIBRARY in asked.stderr


async def test_reports_a_process_that_ends_before_it_has_answered(tmp_path: Path) -> None:
    async def accept_and_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"{}\n")
        writer.close()

    async with await asyncio.start_unix_server(accept_and_end, tmp_path / "terminal.sock"):
        with pytest.raises(Unavailable, match="stopped answering"):
            await answered(tmp_path)


def test_a_socket_that_a_killed_process_left_is_ignored(home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(home / "terminal.sock"))
    asked = footnote(home, "ask", QUESTION, "--json")
    (home / "terminal.sock").unlink()
    assert "does not answer" not in asked.stderr
    assert json.loads(asked.stdout)["outcome"] == "answered"
    asyncio.run(end_server(home))
