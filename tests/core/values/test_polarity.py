"""A claim that denies what its words say, in four languages."""

import pytest

from core.values import polarity_conflict


@pytest.mark.parametrize(
    ("claim", "words", "language"),
    [
        ("Refunds are not paid after 30 days.", "Refunds are paid after 30 days.", "en"),
        ("Contractors can book the meeting room.", "Contractors can't book the meeting room.", "en"),
        ("Die Gebühren werden nicht vom Team getragen.", "Die Gebühren werden vom Team getragen.", "de"),
        ("Les frais ne sont pas payés par l'équipe.", "Les frais sont payés par l'équipe.", "fr"),
        ("El equipo no paga los gastos de viaje.", "El equipo paga los gastos de viaje.", "es"),
    ],
)
def test_finds_a_denial(claim: str, words: str, language: str) -> None:
    assert polarity_conflict(claim, words, language)
    assert polarity_conflict(words, claim, language)
    assert not polarity_conflict(claim, claim, language)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("No, it does not.", "Refunds are paid after 30 days."),
        ("No, refunds are paid after 30 days.", "Refunds are paid after 30 days."),
        ("Refunds are not paid unless you ask.", "Refunds are paid if you ask."),
        ("You keep the laptop as long as you do not leave.", "You keep the laptop as long as you stay."),
        ("Only managers book the big room.", "Nobody but managers books the big room."),
        ("The rule is not followed by the travel policy.", "The travel policy does not follow the rule."),
        ("Never book without the approval of a manager.", "Book with the approval of a manager."),
        ("Refunds are paid. Fees are not paid back.", "Refunds are paid, but fees are not paid back."),
        ("Fees are not refunded.", "Fees are non-refundable."),
    ],
)
def test_is_silent_when_unsure(claim: str, words: str) -> None:
    assert not polarity_conflict(claim, words)
