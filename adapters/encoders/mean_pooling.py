"""The packaged model in plain torch, with the same vectors as sentence-transformers.

Importing sentence-transformers and transformers takes five of the seven seconds of a command.
"""

from collections.abc import Sequence
from pathlib import Path

import torch

from adapters.encoders.bert import BertEncoder, Tokens, read_config, read_tokenizer, read_weights


class MeanPoolingModel(torch.nn.Module):
    """Encoder with mean pooling: the part of ``SentenceTransformer`` that ``text_encoder`` uses.

    It reads a folder's tokenizer and weights but not the pooling configuration. The caller must know that the pooling
    is the mean, that there are no prompts, and the window. tests/adapters/encoders/test_mean_pooling.py compares its
    vectors with the library's.
    """

    def __init__(self, folder: Path, *, window: int, device: str | None = None) -> None:
        """Load the model on ``device``; None selects an accelerator if there is one, as in the library."""
        super().__init__()
        self._device = torch.device(device or torch.accelerator.current_accelerator(check_available=True) or "cpu")
        self.tokenizer = read_tokenizer(folder)
        self._filling = read_tokenizer(folder)
        self._filling.enable_truncation(window)
        self._filling.enable_padding()
        self._encoder = BertEncoder(read_config(folder), read_weights(folder)).to(self._device)

    def encode_query(self, texts: Sequence[str], *, batch_size: int, **_: object) -> torch.Tensor:
        """Return (n, dimension), float32, not normalized; the caller scales them to unit length."""
        batches = [self._mean(texts[start : start + batch_size]) for start in range(0, len(texts), batch_size)]
        return torch.cat(batches)

    encode_document = encode_query

    @torch.inference_mode()
    def _mean(self, texts: Sequence[str]) -> torch.Tensor:
        tokens = Tokens.of(self._filling.encode_batch(list(texts))).to(self._device)
        attended = tokens.attended.unsqueeze(-1)
        mean: torch.Tensor = (self._encoder(tokens) * attended).sum(1, dtype=torch.float32) / attended.sum(1)
        return mean.cpu()
