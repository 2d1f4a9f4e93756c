"""Testing documents: ``check``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import finish, open_to_read, require_paths

if TYPE_CHECKING:
    from bot.evaluation.document_tests import Checked, TestFile

BASE = "documents"


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command()(check)


def check(
    tests: Annotated[Path, typer.Argument(help="A YAML file of questions.", dir_okay=False)],
    documents: Annotated[
        list[Path] | None, typer.Option(help="Test these files and folders instead of those named in the YAML file.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="Show the answers that differ from those with this folder.", exists=True)
    ] = None,
    kb: Annotated[str, typer.Option("--kb", help="The knowledge base to ask, if there are no documents.")] = "default",
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML.", dir_okay=False)] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write Markdown for a pull request.", dir_okay=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask the questions of a file and check the answers. Exit 0: all as expected; 1: some are not.

    Documents are read into a temporary index; without any, the installed knowledge base is asked.
    """
    from bot.evaluation.document_tests import read_tests

    require_paths([tests])
    found = read_tests(tests)
    paths = documents or [tests.parent / name for name in found.documents]
    require_paths(paths)
    if against is not None and not paths:
        raise typer.BadParameter("--against needs documents to compare: name them in the file or with --documents.")
    for report in filter(None, (junit, markdown)):
        if not report.absolute().parent.is_dir():
            raise typer.BadParameter(f"There is no folder {report.absolute().parent} for {report.name}.")
    finish(_check(found, paths, against, kb, tests.stem, (junit, markdown), as_json=as_json))


async def _check(
    found: "TestFile",
    paths: Sequence[Path],
    against: Path | None,
    kb: str,
    name: str,
    reports: tuple[Path | None, Path | None],
    *,
    as_json: bool,
) -> int:
    from bot.evaluation.document_tests import as_json as result_json
    from bot.evaluation.document_tests import as_junit, as_markdown, check
    from core.model.errors import NotFound

    if paths:
        checked = await _check_documents(found, paths)
    else:
        async with open_to_read() as footnote:
            names = sorted(base.name for base in await footnote.catalog.bases())
            if kb not in names:
                raise NotFound(
                    f"There is no knowledge base {kb}.", remedy=f"Available: {', '.join(names) or 'none yet'}."
                )
            checked = [await check(footnote, kb, test) for test in found.tests]
    before = await _check_documents(found, [against]) if against is not None else []
    changed = [(old, new) for old, new in zip(before, checked, strict=False) if old.answer != new.answer]
    junit, markdown = reports
    if junit is not None:
        junit.write_bytes(as_junit(checked, name))
    if markdown is not None:
        markdown.write_text(as_markdown(checked, changed), encoding="utf-8")
    if as_json:
        print_json({"tests": [result_json(one) for one in checked], "changed": [new.test.ask for _, new in changed]})
    else:
        _print(checked, changed)
    return 0 if all(one.passed for one in checked) else 1


async def _check_documents(found: "TestFile", paths: Sequence[Path]) -> "list[Checked]":
    """Ask the questions of only these files and folders, in a temporary index."""
    from adapters.documents.folders import files_in
    from bot.evaluation.document_tests import check
    from bot.evaluation.temp_index import fill_with_files, open_temporary
    from bot.settings import load_settings

    files = tuple(files_in(paths))
    if not files:
        raise typer.BadParameter(f"There is no readable file in {', '.join(map(str, paths))}.")
    async with open_temporary(load_settings()) as footnote:
        for line in await fill_with_files(footnote, BASE, files):
            say(line, err=True)
        return [await check(footnote, BASE, test) for test in found.tests]


def _print(checked: "Sequence[Checked]", changed: "Sequence[tuple[Checked, Checked]]") -> None:
    for one in checked:
        say(f"{'pass' if one.passed else 'FAIL'}  {one.test.ask}")
        if not one.passed:
            for line in (*one.faults, f"Answer: {one.answer}"):
                say("\n".join(f"      {part}" for part in line.splitlines()))
    for old, new in changed:
        say(f"changed  {new.test.ask}\n      before: {old.answer}\n      now:    {new.answer}")
    passed = sum(one.passed for one in checked)
    say(f"{passed} of {len(checked)} passed.")
