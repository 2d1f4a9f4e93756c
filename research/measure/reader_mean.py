"""The mean of two readers of answers: of the changes of each layer, brought to the rank of one again.

What is learnt on from new sets forgets a little of the former ones; the mean of the weights before and after is often
better than either on what neither was learnt from (Wortsman et al., 2022).

    python -m research.measure.reader_mean BEFORE.safetensors AFTER.safetensors OUT.safetensors --share 0.5
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

Changes = Mapping[str, torch.Tensor]


def mean_of(before: Changes, after: Changes, share: float) -> dict[str, torch.Tensor]:
    """``share`` of the one after. Each pair of narrow matrices becomes the nearest pair of its rank (by SVD)."""
    mixed: dict[str, torch.Tensor] = {}
    for name in before:
        if name.endswith(".up"):
            layer = name.removesuffix(".up")
            products = [one[f"{layer}.up"].float() @ one[f"{layer}.down"].float() for one in (before, after)]
            left, strength, right = torch.linalg.svd(torch.lerp(products[0], products[1], share), full_matrices=False)
            rank = before[name].shape[1]
            root = strength[:rank].sqrt()
            mixed[f"{layer}.up"] = left[:, :rank] * root
            mixed[f"{layer}.down"] = root[:, None] * right[:rank]
        elif not name.endswith(".down"):
            mixed[name] = torch.lerp(before[name].float(), after[name].float(), share)
    return {name: tensor.to(torch.float16).contiguous() for name, tensor in mixed.items()}


def main() -> None:
    """Read two, write their mean."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("before", "after", "out"):
        arguments.add_argument(name, type=Path)
    arguments.add_argument("--share", type=float, default=0.5)
    chosen = arguments.parse_args()
    save_file(mean_of(load_file(chosen.before), load_file(chosen.after), chosen.share), chosen.out)


if __name__ == "__main__":
    main()
