"""Quotes are exact parts of their passage, and support the claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.retrieval.quotes import LONGEST, MOST, choose_quote, quote_for

REFUNDS = (
    "Refunds are part of our terms since 2019. Annual plans are refunded within 30 days of purchase. "
    "Monthly plans are not refunded. Refunds reach the card within five working days. Ask the billing team."
)


def test_the_sentence_that_answers_is_quoted() -> None:
    quote = choose_quote(REFUNDS, "when can I refund an annual plan?")
    assert quote == "Annual plans are refunded within 30 days of purchase."


def test_the_claim_decides_over_the_question() -> None:
    quote = choose_quote(
        REFUNDS, "how do refunds of annual plans work?", "The money is on the card in five working days."
    )
    assert "reach the card within five working days" in quote


def test_a_neighbour_that_adds_to_the_claim_is_quoted_with_it() -> None:
    claim = "Annual plans are refunded within 30 days of purchase, monthly plans never are."
    quote = choose_quote(REFUNDS, "refunds", claim)
    assert quote == "Annual plans are refunded within 30 days of purchase. Monthly plans are not refunded."


def test_a_row_of_a_table_is_quoted_and_never_its_rule() -> None:
    table = "| Plan | Price |\n| --- | --- |\n| Basic | 12 EUR |\n| Team | 48 EUR |"
    assert choose_quote(table, "price of the team plan").splitlines()[-1] == "| Team | 48 EUR |"
    assert choose_quote("| --- | --- |", "price") == "| --- | --- |"


def test_a_line_of_code_is_quoted_as_it_stands() -> None:
    code = "```\nexport TOKEN=abc\nfootnote ingest --kb handbook ./docs\n```"
    assert choose_quote(code, "ingest into the handbook") == "footnote ingest --kb handbook ./docs"


def test_where_nothing_matches_the_opening_is_quoted() -> None:
    quote = choose_quote(REFUNDS, "warp drive")
    assert quote == "Refunds are part of our terms since 2019."


def test_a_sentence_without_end_is_cut_around_what_matches() -> None:
    endless = "blah " * 200 + "the vault opens with a brass key " + "blah " * 200
    quote = choose_quote(endless, "which key opens the vault")
    assert "vault opens with a brass key" in quote
    assert len(quote) <= LONGEST
    assert quote in endless


def test_a_link_is_cut_off_whole_or_not_at_all() -> None:
    long = "word " * 55
    text = f"{long}and the key is in [the vault of the company](https://example.org/the vault) " + "more " * 60
    quote = choose_quote(text, "word")
    assert quote in text
    assert quote.count("[") == quote.count("]") == quote.count("(")


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_an_empty_passage_has_an_empty_quote(text: str) -> None:
    assert choose_quote(text, "anything") == ""


@given(
    st.text(max_size=600),
    st.text(max_size=60),
    st.text(max_size=60),
)
def test_a_quote_is_always_an_exact_stretch(text: str, query: str, claim: str) -> None:
    quote = choose_quote(text, query, claim)
    assert quote in text
    assert len(quote) <= LONGEST


def test_every_sentence_that_a_source_is_cited_for_is_shown() -> None:
    quote = quote_for(
        REFUNDS, "refunds", ["Refunds reach the card within five working days.", "Monthly plans are not refunded."]
    )
    assert quote == "Monthly plans are not refunded. Refunds reach the card within five working days."
    apart = quote_for(REFUNDS, "refunds", ["Ask the billing team.", "Monthly plans are not refunded."])
    assert apart == "Monthly plans are not refunded. … Ask the billing team."


def test_a_long_sentence_that_is_repeated_is_shown_whole() -> None:
    long = "The vault " + "and its door " * 30 + "open at noon."
    assert quote_for(f"It rains. {long} It snows.", "vault", [long]) == long


@given(st.text(max_size=600), st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_whatever_is_claimed_only_the_passages_own_words_are_shown(text: str, query: str, claims: list[str]) -> None:
    quote = quote_for(text, query, claims)
    assert len(quote) <= MOST + 3 * len(claims)
    assert all(part in text for part in quote.replace("\n…\n", " … ").split(" … ")) or "…" in text
