"""Errors of Milvus: one line with the address, and no internals of the client."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
from pymilvus.decorators import retry_on_rpc_failure
from pymilvus.exceptions import MilvusException
from pymilvus.grpc_gen import milvus_pb2, milvus_pb2_grpc

from adapters.milvus.connection import MilvusConnection
from core.model.errors import StoreUnavailable

LOOK = "Check MILVUS_URI and MILVUS_TOKEN, and that the server runs."


class Failed(grpc.RpcError):  # type: ignore[misc]
    """As gRPC raises it."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "not with this token\nand more"


class Empty(milvus_pb2_grpc.MilvusServiceServicer):  # type: ignore[misc]
    """As much of the protocol as a client needs to connect and to list no collection."""

    def Connect(self, *_: object) -> Any:  # noqa: N802 - the names of the protocol
        return milvus_pb2.ConnectResponse(identifier=1)

    def ShowCollections(self, *_: object) -> Any:  # noqa: N802 - the names of the protocol
        return milvus_pb2.ShowCollectionsResponse()


@contextmanager
def listening(port: int = 0) -> Iterator[int]:
    """A gRPC server on a port, until the block ends."""
    with ThreadPoolExecutor(2) as threads:
        server = grpc.server(threads)
        milvus_pb2_grpc.add_MilvusServiceServicer_to_server(Empty(), server)
        port = server.add_insecure_port(f"127.0.0.1:{port}")
        server.start()
        yield port
        server.stop(None).wait()


def meets(error: Exception) -> Callable[[Any], None]:
    """A call that meets this error, inside the client's own decorator."""

    @retry_on_rpc_failure()  # type: ignore[untyped-decorator]
    def upsert_rows(_: object, **_given: float) -> None:
        raise error

    return lambda client: upsert_rows(client, timeout=0.02)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Failed(grpc.StatusCode.DEADLINE_EXCEEDED), f"did not answer in time. {LOOK}"),
        (Failed(grpc.StatusCode.INTERNAL), f"gave no usable answer within 0.02 s. {LOOK}"),
        (Failed(grpc.StatusCode.PERMISSION_DENIED), "reports: not with this token."),
        (
            MilvusException(8, "rate limit exceeded\nand more"),
            "reports again and again: rate limit exceeded.",
        ),
        (MilvusException(5, "[upsert_rows] no such field."), "reports: no such field."),
    ],
)
async def test_every_failure_is_one_line_without_the_clients_own_names(error: Exception, said: str) -> None:
    with listening() as port:
        connection = MilvusConnection(f"http://127.0.0.1:{port}")
        await connection.open()
        with pytest.raises(StoreUnavailable) as raised:
            await connection.call(meets(error), 5)
        await connection.close()
    assert str(raised.value) == f"Milvus at http://127.0.0.1:{port} {said}"


async def test_a_server_that_was_away_for_several_calls_is_found_again_by_the_next_one() -> None:
    with listening() as port:
        connection = MilvusConnection(f"http://127.0.0.1:{port}")
        await connection.open()
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await connection.call(collections, 2)
    with listening(port):
        assert await connection.call(collections, 5) == []
        await connection.close()


async def test_a_call_whose_client_another_one_closes_to_reconnect_is_made_again() -> None:
    under_way, reconnected = threading.Event(), threading.Event()
    failures = [Failed(grpc.StatusCode.UNAVAILABLE)]

    def slow(client: Any) -> Any:
        under_way.set()
        assert reconnected.wait(30)
        return collections(client)

    def stumbling(client: Any) -> Any:
        if failures:
            raise failures.pop()
        return collections(client)

    with listening() as port:
        connection = MilvusConnection(f"http://127.0.0.1:{port}")
        await connection.open()
        waiting = asyncio.create_task(connection.call(slow, 60))
        assert await asyncio.to_thread(under_way.wait, 30)
        assert await connection.call(stumbling, 5) == []
        reconnected.set()
        assert await waiting == []
        await connection.close()


async def test_a_call_that_is_cut_short_by_the_end_does_not_connect_anew() -> None:
    under_way, ended = threading.Event(), threading.Event()

    def slow(client: Any) -> Any:
        under_way.set()
        assert ended.wait(30)
        return collections(client)

    with listening() as port:
        connection = MilvusConnection(f"http://127.0.0.1:{port}")
        await connection.open()
        waiting = asyncio.create_task(connection.call(slow, 60))
        assert await asyncio.to_thread(under_way.wait, 30)
        await connection.close()
        ended.set()
        with pytest.raises(StoreUnavailable, match="is closed"):
            await waiting


def collections(client: Any) -> Any:
    return client.list_collections(timeout=2)
