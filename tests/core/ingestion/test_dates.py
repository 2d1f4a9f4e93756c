"""Dates that documents state; without one, a document has none."""

import pytest

from core.ingestion.ingestor import stated_date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Updated 24 March 2026", "2026-03-24"),
        ("# Refunds\n\n| Date | 2026-03-01 |\n| --- | --- |", "2026-03-01"),
        ("**Date:** 1 May 2025", "2025-05-01"),
        ("Effective from 2026-02-01 until further notice.", "2026-02-01"),
        ("written in May 2024 by Jo", "2024-05"),
        ("Corrected on 2 June 2024.", "2024-06-02"),
        ("Stand: 3. März 2026", "2026-03-03"),
        ("Gültig ab 01.02.2026", "2026-02-01"),
        ("Mis à jour le 14 juillet 2025", "2025-07-14"),
        ("# Release 2026.1\n\nReleased on 3 Feb 2026", "2026-02-03"),
        ("# Minutes\n\n12 January 2026\n\nPresent: everyone.", "2026-01-12"),
        ("# Incident 2025-03-18: a stuck queue\n\nWhat happened.", "2025-03-18"),
        ("Published March 5, 2025", "2025-03-05"),
        ("# General terms\n\nEdition of March 2023. No longer offered since 1 January 2026.", "2023-03"),
        ("# API\n\nDocument revision 2.7, 19 January 2026.", "2026-01-19"),
        ("# Privacy notice\n\nFor customers. State: 1 December 2025.", "2025-12-01"),
    ],
)
def test_a_stated_date_is_recognised(text: str, date: str) -> None:
    assert stated_date(text) == date


@pytest.mark.parametrize(
    "text",
    [
        "# Leave\n\nEverybody has 27 days.",
        "# Plans\n\nThe plan of 3 March 2025 failed.",
        "# Release 2026.1\n\nFaster planning.",
        "We may 2026 times retry.",
        "Updated 31 February 2026",
    ],
)
def test_a_date_that_is_not_the_documents_own_is_none(text: str) -> None:
    assert stated_date(text) == ""
