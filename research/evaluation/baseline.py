"""What is measured as lines on a terminal, and held against a baseline that is kept in a file."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.model.errors import ConfigurationError
from research.evaluation.metrics import regressions
from research.evaluation.question_runs import verdict_lines
from research.evaluation.retrieval import ALL_EVIDENCE, METRICS
from research.evaluation.runner import DatasetFigures

NOT_A_FIGURE = ("by_grade", "worst", "stages", "nowhere_answered")  # of the agent's; they have places of their own


def lines_of(measured: DatasetFigures) -> Iterator[str]:
    """Everything that is one number or a row of them."""
    sizes = {"questions": measured.questions, "passages": measured.passages}
    told = ", ".join(f"{count:,} {name}" for name, count in sizes.items() if count)
    yield f"\n{measured.name}: {told}" if told else f"\n{measured.name}"
    if measured.legs:
        yield from _legs(measured.legs)
    if measured.agent:
        yield from _agent(measured.agent)
    if measured.verdicts:
        yield from verdict_lines(measured.verdicts["counts"])
    yield from measured.notes


def _legs(legs: Mapping[str, Any]) -> Iterator[str]:
    names = [*METRICS, ALL_EVIDENCE]
    yield f"{'':8}" + "".join(f"{name:>17}" for name in names)
    for leg, kept in legs.items():
        row = "".join(f"{kept['metrics'][name]['mean']:17.3f}" for name in names)
        gap = kept.get("difference")
        yield f"{leg:8}{row}" + (f"   {interval(gap)} over {kept['against']}" if gap else "")
    for leg, kept in legs.items():
        for name, gap in kept.get("over_one_search", {}).items():
            yield f"  {leg} over one search, {name}: {interval(gap)}"


def interval(gap: Mapping[str, float]) -> str:
    """Return a mean with its interval, as text."""
    return f"{gap['mean']:+.3f} [{gap['low']:+.3f}, {gap['high']:+.3f}]"


def agent_rows(agent: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each of the agent's figures by its name, as text."""
    for name, value in agent.items():
        if name in NOT_A_FIGURE or value is None:
            continue
        if isinstance(value, dict):
            shown = ", ".join(f"{count} {outcome}" for outcome, count in value.items())
        else:
            shown = f"{value:.3f}" if isinstance(value, float) else str(value)
        yield name.replace("_", " "), shown


def _agent(agent: Mapping[str, Any]) -> Iterator[str]:
    for name, shown in agent_rows(agent):
        yield f"  {name:20} {shown}"
    stages = ", ".join(f"{name} {value:.1f}" for name, value in agent["stages"].items())
    yield f"  {'median ms by stage':20} {stages}"


def keep_baseline(path: Path, results: Sequence[DatasetFigures]) -> None:
    """Write each set's figures, so that a later run can be held against them."""
    figures = {one.name: {name: figure.value for name, figure in one.figures().items()} for one in results}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def kept_baseline(path: Path, names: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the figures of each set. Raises ConfigurationError if it is no baseline, or one of other sets."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # no JSON, or no text
        kept = None
    if not isinstance(kept, dict) or not all(isinstance(figures, dict) for figures in kept.values()):
        raise ConfigurationError(f"{path} is no baseline.", remedy="--save-baseline writes one.")
    if not set(kept) & set(names):
        raise ConfigurationError(f"{path} is a baseline of {', '.join(kept) or 'nothing'}, not of these sets.")
    return kept


def worse_than(baseline: Path, results: Sequence[DatasetFigures]) -> list[str]:
    """One line for each figure that fell below the baseline. Raises ConfigurationError as ``kept_baseline`` does."""
    kept = kept_baseline(baseline, [one.name for one in results])
    known = [one for one in results if one.name in kept]
    return [f"{one.name}: {line}" for one in known for line in regressions(one.figures(), kept[one.name])]
