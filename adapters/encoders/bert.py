"""BERT encoder (Devlin et al., 2019) and the packaged model in plain torch, with the vectors of sentence-transformers.

Importing sentence-transformers and transformers takes five of the seven seconds of a command. torch's own encoder
layer imports SymPy for its mask, or is a third slower on passages of 200 tokens.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


_LAYER = {  # our names and BERT's; the query, key and value projections are one matrix here
    "attention_output": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "widening": "intermediate.dense",
    "narrowing": "output.dense",
    "norm": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokenized texts, padded to the longest: three tensors of shape (n, length), int64."""

    ids: torch.Tensor
    types: torch.Tensor  # 0 for a text or the first of a pair; 1 for the second
    attended: torch.Tensor  # 1 for tokens, 0 for padding

    @classmethod
    def of(cls, encodings: "Sequence[Encoding]") -> "Tokens":
        """Return the tokens of padded encodings of one length."""
        return cls(
            torch.tensor([one.ids for one in encodings]),
            torch.tensor([one.type_ids for one in encodings]),
            torch.tensor([one.attention_mask for one in encodings]),
        )

    def to(self, device: torch.device) -> "Tokens":
        """Return the tokens on this device."""
        return Tokens(self.ids.to(device), self.types.to(device), self.attended.to(device))


class BertEncoder(nn.Module):
    """BERT encoder from tokens to a state per token; ``weights`` are keyed by their names in a model file.

    Raises KeyError for a missing weight, RuntimeError for a wrong shape.
    """

    def __init__(self, config: Mapping[str, Any], weights: Mapping[str, torch.Tensor]) -> None:
        super().__init__()
        self.words, self.positions, self.types = (
            nn.Embedding.from_pretrained(weights[f"embeddings.{name}_embeddings.weight"])  # type: ignore[no-untyped-call]
            for name in ("word", "position", "token_type")
        )
        self.norm = nn.LayerNorm(config["hidden_size"], eps=config["layer_norm_eps"])
        self.norm.load_state_dict({kind: weights[f"embeddings.LayerNorm.{kind}"] for kind in ("weight", "bias")})
        self.layers = nn.ModuleList(_Layer(config) for _ in range(config["num_hidden_layers"]))
        for number, layer in enumerate(self.layers):
            layer.load_state_dict(_renamed(weights, f"encoder.layer.{number}"))
        self.eval()

    def forward(self, tokens: Tokens) -> torch.Tensor:
        """Return states of shape (n, length, width)."""
        places = self.positions.weight[: tokens.ids.shape[1]]
        states = self.norm(self.words(tokens.ids) + places + self.types(tokens.types))
        attended = tokens.attended.bool()[:, None, None] if bool((tokens.attended == 0).any()) else None
        for layer in self.layers:
            states = layer(states, attended)
        found: torch.Tensor = states
        return found


class _Layer(nn.Module):
    """Self-attention, then a feed-forward network, each with a residual connection."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width, inner, epsilon = config["hidden_size"], config["intermediate_size"], config["layer_norm_eps"]
        self._heads = config["num_attention_heads"]
        self.projections = nn.Linear(width, 3 * width)  # queries, keys and values
        self.attention_output = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=epsilon)
        self.widening = nn.Linear(width, inner)
        self.narrowing = nn.Linear(inner, width)
        self.norm = nn.LayerNorm(width, eps=epsilon)

    def forward(self, states: torch.Tensor, attended: torch.Tensor | None) -> torch.Tensor:
        """Return states of shape (n, length, width); ``attended`` is a mask of shape (n, 1, 1, length) or None."""
        by_head = self.projections(states).unflatten(-1, (3, self._heads, -1)).permute(2, 0, 3, 1, 4)
        queries, keys, values = by_head.unbind(0)
        seen = scaled_dot_product_attention(queries, keys, values, attended).transpose(1, 2).flatten(2)
        states = self.attention_norm(states + self.attention_output(seen))
        after: torch.Tensor = self.norm(states + self.narrowing(gelu(self.widening(states))))
        return after


def _renamed(weights: Mapping[str, torch.Tensor], layer: str) -> dict[str, torch.Tensor]:
    """Return one layer's weights under the names used above."""
    named: dict[str, torch.Tensor] = {}
    for kind in ("weight", "bias"):
        projections = [weights[f"{layer}.attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
        named[f"projections.{kind}"] = torch.cat(projections)
        named |= {f"{ours}.{kind}": weights[f"{layer}.{theirs}.{kind}"] for ours, theirs in _LAYER.items()}
    return named


def read_weights(folder: Path) -> dict[str, torch.Tensor]:
    """Load the weights in a model's folder. Raises OSError or SafetensorError if the file is damaged."""
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


def read_config(folder: Path) -> Mapping[str, Any]:
    """Load the configuration of the model in this folder. Raises OSError or ValueError if it is unreadable."""
    found: Mapping[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return found


def read_tokenizer(folder: Path) -> "Tokenizer":
    """Load the tokenizer in this folder, without truncation or padding.

    Raises any error of the library for a broken file.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # otherwise a later fork prints a warning
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


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
