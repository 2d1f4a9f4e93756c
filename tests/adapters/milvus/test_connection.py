"""What a failure of Milvus becomes: one line that names the place, and no function of the client's."""

from collections.abc import Callable
from typing import Any

import grpc  # type: ignore[import-untyped]
import pytest
from pymilvus.decorators import retry_on_rpc_failure
from pymilvus.exceptions import MilvusException

from adapters.milvus.connection import MilvusConnection
from core.model.errors import StoreUnavailable

ANSWERS = "Milvus at http://127.0.0.1:9"
LOOK = "Check MILVUS_URI and MILVUS_TOKEN, and that the server runs."


class Failed(grpc.RpcError):  # type: ignore[misc]
    """As gRPC raises it."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "not with this token\nand more"


def meets(error: Exception) -> Callable[[Any], None]:
    """A call that meets this error, inside the client's own decorator."""

    @retry_on_rpc_failure()  # type: ignore[untyped-decorator]
    def upsert_rows(_: object, **_given: float) -> None:
        raise error

    return lambda client: upsert_rows(client, timeout=0.02)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Failed(grpc.StatusCode.DEADLINE_EXCEEDED), f"{ANSWERS} did not answer in time. {LOOK}"),
        (Failed(grpc.StatusCode.INTERNAL), f"{ANSWERS} gave no usable answer within 0.02 s. {LOOK}"),
        (Failed(grpc.StatusCode.PERMISSION_DENIED), f"{ANSWERS} reports: not with this token."),
        (
            MilvusException(8, "rate limit exceeded\nand more"),
            f"{ANSWERS} reports again and again: rate limit exceeded.",
        ),
        (MilvusException(5, "[upsert_rows] no such field."), f"{ANSWERS} reports: no such field."),
    ],
)
async def test_every_failure_is_one_line_without_the_clients_own_names(error: Exception, said: str) -> None:
    connection = MilvusConnection("http://127.0.0.1:9")
    with pytest.raises(StoreUnavailable) as raised:
        await connection.call(meets(error), 5)
    await connection.close()
    assert str(raised.value) == said
