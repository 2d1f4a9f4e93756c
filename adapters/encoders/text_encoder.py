"""Vectors from any sentence-transformers model, computed off the event loop.

One thread encodes queries and, with two cores or more, two threads encode passages, so that a query never waits for
passages. With fewer than four cores, long passages and bulk calls use only one of the two. Each thread has a copy of
the model with its own tokenizer, which is not thread-safe; the copies share the weights.

Queries that arrive while one is encoded are batched: fifty at once cost as much CPU time as ten one by one. The model
runs in bfloat16 if the processor supports it. That encodes three times as many passages a second as ``encode`` with its
defaults, and a query in 0.7 of the time, at a cosine of 0.9999 and nDCG@10 within 0.002 of float32
(research/measure/encoding.py).
"""

import asyncio
import copy
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import LRUCache

from adapters.encoders.model_files import find_model, load, load_folder, run_model
from core.model.errors import ModelFailure, ModelUnavailable, first_of_ours

if TYPE_CHECKING:
    from core.ports.index import Vectors

T = TypeVar("T")

_BATCH = 8  # passages at once: fastest in bfloat16 (78 a second; 61 with 32), and short on the processor
_SHORT = 40  # characters of a word or two
_BRIEF = 400  # characters of a sentence with its heading, the unit that answers are chosen from
_FOR_AN_ANSWER = 128  # sentences or words per call; larger calls are an ingest, which leaves one thread for questions
_BRIEF_BATCH = 4  # for a dozen or two sentences, so that two cores finish together; a batch takes 30 ms
_SHORT_BATCH = 32  # single words; a batch is as wide as its longest word, so larger batches are mostly padding
_CACHED_QUERIES = 2_048  # vectors; 3 MB
_QUERIES_AT_ONCE = 16
_FEW_QUERIES = 4  # fewer are encoded one by one
_COUNT_AT_ONCE = 1_000
_LOAD_SECONDS = 300.0  # a first download included
_QUERY_SECONDS = 30.0
_BATCH_SECONDS = 120.0
_CORES_FOR_TWO = 4


class SentenceTransformerEncoder:
    """``Encoder`` with a model by name or path; the default model is packaged and needs no network.

    It loads at the first use or in ``open``. Raises ModelUnavailable if the model cannot be loaded or hangs.
    """

    def __init__(self, model: str = "", *, reduced_precision: bool = True) -> None:
        self._files = find_model(model)
        self._reduced = reduced_precision
        # A query is too short to split between cores. It takes 8 ms of CPU time on one core. On two, 210 ms and thirty
        # times as long, because threads spin at every barrier while other work occupies a core. The same holds for the
        # sentences that an answer is chosen from. An ingest must leave the other cores to questions.
        self._query_thread = ThreadPoolExecutor(1, thread_name_prefix="encode-queries", initializer=use_one_core)
        self._at_once = max(passage_threads(), min(2, available_cores()))
        self._passage_thread = ThreadPoolExecutor(
            self._at_once, thread_name_prefix="encode-passages", initializer=use_one_core
        )
        self._loading = threading.Lock()
        self._pattern: Any = None  # the loaded model, never used itself: each thread works on a copy
        self._own = threading.local()
        self._brief_turns = asyncio.Semaphore(self._at_once)
        self._passage_turns = asyncio.Semaphore(passage_threads())  # ingests share the passage threads batch by batch
        self._one_query_batch = asyncio.Lock()
        self._asked: dict[str, int] = {}  # queries waiting to be encoded, with the number of waiting callers
        self._dimension: int | None = None  # cached, so that the file is not read for every batch
        self._cache: LRUCache[str, Vectors] = LRUCache(_CACHED_QUERIES)

    @property
    def name(self) -> str:
        """The model's name in the index; for the packaged model, never a machine-dependent path."""
        return self._files.name

    @property
    def dimension(self) -> int:
        """The length of a vector. Before ``open`` it is known only if the model's files are on this machine."""
        if self._dimension is None:
            self._dimension = self._files.dimension()
        if self._dimension is None and self._pattern is not None:
            self._dimension = self._pattern.get_embedding_dimension()
        if self._dimension is None:
            raise ModelUnavailable(f"The model {self.name} is not loaded yet.")
        return self._dimension

    @property
    def window(self) -> int:
        """Maximum number of tokens of a text, including two special tokens."""
        known = self._files.window()
        if known is None and self._pattern is not None:
            known = self._pattern.max_seq_length
        return known or 256

    async def open(self) -> None:
        """Load the model for queries now, so that the first question does not wait for it."""
        await self._in_thread(self._query_thread, self._model, _LOAD_SECONDS)

    async def close(self) -> None:
        """Shut down the threads; running computations finish in the background."""
        self._query_thread.shutdown(wait=False, cancel_futures=True)
        self._passage_thread.shutdown(wait=False, cancel_futures=True)

    async def encode_queries(self, texts: Sequence[str]) -> "Vectors":
        """Return (n, dimension), float32, unit length. Repeated queries come from a cache."""
        import numpy as np

        wanted = dict.fromkeys(texts)
        found = {text: self._cache[text] for text in wanted if text in self._cache}
        missing = [text for text in wanted if text not in found]
        if missing:
            await self._ensure_loaded(self._query_thread)
            found |= await self._encoded_together(missing)
        self._cache.update(found)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([found[text] for text in texts])

    async def _encoded_together(self, missing: Sequence[str]) -> "dict[str, Vectors]":
        """Wait for the thread; the caller that gets it encodes the queries of all waiting callers into the cache."""
        for text in missing:
            self._asked[text] = self._asked.get(text, 0) + 1
        try:
            async with asyncio.timeout(_QUERY_SECONDS):
                async with self._one_query_batch:
                    found = {text: self._cache[text] for text in missing if text in self._cache}
                    left = [text for text in missing if text not in found]
                    if left:
                        others = [text for text in self._asked if text not in found and text not in left]
                        batch = [*left, *others[: max(0, _QUERIES_AT_ONCE - len(left))]]
                        encode = partial(self._encode_queries, batch)
                        fresh = await self._in_thread(self._query_thread, encode, _QUERY_SECONDS)
                        encoded = {text: vector.copy() for text, vector in zip(batch, fresh, strict=True)}
                        self._cache.update(encoded)
                        found |= {text: encoded[text] for text in left}
                    return found
        except TimeoutError as error:
            message = f"The model {self.name} took longer than {_QUERY_SECONDS:g} s."
            raise ModelUnavailable(message, kind=ModelFailure.TIMEOUT) from error
        finally:
            for text in missing:
                self._asked[text] -= 1
                if not self._asked[text]:
                    del self._asked[text]

    async def encode_passages(self, texts: Sequence[str]) -> "Vectors":
        """Return (n, dimension), float32, unit length; batches have texts of similar length to avoid padding."""
        import numpy as np

        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if texts:
            await self._ensure_loaded(self._passage_thread)
        order = sorted(range(len(texts)), key=lambda position: -len(texts[position]))
        batches = iter(_batches(order, texts))
        asked = len(texts) <= _FOR_AN_ANSWER

        async def encode_some() -> None:
            for batch in batches:
                encode = partial(self._encode_batch, [texts[position] for position in batch])
                brief = asked and len(texts[batch[0]]) <= _BRIEF
                async with self._brief_turns if brief else self._passage_turns:
                    vectors[batch] = await self._in_thread(self._passage_thread, encode, _BATCH_SECONDS)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._at_once):
                    group.create_task(encode_some())
        except BaseExceptionGroup as failures:
            raise first_of_ours(failures) from None
        return vectors

    async def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Return the number of tokens of each text, without special tokens and without truncation."""
        counts: list[int] = []
        if texts:
            await self._ensure_loaded(self._passage_thread)
        for start in range(0, len(texts), _COUNT_AT_ONCE):
            count = partial(self._count, list(texts[start : start + _COUNT_AT_ONCE]))
            counts += await self._in_thread(self._passage_thread, count, _BATCH_SECONDS)
        return counts

    # --- run in the threads

    def _encode_queries(self, texts: list[str]) -> "Vectors":
        """Encode one by one, or in batches of a fixed size."""
        # Only two batch sizes: torch's library caches a compiled plan per shape. With batches of 1 to 16 the process
        # grew by 270 MB in 200 batches and kept growing; with these two sizes it grew by 50 MB and stopped.
        encode = self._model().encode_query
        if len(texts) < _FEW_QUERIES:
            return _encode(encode, texts, 1)
        filled = [*texts, *texts[-1:] * (-len(texts) % _QUERIES_AT_ONCE)]
        return _encode(encode, filled, _QUERIES_AT_ONCE)[: len(texts)]

    def _encode_batch(self, texts: list[str]) -> "Vectors":
        return _encode(self._model().encode_document, texts, len(texts))

    def _count(self, texts: list[str]) -> list[int]:
        tokenizer = self._model().tokenizer
        if not callable(tokenizer):  # a static model has a plain tokenizers.Tokenizer
            return [len(one.ids) for one in tokenizer.encode_batch(texts, add_special_tokens=False)]
        found = tokenizer(
            texts,
            add_special_tokens=False,
            truncation=False,
            padding=False,
            return_attention_mask=False,
            verbose=False,  # otherwise it warns about texts longer than the window
        )
        return [len(ids) for ids in found["input_ids"]]

    def _model(self) -> Any:
        """Return this thread's copy of the model, which shares the weights: a tokenizer in use cannot be copied."""
        if not hasattr(self._own, "model"):
            with self._loading:
                if self._pattern is None:
                    self._pattern = self._load()
                shared = {id(weight): weight for weight in self._pattern.parameters()}
                self._own.model = copy.deepcopy(self._pattern, shared)
        return self._own.model

    def _load(self) -> Any:
        import torch

        model = self._load_whole()
        # Converted after loading: transformers would change torch's default dtype for every thread.
        return model.to(torch.bfloat16) if self._reduced and computes_in_bfloat16() else model

    def _load_whole(self) -> Any:
        """Load in float32; the packaged model needs only torch, which imports faster than sentence-transformers."""
        if self._files.packaged:
            from adapters.encoders.bert import MeanPoolingModel

            return load_folder(self._files, partial(MeanPoolingModel, window=self.window))
        from sentence_transformers import SentenceTransformer

        return load(self._files, SentenceTransformer)

    async def _ensure_loaded(self, thread: ThreadPoolExecutor) -> None:
        """Load the model with its own, longer timeout."""
        if self._pattern is None:
            await self._in_thread(thread, self._model, _LOAD_SECONDS)

    async def _in_thread(self, thread: ThreadPoolExecutor, do: Callable[[], T], seconds: float) -> T:
        return await run_model(thread, do, seconds, self.name)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def passage_threads() -> int:
    """Return the number of threads for long passages: two if questions still have cores left, otherwise one."""
    return 2 if available_cores() >= _CORES_FOR_TWO else 1


def use_one_core() -> None:
    """Limit torch to one core in the calling thread, and in threads that have not computed yet.

    Each thread must call this itself. Otherwise the number would depend on which thread computes first.
    """
    import torch

    torch.set_num_threads(1)


def computes_in_bfloat16() -> bool:
    """Return whether the processor multiplies in bfloat16 (AVX-512 BF16 or AMX); without it, bfloat16 is slower."""
    import torch

    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def _batches(order: Sequence[int], texts: Sequence[str]) -> Iterator[Sequence[int]]:
    """Yield batches of text positions, longest first; the first text of a batch determines its size."""
    start = 0
    while start < len(order):
        size = _batch_size(len(texts[order[start]]))
        yield order[start : start + size]
        start += size


def _batch_size(characters: int) -> int:
    """Return the batch size for texts up to this length."""
    if characters <= _SHORT:
        return _SHORT_BATCH
    return _BRIEF_BATCH if characters <= _BRIEF else _BATCH


def _encode(encode: Callable[..., Any], texts: list[str], batch: int) -> "Vectors":
    """Return unit vectors in float32, normalized here because bfloat16 is only precise to about a percent."""
    import numpy as np

    raw = np.asarray(encode(texts, batch_size=batch, show_progress_bar=False), dtype=np.float32)
    lengths = np.linalg.norm(raw, axis=1, keepdims=True)
    unit: Vectors = raw / np.maximum(lengths, np.float32(1e-12))
    return unit
