"""Learn the reader of answers again: the packaged encoder's layers, and a head on its first token.

From groups of public sets (``reader_groups``) and of our own (``reader_candidates``), mixed. The loss is that of a
choice among all texts of a group and none of them, by the odds that are read and those that are counted together: the
reader learns what counting does not tell. What is written is the change of each layer, as the product of two narrow
matrices.
On an H100 some thousand groups a second were learnt from, on two busy cores two.

    python -m research.measure.reader_training OUT.safetensors --squad FILE ... --fetaqa FILE ... --wikitables FOLDER
        --groups FILE ... --own research/questions/learn/* ... --pages FOLDER ... [--start]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModel, AutoTokenizer

from adapters.encoders.answer_reader import WEIGHTS
from adapters.encoders.bert import read_weights
from adapters.encoders.model_files import PACKAGED, find_model
from research.measure.reader_candidates import Candidates, candidates
from research.measure.reader_groups import Group, from_fetaqa, from_prepared, from_squad, from_wikitables

RANK, TOKENS, STEP = 128, 112, 8
TEXTS = 10  # of a group of the public sets
GROUPS = 256 if torch.cuda.is_available() else 24  # of a batch; 256 fill 24 GB
BUCKETS = 4  # of a batch, each of texts of like length
PACE, FURTHER_PACE = 3e-4, 2e-4
WARM_UP, CLIP, DECAY, SLOWEST = 100, 1.0, 0.01, 0.02
ROUNDS, PUBLIC_SHARE, PAGES_TIMES = 4, 0.5, 2
COUNTED = 0.6  # what counted odds say beside those that are read, about as in ``weights``


class Reader(nn.Module):
    """Question and text in, the logarithm of the odds out; of the encoder only words and places stay as they are."""

    def __init__(self, device: str, *, shipped: bool) -> None:
        super().__init__()
        location = find_model(PACKAGED).location
        self.device = device
        self.tokenizer: Any = AutoTokenizer.from_pretrained(location)
        self.encoder: Any = AutoModel.from_pretrained(
            location, add_pooling_layer=False, attention_probs_dropout_prob=0.0
        )
        width = self.encoder.config.hidden_size
        self.head = nn.ModuleDict({"dense": nn.Linear(width, width), "out": nn.Linear(width, 1)})
        if shipped:
            self._begin_with(load_file(WEIGHTS))
        for part in ("word_embeddings", "position_embeddings"):
            self.encoder.embeddings.get_submodule(part).requires_grad_(requires_grad=False)
        self.to(device)

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
        ).to(self.device)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            first = self.encoder(**tokens).last_hidden_state[:, 0]
        odds: torch.Tensor = self.head["out"](torch.tanh(self.head["dense"](first.float()))).squeeze(-1)
        return odds

    def _begin_with(self, changes: Mapping[str, torch.Tensor]) -> None:
        held = dict(self.named_parameters())
        with torch.no_grad():
            for name, one in changes.items():
                layer, _, kind = name.rpartition(".")
                if kind == "down":
                    held[f"encoder.{layer}.weight"].add_(changes[f"{layer}.up"].float() @ one.float())
                elif kind != "up":
                    held[name if name.startswith("head.") else f"encoder.{name}"].copy_(one)

    def changes(self) -> dict[str, torch.Tensor]:
        """Return what was learnt in the format of ``adapters.encoders.answer_reader``: per layer the nearest rank."""
        before = read_weights(Path(find_model(PACKAGED).location))
        found: dict[str, torch.Tensor] = {}
        for name, parameter in self.named_parameters():
            if not parameter.requires_grad:
                continue
            now, place = parameter.detach().cpu().float(), name.removeprefix("encoder.")
            if now.ndim == 1 or name.startswith("head.") or "embeddings" in name:
                found[place] = now
                continue
            left, strength, right = torch.linalg.svd(now - before[place], full_matrices=False)
            root, layer = strength[:RANK].sqrt(), place.removesuffix(".weight")
            found |= {f"{layer}.up": left[:, :RANK] * root, f"{layer}.down": root[:, None] * right[:RANK]}
        return {name: one.to(torch.float16).contiguous() for name, one in found.items()}


def loss_of(odds: torch.Tensor, group: Group) -> torch.Tensor:
    """Minus the logarithm of the chance that a right text is chosen, or none where none is right."""
    none = torch.zeros(1, device=odds.device)
    counted = torch.tensor(group.counted or (0.0,) * len(group.texts), device=odds.device)
    both = odds + COUNTED * counted
    right = both[torch.tensor(group.answers, device=odds.device)] if any(group.answers) else none
    return group.weight * (torch.logsumexp(torch.cat([both, none]), 0) - torch.logsumexp(right, 0))


def read_in_buckets(reader: Reader, batch: Sequence[Group]) -> list[torch.Tensor]:
    """Return the odds of each group's texts, those of like length read together."""
    pairs = [(group.question, text) for group in batch for text in group.texts]
    order = sorted(range(len(pairs)), key=lambda at: sum(map(len, pairs[at])))
    size = -(-len(pairs) // BUCKETS)
    parts = [[pairs[at] for at in order[start : start + size]] for start in range(0, len(pairs), size)]
    read = torch.cat([reader([one for one, _ in some], [two for _, two in some]) for some in parts])
    placed = torch.zeros_like(read).index_put((torch.tensor(order, device=read.device),), read)
    return list(torch.split(placed, [len(group.texts) for group in batch]))


def learn(reader: Reader, groups: Sequence[Group], pace: float) -> None:
    """Once over the groups, ever slower."""
    reader.train()
    learnt = [one for one in reader.parameters() if one.requires_grad]
    by = torch.optim.AdamW(learnt, lr=pace, weight_decay=DECAY)
    batches = [groups[start : start + GROUPS] for start in range(0, len(groups), GROUPS)]
    for at, batch in enumerate(batches):
        for one in by.param_groups:
            one["lr"] = pace * min(1.0, (at + 1) / WARM_UP) * max(SLOWEST, 1 - at / len(batches))
        odds = read_in_buckets(reader, batch)
        loss = torch.stack([loss_of(one, group) for one, group in zip(odds, batch, strict=True)]).mean()
        by.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(learnt, CLIP)
        by.step()
        if at % 20 == 0:
            print(f"{at} of {len(batches)}: {loss.item():.3f}", flush=True)


def mixed(public: Sequence[Group], own: Sequence[Candidates], pages: list[Candidates]) -> list[Group]:
    """Return the groups of all rounds: those of our own drawn anew for each, of the public ones a share."""
    found: list[Group] = []
    for _ in range(ROUNDS):
        drawn = [one.draw() for one in (*own, *pages * PAGES_TIMES)]
        some = [*drawn, *random.sample(list(public), int(PUBLIC_SHARE * len(public)))]
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
    arguments.add_argument("--pages", nargs="*", type=Path, default=())
    arguments.add_argument("--start", action="store_true", help="from the reader that ships")
    chosen = arguments.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    reader = Reader("cuda" if torch.cuda.is_available() else "cpu", shipped=chosen.start)
    own, pages = (
        [one for folder in folders for one in asyncio.run(candidates(folder))] for folders in (chosen.own, chosen.pages)
    )
    learn(reader, mixed(list(_public(chosen)), own, pages), FURTHER_PACE if chosen.start else PACE)
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
