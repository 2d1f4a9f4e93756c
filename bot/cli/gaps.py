"""Gaps in the documents and usage: ``gaps``, ``usage``."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.terminal.output import print_json, say
from bot.cli.runner import finish

if TYPE_CHECKING:
    from datetime import timedelta

    from bot.container import Footnote
    from core.service.gaps.analysis import Reader
    from core.service.gaps.report import GapReport

DAYS = {"d": 1, "w": 7}
_PERIOD = re.compile(r"(\d{1,4})([dw])")


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command()(gaps)
    app.command()(usage)


def gaps(
    since: Annotated[
        str, typer.Option(help=("How far to look back, such as 30d or 12w. At most 180 days are stored."))
    ] = "30d",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    csv: Annotated[Path | None, typer.Option(help="Write a table for spreadsheets to this file.")] = None,
    draft: Annotated[str, typer.Option(help="Print a draft for one gap, by its id.")] = "",
    propose: Annotated[Path | None, typer.Option(help="Send the text in this file to the admins.")] = None,
) -> None:
    """List what people asked and the documents do not say, grouped by meaning.

    Questions asked in private are counted, and never shown in words.
    """
    if propose is not None and not draft:
        raise typer.BadParameter("--propose goes with --draft and a gap's id.")
    finish(_gaps(_period(since), as_json, csv, draft, propose))


def usage(
    days: Annotated[int, typer.Option(min=1, max=30, help="The number of days to look back, including today.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print what was used, as CSV: answers, quotes, tokens and cost of each day, channel and base.

    Answers that one person alone reads are added up under their platform.
    """
    finish(_usage(days, as_json))


async def _usage(days: int, as_json: bool) -> int:
    import csv
    import sys
    from dataclasses import asdict, fields

    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.ports.usage import UsageRow

    async with open_footnote(load_settings(), models=False, index=False) as footnote:
        kept = await footnote.usage_book.rows([footnote.days.today(ago=ago) for ago in range(days)])
    rows = [asdict(row) for row in sorted(kept, key=lambda row: (row.day, row.place, row.base))]
    if as_json:
        print_json({"usage": rows})
    else:
        table = csv.DictWriter(sys.stdout, [one.name for one in fields(UsageRow)], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return 0


def _period(text: str) -> "timedelta":
    from datetime import timedelta

    found = _PERIOD.fullmatch(text.strip().lower())
    if found is None or not int(found[1]):
        raise typer.BadParameter("--since needs a duration such as 30d or 12w.")
    return timedelta(days=int(found[1]) * DAYS[found[2]])


async def _gaps(period: "timedelta", as_json: bool, csv: Path | None, draft: str, propose: Path | None) -> int:
    import json

    from adapters.terminal.console import SafeConsole
    from adapters.terminal.gap_view import print_gaps
    from bot.container import open_footnote
    from bot.settings import load_settings
    from core.model.json_codec import to_json
    from core.service.gaps.analysis import Reader

    async with open_footnote(load_settings(), models=False, index=False) as footnote:
        reader = Reader(await footnote.all_bases(), is_operator=True)
        if draft:
            return await _draft(footnote, draft, period, reader, propose)
        report = await footnote.gaps().report(period, reader)
    if csv is not None:
        _write(report, csv)
    if as_json:
        print_json(json.loads(to_json(report)))
    elif csv is None:
        print_gaps(SafeConsole(), report)
    return 0


async def _draft(footnote: "Footnote", gap_id: str, period: "timedelta", reader: "Reader", propose: Path | None) -> int:
    from dataclasses import replace

    from adapters.terminal.operator import OPERATOR
    from core.model.plain_text import remove_controls

    drafts = footnote.gap_drafts()
    begun = await drafts.begin(await footnote.gaps().gap(gap_id, period, reader), reader.bases)
    if propose is None:
        say(remove_controls(begun.text))
        say(remove_controls(begun.notes), err=True)
        return 0
    proposal = await drafts.propose(replace(begun, text=_read(propose)), OPERATOR, is_admin=True)
    say(f"It waits as proposal {proposal.id}: footnote kb proposals shows it.", err=True)
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}.") from None


def _write(report: "GapReport", path: Path) -> None:
    from core.service.gaps.report import as_csv

    try:
        path.write_text(as_csv(report), encoding="utf-8-sig", newline="")  # the BOM shows spreadsheets the encoding
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror}.") from None
    lines = len(report.gaps)
    say(f"{lines} gap{'' if lines == 1 else 's'} written to {path}.", err=True)
