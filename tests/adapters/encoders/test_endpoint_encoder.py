"""The encoder of an endpoint, over a socket to a server that misbehaves on request."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from aiohttp import web

from adapters.encoders.endpoint_encoder import EndpointEncoder
from core.model.errors import ModelFailure, ModelUnavailable
from tests.fakes.embeddings import FakeEmbeddings, serve_embeddings

MODEL = "made-up-embeddings"


@pytest_asyncio.fixture
async def server() -> AsyncIterator[FakeEmbeddings]:
    async with serve_embeddings() as fake:
        yield fake


@pytest_asyncio.fixture
async def encoder(server: FakeEmbeddings, tmp_path: Path) -> AsyncIterator[EndpointEncoder]:
    made = EndpointEncoder(server.address, "key", MODEL, tmp_path / "home" / "embedding-endpoint.json")
    yield made
    await made.close()


def unit(server: FakeEmbeddings, text: str) -> np.ndarray:
    raw = np.asarray(server.vector_of(text), dtype=np.float32)
    return raw / np.linalg.norm(raw)


async def test_embeds_passages_in_batches_in_their_order(server: FakeEmbeddings, encoder: EndpointEncoder) -> None:
    texts = [f"passage {number}" for number in range(150)]
    vectors = await encoder.encode_passages(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [unit(server, text) for text in texts])
    assert sorted(len(some) for some in server.asked[1:]) == [22, 64, 64]  # the first request asks for the dimension
    assert (await encoder.encode_passages([])).shape == (0, 8)


async def test_asks_for_the_dimension_once_for_all(
    server: FakeEmbeddings, encoder: EndpointEncoder, tmp_path: Path
) -> None:
    with pytest.raises(ModelUnavailable, match="has not been called yet"):
        _ = encoder.dimension
    await asyncio.gather(encoder.open(), encoder.open())
    assert (encoder.dimension, len(server.asked)) == (8, 1)
    again = EndpointEncoder("http://127.0.0.1:9/v1", "", MODEL, tmp_path / "home" / "embedding-endpoint.json")
    await again.open()
    assert again.dimension == 8
    other = EndpointEncoder(server.address, "", "another", tmp_path / "home" / "embedding-endpoint.json")
    await other.open()
    assert len(server.asked) == 2
    await other.close()


async def test_repeated_queries_come_from_the_cache(server: FakeEmbeddings, encoder: EndpointEncoder) -> None:
    await encoder.encode_queries(["one", "two", "one"])
    before = len(server.asked)
    assert np.allclose(await encoder.encode_queries(["two"]), [unit(server, "two")])
    assert len(server.asked) == before
    assert server.asked[-1] == ["one", "two"]


@pytest.mark.parametrize("status", [429, 503])
async def test_retries_a_rate_limit_and_a_server_error(
    server: FakeEmbeddings, encoder: EndpointEncoder, status: int
) -> None:
    await encoder.open()
    server.faults.extend(web.json_response({}, status=status, headers={"Retry-After": "0.01"}) for _ in range(2))
    assert np.allclose(await encoder.encode_queries(["one"]), [unit(server, "one")])
    assert len(server.asked) == 4


@pytest.mark.parametrize("bound", ["most", "most_answered"])
async def test_halves_a_batch_that_is_refused_or_answered_in_part(
    server: FakeEmbeddings, encoder: EndpointEncoder, bound: str
) -> None:
    setattr(server, bound, 10)
    texts = [f"passage {number}" for number in range(70)]
    assert np.allclose(await encoder.encode_passages(texts), [unit(server, text) for text in texts])


async def test_deadline_ends_a_call_that_is_not_answered(server: FakeEmbeddings, tmp_path: Path) -> None:
    server.silent = asyncio.Event()
    encoder = EndpointEncoder(server.address, "", MODEL, tmp_path / "kept.json", query_seconds=0.3, batch_seconds=0.3)
    with pytest.raises(ModelUnavailable, match=r"took longer than 0\.3 s") as late:
        await encoder.encode_passages(["one"])
    assert late.value.kind is ModelFailure.TIMEOUT
    await encoder.close()


async def test_vectors_of_another_length_are_refused(server: FakeEmbeddings, encoder: EndpointEncoder) -> None:
    await encoder.open()
    server.dimension = 5
    with pytest.raises(ModelUnavailable, match=r"5 numbers where it was 8.*Set EMBEDDING_MODEL back"):
        await encoder.encode_queries(["one"])
    with pytest.raises(ModelUnavailable, match="5 numbers where it was 8"):
        await encoder.encode_passages(["one"])


@pytest.mark.parametrize(
    "reply",
    [
        {"data": []},
        {"data": [{"index": 0, "embedding": [0.0] * 8}]},
        {"data": [{"index": 0, "embedding": ["a"] * 8}]},
        {"data": [{"index": 0}]},
        {"data": None},
        [],
        "a page of a proxy",
    ],
)
async def test_replies_without_usable_vectors_are_refused(
    server: FakeEmbeddings, encoder: EndpointEncoder, reply: object
) -> None:
    await encoder.open()
    server.faults.append(web.json_response(reply))
    with pytest.raises(ModelUnavailable, match=r"cannot be used: .*footnote doctor"):
        await encoder.encode_queries(["one"])


async def test_says_what_a_wrong_key_or_address_is_met_with(server: FakeEmbeddings, encoder: EndpointEncoder) -> None:
    server.faults.append(web.json_response({"error": {"message": "Incorrect API key"}}, status=401))
    with pytest.raises(ModelUnavailable, match="Incorrect API key"):
        await encoder.open()
    with pytest.raises(ModelUnavailable, match="not been called yet"):
        _ = encoder.dimension


async def test_texts_are_cut_and_cleaned(server: FakeEmbeddings, encoder: EndpointEncoder) -> None:
    await encoder.encode_queries(["x" * 50_000, "", "lone \ud800 surrogate"])
    assert [len(text) for text in server.asked[-1]] == [8_000, 1, 16]
    assert await encoder.count_tokens(["x" * 9, "", "ä"]) == [3, 0, 1]
