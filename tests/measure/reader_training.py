"""Learn the reader of answers again: low-rank changes of the packaged encoder, and a head on its first token.

First on groups of public sets (``reader_groups``), then on those of our own: every unit of what the product found for
a question, against the gold passages. The loss is that of a choice among all texts of a group and none of them, so that
even odds are where an answer begins. Twenty minutes of four cores for the first, three for the second.

    python -m tests.measure.reader_training OUT.safetensors --squad FILE ... --fetaqa FILE ... --wikitables FOLDER
        --own tests/questions/tune tests/questions/tune_2 tests/questions/check bot/samples/eval
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.functional import linear
from transformers import AutoModel, AutoTokenizer

from adapters.encoders.model_files import PACKAGED, find_model
from adapters.reasoners.extractive.evidence.reading import text_of
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from bot.evaluation.dataset_loader import read
from bot.evaluation.temp_index import fill, open_temporary
from bot.settings import Settings
from core.model.evidence import EvidenceLibrary, Hit
from core.ports.index import Scope
from tests.measure.reader_groups import Group, from_fetaqa, from_squad, from_wikitables
from tests.measure.sentences import DEEPER, TOP_K, holds_gold, is_gold, questions_of

RANK, SCALE = 32, 2.0
TOKENS, STEP = 80, 16
TEXTS, OWN_TEXTS = 5, 8  # of a group
GROUPS, OWN_GROUPS = 16, 8  # of a batch
PACE, OWN_PACE = 5e-4, 3e-4
WARM_UP, CLIP, DECAY = 0.05, 1.0, 0.01
OWN_REMOVED_SHARE, OWN_REMOVED_WEIGHT = 0.4, 0.3
PUBLIC_AT_MOST = 13_500
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
        self.encoder: Any = AutoModel.from_pretrained(location, add_pooling_layer=False)
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
        with torch.autocast("cpu", dtype=torch.bfloat16):
            first = self.encoder(**tokens).last_hidden_state[:, 0].float()
        odds: torch.Tensor = self.head["out"](torch.tanh(self.head["dense"](first))).squeeze(-1)
        return odds.float()

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


def learn(reader: Reader, groups: Sequence[Group], pace: float, size: int) -> None:
    """Once over all groups, in batches of like length."""
    learnt = [one for one in reader.parameters() if one.requires_grad]
    by = torch.optim.AdamW(learnt, lr=pace, weight_decay=DECAY)
    batches = _batches(groups, size)
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


async def own_groups(folder: Path) -> list[Group]:
    """The units that the product finds for each question of a set, by their odds before they are read."""
    dataset = read(folder, None)
    groups: list[Group] = []
    async with open_temporary(Settings()) as footnote:
        await fill(footnote, dataset)
        scope = Scope(frozenset({dataset.name}))
        sources = {one.id: one.source for one in await footnote.catalog.documents(scope.bases)}
        reasoner = ExtractiveReasoner(footnote.encoder)

        async def add(question: Any, hits: Sequence[Hit], *, removed: bool) -> None:
            items = EvidenceLibrary().add(hits, question.text)[1]
            weighed = await reasoner.weigh(question.text, items, items)
            best = sorted((one for passage in weighed for one in passage.units), key=lambda one: -one.odds)
            said = [
                (text_of(one), is_gold(question, sources.get(one.evidence.passage.document, ""), one.unit.text))
                for one in best
            ]
            right = [text for text, gold in said if gold and not question.unanswerable][:2]
            wrong = [text for text, gold in said if not gold][: OWN_TEXTS - len(right)]
            if said and (right or removed or question.unanswerable):
                answers = (*(True for _ in right), *(False for _ in wrong))
                weight = OWN_REMOVED_WEIGHT if removed else 1.0
                groups.append(Group(question.text, (*right, *wrong), answers, weight))

        for question in questions_of(dataset):
            if question.follows:
                continue
            hits = (await footnote.retriever.search(question.text, scope, DEEPER)).hits
            await add(question, hits[:TOP_K], removed=False)
            if not question.unanswerable and random.random() < OWN_REMOVED_SHARE:
                others = [hit for hit in hits if not holds_gold(question, hit, sources)][:TOP_K]
                await add(question, others, removed=True)
    return groups


def main() -> None:
    """Learn, and write what was learnt."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--squad", nargs="*", type=Path, default=())
    arguments.add_argument("--fetaqa", nargs="*", type=Path, default=())
    arguments.add_argument("--wikitables", type=Path)
    arguments.add_argument("--own", nargs="*", type=Path, default=())
    chosen = arguments.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    reader = Reader()
    public = [group for path in chosen.squad for group in from_squad(path)]
    public += [group for path in chosen.fetaqa for group in from_fetaqa(path)]
    public += from_wikitables(chosen.wikitables) if chosen.wikitables else []
    groups = [Group(one.question, one.texts[:TEXTS], one.answers[:TEXTS]) for one in public if one]
    learn(reader, random.sample(groups, min(PUBLIC_AT_MOST, len(groups))), PACE, GROUPS)
    own = [group for folder in chosen.own for group in asyncio.run(own_groups(folder))]
    learn(reader, own, OWN_PACE, OWN_GROUPS)
    save_file(reader.changes(), chosen.out)


if __name__ == "__main__":
    main()
