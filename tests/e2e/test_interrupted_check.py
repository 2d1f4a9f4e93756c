"""``footnote check``, interrupted while it works."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.demo import SAMPLES


def children_of(pid: int) -> list[int]:
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text(encoding="utf-8").split():
            found += [int(child), *children_of(int(child))]
    return found


@pytest.mark.e2e
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for child processes in /proc")
def test_an_interrupted_check_leaves_no_index_and_no_server_behind(tmp_path: Path) -> None:
    tests = tmp_path / "tests.yaml"
    questions = [{"ask": f"How many days of leave in year {n}?", "has": "27"} for n in range(100)]
    tests.write_text(json.dumps({"documents": str(SAMPLES / "documents"), "tests": questions}))
    command = [sys.executable, "-m", "bot", "check", str(tests)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        until = time.monotonic() + 60
        while not (list(tmp_path.glob("footnote-eval-*/milvus.db*")) and children_of(process.pid)):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        children = children_of(process.pid)
        assert children
        os.killpg(process.pid, signal.SIGINT)
        shown, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert b"Traceback" not in shown
    assert not list(tmp_path.glob("footnote-eval-*"))
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
