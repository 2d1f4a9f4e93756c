"""Connection to Milvus that never blocks the event loop, reconnects once, and raises core's errors.

It runs the synchronous client in a few threads instead of ``AsyncMilvusClient``. The two legs of a search took 6.5 ms
this way and 6.1 ms with the asynchronous client on 30,000 passages. But that client serialises an insert of 500 vectors
on the event loop, which blocks it for 70 ms.
"""

import asyncio
import logging
import os
import re
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from adapters.milvus.embedded_server import REFILL, EmbeddedMilvus
from core.model.errors import FootnoteError, StoreUnavailable

T = TypeVar("T")

_THREADS = 8
_CONNECT_SECONDS = 10.0
# Messages of pymilvus after it has exhausted its retries: the duration and the last error.
_RETRIED = re.compile(
    r"\[\w+\] Retry (?:timeout: (?P<seconds>[\d.]+)s|run out of .*? times)(?:, (?P<last>.*))?", re.DOTALL
)
_INTERNAL = "internal error"  # message of the embedded server for an unreadable page of its file
_CONNECT_FAILED = 2  # pymilvus.client.types.Status.CONNECT_FAILED: nothing listens there


def is_server(uri: str) -> bool:
    """Return whether this is the address of a server rather than the path of a database file."""
    return "://" in uri or uri.startswith("unix:")


class MilvusConnection:
    """Connection to one Milvus: a server by its address, or the embedded one of a database file."""

    def __init__(self, uri: str, token: str = "", *, collection: str = "") -> None:
        self.uri = uri
        self._token = token
        self._embedded = None if is_server(uri) else EmbeddedMilvus(Path(uri).expanduser(), collection)
        self._client: Any = None
        self._generation = 0
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="milvus")
        self._reconnecting = asyncio.Lock()
        self._changing = threading.Lock()  # a connect continues in its thread after its caller gave up

    @property
    def is_server_owner(self) -> bool:
        """Whether an embedded server runs as a child of this process."""
        return self._embedded is not None and self._embedded.is_server_owner

    @property
    def is_lite(self) -> bool:
        """Whether this is Milvus Lite: of a database file, or another process's, addressed by its socket."""
        return self._embedded is not None or self.uri.startswith("unix:")

    async def open(self) -> None:
        """Connect. Raises StoreUnavailable."""
        await self._in_thread(self._connect, _CONNECT_SECONDS + 60)

    async def call(self, do: Callable[[Any], T], seconds: float) -> T:
        """Run ``do(client)`` in a thread; ``do`` passes ``seconds`` on as its timeout.

        A call is retried once on a new connection if nothing listens, or if another call has closed its client to
        reconnect: the process that ran the embedded server may have ended. Raises StoreUnavailable.
        """
        generation = self._generation
        try:
            return await self._attempt(do, seconds)
        except _NothingListens:
            async with self._reconnecting:
                if generation == self._generation:
                    await self._in_thread(self._connect, _CONNECT_SECONDS + 60)
            try:
                return await self._attempt(do, seconds)
            except _NothingListens as error:
                raise StoreUnavailable(str(error), remedy=self._remedy()) from error

    async def revive(self) -> None:
        """Restart the embedded server if this process owned it and it has died; other processes rely on that."""
        if self._embedded is None:
            return
        async with self._reconnecting:
            if self._client is None or self._embedded.has_died:
                with suppress(StoreUnavailable):  # the next check or the next call retries
                    await self._in_thread(self._connect, _CONNECT_SECONDS + 60)

    async def close(self) -> None:
        """Disconnect for good."""
        self._threads.shutdown(wait=False)  # first, so that cancelled work does not reconnect
        await self.disconnect()

    async def disconnect(self) -> None:
        """Disconnect and stop the embedded server if it is ours. ``open`` may follow."""
        await asyncio.get_running_loop().run_in_executor(None, self._disconnect)

    async def check_file(self) -> None:
        """Raise StoreUnavailable if the embedded database's file is damaged."""
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.check_file)

    async def check_room(self) -> None:
        """Raise DiskFull if the embedded database's disk is full."""
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.check_room)

    async def check_stored(self, ids: Collection[str]) -> None:
        """Raise StoreUnavailable if some of these rows are missing in the embedded database's file."""
        if self._embedded is not None:
            await asyncio.to_thread(self._embedded.check_stored, ids)

    async def _attempt(self, do: Callable[[Any], T], seconds: float) -> T:
        from grpc import RpcError  # type: ignore[import-untyped] # pymilvus does not wrap all gRPC errors
        from pymilvus.exceptions import MilvusException

        def call_client() -> T:
            client = self._client
            if client is None:  # another call is reconnecting, or the last reconnect failed
                raise _NothingListens(f"Milvus at {self.uri} does not respond.")
            try:
                return do(client)
            except Exception as error:
                if client is self._client:
                    raise
                # Another call has reconnected and closed this client, whatever the error looks like here.
                raise _NothingListens(f"Milvus at {self.uri} does not respond.") from error

        try:
            # Twice, because a call may wait for a thread about as long as it may run.
            return await self._in_thread(call_client, 2 * seconds)
        except (MilvusException, RpcError) as error:
            code = error.code() if callable(error.code) else error.code
            if code == _CONNECT_FAILED or "UNAVAILABLE" in str(code):
                raise _NothingListens(f"Milvus at {self.uri} does not respond.") from error
            message = str(error.message if isinstance(error, MilvusException) else error.details())
            said = "did not answer in time" if "DEADLINE" in str(code) else _readable_message(message)
            remedy = None if "reports" in said else self._remedy()
            if _INTERNAL in said and self._embedded is not None:
                await self.check_file()  # which does not find all damage
                remedy = f"If the error stays, its file is damaged. {REFILL}"
            raise StoreUnavailable(f"Milvus at {self.uri} {said}.", remedy=remedy) from error

    async def _in_thread(self, do: Callable[[], T], seconds: float) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                return await loop.run_in_executor(self._threads, do)
        except TimeoutError as error:
            raise StoreUnavailable(f"Milvus at {self.uri} took longer than {seconds:g} s.") from error
        except RuntimeError as error:  # the pool is shut down
            raise StoreUnavailable(f"The connection to Milvus at {self.uri} is closed.") from error

    def _connect(self) -> None:
        with self._changing:
            self._connect_anew()

    def _connect_anew(self) -> None:
        MilvusClient, MilvusException = _pymilvus()  # noqa: N806 - they are classes
        self._drop_client()
        address = self.uri if self._embedded is None else self._embedded.address()
        try:
            # Not shared through pymilvus's registry: closing the client must also drop a dead connection.
            self._client = MilvusClient(uri=address, token=self._token, timeout=_CONNECT_SECONDS, dedicated=True)
        except (MilvusException, ValueError) as error:
            raise StoreUnavailable(f"Milvus at {self.uri} does not respond.", remedy=self._remedy()) from error
        self._generation += 1

    def _disconnect(self) -> None:
        with self._changing:
            self._drop_client()
            if self._embedded is not None:
                self._embedded.close()

    def _drop_client(self) -> None:
        client, self._client = self._client, None  # first, so that calls failed by the close reconnect
        if client is not None:
            client.close()

    def _remedy(self) -> str:
        return (
            "Check MILVUS_URI and MILVUS_TOKEN, and that the server runs." if self._embedded is None else "Try again."
        )


class _NothingListens(FootnoteError):
    """Error of an address at which nothing listens."""


def _readable_message(message: str) -> str:
    """Return the report of pymilvus or gRPC without function names, as the end of a sentence."""
    retried = _RETRIED.fullmatch(message)
    if retried is None:
        return f"reports: {_first_line(message)}"
    last = retried["last"] or ""
    if last.startswith("message="):
        return f"reports again and again: {_first_line(last.removeprefix('message='))}"
    return f"gave no usable answer within {float(retried['seconds']):g} s" if retried["seconds"] else "does not answer"


def _first_line(message: str) -> str:
    return re.sub(r"^\[\w+\] ", "", message).partition("\n")[0].rstrip(". ")[:200]


def _pymilvus() -> tuple[Any, Any]:
    """Import pymilvus lazily (0.4 s) and silence its logging, because we report its errors ourselves."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    with _apart_from_our_settings():
        from pymilvus import MilvusClient
        from pymilvus.exceptions import MilvusException

    logging.getLogger("pymilvus").setLevel(logging.CRITICAL + 1)
    return MilvusClient, MilvusException


@contextmanager
def _apart_from_our_settings() -> Iterator[None]:
    """Hide our settings from pymilvus, which reads the environment during its import.

    It reads MILVUS_URI and fails if that is a file path. It also loads a checkout's .env file into the environment if
    the virtual environment lies inside, so every child process would inherit the secrets.
    """
    apart = {"MILVUS_URI": None, "PYTHON_DOTENV_DISABLED": "1"}
    kept = {name: os.environ.pop(name, None) for name in apart}
    os.environ.update({name: value for name, value in apart.items() if value is not None})
    try:
        yield
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
