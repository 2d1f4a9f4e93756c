"""What becomes of right answers and of their false twins, by verifier; ``research/README.md`` explains the columns.

python -m research.verification [--verifier honest] [--answers right|false|both] [--part open|judge] [--limit N]
                                [--show ID] [--json FILE] [--data FOLDER]
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path

import structlog

from research.verification.asking import Asked, Company, open_bench, read_companies
from research.verification.tables import all_tables, fates, figures
from tests.fakes.model.pairs import Pair
from tests.fakes.model.verifiers import VERIFIERS

PARTS = 3  # one of them is put aside


def is_put_aside(pair: Pair) -> bool:
    """Return whether a pair belongs to the third by which changes are judged, and is never printed."""
    return int.from_bytes(blake2b(pair.id.encode(), digest_size=8).digest(), "big") % PARTS == 0


def main() -> None:
    """Measure and print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--verifier", action="append", choices=list(VERIFIERS), help="only this; may be repeated")
    options.add_argument("--answers", choices=["right", "false", "both"], default="both")
    options.add_argument("--part", choices=["open", "judge"], default="open")
    options.add_argument("--limit", type=int, help="at most so many pairs of each company")
    options.add_argument("--show", action="append", default=[], metavar="ID", help="print a pair of the open part")
    options.add_argument("--failed", action="store_true", help="name the pairs of the open part that went wrong")
    options.add_argument("--json", type=Path, metavar="FILE", help="write the figures; of the open part, every answer")
    options.add_argument("--data", type=Path, action="append", metavar="FOLDER", help="read companies from here")
    given = options.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.WARNING)  # a verifier that refuses is reported with every question
    companies = read_companies(given.data or [Path(__file__).parent])
    pairs = list(_chosen(companies, judging=given.part == "judge", limit=given.limit, only=given.show))
    if not pairs:
        options.error("there is no such pair in this part")
    started = time.monotonic()
    asked = asyncio.run(_ask(companies, pairs, given.verifier or list(VERIFIERS), given.answers))
    if given.show or (given.failed and given.part == "open"):
        for one in asked:
            if given.show or _went_wrong(one):
                print("\n".join(_shown(one)))
    print("\n".join(all_tables(asked)))
    print(f"\n{len(pairs)} pairs of the {given.part} part, {time.monotonic() - started:.0f} seconds")
    if given.json:
        given.json.write_text(json.dumps(_as_json(asked, single=given.part == "open"), indent=1, ensure_ascii=False))


def _chosen(companies: Sequence[Company], *, judging: bool, limit: int | None, only: Sequence[str]) -> Iterator[Pair]:
    for company in companies:
        part = [pair for pair in company.pairs if is_put_aside(pair) is judging]
        yield from [pair for pair in part if not only or pair.id in only][:limit]


async def _ask(
    companies: Sequence[Company], pairs: Sequence[Pair], verifiers: Sequence[str], answers: str
) -> list[Asked]:
    asked: list[Asked] = []
    needed = [company for company in companies if any(pair.company == company.name for pair in pairs)]
    async with open_bench(needed) as bench:
        for verifier in verifiers:
            for false in [name == "false" for name in ("right", "false") if answers in {name, "both"}]:
                run = [one async for one in bench.ask(pairs, verifier, false=false)]
                print("\n".join(fates([run])), file=sys.stderr)  # a long measurement may be cut short
                asked += run
    return asked


def _went_wrong(one: Asked) -> bool:
    return not one.judgement.just if one.false else one.judgement.fate != "as written"


def _shown(one: Asked) -> Iterator[str]:
    yield f"\n--- {one.pair.id}, {one.verifier}, {'false' if one.false else 'right'}: {one.judgement}"
    yield f"kind: {one.pair.kind}; steps: {' '.join(one.conversation.steps)}"
    yield f"asked: {one.pair.question}"
    yield from (f"draft: {draft}" for draft in one.conversation.drafts[-1:])
    if one.false:
        yield f"false: {one.pair.false_claim}"
    yield f"posted: {one.answer.text if one.answer else '(failed)'}"
    yield from (f"notice: {notice}" for notice in (one.answer.notices if one.answer else ()))


def _as_json(asked: Sequence[Asked], *, single: bool) -> dict[str, object]:
    runs = dict.fromkeys((one.verifier, one.false) for one in asked)
    found: dict[str, object] = {
        "figures": [figures([one for one in asked if (one.verifier, one.false) == run]) for run in runs]
    }
    if single:
        found["answers"] = [
            {"id": one.pair.id, "verifier": one.verifier, "false": one.false, **asdict(one.judgement)}
            | {"steps": one.conversation.steps, "posted": one.answer.text if one.answer else ""}
            for one in asked
        ]
    return found


if __name__ == "__main__":
    main()
