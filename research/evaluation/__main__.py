"""Measures retrieval and answers on datasets: ``python -m research.evaluation FOLDER… [--agent]``.

A dataset is measured in a temporary base that is removed afterwards. With ``--model`` each question is asked
twice: with quotes alone and with the configured model.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

import typer

from adapters.observability import logs
from adapters.terminal.output import print_json, say
from bot.settings import load_settings
from research.evaluation.baseline import keep_baseline, kept_baseline, lines_of, worse_than
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.model_comparison import compare_model
from research.evaluation.model_comparison import lines_of as comparison_lines
from research.evaluation.question_runs import question_lines
from research.evaluation.report_page import write_page
from research.evaluation.runner import LEGS, measure_all, pool_sets

app = typer.Typer(pretty_exceptions_enable=False)


@app.command()
def evaluate(
    datasets: Annotated[list[Path], typer.Argument(help="Folders with questions, follow-ups or claims.", exists=True)],
    legs: Annotated[str, typer.Option(help="Of bm25, dense, hybrid, rerank, agent.")] = "bm25,dense,hybrid,rerank",
    agent: Annotated[bool, typer.Option("--agent", help="Ask the agent as well.")] = False,
    model: Annotated[bool, typer.Option("--model", help="Compare the model's answers with quotes alone.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many questions of each set.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print each question of a question set as well.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page with plots.", dir_okay=False)] = None,
    vectors: Annotated[Path | None, typer.Option(help="Keep passages' vectors here for the next run.")] = None,
    baseline: Annotated[Path | None, typer.Option(help="Exit 1 when a figure is worse than here.")] = None,
    save_baseline: Annotated[Path | None, typer.Option(help="Keep these figures as a baseline.")] = None,
) -> None:
    """Measure retrieval, answers, rewrites and checks on datasets."""
    chosen = [name.strip() for name in legs.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in LEGS]
    if unknown or not chosen:
        raise typer.BadParameter(f"There is no leg {', '.join(unknown) or '(none)'}; there are {', '.join(LEGS)}.")
    if baseline is not None and not baseline.is_file():
        raise typer.BadParameter(f"There is no file {baseline}.")
    if baseline is not None and limit is not None:
        raise typer.BadParameter("A baseline is of all questions; leave --limit out.")
    names = [folder.resolve().name for folder in datasets]
    if len(set(names)) < len(names):
        raise typer.BadParameter("Two of these folders have the same name; their figures could not be told apart.")
    logs.configure("critical", "text")
    if model:
        raise typer.Exit(asyncio.run(_compare(datasets, limit)))
    if agent and "agent" not in chosen:
        chosen.append("agent")
    work = _evaluate(datasets, chosen, limit, show, as_json, report, vectors, baseline, save_baseline)
    raise typer.Exit(asyncio.run(work))


async def _compare(folders: list[Path], limit: int | None) -> int:
    async with aclosing(compare_model(load_settings(), [read(folder, limit) for folder in folders])) as comparing:
        async for name, *columns in comparing:
            typer.echo("\n".join(comparison_lines(name, columns)))
    return 0


async def _evaluate(
    folders: list[Path],
    legs: list[str],
    limit: int | None,
    show: bool,
    as_json: bool,
    report: Path | None,
    vectors: Path | None,
    baseline: Path | None,
    save_baseline: Path | None,
) -> int:
    sets = [read(folder, limit) for folder in folders]
    _must_be_asked(sets, legs)
    if baseline is not None:
        kept_baseline(baseline, [one.name for one in sets])
    _must_be_writable(report, save_baseline, vectors and vectors / "vectors.sqlite")
    results = []
    async with aclosing(measure_all(load_settings(), sets, legs, vectors)) as measuring:
        async for one in measuring:
            results.append(one)
            if not as_json:
                each = one.verdicts["each"] if show and one.verdicts else ()
                typer.echo("\n".join((*question_lines(each), *lines_of(one))))
    together = pool_sets(results)
    if together is not None and not as_json:
        typer.echo("\n".join(lines_of(together)))
    shown = [*results, *([together] if together else [])]
    if as_json:
        print_json([one.as_json() for one in shown])
    if report is not None:
        write_page(report, shown)
    if save_baseline is not None:
        keep_baseline(save_baseline, results)
    worse = worse_than(baseline, results) if baseline is not None else []
    for line in worse:
        say(line, err=True)
    return 1 if worse else 0


def _must_be_asked(sets: Sequence[Dataset], legs: list[str]) -> None:
    """Raise BadParameter if there are questions with expected facts, and the agent is not to be asked."""
    if "agent" not in legs and (unasked := [one.name for one in sets if one.questions]):
        raise typer.BadParameter(f"The questions of {', '.join(unasked)} are for the agent: add --agent.")


def _must_be_writable(*paths: Path | None) -> None:
    """Raise OSError if a file cannot be written, before minutes of measuring."""
    for path in filter(None, paths):
        there = path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        if not there:
            path.unlink()


if __name__ == "__main__":
    app()
