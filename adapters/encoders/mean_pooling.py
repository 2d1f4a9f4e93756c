"""The packaged model by transformers alone, with the vectors that sentence-transformers makes of it.

To import sentence-transformers takes two to three seconds more than what computes here, of a command that takes six.
"""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer


class MeanPoolingModel(torch.nn.Module):
    """A transformer and the mean of its tokens: ``SentenceTransformer``, as far as ``text_encoder`` knows that.

    It reads a folder's tokenizer and weights, not how they are put together: whoever makes one knows that the pooling
    is the mean, that there are no prompts, and how many tokens it reads. tests/adapters/encoders/test_mean_pooling.py
    holds its vectors against the library's.
    """

    def __init__(
        self, location: str, *, window: int, local_files_only: bool = False, device: str | None = None
    ) -> None:
        """``device``: None for an accelerator where there is one, as in the library."""
        super().__init__()
        self._window = window
        self._device = torch.device(device or torch.accelerator.current_accelerator(check_available=True) or "cpu")
        self.tokenizer: Any = AutoTokenizer.from_pretrained(location, local_files_only=local_files_only)
        encoder = AutoModel.from_pretrained(location, local_files_only=local_files_only, add_pooling_layer=False)
        self._encoder: Any = encoder.to(self._device).eval()

    def encode_query(self, texts: Sequence[str], *, batch_size: int, **_: object) -> torch.Tensor:
        """(n, dimension), float32, of any length: whoever asked scales them to one."""
        batches = [self._mean(texts[start : start + batch_size]) for start in range(0, len(texts), batch_size)]
        return torch.cat(batches)

    encode_document = encode_query

    @torch.inference_mode()
    def _mean(self, texts: Sequence[str]) -> torch.Tensor:
        read = self.tokenizer(list(texts), padding=True, truncation=True, max_length=self._window, return_tensors="pt")
        tokens = read.to(self._device)
        states = self._encoder(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1)
        mean: torch.Tensor = (states * mask).sum(1, dtype=torch.float32) / mask.sum(1)
        return mean.cpu()
