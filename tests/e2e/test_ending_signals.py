"""A signal while the models load, which nothing can interrupt: the real process ends in its own way, and closes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.redis.embedded_server import EmbeddedValkey

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0  # seconds; a model that is being loaded is loaded to its end first

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.live,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="what a process has loaded is looked for in /proc"),
]

IN_THE_BACKGROUND = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")  # as behind & in a script, which ignores SIGINT


@contextmanager
def started(home: Path, *command: str, behind: Sequence[str] = ()) -> Iterator["subprocess.Popen[str]"]:
    """This command over this data directory, ``behind`` another; killed in the end unless it is gone by then."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG", "TMPDIR"}}
    process = subprocess.Popen(
        [*behind, sys.executable, "-m", "bot", *command],
        env=kept | {"FOOTNOTE_HOME": str(home), "HTTP_PORT": "0"},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        asyncio.run(end_store(home))


async def end_store(home: Path) -> None:
    """End the embedded Valkey of a process that could not."""
    async with EmbeddedValkey(home / "valkey"):
        pass


def wait_until_loading(process: "subprocess.Popen[str]") -> None:
    """Until torch is being imported: the model comes after it, seconds later."""
    maps, until = Path(f"/proc/{process.pid}/maps"), time.monotonic() + PATIENCE
    while "libtorch_cpu" not in maps.read_text(encoding="utf-8"):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "nothing is being loaded"
        time.sleep(0.02)


def wait_until_gone(pid: int | None) -> None:
    """Whoever adopts a process may take a while until it is no longer listed."""
    until = time.monotonic() + PATIENCE
    while pid is not None and Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until, "the store is still running"
        time.sleep(0.05)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_question_that_is_stopped_says_so_and_leaves_no_server_behind(tmp_path: Path, sent: signal.Signals) -> None:
    with started(tmp_path, "ask", "who approves refunds?") as process:
        wait_until_loading(process)
        store = EmbeddedValkey(tmp_path / "valkey").pid
        process.send_signal(sent)
        shown, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode, shown, said) == (130, "", "Stopped.\n")
        wait_until_gone(store)


def test_a_background_process_that_ignores_ctrl_c_ends_on_sigterm(tmp_path: Path) -> None:
    with started(tmp_path, "ask", "who approves refunds?", behind=IN_THE_BACKGROUND) as process:
        wait_until_loading(process)
        store = EmbeddedValkey(tmp_path / "valkey").pid
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        shown, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode, shown, said) == (130, "", "Stopped.\n")
        wait_until_gone(store)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_page_that_is_stopped_ends_well_and_leaves_no_server_behind(tmp_path: Path, sent: signal.Signals) -> None:
    with started(tmp_path, "web", "--port", "0") as process:
        wait_until_loading(process)
        store = EmbeddedValkey(tmp_path / "valkey").pid
        process.send_signal(sent)
        _, said = process.communicate(timeout=PATIENCE)
        assert (process.returncode, said) == (0, "")
        wait_until_gone(store)
