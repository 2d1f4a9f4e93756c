"""Asks the product each question over its own two documents among others, and prints what was shown by kind.

``python -m research.disputes`` judges by the cases that were not used for building, ``--part build`` by the others.
The cases were written before the detector, and by its author: no other hand has written any.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import json
from collections import Counter
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.container import Footnote
from bot.evaluation.temp_index import open_temporary
from bot.settings import Settings
from core.ingestion.ingestor import Ingestor
from core.ingestion.originals import Material
from core.model.answer import Answer, Outcome
from core.model.conversation import Audience, Person, ThreadKey
from core.model.events import AgentCompleted
from core.service.question_service import Question

HERE = Path(__file__).parent
BESIDE = 3  # cases whose documents stand in the same base
Case = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """A case and what came of it."""

    case: Case
    answer: Answer | None

    @property
    def answered(self) -> bool:
        """Whether there was an answer at all."""
        return self.answer is not None and self.answer.outcome is Outcome.ANSWERED

    @property
    def said(self) -> bool:
        """Whether the answer says that sources differ."""
        return self.answer is not None and self.answer.dispute is not None

    @property
    def right(self) -> bool:
        """Whether it says so of the two values that differ, the newer first and named as such."""
        if self.answer is None or self.answer.dispute is None or "values" not in self.case:
            return False
        shown, (older, newer) = self.answer.dispute, self.case["values"]
        return shown.dated and _has(shown.newer_says, newer) and _has(shown.older_says, older)

    @property
    def older_alone(self) -> bool:
        """Whether only the older of the two documents is cited."""
        cited = {one.title for one in self.answer.citations} if self.answer is not None and self.answered else set()
        return self.case["older"]["title"] in cited and self.case["newer"]["title"] not in cited


def _has(text: str, value: str) -> bool:
    plain = value.casefold().replace("`", "")
    return plain in text.casefold().replace("`", "")


def read_cases(part: str) -> list[Case]:
    """Return the cases of a part: ``build``, ``judge`` or ``all``."""
    lines = [line for name in ("disputes", "lookalikes") for line in (HERE / f"{name}.jsonl").open()]
    cases: list[Case] = [json.loads(line) for line in lines]
    return [case for case in cases if part in {case["part"], "all"}]


async def ask_all(cases: list[Case]) -> list[Asked]:
    """Ask every question of a base of its own."""
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    async with open_temporary(settings) as footnote:
        return [await _ask(footnote, case, _beside(cases, at)) for at, case in enumerate(cases)]


def _beside(cases: list[Case], at: int) -> list[Case]:
    """Cases of other kinds, whose documents are near and say nothing about this one."""
    own = cases[at]
    others = [case for case in cases if case["kind"] != own["kind"] and case["language"] == own["language"]]
    return [others[(at * 7 + step * 31) % len(others)] for step in range(BESIDE)]


async def _ask(footnote: Footnote, case: Case, beside: list[Case]) -> Asked:
    ingestor = Ingestor(
        index=footnote.index,
        encoder=footnote.encoder,
        catalog=footnote.catalog,
        parser=footnote.parser,
        clock=footnote.clock,
    )
    base = f"case-{case['id']}"
    await ingestor.ensure_base(base)
    for one in (case, *beside):
        for side in ("older", "newer"):
            name = f"{one['id']}-{side}.md"
            await ingestor.ingest(Material(name, name, one[side]["text"].encode()), base)
    question = Question(
        case["question"],
        ThreadKey("eval", "disputes", "", case["id"]),
        Person("eval"),
        Audience(unrestricted=True),
        bases=frozenset({base}),
    )
    answer: Answer | None = None
    async with aclosing(footnote.question_service.ask(question)) as events:
        async for event in events:
            if isinstance(event, AgentCompleted):
                answer = event.answer
    return Asked(case, answer)


def table(asked: list[Asked]) -> str:
    """Return the counts by kind as Markdown."""
    disputes = [one for one in asked if "values" in one.case]
    alike = [one for one in asked if "values" not in one.case]
    lines = [
        "| dispute | cases | answered | shown and said | said wrongly | older alone |",
        "|---|---|---|---|---|---|",
    ]
    for kind, some in [*_by_kind(disputes), ("**all**", disputes)]:
        wrong = sum(one.said and not one.right for one in some)
        right, older = sum(one.right for one in some), sum(one.older_alone for one in some)
        lines.append(f"| {kind} | {len(some)} | {sum(o.answered for o in some)} | {right} | {wrong} | {older} |")
    lines += ["", "| look-alike | cases | answered | said to differ |", "|---|---|---|---|"]
    for kind, some in [*_by_kind(alike), ("**all**", alike)]:
        answered = sum(one.answered for one in some)
        lines.append(f"| {kind} | {len(some)} | {answered} | {sum(one.said for one in some)} |")
    for name in ("language", "form"):
        count = Counter(one.case[name] for one in disputes)
        found = Counter(one.case[name] for one in disputes if one.right)
        shares = ", ".join(f"{value} {found[value]} of {count[value]}" for value in sorted(count))
        lines += ["", f"Shown and said by {name}: {shares}."]
    return "\n".join(lines)


def _by_kind(asked: list[Asked]) -> list[tuple[str, list[Asked]]]:
    kinds = dict.fromkeys(one.case["kind"] for one in asked)
    return [(kind, [one for one in asked if one.case["kind"] == kind]) for kind in kinds]


def main() -> None:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m research.disputes", description=__doc__)
    parser.add_argument("--part", choices=("build", "judge", "all"), default="judge")
    parser.add_argument("--show", action="store_true", help="print the answers that are wrong")
    options = parser.parse_args()
    asked = asyncio.run(ask_all(read_cases(options.part)))
    if options.show:
        for one in asked:
            if one.right != ("values" in one.case) or (one.said and not one.right):
                text = one.answer.text if one.answer is not None else "failed"
                print(f"{one.case['id']}: {one.case['question']}\n{text}\n---")
    print(table(asked))


if __name__ == "__main__":
    main()
