"""Measuring: ``eval``, ``bench``, and ``feedback export``, which makes a dataset of what people thought of answers."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.commands.running import finish, print_json

feedback = typer.Typer(help="What people thought of answers.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("eval")(evaluate)
    app.command()(bench)
    app.add_typer(feedback, name="feedback")


def evaluate(
    datasets: Annotated[list[Path], typer.Argument(help="Folders in BEIR's layout.", exists=True, file_okay=False)],
    legs: Annotated[str, typer.Option(help="Of bm25, dense, hybrid, rerank, agent.")] = "bm25,dense,hybrid,rerank",
    agent: Annotated[bool, typer.Option("--agent", help="Ask the agent as well.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many questions of each set.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page with plots.", dir_okay=False)] = None,
    baseline: Annotated[Path | None, typer.Option(help="Exit 1 when a figure is worse than here.")] = None,
    save_baseline: Annotated[Path | None, typer.Option(help="Keep these figures as a baseline.")] = None,
) -> None:
    """Measure retrieval and answers on datasets, in a temporary base that is removed after."""
    from bot.evaluation.running import LEGS

    chosen = [name.strip() for name in legs.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in LEGS]
    if unknown or not chosen:
        raise typer.BadParameter(f"There is no leg {', '.join(unknown) or '(none)'}; there are {', '.join(LEGS)}.")
    if baseline is not None and not baseline.is_file():
        raise typer.BadParameter(f"There is no file {baseline}.")
    if agent and "agent" not in chosen:
        chosen.append("agent")
    finish(_evaluate(datasets, chosen, limit, as_json, report, baseline, save_baseline))


async def _evaluate(
    folders: list[Path],
    legs: list[str],
    limit: int | None,
    as_json: bool,
    report: Path | None,
    baseline: Path | None,
    save_baseline: Path | None,
) -> int:
    from dataclasses import asdict

    from bot.config import load_settings
    from bot.evaluation.running import fill, measure, opened, read
    from bot.report import page
    from core.evaluation.metrics import regressions

    sets = [read(folder, limit) for folder in folders]
    results = []
    for found in sets:
        async with opened(load_settings()) as footnote:
            await fill(footnote, found)
            results.append(await measure(footnote, found, legs))
        if not as_json:
            _print(results[-1])
    figures = {one.name: one.figures() for one in results}
    if as_json:
        print_json([asdict(one) for one in results])
    if report is not None:
        _write(report, [page(results)])
    if save_baseline is not None:
        _write(save_baseline, [json.dumps(figures, indent=2, sort_keys=True)])
    if baseline is None:
        return 0
    kept: dict[str, dict[str, float]] = _figures(baseline)
    worse = [f"{name}: {line}" for name in kept if name in figures for line in regressions(figures[name], kept[name])]
    for line in worse:
        typer.echo(line, err=True)
    return 1 if worse else 0


def bench(
    passages: Annotated[int, typer.Option(min=1_000, help="How many passages to search in.")] = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure speed, each figure beside its baseline in the same run. A missed target is said to be missed."""
    finish(_bench(passages, as_json))


async def _bench(passages: int, as_json: bool) -> int:
    from dataclasses import asdict

    from bot.config import load_settings
    from bot.evaluation.bench import measure

    rows = await measure(load_settings(), passages)
    if as_json:
        print_json([asdict(row) for row in rows])
        return 0
    for row in rows:
        met = {True: "reached", False: "MISSED", None: ""}[row.met]
        typer.echo(f"{row.what:38} {row.value:22} {row.against:32} {row.target:16} {met}")
    return 0


def _print(measured: Any) -> None:
    from bot.evaluation.running import ALL_EVIDENCE, METRICS

    names = [*METRICS, ALL_EVIDENCE]
    typer.echo(f"\n{measured.name}: {measured.questions} questions, {measured.passages:,} passages")
    typer.echo(f"{'':8}" + "".join(f"{name:>17}" for name in names))
    for leg, kept in measured.legs.items():
        row = "".join(f"{kept['metrics'][name]['mean']:17.3f}" for name in names)
        gap = kept.get("difference")
        over = f"   {gap['mean']:+.3f} [{gap['low']:+.3f}, {gap['high']:+.3f}] over {kept['against']}" if gap else ""
        typer.echo(f"{leg:8}{row}{over}")
    for note in measured.notes:
        typer.echo(note)
    if measured.agent:
        shown = {name: value for name, value in measured.agent.items() if name not in ("by_grade", "wrong")}
        for name, value in shown.items():
            typer.echo(f"  {name.replace('_', ' '):20} {f'{value:.3f}' if isinstance(value, float) else value}")


@feedback.command("export")
def export(folder: Annotated[Path, typer.Argument(help="A new folder.", file_okay=False)]) -> None:
    """Write the answers that people found helpful as a dataset that ``eval`` reads."""
    if folder.exists() and any(folder.iterdir()):
        raise typer.BadParameter(f"{folder} is not empty.")
    finish(_export(folder))


async def _export(folder: Path) -> int:
    from bot.config import load_settings
    from bot.wiring import open_footnote
    from core.ports import Scope

    async with open_footnote(load_settings(), models=False) as footnote:
        kept = [one async for one in footnote.feedback.all() if one.helpful and one.question and one.citations]
        bases = frozenset(citation.knowledge_base for one in kept for citation in one.citations)
        corpus = [
            {
                "_id": document.source,
                "title": document.title,
                "text": "\n\n".join(
                    p.text for p in await footnote.index.passages(document.id, document.version, Scope(bases))
                ),
            }
            for document in await footnote.catalogue.documents(bases)
        ]
    queries = [{"_id": one.trace_id, "text": one.question, "answers": [], "metadata": {}} for one in kept]
    grades = sorted({(one.trace_id, citation.document) for one in kept for citation in one.citations})
    unique = {row["_id"]: row for row in queries}
    _write(folder / "corpus.jsonl", [json.dumps(row, ensure_ascii=False) for row in corpus])
    _write(folder / "queries.jsonl", [json.dumps(row, ensure_ascii=False) for row in unique.values()])
    _write(folder / "qrels.tsv", ["query-id\tcorpus-id\tscore", *(f"{query}\t{name}\t1" for query, name in grades)])
    typer.echo(f"Wrote {len(unique)} questions and {len(corpus)} documents to {folder}.")
    return 0


def _figures(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
