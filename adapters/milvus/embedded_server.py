"""Milvus Lite's server, shared by every process that uses one database file.

Two processes must not open the same file: the second would see an empty database and no error. The process with an
exclusive lock beside the file (the holder) starts the server and publishes its socket there. All others connect to that
socket. When the holder exits, the lock is released and the next caller becomes the holder. Everything here blocks, so
``MilvusConnection`` calls it in a thread. The client uses the same pymilvus code as for a server.
"""

import fcntl
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Collection
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from core.model.errors import ConfigurationError, DiskFull, StoreUnavailable

_NAME = re.compile(r"[a-zA-Z0-9.\-_]{1,36}")  # file names that Milvus Lite accepts
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SOCKET_LIMIT = 100  # bytes: sun_path holds 104 on macOS and 108 on Linux, with the terminating zero
_PLAIN_PATH = re.compile(r"[\w./+=@-]+", re.ASCII)  # gRPC parses it as a URL, so nothing that needs escaping
_PATIENCE = 30.0  # seconds until a server listens; it opens its data later, at the first call
# The server's logging library (glog) would log every call, 66 MB in a morning, in three new files per start in the
# system's temporary directory, which nobody removes. Log only errors, to our own log, which is truncated at each start.
_QUIET = {"GLOG_logtostderr": "1", "GLOG_minloglevel": "2"}
REFILL = "Move it away. Then footnote kb repair fills a new one, or footnote restore restores a backup."
RESERVE = 4 * 2**20  # bytes that stay free on the disk
_LOOKS = 10  # reads of the file before written rows count as missing
_PREDECESSOR = 5.0  # seconds for a server to notice that its holder was killed; it checks every two


class EmbeddedMilvus:
    """One process's access to the shared server of one database file."""

    def __init__(self, database: Path, collection: str = "") -> None:
        if not _NAME.fullmatch(database.name):
            raise ConfigurationError(
                f"Milvus Lite cannot use the file name {database.name!r}.",
                remedy="Set MILVUS_URI to a file name of at most 36 letters, digits, dots, dashes and underscores.",
            )
        self._database = database.absolute()
        self._collection = collection
        self._holder_path = self._database.with_name(f"{database.name}.holder")
        # The name that milvus_lite itself locks, so that a plain MilvusClient on the file is refused as well.
        self._life_path = self._database.with_name(f".{database.name}.lock")
        self._holder: IO[str] | None = None
        self._life: IO[str] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._socket: Path | None = None

    @property
    def is_server_owner(self) -> bool:
        """Whether this process runs the server."""
        return self._server is not None

    @property
    def has_died(self) -> bool:
        """Whether this process ran the server and the server has ended by itself."""
        server = self._server
        return server is not None and server.poll() is not None

    def address(self) -> str:
        """Return the address (``unix:/…``) of the running server; start one if needed. Raises StoreUnavailable."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            if self.has_died:
                self.close()
            if self._server is None and self._lock():
                self._start(until)
            found = str(self._socket) if self._server is not None else self._read_holder().get("socket", "")
            if found and _listens(found):
                return f"unix:{found}"
            time.sleep(0.05)
        raise StoreUnavailable(
            f"The embedded Milvus of {self._database} does not respond.",
            remedy="Another process has it open but does not respond. End that process and try again.",
        )

    def close(self) -> None:
        """Stop the server if it is ours; another process then takes over. Acknowledged rows are already on disk."""
        if self._server is not None:
            self._server.terminate()
            try:
                self._server.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait(timeout=5)
            self._server = None
        if self._socket is not None:
            self._socket.unlink(missing_ok=True)
            if self._socket.parent != self._database.parent:
                with suppress(OSError):
                    self._socket.parent.rmdir()
            self._socket = None
        for handle in (self._life, self._holder):
            if handle is not None:
                handle.close()
        self._life = self._holder = None

    def check_file(self) -> None:
        """Raise StoreUnavailable if the file is damaged."""
        if is_damaged(self._database):
            raise StoreUnavailable(f"The index in {self._database} is damaged.", remedy=REFILL)

    def check_room(self) -> None:
        """Raise DiskFull if less than the reserve is free, which Redis and the question log need."""
        if shutil.disk_usage(self._database.parent).free < RESERVE:
            raise DiskFull(self._database.parent)

    def check_stored(self, ids: Collection[str]) -> None:
        """Raise StoreUnavailable if some of these rows are missing in the file.

        The file is read without a lock ("immutable"), because Milvus Lite's writes fail while a reader holds a lock. A
        read during another write may be garbled, so it is retried a few times.
        """
        if not _IDENTIFIER.fullmatch(self._collection):
            return
        query = f'SELECT count(*) FROM "{self._collection}" WHERE milvus_id IN (SELECT value FROM json_each(?))'  # noqa: S608 - an identifier
        address, named = f"{self._database.as_uri()}?mode=ro&immutable=1", json.dumps(list(ids))
        for _ in range(_LOOKS):
            with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as database:
                if database.execute(query, [named]).fetchone()[0] == len(ids):
                    return
            time.sleep(0.05)
        self.check_room()
        raise StoreUnavailable(f"The index in {self._database} has lost data that was written to it.")

    def _lock(self) -> bool:
        self._database.parent.mkdir(parents=True, exist_ok=True)
        handle = self._holder_path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.close()
            return False
        self._holder = handle
        return True

    def _read_holder(self) -> dict[str, Any]:
        try:
            record = json.loads(self._holder_path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}  # missing, or being written
        return record if isinstance(record, dict) else {}

    def _start(self, until: float) -> None:
        assert self._holder is not None
        self._outlive_predecessor(self._read_holder())
        self._socket = self._choose_socket()
        self._life = self._life_path.open("a", encoding="utf-8")
        try:
            # The server exits once this lock is released, also when this process is killed, so it is never orphaned.
            fcntl.lockf(self._life, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.close()
            raise StoreUnavailable(
                f"{self._database} is open in another program.", remedy="Close that program and try again."
            ) from error
        self._index_row_ids()
        until = max(until, time.monotonic() + _PATIENCE / 2)
        try:
            self._server = self._launch()
        except OSError as error:
            self.close()
            raise StoreUnavailable(f"Milvus Lite does not start: {error}.") from error
        while not _listens(str(self._socket)):
            if self._server.poll() is not None or time.monotonic() > until:
                self.close()
                self.check_room()
                self.check_file()
                raise StoreUnavailable(
                    f"Milvus Lite ended as it opened {self._database}.", remedy=f"See {self._log_path}."
                )
            time.sleep(0.02)
        self._publish({"pid": self._server.pid, "socket": str(self._socket)})

    def _index_row_ids(self) -> None:
        """Create an SQLite index on row ids in the server's file.

        Milvus Lite has no such index: for each batch that replaces or deletes rows it reads the whole file and blocks
        all searches. At 100,000 rows a batch of 500 took 226 ms of CPU time without the index and 50 ms with it,
        growing with the file. The table is the one that Milvus Lite creates "if it does not exist". Nobody else has the
        file open: we hold both locks, and the server starts after this.
        """
        if not _IDENTIFIER.fullmatch(self._collection):
            return
        table, index = f'"{self._collection}"', f'"{self._collection}_milvus_id"'
        with suppress(sqlite3.Error), closing(sqlite3.connect(self._database, timeout=1.0)) as database:
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, milvus_id VARCHAR(1024), data BLOB)"
            )
            database.execute(f"CREATE INDEX IF NOT EXISTS {index} ON {table} (milvus_id)")
            database.commit()

    def _launch(self) -> "subprocess.Popen[bytes]":
        spec = find_spec("milvus_lite")
        if spec is None or not spec.submodule_search_locations:
            raise ConfigurationError(
                "Milvus Lite is not installed on this system.", remedy="Set MILVUS_URI to a Milvus server."
            )
        library = Path(spec.submodule_search_locations[0]) / "lib"
        paths = os.pathsep.join(filter(None, (str(library), os.environ.get("LD_LIBRARY_PATH"))))
        home = str(self._database.parent)  # it writes to ~/.cache, which may be read-only in a container
        with self._log_path.open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - a binary of the installed package, with our own arguments
                [
                    str(library / "milvus"),
                    str(self._database),
                    f"unix:{self._socket}",
                    "ERROR",
                    str(self._life_path),
                ],
                env={**os.environ, "LD_LIBRARY_PATH": paths, "DYLD_LIBRARY_PATH": paths, "HOME": home, **_QUIET},
                cwd=self._database.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # we handle a terminal's interrupt; the server ends last
            )

    @property
    def _log_path(self) -> Path:
        return self._database.with_name(f"{self._database.name}.log")

    def _choose_socket(self) -> Path:
        beside = self._database.with_name(f"{self._database.name}.sock")
        if len(os.fsencode(beside)) <= _SOCKET_LIMIT and _PLAIN_PATH.fullmatch(str(beside)):
            beside.unlink(missing_ok=True)
            return beside
        return Path(tempfile.mkdtemp(prefix="footnote-")) / "milvus.sock"

    def _publish(self, record: dict[str, Any]) -> None:
        assert self._holder is not None
        self._holder.truncate(0)
        self._holder.write(json.dumps(record))
        self._holder.flush()

    def _outlive_predecessor(self, record: dict[str, Any]) -> None:
        """Wait for the server of a killed holder to exit; kill exactly that process after a timeout."""
        pid = record.get("pid")
        until = time.monotonic() + _PREDECESSOR
        while isinstance(pid, int) and str(self._database) in _command(pid):
            if time.monotonic() > until:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        assert self._holder is not None
        self._holder.truncate(0)


def is_damaged(database: Path) -> bool:
    """Return whether the file is not a valid SQLite database, by checking every page."""
    if not database.exists():
        return False
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0)) as opened:
            return bool(opened.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok")
    except sqlite3.OperationalError:  # the file cannot be read right now
        return False
    except sqlite3.DatabaseError:
        return True


def _listens(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except OSError:
            return False
        return True


def _command(pid: int) -> str:
    """Return the command line of a process; empty if it does not exist or is a zombie."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if Path("/proc/self").exists():
            return ""
    done = subprocess.run(  # noqa: S603 - macOS has no /proc
        ["/bin/ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False, timeout=5
    )
    return done.stdout
