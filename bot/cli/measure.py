"""Choosing a model and exporting good answers: ``eval`` and ``feedback export``."""

from pathlib import Path
from typing import Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import finish

feedback = typer.Typer(help="Ratings of answers.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("eval")(evaluate)
    app.add_typer(feedback, name="feedback")


def evaluate(
    file: Annotated[
        Path | None,
        typer.Argument(
            help=("A JSON Lines file of right and wrong answers. Without it: those of the sample company."),
            dir_okay=False,
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="The most answers to check.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure how well the configured model checks answers: its false alarms and its misses.

    To test the answers to your own questions, see footnote check.
    """
    if file is not None and not file.exists():
        raise typer.BadParameter(f"There is no file {file}.")
    finish(_check_model(file, limit, as_json))


async def _check_model(file: Path | None, limit: int | None, as_json: bool) -> int:
    from bot.evaluation.labelled_answers import SAMPLE_ANSWERS, check_model, read_answers
    from bot.settings import load_settings

    report = await check_model(load_settings(), read_answers(file or SAMPLE_ANSWERS)[:limit])
    if as_json:
        print_json(report.as_json())
    else:
        say("\n".join(report.lines()))
    return 0


@feedback.callback()
def _family() -> None:
    """Keep ``export`` a command of its own: typer would drop the name of an only command."""


@feedback.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="A new YAML file.", dir_okay=False)],
    kb: Annotated[str, typer.Option("--kb", help="The knowledge base.")] = "default",
) -> None:
    """Write the answers that people found helpful as tests that footnote check runs."""
    if file.exists():
        raise typer.BadParameter(f"{file} already exists.")
    finish(_export(file, kb))


async def _export(file: Path, kb: str) -> int:
    import asyncio

    import yaml

    from bot.container import open_footnote
    from bot.evaluation.document_tests import export_feedback
    from bot.settings import load_settings
    from core.service.kb.text_spans import count

    async with open_footnote(load_settings(), models=False, index=False) as footnote:
        tests = await export_feedback(footnote.feedback, footnote.catalog, footnote.memory, kb)
    if not tests:
        say(f"No answer from {kb} was rated helpful yet, so there is nothing to write.")
        return 0
    text = yaml.safe_dump({"tests": tests}, allow_unicode=True, sort_keys=False)
    await asyncio.to_thread(file.write_text, text, encoding="utf-8")
    say(f"Wrote {count(len(tests), 'test')} to {file}. Run them with footnote check {file} --kb {kb}")
    return 0
