"""Reported cases about documents: how many hold, per defect.

    python -m research.reported [--files FOLDER] [--defect NAME] [--show]

Reads `../shared/data/reported`: its inputs, and the files of the named repositories that lie in ``--files``, go into
one base of a temporary index. The reasoner without a model answers each question; an answer holds if it states one of
the right values, and the reply to a long paste if it does not repeat it. A case without a question holds if its parsed
text passes the check in `CHECKS`. Cases of chat, and cases whose file is not there (`NEEDS`), are skipped.
"""

import argparse
import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from bot.container import Footnote
from bot.evaluation.asking import pursue_question
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Material
from core.model.answer import Outcome
from core.model.conversation import Thread, ThreadKey
from core.model.errors import FootnoteError

DATA = Path(__file__).parents[2] / "shared/data/reported"
BASE = "reported"


def _has(*texts: str) -> Callable[[str], bool]:
    return lambda markdown: all(text in markdown for text in texts)


def _without_base64(markdown: str) -> bool:
    return not re.search(r"[A-Za-z0-9+/]{200}", markdown)


CHECKS: dict[str, Callable[[str], bool]] = {
    "fx-nics": _has("| Alaska | 209 | 3,062 |", "| Wyoming |"),
    "fx-jal": _has("| May-2015 | 686,908 | 110.9 |"),
    "fx-repair": _has("| Paint Labor |", "150"),
    "fx-dsp": _has("[x]", "[ ]"),
    "fx-598": _has("Signal voltage above threshold"),
    "fx-nestle": _has("| Trading operating profit |", "| Zone EUR | 9,467 | 1,570 | 1,373 |"),
    "fx-pcom": _has("[Comment by John Reviewer: This is a sample reviewer comment]"),
    "fx-vtt1": _has("Roger Bingham: We are in New York City", "Neil deGrasse Tyson: Didn’t we talk about enough"),
    "fx-nbimg": _without_base64,
    "fx-mdimg": _without_base64,
    "words-placed:words-gap2.2": _has("Rear door left open at start"),
    "words-placed:chars-gap2.2": _has("Rear door left open at start"),
}
"""What the parsed text of a case without a question must hold, by the case's id."""

DEFECTS = {
    "q1:pdf-group-rules2": "Dunmere Eastholt",
    "q1:pdf-box-only": "Brackley Corwell",
    "q1:pdf-two-columns": "40,000 km Oil",
    "q7:r-repair": "Hours Rate Cost Parts",
    "q8:anon1": "(anonymous)",
    "q8:chk1": "Yes No",
    "q8:side1": "Ship to: Bill to:",
}
"""What an answer holds that shows what was reported, though it holds the right words too."""

NEEDS = {
    "q5:s-crew": "crew-hours.xlsx",
    "q7:r-nics": "background-checks.pdf",
    "q7:r-warn": "WARN-Report-for-7-1-2015-to-03-25-2016.pdf",
    "q7:r-repair": "REPAIR-2022-INV-001_multipage.pdf",
    "q7:r-nestle": "2023-half-year-analyses-by-segment.xlsx",
    "q7:r-vtt2": "webvtt_example_01.vtt",
    "q7:r-rtl": "right_to_left_03.pdf",
    "q8:chk4": "dock-form.pdf",
    "q8:perm2": "permits.pdf",
}
"""The end of the name of the file that a question is about, where the shared inputs do not hold it."""

LONG_PASTE = "long-paste"
MOST_REPEATED = 500
"""Characters of the reply to something long that was pasted: what was reported is that the reply repeats it."""


def main() -> None:
    """Print the cases that hold, per defect."""
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    options.add_argument("--files", type=Path, help="files of the named repositories")
    options.add_argument("--defect", help="only this one")
    options.add_argument("--show", action="store_true", help="print each case and what came of it")
    chosen = options.parse_args()
    cases = [case for case in _cases() if chosen.defect in (None, case["defect"])]
    results = asyncio.run(_judge(cases, chosen.files))
    counts: dict[str, list[bool]] = defaultdict(list)
    for case, (holds, said) in zip(cases, results, strict=True):
        if chosen.show:
            typer.echo(f"{'skipped' if holds is None else 'holds' if holds else 'FAILS'} {case['id']}: {said[:400]}\n")
        if holds is not None:
            counts[case["defect"]].append(holds)
    for defect, held in sorted(counts.items()):
        typer.echo(f"{sum(held):3} of {len(held):3}  {defect}")
    typer.echo(f"{sum(map(sum, counts.values())):3} of {sum(map(len, counts.values())):3}  all")


def _cases() -> Iterator[dict[str, Any]]:
    for line in (DATA / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["kind"] != "chat":
            yield case


async def _judge(cases: Sequence[dict[str, Any]], files: Path | None) -> list[tuple[bool | None, str]]:
    paths = [path for folder in (DATA / "inputs", files) if folder for path in sorted(folder.rglob("*"))]
    async with open_temporary(Settings()) as footnote:
        ingestor = Ingestor(
            index=footnote.index,
            encoder=footnote.encoder,
            catalog=footnote.catalog,
            parser=footnote.parser,
            clock=footnote.clock,
        )
        await ingestor.ensure_base(BASE)
        for path in filter(Path.is_file, paths):
            source = str(path.relative_to(files if files and path.is_relative_to(files) else DATA / "inputs"))
            await ingestor.ingest(Material(source, path.name, path.read_bytes()), BASE)
        return [await _holds(footnote, case, paths) for case in cases]


async def _holds(footnote: Footnote, case: dict[str, Any], paths: Sequence[Path]) -> tuple[bool | None, str]:
    """Judge a case: (whether it holds, None where that cannot be judged; what was read or answered)."""
    if not case["question"]:
        path = next((path for path in paths if str(path).endswith(f"/{case['input']}")), None)
        if path is None or case["id"] not in CHECKS:
            return None, "its file is not here, or it has no check"
        try:
            parsed = await footnote.parser.parse(path.name, path.read_bytes())
        except FootnoteError as error:
            return False, str(error)
        text = "\n\n".join(block.text for block in parsed.blocks)
        return CHECKS[case["id"]](text), text
    needed = NEEDS.get(case["id"])
    if needed and not any(path.name.endswith(needed) for path in paths):
        return None, f"{needed} is not here"
    thread = Thread(ThreadKey("eval", BASE, "", case["id"]))
    try:
        answer, _ = await pursue_question(footnote, BASE, case["question"], thread)
    except Exception as error:  # noqa: BLE001 - a case that crashes fails
        return False, repr(error)
    text = answer.text if answer else ""
    stated = [right for right in case["right"] if re.search(rf"(?<!\w){re.escape(right)}(?!\w)", text)]
    answered = answer is not None and answer.outcome is Outcome.ANSWERED
    shows_defect = case["id"] in DEFECTS and DEFECTS[case["id"]] in text
    holds = answered and not shows_defect and bool(stated or not case["right"])
    return (0 < len(text) <= MOST_REPEATED if case["defect"] == LONG_PASTE else holds), text


if __name__ == "__main__":
    main()
