"""When two documents cannot both be right, and when they only sound alike."""

import pytest

from core.service.gaps.conflicts import disagree


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Refunds of monthly plans are paid within 14 days.", "Refunds of monthly plans are paid within 30 days."),
        ("The API allows 100 requests per minute.", "The API allows up to 600 requests per minute."),
        ("Deployments are not allowed on Fridays.", "Deployments are allowed on Fridays."),
        ("The notice period is three months.", "The notice period is 6 months."),
        ("We moved. Logs are kept for 30 days here. Ask Ben.", "Logs are kept here for 90 days."),
    ],
)
def test_the_same_statement_with_another_number_or_denied_is_a_conflict(one: str, other: str) -> None:
    assert disagree(one, other)
    assert disagree(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Refunds of monthly plans are paid within 14 days.", "Refunds of monthly plans are paid within 14 days."),
        ("The office opens at 8.", "Support is open from 9 to 17."),
        ("The starter plan costs 19 euros a month.", "The team plan costs 49 euros a month."),
        ("Every employee has 27 days of annual leave.", "Five days of leave may be carried over until March."),
        ("Refunds are paid within 14 days.", "Refunds are paid by the finance team to the card that was charged."),
        ("It costs 5.", "It costs 6."),
        ("", "Anything 5."),
    ],
)
def test_what_speaks_of_something_else_is_none(one: str, other: str) -> None:
    assert not disagree(one, other)
    assert not disagree(other, one)
