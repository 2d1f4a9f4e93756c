"""Optional reranking with a sentence-transformers cross-encoder.

No cross-encoder is packaged, so an offline machine may have none. The fused order is then used. This is reported once,
available in ``available`` and ``reason``, and not retried for every question.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from adapters.encoders.model_files import find_model, load, log_warning, run_model
from core.model.errors import ModelUnavailable

DEFAULT = "cross-encoder/ms-marco-MiniLM-L6-v2"
_BATCH = 16
_LOAD_SECONDS = 300.0
_SECONDS = 30.0
_WAIT_FOR_LOADING = 6.0  # of one question; a download takes longer, so only later questions are reranked


class CrossEncoderReranker:
    """``Reranker`` with a model by name or path. It loads at the first use or in ``open``.

    Args:
        model: empty for the default, ``none`` for no reranker.
        say: called once with a message if there is no model.
    """

    def __init__(self, model: str = DEFAULT, *, say: Callable[[str], None] | None = None) -> None:
        self._files = find_model(model or DEFAULT)
        self._say = say or log_warning
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rerank")
        self._model: Any = None
        self._loading: asyncio.Task[None] | None = None
        self.reason = "No reranker is configured." if model.casefold() == "none" else ""

    @property
    def name(self) -> str:
        """The model's name."""
        return self._files.name

    @property
    def available(self) -> bool:
        """Whether a model is loaded."""
        return self._model is not None

    async def open(self) -> None:
        """Try to load the model once and report a failure once. Never raises for a missing model."""
        if self._model is not None or self.reason:
            return
        if self._loading is None:
            self._loading = asyncio.create_task(self._try_loading(), name="load the reranker")
        await asyncio.shield(self._loading)

    async def close(self) -> None:
        """Shut down the thread."""
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.gather(self._loading, return_exceptions=True)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float] | None:
        """Return a probability in [0, 1] for each text, or None if there is no model, or not yet."""
        if self._model is None and not self.reason:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WAIT_FOR_LOADING):
                    await self.open()
        if self._model is None:
            return None
        if not texts:
            return []
        scores: list[float] = await run_model(
            self._thread, lambda: self._predict(query, list(texts)), _SECONDS, self.name
        )
        return scores

    async def _try_loading(self) -> None:
        try:
            self._model = await run_model(self._thread, self._load, _LOAD_SECONDS, self.name)
        except ModelUnavailable as error:
            self.reason = str(error)
            self._say(f"Reranking is off. Everything else works. {error}")

    def _load(self) -> Any:
        model = load(self._files, _cross_encoder)
        if model.num_labels != 1:
            raise ModelUnavailable(
                f"The model {self.name} is a classifier of {model.num_labels} classes, not a reranker.",
                remedy="Set RERANKER_MODEL to a model that returns a single score.",
            )
        return model

    def _predict(self, query: str, texts: list[str]) -> list[float]:
        from torch.nn import Sigmoid

        # The logistic function of the single logit: MS MARCO models are trained like this, whatever their default.
        scores = self._model.predict(
            [(query, text) for text in texts], batch_size=_BATCH, show_progress_bar=False, activation_fn=Sigmoid()
        )
        return [float(score) for score in scores]


def _cross_encoder(location: str, **how: Any) -> Any:
    """Create the model; the import takes seconds, and most machines have no model to load."""
    from sentence_transformers import CrossEncoder

    return CrossEncoder(location, **how)
