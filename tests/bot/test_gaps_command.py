"""``footnote gaps`` and ``footnote usage`` as they are typed: what is printed and written. Stores in this process."""

import asyncio
import csv
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from bot.__main__ import main
from core.model.clock import Days
from core.ports.usage import UsageRow
from core.service.gaps.drafts import GapDrafts
from tests.core.service.gaps.planted import EVERYTHING, House
from tests.fakes.memory.clock import ManualClock
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.proposal_store import InProcessProposalStore
from tests.fakes.memory.stores import InProcessAudit, InProcessUsageBook

PARKING = "Where may I park?"


class Printed(NamedTuple):
    code: int
    out: str
    err: str


Typed = Callable[..., Printed]


@pytest.fixture
def house() -> House:
    house = House(HashingEncoder())
    asyncio.run(house.furnish())
    return house


@pytest.fixture
def proposal_store() -> InProcessProposalStore:
    return InProcessProposalStore()


@pytest.fixture
def typed(
    house: House,
    proposal_store: InProcessProposalStore,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Typed:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    @asynccontextmanager
    async def opened(*_: object, **__: object) -> AsyncIterator[SimpleNamespace]:
        async def bases() -> frozenset[str]:
            return EVERYTHING.bases

        drafts = GapDrafts(
            house.feedback, proposal_store, InProcessAudit(), ManualClock(datetime(2026, 3, 30, tzinfo=UTC))
        )
        usage, days = InProcessUsageBook(), Days(ManualClock(), UTC)
        await usage.book(UsageRow(days.today(), "slack:channel:T/C", "handbook", answers=2, tokens=900, cost=0.5))
        await usage.book(UsageRow(days.today(ago=7), "web", "", not_found=1))
        yield SimpleNamespace(
            all_bases=bases, gaps=lambda: house.analysis, gap_drafts=lambda: drafts, usage_book=usage, days=days
        )

    def call(*words: str, command: str = "gaps") -> Printed:
        monkeypatch.setattr(sys, "argv", ["footnote", command, *words])
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return Printed(int(left.value.code or 0), out, err)

    monkeypatch.setattr("bot.container.open_footnote", opened)
    return call


def asks(house: House, question: str, *, times: int = 1, private: bool = False) -> list[str]:
    async def all_of_them() -> list[str]:
        kept = [
            await house.asks(question, by=f"slack:T/U{n}", ago=timedelta(days=n + 1), private=private)
            for n in range(times)
        ]
        return [one.trace_id for one in kept]

    return asyncio.run(all_of_them())


def test_before_anything_was_asked_it_says_what_to_do(typed: Typed) -> None:
    assert "footnote ask" in typed().out


def test_the_most_wanted_comes_first_with_how_often_by_how_many_and_what_to_do(house: House, typed: Typed) -> None:
    *_, oldest = asks(house, PARKING, times=3)
    asks(house, "How do I unjam the franking machine?")
    printed = typed("--since", "4w")
    assert printed.code == 0
    assert f"1. {PARKING}" in printed.out
    assert "3 questions of 3 people" in printed.out
    assert "nearest: Handbook [handbook]" in printed.out
    assert f"footnote gaps --draft {oldest}" in printed.out


def test_words_of_private_questions_are_printed_nowhere(house: House, typed: Typed) -> None:
    asks(house, "Can I get an advance on my salary?", times=4, private=True)
    asks(house, "How do I leave this place for good?", private=True)
    for printed in (typed(), typed("--json"), typed("--csv", "gaps.csv")):
        assert printed.code == 0
        assert "salary" not in printed.out
        assert "leave" not in printed.out
    assert "salary" not in Path("gaps.csv").read_text()
    assert "1 more gap (1 question) asked in private by one or two people" in typed().out


def test_json_and_a_table_have_all_of_it(house: House, typed: Typed) -> None:
    asks(house, PARKING, times=2)
    assert json.loads(typed("--json").out)["gaps"][0]["questions"] == 2
    assert "1 gap written to gaps.csv" in typed("--csv", "gaps.csv").err
    with Path("gaps.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [line["title"] for line in csv.DictReader(file)] == [PARKING]


def test_a_draft_is_printed_and_proposed_only_when_that_is_said(
    house: House, typed: Typed, proposal_store: InProcessProposalStore
) -> None:
    (gap,) = asks(house, PARKING)
    printed = typed("--draft", gap)
    assert printed.out.startswith(f"# {PARKING}")
    assert "## Asked" in printed.err, "notes are not part of the section"
    Path("section.md").write_text(printed.out)
    refused = typed("--draft", gap, "--propose", "section.md")
    assert refused.code == 1
    assert "still says “(to be written)”" in refused.err
    assert list(asyncio.run(proposal_store.proposals())) == []
    Path("section.md").write_text(printed.out.replace("(to be written)", "On deck two."))
    assert "It waits as proposal" in typed("--draft", gap, "--propose", "section.md").err
    (proposal,) = asyncio.run(proposal_store.proposals())
    assert (proposal.title, proposal.beginning) == (PARKING, "On deck two.")


@pytest.mark.parametrize("wrong", [("--since", "soon"), ("--since", "0d"), ("--propose", "section.md")])
def test_what_cannot_be_meant_is_one_line(typed: Typed, wrong: tuple[str, ...]) -> None:
    printed = typed(*wrong)
    assert printed.code == 2
    assert len(printed.err.strip().splitlines()) == 1


def test_an_unknown_gap_is_one_line(typed: Typed) -> None:
    printed = typed("--draft", "nothing")
    assert printed.code == 1
    assert "There is no gap nothing" in printed.err


def test_usage_is_printed_as_a_table_for_spreadsheets(typed: Typed) -> None:
    lines = list(csv.DictReader(typed(command="usage").out.splitlines()))
    assert [(one["day"], one["place"], one["not_found"]) for one in lines] == [
        ("2025-12-29", "web", "1"),
        ("2026-01-05", "slack:channel:T/C", "0"),
    ]
    (row,) = json.loads(typed("--days", "7", "--json", command="usage").out)["usage"]
    assert (row["base"], row["answers"], row["cost"]) == ("handbook", 2, 0.5)
