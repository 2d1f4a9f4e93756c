"""Counts the weights of ``core/service/answer_wish.py`` over labelled lines, and judges them by cross-validation.

    python -m research.routing.train [--write]

A logistic regression with a ridge over the lines that the signals decide: those put to us, and those of the asker while
only the two talk. Each fifth of the lines is judged with the weights of the other four.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import re
from pathlib import Path

import numpy as np

from core.model.channel_settings import ChannelSettings
from core.service import answer_wish
from core.service.message_routing import LEAST_WISH
from research.routing.__main__ import Played, Player, installation, lines_of

TABLE = Path(answer_wish.__file__)
RIDGE = 1.0  # as a normal prior of variance 1 on each weight
FOLDS = 5
TRAINED = ("open", "siblings")
Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def fit(given: Numbers, wanted: Numbers) -> Numbers:
    """Return the weights of the columns, by Newton's method; the last column is all ones and not held back."""
    weights = np.zeros(given.shape[1])
    ridge = np.diag([RIDGE] * (given.shape[1] - 1) + [1e-6])
    for _ in range(50):
        odds = 1 / (1 + np.exp(-given @ weights))
        slope = given.T @ (odds - wanted) + ridge @ weights
        weights -= np.linalg.solve((given.T * (odds * (1 - odds))) @ given + ridge, slope)
    return weights


def _table(names: list[str], weights: Numbers) -> str:
    rows = "".join(f'    "{name}": {weight:.1f},\n' for name, weight in zip(names, weights, strict=False))
    return f"BIAS = {weights[-1]:.1f}\nWEIGHTS: dict[str, float] = {{\n{rows}}}\n"


def cross_validated(given: Numbers, wanted: Numbers) -> Numbers:
    """Return the probability that each line wants an answer, by the weights of the lines of the other folds."""
    odds = np.zeros(len(given))
    for fold in range(FOLDS):
        held = np.arange(len(given)) % FOLDS == fold
        odds[held] = 1 / (1 + np.exp(-given[held] @ fit(given[~held], wanted[~held])))
    return odds


def _report(lines: list[Played], odds: Numbers) -> None:
    for part in TRAINED:
        of_part = [(one, odd) for one, odd in zip(lines, odds, strict=True) if one.part == part]
        silent = sum(not one.wanted for one, _ in of_part)
        for least in (0.5, LEAST_WISH, 0.7):
            false = sum(odd >= least and not one.wanted for one, odd in of_part)
            missed = sum(odd < least and bool(one.wanted) for one, odd in of_part)
            print(f"{part:<10} at {least}: {false} of {silent} false, {missed} of {len(of_part) - silent} missed")
    for one, odd in zip(lines, odds, strict=True):
        if (odd >= LEAST_WISH) != one.wanted:
            kind, text = "MISSED" if one.wanted else "FALSE", one.case["line"]["text"][:90]
            print(f"{kind} {odd:.2f} {one.case['id']} {text!r} {sorted(one.decision.signals or ())}")


async def decided_by_signals() -> list[Played]:
    """Return the lines that the signals decide, each on one platform."""
    lines: list[Played] = []
    async with installation() as footnote:
        player = Player(footnote, ChannelSettings())
        for part in TRAINED:
            for case in lines_of(part):
                played = await player.play(case, "discord" if case["platform"] == "discord" else "slack")
                played.part = part
                if played.decision.signals is not None and played.wanted is not None:
                    lines.append(played)
    return lines


def main(*, write: bool) -> None:
    """Print the table and what it gives on lines that did not count; ``write`` puts it in its place."""
    lines, names = asyncio.run(decided_by_signals()), list(answer_wish.WEIGHTS)
    given = np.array([[float(name in (one.decision.signals or ())) for name in names] + [1.0] for one in lines])
    wanted = np.array([float(bool(one.wanted)) for one in lines])
    _report(lines, cross_validated(given, wanted))
    *weights, bias = fit(given, wanted)
    rows = "".join(f'    "{name}": {weight:.1f},\n' for name, weight in zip(names, weights, strict=True))
    table = f"BIAS = {bias:.1f}\nWEIGHTS: dict[str, float] = {{\n{rows}}}\n"
    print(table)
    if write:
        source = TABLE.read_text()
        TABLE.write_text(re.sub(r"(?s)BIAS = .*?\n}\n", lambda _: table, source))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into core/service/answer_wish.py")
    main(write=parser.parse_args().write)
