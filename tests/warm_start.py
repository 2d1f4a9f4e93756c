"""Start ``python -m bot`` by forking a process that has imported everything, which saves seconds of processor time.

The fork is a child of the test process with the environment, folder and streams that it is given, so tests and asyncio
wait for it and signal it as for any other. ``python -m tests.warm_start FD`` is the process that forks.
"""

import ctypes
import gc
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODULES = ("bot", "tests.live.job_process")
IMPORTED = (
    "adapters.encoders",
    "adapters.milvus",
    "adapters.redis",
    "adapters.slack",
    "adapters.discord",
    "bot.cli",
    "core",
)
APPLIED = {"PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE"}  # what Python reads at its start
PR_SET_CHILD_SUBREAPER = 36
REQUEST_BYTES = 1_000_000
DEFAULTS = [True, None, None, None, -1]  # Popen's restore_signals, gid, gids, uid, umask


class WarmStarts:
    """Takes over from ``Popen._execute_child`` for the commands that it can start."""

    def __init__(self) -> None:
        self.paused = False
        self._lock = threading.Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._execute_child: Any = None

    def install(self) -> None:
        """Patch Popen, which asyncio uses too. Forks are handed to a new parent on Linux alone."""
        if sys.platform == "linux":
            self._execute_child = subprocess.Popen._execute_child  # type: ignore[attr-defined]

            def execute_child(popen: Any, *given: Any) -> None:
                self._start(popen, *given)

            subprocess.Popen._execute_child = execute_child  # type: ignore[attr-defined]

    def _start(self, popen: Any, *given: Any) -> None:
        args, _, preexec_fn, _, pass_fds, cwd, env, _, _, shell, *more = given
        unusual = self.paused or preexec_fn or pass_fds or shell or more[6:11] != DEFAULTS or more[12] != -1
        if unusual or not _is_known(args, env or os.environ):
            self._execute_child(popen, *given)
            return
        pipes = more[:6]
        streams = [own if pipe == -1 else pipe for own, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        request = {"module": args[2], "args": args[3:], "cwd": str(cwd or Path.cwd()), "env": dict(env or os.environ)}
        request["new_session"] = more[11]
        request["ignored"] = [
            sent for sent in (signal.SIGHUP, signal.SIGINT) if signal.getsignal(sent) == signal.SIG_IGN
        ]
        popen.pid = self._fork(json.dumps(request).encode(), streams)
        popen._child_created = True
        popen._close_pipe_fds(*pipes)

    def _fork(self, request: bytes, streams: list[int]) -> int:
        with self._lock:
            if self._requests is None:
                self._server, self._requests = _start_server()
            _adopt_orphans(adopted=True)
            try:
                socket.send_fds(self._requests, [request], streams)
                return int(self._requests.recv(20))
            finally:
                _adopt_orphans(adopted=False)

    def close(self) -> None:
        """End the process that forks."""
        if self._server is not None and self._requests is not None:
            self._requests.close()
            self._server.wait()


def _is_known(args: Any, env: Any) -> bool:
    """Whether it is one of the modules, in an environment that this process can take on without a start of Python."""
    if isinstance(args, str | bytes) or [*args[:2]] != [sys.executable, "-m"] or args[2] not in MODULES:
        return False
    locale = all(env.get(name) == os.environ.get(name) for name in ("LANG", "LC_ALL", "LC_CTYPE") if name in env)
    return locale and not any(name.startswith("PYTHON") and name not in APPLIED for name in env)


def _adopt_orphans(*, adopted: bool) -> None:
    """Make this process the parent of what its descendants leave behind, or not any more."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, int(adopted), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _start_server() -> tuple["subprocess.Popen[bytes]", socket.socket]:
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        command = [sys.executable, "-m", "tests.warm_start", str(its.fileno())]
        env = os.environ | {"OMP_NUM_THREADS": "1"}
        server = subprocess.Popen(command, cwd=ROOT, env=env, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
    return server, ours


def serve(requests: socket.socket) -> dict[str, Any]:
    """Fork once for each request until the tests end; returns the request in the forked process."""
    tests = os.getppid()
    while True:
        request, streams, *_ = socket.recv_fds(requests, REQUEST_BYTES, 3)
        if not request:
            os._exit(0)
        if (between := os.fork()) == 0:
            if os.fork():
                os._exit(0)  # which leaves its child to the tests
            while os.getppid() != tests:
                os.sched_yield()
            requests.send(str(os.getpid()).encode())
            requests.close()
            for own, stream in enumerate(streams):
                os.dup2(stream, own)
                os.close(stream)
            return dict(json.loads(request))
        os.waitpid(between, 0)
        for stream in streams:
            os.close(stream)


def become(request: dict[str, Any], paths: list[str]) -> None:
    """Take on what a process is started with."""
    env = request["env"]
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    tempfile.tempdir = None
    if request["new_session"]:
        os.setsid()
    os.chdir(request["cwd"])
    sys.argv[1:] = request["args"]
    sys.path[:] = [request["cwd"], *filter(None, env.get("PYTHONPATH", "").split(os.pathsep)), *paths]
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ignored in request["ignored"]:
        signal.signal(ignored, signal.SIG_IGN)
    stdout, stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False, errors="backslashreplace")
    stdout.reconfigure(write_through=bool(env.get("PYTHONUNBUFFERED")), line_buffering=stdout.isatty())
    stderr.reconfigure(line_buffering=True)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0, closefd=False), stdout, stderr


def import_all() -> None:
    """Import what a serving process does; nothing may start a thread."""
    from adapters.milvus.connection import _pymilvus

    _pymilvus()
    for name in IMPORTED:
        package = import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
    gc.freeze()


if __name__ == "__main__":
    mine = {str(ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    inherited = [path for path in sys.path if path not in mine]
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        import_all()
        wanted = serve(connection)
    become(wanted, inherited)
    runpy.run_module(wanted["module"], run_name="__main__", alter_sys=True)
