"""Encoder that uses an endpoint with OpenAI's embeddings API: batches, retries, size limits and a deadline.

The model is not on this machine. The length of its vectors is requested once and stored in a file, so that read-only
commands and a start during an outage need no request. Token counts are estimated, because the API has no tokenizer.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cachetools import LRUCache

from adapters.encoders.model_files import brief
from core.model.errors import ModelFailure, ModelUnavailable, first_of_ours

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from core.ports.index import Vectors

_BATCH = 64  # texts per call; a refused or partly answered batch is halved
_AT_ONCE = 4  # concurrent calls for passages; queries are not limited
_LONGEST = 8_000  # characters of a text; the rest is not embedded
_BYTES_PER_TOKEN = 3  # low for most languages, so that passages become too short rather than too long
_WINDOW = 512  # tokens
_CACHED_QUERIES = 2_048
_MOST_BYTES = 64 * 2**20  # of a response
_RETRIES = 4  # after 408, 409, 429, 5xx and lost connections; the client honours Retry-After
_PROBE = "dimension"
_TOO_MUCH = {400, 413, 422}


class EndpointEncoder:
    """``Encoder`` for one model of one endpoint.

    Args:
        base_url: the API's address, such as ``https://host/v1``.
        kept: the file that stores the vector length.
        query_seconds, batch_seconds: deadlines of a query call and of a batch call, retries included.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        kept: Path,
        *,
        query_seconds: float = 10.0,
        batch_seconds: float = 120.0,
    ) -> None:
        self._base_url, self._api_key, self._model = base_url, api_key, model
        self._kept = kept
        self._seconds, self._batch_seconds = query_seconds, batch_seconds
        self._dimension = _read(kept, self.name)
        self._opened: AsyncOpenAI | None = None
        self._asking = asyncio.Lock()
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._cache: LRUCache[str, Vectors] = LRUCache(_CACHED_QUERIES)

    @property
    def name(self) -> str:
        """The model's name in the index, without the endpoint's address, which may change."""
        return f"{self._model} (endpoint)"

    @property
    def dimension(self) -> int:
        """The length of a vector. Raises ModelUnavailable before the first request to the endpoint."""
        if self._dimension is None:
            raise ModelUnavailable(f"The embedding endpoint {self._base_url} has not been called yet.")
        return self._dimension

    @property
    def window(self) -> int:
        """Tokens of a text that are read."""
        return _WINDOW

    async def open(self) -> None:
        """Request the vector length unless it is known. Raises ModelUnavailable."""
        async with self._asking:
            if self._dimension is None:
                await self.probe()

    async def probe(self) -> None:
        """Embed a word, and store the length of its vector if none is stored. Raises ModelUnavailable."""
        (vector,) = await self._within(self._seconds, [_PROBE])
        if self._dimension is None:
            self._dimension = len(vector)
            await asyncio.to_thread(_write, self._kept, self.name, self._dimension)

    async def close(self) -> None:
        """Close its connections."""
        if self._opened is not None:
            await self._opened.close()

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """Return (n, dimension), float32, unit length. Repeated queries come from a cache."""
        await self.open()
        found = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        for start in range(0, len(missing), _BATCH):
            some = missing[start : start + _BATCH]
            found.update(zip(some, await self._within(self._seconds, some), strict=True))
        self._cache.update(found)
        return self._stacked([found[text] for text in texts])

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """Return (n, dimension), float32, unit length; a few batches run concurrently."""
        await self.open()

        async def encode(start: int) -> "list[Vectors]":
            async with self._turns:
                return await self._within(self._batch_seconds, texts[start : start + _BATCH])

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(encode(start)) for start in range(0, len(texts), _BATCH)]
        except BaseExceptionGroup as failures:
            raise first_of_ours(failures) from None
        return self._stacked([vector for task in tasks for vector in task.result()])

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Estimate the number of tokens of each text from its bytes."""
        return [math.ceil(len(text.encode(errors="replace")) / _BYTES_PER_TOKEN) for text in texts]

    def _stacked(self, vectors: "list[Vectors]") -> "Vectors":
        import numpy as np

        return np.stack(vectors) if vectors else np.zeros((0, self.dimension), dtype=np.float32)

    async def _within(self, seconds: float, texts: Sequence[str]) -> "list[Vectors]":
        """Embed a batch. Raises ModelUnavailable, which describes the endpoint's failure."""
        from openai import OpenAIError

        bounded = [text.encode(errors="replace").decode()[:_LONGEST] or " " for text in texts]
        try:
            async with asyncio.timeout(seconds):
                return await self._embedded(bounded)
        except TimeoutError:
            late = self._failure(f"took longer than {seconds:g} s", "Try again. The endpoint may be busy or starting.")
            late.kind = ModelFailure.TIMEOUT
            raise late from None
        except (OpenAIError, ValueError, TypeError, AttributeError) as error:  # a malformed response
            raise self._failure(f"cannot be used: {brief(error)}", "footnote doctor tries it.") from error

    async def _embedded(self, texts: list[str]) -> "list[Vectors]":
        from openai import APIStatusError

        try:
            reply = await self._client().embeddings.create(model=self._model, input=texts)
            by_place = {item.index: self._checked(item.embedding) for item in reply.data}
            if all(place in by_place for place in range(len(texts))):
                return [by_place[place] for place in range(len(texts))]
        except APIStatusError as error:
            if error.status_code not in _TOO_MUCH or len(texts) == 1:
                raise
        if len(texts) == 1:
            raise ValueError("its reply has no vector")
        half = len(texts) // 2  # refused as too large, or answered in part
        return [*await self._embedded(texts[:half]), *await self._embedded(texts[half:])]

    def _checked(self, numbers: Sequence[float]) -> "Vectors":
        """Return a vector of unit length. Raises ModelUnavailable if its dimension has changed."""
        import numpy as np

        vector = np.asarray(numbers, dtype=np.float32)
        if self._dimension not in (None, len(vector)):
            raise self._failure(
                f"answers with {len(vector)} numbers where it was {self._dimension}",
                f"Set EMBEDDING_MODEL back. If the model has changed, remove {self._kept}, set MILVUS_URI to a new "
                "place and run footnote kb repair to fill it.",
            )
        length = float(np.linalg.norm(vector)) if len(vector) else 0.0
        if not math.isfinite(length) or length == 0.0:
            raise ValueError("a vector of it has no direction")
        unit: Vectors = vector / np.float32(length)
        return unit

    def _client(self) -> "AsyncOpenAI":
        if self._opened is None:
            import httpx2
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient

            class Bounded(httpx2.AsyncByteStream):
                def __init__(self, body: httpx2.AsyncByteStream) -> None:
                    self._body = body

                async def __aiter__(self) -> AsyncIterator[bytes]:
                    left = _MOST_BYTES
                    async for data in self._body:
                        if (left := left - len(data)) < 0:
                            raise ValueError(f"its reply is longer than {_MOST_BYTES:,} bytes")
                        yield data

                async def aclose(self) -> None:
                    await self._body.aclose()

            async def bound(response: httpx2.Response) -> None:
                if isinstance(response.stream, httpx2.AsyncByteStream):
                    response.stream = Bounded(response.stream)

            self._opened = AsyncOpenAI(
                base_url=self._base_url,
                api_key=self._api_key or "none",
                timeout=self._batch_seconds,
                max_retries=_RETRIES,
                http_client=DefaultAsyncHttpxClient(event_hooks={"response": [bound]}),
            )
        return self._opened

    def _failure(self, what: str, remedy: str) -> ModelUnavailable:
        return ModelUnavailable(f"The embedding endpoint {self._base_url} {what}.", remedy=remedy)


def _read(file: Path, name: str) -> int | None:
    """Return the stored dimension of this model, or None."""
    try:
        kept = json.loads(file.read_text("utf-8"))
        return int(kept["dimension"]) if kept["model"] == name else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, name: str, dimension: int) -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.draft")
    draft.write_text(json.dumps({"model": name, "dimension": dimension}), "utf-8")
    draft.replace(file)
