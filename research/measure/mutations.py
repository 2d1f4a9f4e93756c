"""Answers with one planted falsehood each: how many pass unmarked, with a checker that calls everything supported.

    python -m research.measure.mutations [--answers 300] [--show]

True sentences are those of the sample documents, half of them in other dress; a falsehood is a changed number, unit,
negation or name, another entity of the same passage, another row's value, what a document says of one thing said of
what was asked for, or an unsupported sentence in a form that once went unchecked. Beside it: how many of the true
sentences, dressed the same, are struck.

Two columns: where such a checker is believed, and words alone speak against a claim; and as it is where the checker
is not believed, so that the rules for quotes check in its place.
"""

# ruff: noqa: T201 - a measurement is printed

import argparse
import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.agent.verification.judge import UNSOURCED
from core.model.answer import Claim, ClaimVerdict, Support
from core.model.budget import Meter
from core.model.evidence import Evidence
from core.model.inquiry import Inquiry
from core.model.text import content_words, sentences
from tests.core.harness import Harness
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.scripted_reasoner import ScriptedReasoner

SAMPLES = Path(__file__).parents[2] / "bot" / "samples" / "documents"
QUALIFIERS = ("new colleagues", "the night shift", "guest accounts", "interns in Lisbon", "charity partners")
KINDS = 13
QUESTION = "What does the handbook say?"
DRESSES = ("{}", "According to the documents, {}", "In short, {}", "I found that {}")
UNITS = ("minutes", "hours", "days", "weeks", "months", "years", "euros", "percent", "kilometres")
STRANGERS = ("Montrose", "Kestrel", "Ashgrove", "Tobermory")
UNSUPPORTED = (
    "The cafeteria closes at 21:45 on Sundays",
    "Every visitor gets 37 vouchers from Kestrel",
    "A helicopter transfer costs 910 euros",
    "Nobody at Ashgrove may wear a green scarf",
)
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?![\w.,-]*\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_VERB = re.compile(r"\b(is|are|may|must|can|will|has|have)\b(?! not)")


@dataclass(frozen=True)
class Planted:
    """A falsehood: its kind, the passage, a true sentence of it, and what stands in the draft."""

    kind: str
    passage: str
    true: str
    false: str
    question: str = QUESTION


def passages() -> Iterator[str]:
    """Yield the sections of the sample documents that are prose."""
    for path in sorted(SAMPLES.rglob("*.md")):
        for part in re.split(r"(?m)^#+ .*$", path.read_text("utf-8")):
            text = " ".join(part.split()) if "|" not in part else ""
            if len(list(sentences(text))) > 1:
                yield text


def planted(chance: random.Random) -> Iterator[Planted]:
    """Falsehoods of every kind in turn, without end while the samples have any."""
    found = [(text, one) for text in passages() for one in sentences(text) if len(content_words(one)) > 4]
    chance.shuffle(found)
    kinds: dict[str, Callable[[str, str, random.Random], str]] = {
        "number": _number,
        "unit": _unit,
        "negation": _negation,
        "name": _name,
        "swapped entity": _swapped,
    }
    for at, (text, one) in enumerate(found):
        for kind, change in kinds.items():
            if (false := change(one, text, chance)) and false != one:
                yield Planted(kind, text, one, f"{_dressed(false, chance)} [1]")
        beside = QUALIFIERS[at % len(QUALIFIERS)]
        if _NUMBER.search(one) and one.endswith("."):
            asked = f"How is it for {beside}?"
            yield Planted("qualifier from the question", text, one, f"{one.rstrip('.')} for {beside} [1]", asked)
        for form, false in _forms(UNSUPPORTED[at % len(UNSUPPORTED)]):
            yield Planted(form, text, one, false)


def planted_in_tables(chance: random.Random) -> Iterator[Planted]:
    """Rows of the sample documents' tables with the value of another row."""
    for header, row, other in _rows():
        column = chance.randrange(1, len(header))
        if row[column] == other[column] or not row[column] or not other[column]:
            continue
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), row, other))
        true = f"The {header[column]} of {row[0]} is {row[column]}."
        asked = f"What is the {header[column]} of {row[0]}?"
        false = f"The {header[column]} of {row[0]} is {other[column]} [1]"
        yield Planted("another entity's value", table, true, false, asked)


def _rows() -> Iterator[tuple[list[str], list[str], list[str]]]:
    """(header, a row, the row below it) of the sample documents' tables."""
    for path in sorted(SAMPLES.rglob("*.md")):
        tables = re.findall(r"(?m)(?:^\|.*\|\n)+", path.read_text("utf-8"))
        for header, _, *rows in ([_cells(line) for line in table.splitlines()] for table in tables):
            yield from ((header, row, other) for row, other in pairwise(rows) if len(row) == len(other) == len(header))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _dressed(sentence: str, chance: random.Random) -> str:
    dress = chance.choice(DRESSES)
    keeps = dress == "{}" or re.match(r"[A-Z]\S*[A-Z]|[A-Z][a-z]+ [A-Z]|I\b", sentence)
    return dress.format(sentence if keeps else sentence[0].lower() + sentence[1:]).rstrip(".")


def _number(one: str, text: str, chance: random.Random) -> str:
    numbers = list(_NUMBER.finditer(one))
    if not numbers:
        return ""
    match = chance.choice(numbers)
    other = next(str(n) for n in range(int(match.group()) + 3, 10_000) if str(n) not in text)
    return one[: match.start()] + other + one[match.end() :]


def _unit(one: str, text: str, chance: random.Random) -> str:
    match = re.search(r"(?<=\d )(?:working |calendar )?(" + "|".join(UNITS) + r")\b", one)
    if not match:
        return ""
    return one[: match.start(1)] + chance.choice([u for u in UNITS if u != match.group(1)]) + one[match.end(1) :]


def _negation(one: str, text: str, chance: random.Random) -> str:
    if re.search(r"\b(?:not|never|no|nor)\b|n['’]t", one):
        return re.sub(r" (?:not|never)\b", "", one, count=1)
    return _VERB.sub(r"\1 not", one, count=1)


def _name(one: str, text: str, chance: random.Random) -> str:
    return _NAME.sub(chance.choice(STRANGERS), one, count=1)


def _swapped(one: str, text: str, chance: random.Random) -> str:
    here = _NAME.findall(one) or _NUMBER.findall(one)
    pattern = _NAME if _NAME.findall(one) else _NUMBER
    others = [name for name in pattern.findall(text) if name not in one]
    return one.replace(here[0], chance.choice(others), 1) if here and others else ""


def _forms(false: str) -> Iterator[tuple[str, str]]:
    yield "according to", f"According to the documents, {false[0].lower()}{false[1:]}."
    yield "I found that", f"I found that {false[0].lower()}{false[1:]}."
    yield "heading", f"## {false}"
    yield "code", f"```\n{false}\n```"
    yield "colon", f"{false}:"
    yield "table", f"| What | Value |\n|---|---|\n| {false} | yes |"


class Unbelieved(ScriptedReasoner):
    """A writer whose check is that of the rules for quotes, as it is once it has called nonsense supported."""

    async def check(
        self, inquiry: Inquiry, claims: Sequence[Claim], evidence: Sequence[Evidence], meter: Meter
    ) -> Sequence[ClaimVerdict]:
        """By words."""
        return await ExtractiveReasoner(HashingEncoder()).check(inquiry, claims, evidence, meter)


async def passes(one: Planted, *, believed: bool = True) -> bool:
    """Whether the falsehood is shown without a mark that it is none of the documents'."""
    script = ScriptedReasoner() if believed else Unbelieved()
    harness = Harness(script)
    await harness.knows(one.passage, title="Handbook")
    true = f"{one.true.rstrip('.')} [1]."
    script.enqueue("compose", f"{true}\n\n{one.false}.\n" if "[1]" in one.false else f"{true}\n\n{one.false}\n")
    script.always("check", Support.SUPPORTED)
    said = await harness.asks(one.question)
    core = re.sub(r"\s*\[1\]$|^\W+|\n```$", "", one.false.splitlines()[-1 if "|" in one.false else 0])
    core = one.false.splitlines()[1] if one.false.startswith("```") else core.strip("| .:")
    core = core.removesuffix(" | yes")
    return any(core in line and UNSOURCED.strip() not in line for line in said.text.splitlines())


async def true_is_struck(one: Planted, chance: random.Random, *, believed: bool = True) -> bool:
    """Whether a true sentence in other dress is not shown as it is."""
    dressed = _dressed(one.true, chance)
    return not await passes(Planted("true", one.passage, one.true, f"{dressed} [1]"), believed=believed)


async def measure(
    answers: int, seed: int = 7, *, believed: bool = True
) -> tuple[Counter[str], Counter[str], list[Planted]]:
    """(planted by kind, passed by kind, what passed), the kinds in equal parts as far as the samples go."""
    chance = random.Random(seed)
    total: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    let_through: list[Planted] = []
    most = -(-answers // KINDS)
    for one in chain(planted_in_tables(chance), planted(chance)):
        if total[one.kind] >= most:
            continue
        total[one.kind] += 1
        if await passes(one, believed=believed):
            passed[one.kind] += 1
            let_through.append(one)
        if total.total() >= answers:
            break
    return total, passed, let_through


async def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--answers", type=int, default=300)
    arguments.add_argument("--show", action="store_true")
    chosen = arguments.parse_args()
    total, passed, let_through = await measure(chosen.answers)
    _, passed_unbelieved, _ = await measure(chosen.answers, believed=False)
    print(f"{'pass unmarked':28} {'believed':>12} {'not believed':>14}")
    for kind in total:
        print(f"{kind:28} {passed[kind]:4} of {total[kind]:3}  {passed_unbelieved[kind]:6} of {total[kind]:3}")
    together = total.total()
    print(f"{'together':28} {passed.total():4} of {together:3}  {passed_unbelieved.total():6} of {together:3}")
    true = [one for one in planted(random.Random(11)) if one.kind == "heading"][: chosen.answers // 3]
    struck = []
    for believed in (True, False):
        chance = random.Random(11)
        struck.append(sum([await true_is_struck(one, chance, believed=believed) for one in true]))
    print(f"{'true in other dress, struck':28} {struck[0]:4} of {len(true):3}  {struck[1]:6} of {len(true):3}")
    if chosen.show:
        for one in let_through:
            print(f"\n{one.kind}: {one.false}\n   in: {one.passage[:600]}")


if __name__ == "__main__":
    asyncio.run(main())
