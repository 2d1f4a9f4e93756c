"""Measuring: ``eval``, and ``feedback export``, which makes a dataset of what people thought of answers."""

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.cli.runner import finish, print_json, say

if TYPE_CHECKING:
    from bot.evaluation.dataset_loader import Dataset

feedback = typer.Typer(help="What people thought of answers.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("eval")(evaluate)
    app.add_typer(feedback, name="feedback")


def evaluate(
    datasets: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders with questions, follow-ups or claims; with --model also a file.", exists=True),
    ] = None,
    legs: Annotated[str, typer.Option(help="Of bm25, dense, hybrid, rerank, agent.")] = "bm25,dense,hybrid,rerank",
    agent: Annotated[bool, typer.Option("--agent", help="Ask the agent as well.")] = False,
    model: Annotated[
        bool, typer.Option("--model", help="Only judge the model: its checks of a file, or its answers beside quotes.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many questions of each set.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Print each question of a question set as well.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page with plots.", dir_okay=False)] = None,
    vectors: Annotated[Path | None, typer.Option(help="Keep passages' vectors here for the next run.")] = None,
    baseline: Annotated[Path | None, typer.Option(help="Exit 1 when a figure is worse than here.")] = None,
    save_baseline: Annotated[Path | None, typer.Option(help="Keep these figures as a baseline.")] = None,
) -> None:
    """Measure retrieval, answers, rewrites and checks on datasets, in a temporary base that is removed after.

    With ``--model`` and a file of right and false answers (JSON lines, by default one about the sample company):
    the false alarms and misses of the configured model's checks.
    """
    from bot.evaluation.runner import LEGS

    datasets = datasets or []
    files = [path for path in datasets if path.is_file()]
    if model and len(datasets) == len(files) <= 1:
        finish(_check_model(files[0] if files else None, limit, as_json))
    if files or not datasets:
        raise typer.BadParameter("Name folders of questions, or --model with one file of answers.")
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
    if model:
        finish(_compare(datasets, limit))
    if agent and "agent" not in chosen:
        chosen.append("agent")
    finish(_evaluate(datasets, chosen, limit, show, as_json, report, vectors, baseline, save_baseline))


async def _check_model(file: Path | None, limit: int | None, as_json: bool) -> int:
    from bot.evaluation.labelled_answers import SAMPLE_ANSWERS, check_model, read_answers
    from bot.settings import load_settings

    report = await check_model(load_settings(), read_answers(file or SAMPLE_ANSWERS)[:limit])
    if as_json:
        print_json(report.as_json())
    else:
        say("\n".join(report.lines()))
    return 0


async def _compare(folders: list[Path], limit: int | None) -> int:
    from bot.evaluation.dataset_loader import read
    from bot.evaluation.model_comparison import compare_model, lines_of
    from bot.settings import load_settings

    async with aclosing(compare_model(load_settings(), [read(folder, limit) for folder in folders])) as comparing:
        async for name, *columns in comparing:
            typer.echo("\n".join(lines_of(name, columns)))
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
    from bot.evaluation.baseline import keep_baseline, kept_baseline, lines_of, worse_than
    from bot.evaluation.dataset_loader import read
    from bot.evaluation.question_runs import question_lines
    from bot.evaluation.report_page import write_page
    from bot.evaluation.runner import measure_all, pool_sets
    from bot.settings import load_settings

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


def _must_be_asked(sets: Sequence["Dataset"], legs: list[str]) -> None:
    """Raises BadParameter when there are questions with expected facts, and the agent is not to be asked."""
    if "agent" not in legs and (unasked := [one.name for one in sets if one.questions]):
        raise typer.BadParameter(f"The questions of {', '.join(unasked)} are for the agent: add --agent.")


def _must_be_writable(*paths: Path | None) -> None:
    """Whether there is a place for each file is found out before minutes of measuring. Raises OSError."""
    for path in filter(None, paths):
        there = path.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
        if not there:
            path.unlink()


@feedback.command("export")
def export(folder: Annotated[Path, typer.Argument(help="A new folder.", file_okay=False)]) -> None:
    """Write the answers that people found helpful as a dataset that ``eval`` reads."""
    if folder.exists() and any(folder.iterdir()):
        raise typer.BadParameter(f"{folder} is not empty.")
    finish(_export(folder))


async def _export(folder: Path) -> int:
    from bot.container import open_footnote
    from bot.evaluation.feedback import export_feedback
    from bot.settings import load_settings

    async with open_footnote(load_settings(), models=False) as footnote:
        found = await export_feedback(footnote.feedback, footnote.catalog, footnote.index, footnote.memory)
    found.write(folder)
    say(f"Wrote {len(found.queries)} questions and {len(found.corpus)} documents to {folder}.")
    return 0
