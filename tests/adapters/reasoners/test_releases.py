"""Changelogs: releases by version, by date, as the latest, and which of two things came first."""

from dataclasses import replace

import pytest

from adapters.reasoners.extractive.tables.releases import asks_of_releases, releases_that_answer
from core.model.evidence import Evidence, Hit
from tests.adapters.reasoners.harness import passage

LISTED = {
    "7.2.1 (2026-09-14)": "- Fixed a crash of the camera.",
    "7.2.0 (2026-08-03)": "- Added offline maps.",
    "7.1.0 (2026-05-19)": "- Added dark mode.",
    "6.9.4 (2026-01-22)": "- Last version for Android 8.",
}


def changelog(title: str = "Courier app releases") -> list[Evidence]:
    placed = (
        replace(passage(number, text, title), heading=(heading,), ordinal=number, document="log")
        for number, (heading, text) in enumerate(LISTED.items(), 1)
    )
    return [Evidence(number, Hit(one, 0.5), "asked") for number, one in enumerate(placed, 1)]


def labels(question: str, evidence: list[Evidence]) -> list[str]:
    answer = releases_that_answer(question, evidence)
    return [one.evidence.passage.heading[0].split()[0] for one in answer.quotations] if answer else []


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("What changed in the latest release?", ["7.2.1"]),
        ("what's new in the newest app version", ["7.2.1"]),
        ("What's new?", ["7.2.1"]),
        ("What's new in v7.2?", ["7.2.1", "7.2.0"]),
        ("What's in release 7.1.0?", ["7.1.0"]),
        ("What's new in 7.x?", ["7.2.1", "7.2.0", "7.1.0"]),
        ("What's new in v5?", []),
        ("What was released in Q3 2026?", ["7.2.1", "7.2.0"]),
        ("What was released before June 2026?", ["7.1.0", "6.9.4"]),
        ("Which came first, dark mode or offline maps?", ["7.1.0", "7.2.0"]),
        ("Which came last, dark mode or offline maps?", ["7.2.0", "7.1.0"]),
        ("Which came first, dark mode or the moon?", []),
        ("How do I switch dark mode on?", []),
    ],
)
def test_releases_are_picked_by_version_date_and_order(question: str, quoted: list[str]) -> None:
    assert labels(question, changelog()) == quoted


def test_the_lead_says_what_was_worked_out() -> None:
    answer = releases_that_answer("Which came first, dark mode or offline maps?", changelog())
    assert answer is not None
    assert answer.lead == "By the order of releases in *Courier app releases*, 7.1.0 (2026-05-19) came first:"


def test_headings_with_dates_alone_are_releases_only_in_a_changelog() -> None:
    dated = [
        replace(one, hit=replace(one.hit, passage=replace(one.passage, heading=(f"2026-0{one.id}-01",))))
        for one in changelog("Minutes of the board")
    ]
    assert releases_that_answer("What changed in the latest release?", dated) is None
    named = [replace(one, hit=replace(one.hit, passage=replace(one.passage, title="Changelog"))) for one in dated]
    assert releases_that_answer("What changed in the latest release?", named) is not None


@pytest.mark.parametrize("question", ["How long is the notice since 2023?", "Is there something new in the tariff?"])
def test_an_ordinary_question_asks_for_no_release(question: str) -> None:
    assert not asks_of_releases(question)
