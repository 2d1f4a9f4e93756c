"""Searches on Milvus's own protocol, past pymilvus's client, for the embedded server.

Milvus Lite answers a search in 1 to 2.5 ms; ``MilvusClient.search`` spends 0.3 ms around each and 0.25 ms on its hits
for passages, while the other leg waits for the interpreter. Asked and read as plainly as here, a whole search takes
4.6 ms instead of 5.0, and 2.4 ms of this process's time instead of 3.1. The messages are those that pymilvus carries.
A server of one's own keeps pymilvus's client, which knows its certificates, tokens and databases.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.ports.encoder import Vectors


class MilvusWire:
    """``MilvusClient.search`` of one query, at an address without credentials. Blocks; any thread may call it."""

    def __init__(self, address: str) -> None:
        """Connects on first use. ``address`` as gRPC has it, ``unix:/…``. Import pymilvus first: it takes 0.4 s."""
        import grpc  # type: ignore[import-untyped]
        from pymilvus.grpc_gen import common_pb2, milvus_pb2, milvus_pb2_grpc

        self._common, self._messages, self._error = common_pb2, milvus_pb2, grpc.RpcError
        # A pool of its own: a new channel to an address that has just failed would else inherit its waiting.
        options = [("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
        self._channel = grpc.insecure_channel(address, options=options)
        self._stub = milvus_pb2_grpc.MilvusServiceStub(self._channel)

    def close(self) -> None:
        """Disconnect; what is under way fails."""
        self._channel.close()

    def search(
        self,
        collection: str,
        *,
        data: Sequence["str | Vectors"],
        anns_field: str,
        filter: str,  # noqa: A002
        limit: int,
        output_fields: Sequence[str],
        search_params: dict[str, Any],
        timeout: float,
    ) -> list[list[dict[str, Any]]]:
        """The hits, best first: ``{"id": …, "distance": …, "entity": {field: value}}``. Raises MilvusException."""
        from pymilvus.exceptions import MilvusException

        (query,) = data
        request = self._messages.SearchRequest(
            collection_name=collection,
            dsl=filter,
            dsl_type=self._common.DslType.BoolExprV1,
            nq=1,
            placeholder_group=self._placeholder(query),
            output_fields=output_fields,
            search_params=self._pairs(
                topk=str(limit),
                anns_field=anns_field,
                params=json.dumps(search_params.get("params", {})),
                round_decimal="-1",
                ignore_growing="False",
            ),
            use_default_consistency=True,
        )
        try:
            answer = self._stub.Search(request, timeout=timeout)
        except self._error as error:
            raise MilvusException(code=error.code(), message=error.details() or str(error.code())) from error
        except ValueError as error:  # the channel is closed
            raise MilvusException(message=str(error)) from error
        if answer.status.code or answer.status.error_code:
            raise MilvusException(answer.status.code or answer.status.error_code, answer.status.reason)
        return [_hits(answer.results)]

    def _placeholder(self, query: "str | Vectors") -> bytes:
        """The query as the message in a message that Milvus wants: a text for BM25, or a vector."""
        import numpy as np

        kinds = self._common.PlaceholderType
        kind, value = (
            (kinds.VarChar, query.encode())
            if isinstance(query, str)
            else (kinds.FloatVector, np.ascontiguousarray(query, dtype="<f4").tobytes())
        )
        only = self._common.PlaceholderValue(tag="$0", type=kind, values=[value])
        group: bytes = self._common.PlaceholderGroup(placeholders=[only]).SerializeToString()
        return group

    def _pairs(self, **values: str) -> list[Any]:
        return [self._common.KeyValuePair(key=key, value=value) for key, value in values.items()]


def _hits(results: Any) -> list[dict[str, Any]]:
    names = [field.field_name for field in results.fields_data]
    ids, scores = results.ids.str_id.data, results.scores
    if not names:
        return [{"id": name, "distance": score, "entity": {}} for name, score in zip(ids, scores, strict=True)]
    rows = zip(*map(_column, results.fields_data), strict=True)
    return [
        {"id": name, "distance": score, "entity": dict(zip(names, row, strict=True))}
        for name, score, row in zip(ids, scores, rows, strict=True)
    ]


def _column(field: Any) -> Sequence[Any]:
    """The values of a text, number or JSON field."""
    import orjson  # three times as fast as json; pymilvus reads with it too

    kind = field.scalars.WhichOneof("data")
    values: Sequence[Any] = getattr(field.scalars, kind).data if kind else ()
    return [orjson.loads(value) for value in values] if kind == "json_data" else values
