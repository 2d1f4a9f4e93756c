"""Learn the reader of answers again: low-rank changes of the packaged encoder, and a head on its first token.

First on groups of public sets (``reader_groups``), then on our own sets with some of the public ones among them
(``reader_candidates``). The loss is that of a choice among all texts of a group and none of them, so that even odds are
where an answer begins. On four cores some 20 groups a second are learnt from.

    python -m tests.measure.reader_training OUT.safetensors --squad FILE ... --fetaqa FILE ... --wikitables FOLDER
        --groups FILE ... --own tests/questions/learn/* tests/questions/tune tests/questions/tune_2
        tests/questions/check bot/samples/eval
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import linear
from transformers import AutoModel, AutoTokenizer

from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.encoders.model_files import PACKAGED, find_model
from adapters.encoders.text_encoder import computes_in_bfloat16
from tests.measure.reader_candidates import candidates
from tests.measure.reader_groups import Group, from_fetaqa, from_prepared, from_squad, from_wikitables

RANK, SCALE = 64, 2.0
TOKENS, STEP = 80, 16
TEXTS = 5  # of a group of the public sets
GROUPS, OWN_GROUPS = 16, 12  # of a batch
PACE, OWN_PACE, FURTHER_PACE = 4e-4, 3e-4, 2e-4
WARM_UP, CLIP, DECAY = 0.05, 1.0, 0.01
OWN_ROUNDS, PUBLIC_AMONG_OWN, PUBLIC_WEIGHT = 2, 2_000, 0.7
LAYERS = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)


class LowRank(nn.Module):
    """A layer that stays as it is, plus the product of two narrow matrices that begins at nothing."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Parameter(torch.randn(RANK, layer.in_features) / math.sqrt(layer.in_features))
        self.up = nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(…, out) of (…, in)."""
        changed: torch.Tensor = self.layer(x) + linear(linear(x, self.down), self.up) * SCALE
        return changed


class Reader(nn.Module):
    """Question and text in, the logarithm of the odds out."""

    def __init__(self) -> None:
        super().__init__()
        location = find_model(PACKAGED).location
        self.tokenizer: Any = AutoTokenizer.from_pretrained(location)
        self.encoder: Any = AutoModel.from_pretrained(
            location, add_pooling_layer=False, attn_implementation="eager"
        ).eval()
        self.encoder.requires_grad_(requires_grad=False)
        for block in self.encoder.encoder.layer:
            for name in LAYERS:
                parent, _, last = name.rpartition(".")
                within = block.get_submodule(parent)
                setattr(within, last, LowRank(getattr(within, last)))
            block.attention.output.LayerNorm.requires_grad_(requires_grad=True)
            block.output.LayerNorm.requires_grad_(requires_grad=True)
        self.encoder.embeddings.token_type_embeddings.requires_grad_(requires_grad=True)
        width = self.encoder.config.hidden_size
        self.head = nn.ModuleDict({"dense": nn.Linear(width, width), "out": nn.Linear(width, 1)})

    def forward(self, questions: list[str], texts: list[str]) -> torch.Tensor:
        """(n,)."""
        tokens = self.tokenizer(
            questions,
            texts,
            truncation=True,
            max_length=TOKENS,
            padding=True,
            pad_to_multiple_of=STEP,
            return_tensors="pt",
        )
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=computes_in_bfloat16()):
            first = self.encoder(**tokens).last_hidden_state[:, 0].float()
        odds: torch.Tensor = self.head["out"](torch.tanh(self.head["dense"](first))).squeeze(-1)
        return odds.float()

    def begin_with(self, path: Path) -> None:
        """Take up what was learnt before, as ``changes`` wrote it."""
        held = dict(self.named_parameters())
        with torch.no_grad():
            for name, tensor in load_file(path).items():
                parameter = held[name] if name.startswith("head.") else held[f"encoder.{name}"]
                parameter.copy_(tensor.float() / (SCALE if name.endswith(".up") else 1.0))

    def changes(self) -> dict[str, torch.Tensor]:
        """What was learnt, as ``adapters.encoders.answer_reader`` reads it."""
        found = {name.removeprefix("encoder."): one for name, one in self.named_parameters() if one.requires_grad}
        return {
            name: (one.detach() * (SCALE if name.endswith(".up") else 1.0)).to(torch.float16).contiguous()
            for name, one in found.items()
        }


def loss_of(odds: torch.Tensor, group: Group) -> torch.Tensor:
    """Minus the logarithm of the chance that a right text is chosen, or none where none is right."""
    none = torch.zeros(1)
    right = odds[torch.tensor(group.answers)] if any(group.answers) else none
    return group.weight * (torch.logsumexp(torch.cat([odds, none]), 0) - torch.logsumexp(right, 0))


def learn(reader: Reader, rounds: Sequence[Sequence[Group]], pace: float, size: int) -> None:
    """Once over the groups of each round, in batches of like length, ever slower."""
    learnt = [one for one in reader.parameters() if one.requires_grad]
    by = torch.optim.AdamW(learnt, lr=pace, weight_decay=DECAY)
    batches = [batch for groups in rounds for batch in _batches(groups, size)]
    for at, batch in enumerate(batches):
        for one in by.param_groups:
            one["lr"] = pace * min(1.0, (at + 1) / (WARM_UP * len(batches) + 1)) * max(0.02, 1 - at / len(batches))
        questions = [group.question for group in batch for _ in group.texts]
        odds = reader(questions, [text for group in batch for text in group.texts])
        parts = torch.split(odds, [len(group.texts) for group in batch])
        loss = torch.stack([loss_of(one, group) for one, group in zip(parts, batch, strict=True)]).mean()
        by.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(learnt, CLIP)
        by.step()
        if at % 20 == 0:
            print(f"{at} of {len(batches)}: {loss.item():.3f}", flush=True)


def _batches(groups: Sequence[Group], size: int) -> list[Sequence[Group]]:
    mixed = random.sample(list(groups), len(groups))
    found: list[Sequence[Group]] = []
    for start in range(0, len(mixed), size * 20):
        near = sorted(mixed[start : start + size * 20], key=lambda one: max(map(len, one.texts)))
        some = [near[at : at + size] for at in range(0, len(near), size)]
        found += random.sample(some, len(some))
    return found


def main() -> None:
    """Learn, and write what was learnt."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--squad", nargs="*", type=Path, default=())
    arguments.add_argument("--fetaqa", nargs="*", type=Path, default=())
    arguments.add_argument("--wikitables", type=Path)
    arguments.add_argument("--groups", nargs="*", type=Path, default=())
    arguments.add_argument("--own", nargs="*", type=Path, default=())
    arguments.add_argument("--start", type=Path)
    chosen = arguments.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    reader = Reader()
    public = list(_public(chosen))
    if chosen.start:
        reader.begin_with(chosen.start)
    else:
        learn(reader, [public], PACE, GROUPS)
    confused = LowRankAnswerReader() if chosen.start else None
    own = [one for folder in chosen.own for one in asyncio.run(candidates(folder, confused))]
    kept = [replace(one, weight=PUBLIC_WEIGHT) for one in random.sample(public, min(PUBLIC_AMONG_OWN, len(public)))]
    pace = FURTHER_PACE if chosen.start else OWN_PACE
    learn(reader, [[*(one.draw() for one in own), *kept] for _ in range(OWN_ROUNDS)], pace, OWN_GROUPS)
    save_file(reader.changes(), chosen.out)


def _public(chosen: argparse.Namespace) -> Iterator[Group]:
    found = [
        *(from_squad(path) for path in chosen.squad),
        *(from_fetaqa(path) for path in chosen.fetaqa),
        *(from_prepared(path) for path in chosen.groups),
        *([from_wikitables(chosen.wikitables)] if chosen.wikitables else []),
    ]
    for group in filter(None, chain.from_iterable(found)):
        yield replace(group, texts=group.texts[:TEXTS], answers=group.answers[:TEXTS])


if __name__ == "__main__":
    main()
