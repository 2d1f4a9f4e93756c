"""Detecting contradictions between sources, and pairs that only sound alike."""

import pytest

from core.model.evidence import Evidence, Hit
from core.model.knowledge import Passage
from core.service.disputes.detection import disagree
from core.service.disputes.statements import Statement, statements_of, stems_of


def stated(text: str, title: str = "Page", source: str = "") -> tuple[Statement, ...]:
    name = source or f"{title}.md"
    passage = Passage("p", "base", name, "v", "s", 0, title, text, source=name)
    return tuple(statements_of(Evidence(1, Hit(passage, 1.0), "q")))


def differ(question: str, one: tuple[Statement, ...], other: tuple[Statement, ...]) -> bool:
    """Return whether they differ, in both orders."""
    asked = stems_of(question, (one or other)[0].language)
    found = {disagree(question, this, that, asked) for this in one for that in other}
    assert found == {disagree(question, that, this, asked) for this in one for that in other}
    return True in found


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("How long are logs kept?", "Logs are kept for 30 days.", "Logs are kept for 90 days."),
        ("How long are logs kept?", "Logs are kept for 30 days.", "Logs are kept for 30 weeks."),
        ("How much is the membership fee?", "The membership fee is £120.", "The membership fee is £135."),
        ("Who approves trips?", "Trips are approved by Ravi Menon.", "Sofia Duarte approves trips."),
        ("Where is the archive?", "The archive is in Building C.", "The archive is in Building F."),
        ("Are dogs allowed?", "Dogs are allowed in the office.", "Dogs are not allowed in the office."),
        ("May guests park?", "Guests may park in the yard.", "Guests parking in the yard is prohibited."),
        ("Wie lang ist die Frist?", "Die Frist ist drei Monate lang.", "Die Frist ist sechs Wochen lang."),
        (
            "How much is express?",
            "| Method | Price |\n|---|---|\n| Express | $12 |\n| Standard | $5 |",
            "| Method | Price |\n|---|---|\n| Express | $18 |\n| Standard | $5 |",
        ),
    ],
)
def test_finds_another_value_for_the_same_thing(question: str, one: str, other: str) -> None:
    assert differ(question, stated(one), stated(other, "Notes"))


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        ("What is the allowance?", "In 2024 the allowance was 45 euros.", "In 2026 the allowance is 60 euros."),
        ("How much is shipping?", "Shipping within France costs €5.", "Shipping to Japan costs €19."),
        ("How much leave is there?", "Interns get 20 days of leave.", "Managers get 28 days of leave."),
        ("How much memory?", "Version 5 needs 4 GB of memory.", "Version 6 needs 8 GB of memory."),
        ("How long is the timeout?", "The timeout is 90 seconds.", "The timeout is one and a half minutes."),
        ("How long?", "Goods can be returned within 30 days.", "Goods on sale can be returned within 7 days."),
        ("How long?", "Goods can be returned within 30 days.", "Unless worn, goods can be returned in 60 days."),
        ("What is the limit?", "The limit is 100 calls.", "For example, the limit is 5 calls."),
        ("What is the limit?", "The limit is 100 calls.", "We propose that the limit is 500 calls."),
        ("What is the limit?", "The limit is 100 calls.", "Until March the old limit is 60 calls."),
        ("How long?", "Delivery takes 3 to 5 days.", "Delivery takes 4 days."),
        ("How much leave is there?", "There are at least 25 days of leave.", "There are 28 days of leave."),
        ("What does it cost?", "It costs 5.", "It costs 6."),
        ("Where is the data stored?", "The volume keeps the data.", "Data knows its layout."),
        ("Where is the data stored?", "The data directory.", "The data volume."),
        ("How many questions were measured?", "None was measured here.", "So measure yours."),
        ("Who measures?", "Yards are not measured.", "Yards are measured."),
        ("How long is notice?", "Notice is 4 weeks after probation.", "Notice is 2 weeks during probation."),
        ("What is the budget?", "Our budget is $5,000.", "Their budget is $7,000."),
        ("Which languages are supported?", "Python is supported.", "Rust is supported."),
        ("Where can I park?", "You can park in the yard.", "You can park in the garage."),
        ("Who wrote the report?", "Anna Berg wrote the report.", "Tom Reed wrote the report."),
        (
            "How much is express?",
            "| Method | Price | Days |\n|---|---|---|\n| Express | $12 | 2 |",
            "| Method | Price | Days |\n|---|---|---|\n| Express | $12.00 | 2 |",
        ),
    ],
)
def test_sees_no_dispute_between_values_of_different_things(question: str, one: str, other: str) -> None:
    assert not differ(question, stated(one), stated(other, "Notes"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Leave in Norway", "Leave in Spain"),
        ("Germany guide", "US guide"),
        ("Terms 2024", "Terms from 1 May 2026"),
        ("Limits", "Limits in version 2"),
    ],
)
def test_sees_no_dispute_between_documents_of_one_kind(one: str, other: str) -> None:
    kept, longer = "Requests are answered within 3 days.", "Requests are answered within 5 days."
    assert not differ("How fast are requests answered?", stated(kept, one), stated(longer, other))


def test_sees_no_dispute_between_files_of_one_name_in_two_folders() -> None:
    one = stated("Requests are answered within 3 days.", "Support", "norway/support.md")
    other = stated("Requests are answered within 5 days.", "Help desk", "spain/support.md")
    assert not differ("How fast are requests answered?", one, other)


def test_reads_nothing_in_force_from_a_document_that_calls_itself_outdated() -> None:
    assert stated("Logs are kept for 30 days.", "Logging (archived)") == ()
    assert stated("This page is no longer valid. Logs are kept for 30 days.") == ()
    assert stated("Logs are kept for 30 days.") != ()


def test_reads_no_statement_from_what_a_document_says_of_itself() -> None:
    assert stated("Last reviewed 3 February 2026.") == ()
    assert stated("Owner: Team Lantern.") == ()


@pytest.mark.parametrize(
    "text",
    [
        "![The page: a quote](docs/page-2.png)",
        "There are 2 pages:",
        "The outage lasted 40 minutes.",
        "The budget is $5,000 this quarter.",
        "Wait 5 minutes.",
        "Then create a stream with 3 replicas.",
        "Step 2: the lamp turns green.",
    ],
)
def test_reads_no_statement_from_a_step_an_event_or_a_lead_in(text: str) -> None:
    assert stated(text) == ()
