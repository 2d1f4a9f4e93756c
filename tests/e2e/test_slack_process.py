"""The real process, started as a user starts it, against a real HTTP and WebSocket Slack."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from adapters.redis.embedded_server import EmbeddedValkey
from tests.fakes.slack import FakeSlack, Message, specs_are_here
from tests.sample_home import copy_sample_home

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "bot" / "samples" / "documents"
STARTING = 120.0  # seconds; the model is loaded on a machine that has other things to do

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not specs_are_here(), reason="Slack's method descriptions are not beside this checkout"),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Path]:
    """A data directory with the sample documents in it."""
    home = tmp_path_factory.mktemp("footnote") / "home"
    copy_sample_home(tmp_path_factory, worker_id, home)
    yield home
    asyncio.run(end_server(home))


async def end_server(home: Path) -> None:
    """A killed bot leaves its embedded Valkey to the next start; after the last one nobody would end it."""
    async with EmbeddedValkey(home / "valkey"):
        pass


def environment(home: Path) -> dict[str, str]:
    """What the process is started with: nothing of this test's own but where things are."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    return kept | {"FOOTNOTE_HOME": str(home), "OMP_NUM_THREADS": "1", "HTTP_HOST": "127.0.0.1"}


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack(retry_delays=(0.5, 1.0, 2.0, 4.0, 8.0)) as workspace:
        yield workspace


@asynccontextmanager
async def serving(home: Path, slack: FakeSlack, *, port: int = 0, **more: str) -> AsyncIterator[Process]:
    """The bot, connected; killed at the end unless it is gone by then."""
    sockets = slack.sockets.opened
    env = environment(home) | slack.environment() | {"HTTP_PORT": str(port or free_port())} | more
    command = [sys.executable, "-m", "bot", "serve"]
    process = await asyncio.create_subprocess_exec(*command, env=env, cwd=ROOT, stdout=DEVNULL)
    try:
        if slack.request_url is None:
            await slack.until(lambda: slack.sockets.opened > sockets, STARTING, what="a connection")
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def answered(slack: FakeSlack, question: Message, containing: str, within: float = 60.0) -> Message:
    return await slack.reply_to(question, within, until=lambda one: containing in one.markdown)


async def adding_slowly(slack: FakeSlack) -> Message:
    """An admin adds a file, which takes its time; the card of that, once the work has begun."""
    ada = slack.person("ada")
    slack.faults.slow("files.info", 60.0)
    await ada.slash("/kb", "", "general")
    await ada.submits(await ada.next_modal(), {"files": [("lift.md", b"# Lift\n\nThe lift is inspected in spring.")]})
    await slack.until(lambda: slack.calls_of("files.info") and slack.visible(ada.dm), STARTING, what="a job under way")
    (card,) = slack.visible(ada.dm)
    return card


async def test_in_socket_mode_it_answers_outlives_a_kill_and_drains(home: Path, slack: FakeSlack) -> None:
    alice = slack.person("alice")
    async with serving(home, slack) as process:
        question = await alice.says("<@bot> who approves refunds?", "general")
        answer = await answered(slack, question, "Show quotes")
        assert "Finance lead" in answer.markdown
        await alice.clicks(answer, "Show quotes")
        await alice.modal_shows("Finance lead")
        slack.faults.slow("chat.appendStream", 3.0)
        slack.faults.slow("chat.stopStream", 3.0)
        second = await alice.says("<@bot> how are refunds paid?", "general")
        await slack.until(lambda: slack.answers_to(second), STARTING)
        card = await adding_slowly(slack)
        process.kill()
        await process.wait()
    slack.faults.clear()
    async with serving(home, slack) as process:
        await answered(slack, second, "Show quotes")
        assert len(slack.answers_to(second)) == 1
        assert len(slack.answers_to(question)) == 1
        await slack.until(lambda: "Done" in card.markdown, 60, what="the end of the job that was interrupted")
        assert "1 added" in card.markdown
        assert slack.visible(slack.person("ada").dm) == [card]
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), STARTING) == 0
    assert slack.violations == []


async def test_two_processes_share_the_work_and_answer_once(home: Path, slack: FakeSlack) -> None:
    async with serving(home, slack), serving(home, slack):
        assert len(slack.sockets.connections) == 2
        asked = [await slack.person("alice").says("<@bot> who approves refunds?", "general") for _ in range(4)]
        for question in asked:
            slack.faults.redeliver(question, 4)
        for question in asked:
            await answered(slack, question, "Show quotes")
            assert len(slack.answers_to(question)) == 1
    assert slack.violations == []


async def test_over_http_it_answers_signed_requests_alone(home: Path, slack: FakeSlack) -> None:
    port = free_port()
    slack.request_url = f"http://127.0.0.1:{port}/slack/events"
    async with serving(home, slack, port=port):
        question = await slack.person("alice").says("<@bot> who approves refunds?", "general")  # Slack tries again
        await answered(slack, question, "Show quotes", within=STARTING)
        slack.http.signature = "wrong"
        forged = await slack.person("bob").says("<@bot> who approves refunds?", "general")
        await slack.until(lambda: all(d.attempts and d.attempts[0].status for d in slack.deliveries_of(forged)))
        assert {d.attempts[0].status for d in slack.deliveries_of(forged)} == {401}
        slack.http.signature = "valid"
    assert slack.violations == []


def is_running(pid: int) -> bool:
    """Whether a process works. One that has ended may wait for whoever is to take note of it."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except ProcessLookupError:
        return False
    except FileNotFoundError:  # gone meanwhile, or a system without /proc, where to be there is to work
        return not Path("/proc").exists()


async def test_a_terminal_that_is_closed_leaves_no_server_behind(tmp_path: Path, slack: FakeSlack) -> None:
    async with serving(tmp_path, slack) as process:
        valkey = EmbeddedValkey(tmp_path / "valkey").pid
        assert valkey is not None
        process.send_signal(signal.SIGHUP)
        assert await asyncio.wait_for(process.wait(), 60) == 0
    async with asyncio.timeout(60):
        while is_running(valkey):
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("processes", [1, 2])
async def test_killed_again_and_again_every_question_has_one_outcome(home: Path, processes: int) -> None:
    """A small piece of ``python -m research.measure.kills``; of two on one home one is killed each time."""
    from research.measure.kills import Slack, measure  # which takes its helpers from here

    found = await measure(Slack(), home, seed=4, kills=3, questions=12, processes=processes)
    assert found == {"answered": 12}
