"""Cross-encoder that computes the odds that a sentence answers a question.

Unlike an encoder, which compares two separately computed vectors, it attends from every word of the question to every
word of the sentence (Nogueira and Cho, 2019). It is the packaged model with low-rank adapters (Hu et al., 2021) from
``answer_reader.safetensors``, 11 MB. ``research/answer_reader.md`` describes the training data.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cachetools import LRUCache

from adapters.encoders.model_files import PACKAGED, ModelFiles, find_model, load_folder, log_warning, run_model
from adapters.encoders.text_encoder import computes_in_bfloat16, use_one_core
from core.model.errors import ModelUnavailable, first_of_ours

if TYPE_CHECKING:
    import torch

    Tensors = dict[str, torch.Tensor]

WEIGHTS = Path(__file__).with_name("answer_reader.safetensors")
_TOKENS = 112  # of question and sentence together, as in training
# Fixed batch size, and lengths in steps, because torch's library caches a compiled plan per shape.
_AT_ONCE, _STEP = 4, 8
_AT_A_TIME = 2  # batches in parallel, each on one core
_LOAD_SECONDS, _READ_SECONDS = 60.0, 60.0  # the question that waits has a shorter deadline of its own
_KNOWN = 4_000  # cached pairs: the sentences used for grading a question are used again for its answer


class LowRankAnswerReader:
    """``AnswerReader`` with the packaged model; it loads at the first use or in ``open``.

    Args:
        files: the model that the adapters were trained for; by default the packaged one.
        say: called once with a message if loading fails; loading is not retried.
    """

    def __init__(self, files: ModelFiles | None = None, *, say: Callable[[str], None] = log_warning) -> None:
        self._files = files or find_model(PACKAGED)
        self._say = say
        self._failure: ModelUnavailable | None = None
        self._threads = ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="read-answers", initializer=use_one_core)
        self._loading = threading.Lock()
        self._model: _CrossEncoder | None = None
        self._known: LRUCache[tuple[str, str], float] = LRUCache(_KNOWN)

    async def open(self) -> None:
        """Load the model now. Raises ModelUnavailable if that fails, which is reported once and not retried."""
        if self._failure is None:
            try:
                await run_model(self._threads, self._loaded, _LOAD_SECONDS, self._files.name)
            except ModelUnavailable as error:
                self._failure = error
                self._say(f"Sentences are ranked without the answer reader. Everything else works. {error}")
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """Shut down the threads; running computations finish in the background."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the log-odds that each text answers the question, in order; 0 is even odds.

        Raises ModelUnavailable if the model cannot be loaded or hangs.
        """
        # Copied, because other requests may evict these entries from the cache.
        found = {text: self._known[question, text] for text in texts if (question, text) in self._known}
        # Batch texts of similar length, since a batch is as wide as its longest text. Longest first, so that short ones
        # are left for the end and the cores finish together.
        fresh = sorted({text for text in texts if text not in found}, key=lambda text: (-len(text), text))
        if fresh and self._model is None:
            await self.open()

        async def read_some(some: list[str]) -> None:
            read = partial(self._odds, question, some)
            odds = dict(zip(some, await run_model(self._threads, read, _READ_SECONDS, self._files.name), strict=True))
            found.update(odds)
            # Cached here, so that results survive a caller's timeout.
            self._known.update({(question, text): value for text, value in odds.items()})

        try:
            async with asyncio.TaskGroup() as group:
                for start in range(0, len(fresh), _AT_ONCE):
                    group.create_task(read_some(fresh[start : start + _AT_ONCE]))
        except BaseExceptionGroup as failures:
            raise first_of_ours(failures) from None
        return [found[text] for text in texts]

    def _odds(self, question: str, texts: list[str]) -> list[float]:
        import torch

        model = self._loaded()
        filled = [*texts, *texts[-1:] * (-len(texts) % _AT_ONCE)]
        with torch.inference_mode():
            odds: list[float] = model.odds(question, filled).tolist()
        return odds[: len(texts)]

    def _loaded(self) -> "_CrossEncoder":
        with self._loading:
            if self._model is None:
                self._model = load_folder(self._files, _CrossEncoder)
                if computes_in_bfloat16():
                    self._model.halve()
        return self._model


class _CrossEncoder:
    """The packaged encoder with the adapters merged in and a head on its first token."""

    def __init__(self, folder: Path) -> None:
        from adapters.encoders.bert import BertEncoder, read_config, read_tokenizer, read_weights

        self._tokenizer = read_tokenizer(folder)
        self._tokenizer.enable_truncation(_TOKENS)
        self._tokenizer.enable_padding(pad_to_multiple_of=_STEP)
        changes = {name: tensor.float() for name, tensor in _read_changes().items()}
        self._head = {name: changes.pop(name) for name in list(changes) if name.startswith("head.")}
        self._encoder = BertEncoder(read_config(folder), _merged(read_weights(folder), changes))

    def halve(self) -> None:
        """Compute in bfloat16; the head stays in float32."""
        import torch

        self._encoder = self._encoder.to(torch.bfloat16)

    def odds(self, question: str, texts: Sequence[str]) -> "torch.Tensor":
        """Return log-odds of shape (n,)."""
        import torch
        from torch.nn.functional import linear

        from adapters.encoders.bert import Tokens

        tokens = Tokens.of(self._tokenizer.encode_batch([(question, text) for text in texts]))
        first = self._encoder(tokens)[:, 0].float()
        inner = torch.tanh(linear(first, self._head["head.dense.weight"], self._head["head.dense.bias"]))
        return linear(inner, self._head["head.out.weight"], self._head["head.out.bias"]).squeeze(-1)


def _merged(weights: "Tensors", changes: "Tensors") -> "Tensors":
    """Return the weights with each low-rank product added to its layer."""
    whole = {name: tensor for name, tensor in changes.items() if not name.endswith((".down", ".up"))}
    for name, narrow in changes.items():
        if name.endswith(".down"):
            layer = name.removesuffix(".down")
            whole[f"{layer}.weight"] = weights[f"{layer}.weight"] + changes[f"{layer}.up"] @ narrow
    return weights | whole


def _read_changes() -> "dict[str, torch.Tensor]":
    """Load the adapter weights. Raises ModelUnavailable, which names the file, if it is damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise ModelUnavailable(f"{WEIGHTS} cannot be read: {error}.", remedy="Install Footnote again.") from error
