"""A search on the protocol itself brings what pymilvus's client brings."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapters.milvus.embedded_server import EmbeddedMilvus
from adapters.milvus.index import MilvusIndex
from adapters.milvus.wire import MilvusWire
from adapters.testing.encoder import HashingEncoder
from core.model.knowledge import Passage

pytestmark = pytest.mark.live

ENCODER = HashingEncoder()
TEXTS = ["Annual leave is thirty days.", "Überblick: leave and travel 日本語", "The printer is on the second floor."]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="wire-") as name:
        yield Path(name)


@pytest.fixture
async def address(folder: Path) -> Any:
    """Of a server with three passages."""
    async with MilvusIndex(f"{folder}/milvus.db", model=ENCODER.name, dimension=ENCODER.dimension) as index:
        if not await index.count():
            passages = [Passage(f"p{n}", "handbook", "doc", "v1", "s", n, "T", text) for n, text in enumerate(TEXTS)]
            await index.add(passages, await ENCODER.encode_passages(TEXTS))
        yield EmbeddedMilvus(folder / "milvus.db").address()


def asked(query: Any, **more: Any) -> dict[str, Any]:
    field = "sparse" if isinstance(query, str) else "vector"
    plain = {"data": [query], "anns_field": field, "filter": "", "limit": 3, "search_params": {}, "timeout": 10.0}
    return {**plain, "output_fields": ["text", "about", "ordinal"], **more}


async def test_hits_are_the_clients_own(address: str) -> None:
    from pymilvus import MilvusClient

    vector = (await ENCODER.encode_queries(["annual leave"]))[0]
    client, wire = MilvusClient(uri=address, dedicated=True), MilvusWire(address)
    try:
        for given in (
            asked("annual leave"),
            asked(vector),
            asked(vector, output_fields=[]),
            asked(vector.astype(np.float64), filter="ordinal == 1"),
            asked(vector, search_params={"params": {"radius": 0.2}}),
            asked("nothing of the kind"),
        ):
            theirs = [query if isinstance(query, str) else query.tolist() for query in given["data"]]
            (expected,) = client.search("passages", **{**given, "data": theirs})
            (found,) = wire.search("passages", **given)
            assert found == [
                {"id": hit["id"], "distance": hit["distance"], "entity": dict(hit["entity"])} for hit in expected
            ]
        assert wire.search("passages", **asked("annual leave"))[0][0]["entity"]["text"].endswith(TEXTS[0])
    finally:
        client.close()
        wire.close()


async def test_what_milvus_refuses_is_told_as_pymilvus_tells_it(address: str) -> None:
    from pymilvus.exceptions import MilvusException

    wire = MilvusWire(address)
    with pytest.raises(MilvusException, match="nowhere"):
        wire.search("nowhere", **asked("leave"))
    wire.close()
    with pytest.raises(MilvusException, match="closed"):
        wire.search("passages", **asked("leave"))


async def test_a_server_that_is_gone_is_unavailable(tmp_path: Path) -> None:
    from pymilvus.exceptions import MilvusException

    wire = MilvusWire(f"unix:{tmp_path}/nobody.sock")
    with pytest.raises(MilvusException) as refused:
        wire.search("passages", **asked("leave"))
    assert "UNAVAILABLE" in str(refused.value.code)
    wire.close()
