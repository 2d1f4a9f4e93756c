"""What is quoted along with a sentence, an item or a listing, so that the answer reads without the page."""

import pytest

from adapters.reasoners.extractive.candidates import Words, says_something, scored_by_words, tells_by_itself
from adapters.reasoners.extractive.compose.quote_markdown import Quotation, render_quotation
from adapters.reasoners.extractive.compose.selection import with_neighbours
from adapters.reasoners.extractive.score.reading import text_of
from core.model.evidence import Evidence, Hit
from core.model.passage_units import Form, units
from tests.adapters.reasoners.harness import passage

RUN_IDS = (
    "When several copies run, the times come out wrong, as no end can be told to belong to its beginning. "
    "To work around this problem, give each run an id in the address. "
    + "Nothing else is needed of the client that sends it. "
    * 6
)
LONG_COMMAND = (
    "With much output you may run into the following error:\n\n```\ncurl: Argument list too long\n```\n\n"
    "In that case, save the output to a file, then send the file:\n\n```\ncurl --data-binary @output.log\n```"
)
ROUTER = (
    "First, create a script in the menu. Use parameters:\n\n* Name: ping\n* Source: /tool fetch\n\n"
    "Then, create a schedule in the menu. Use these:\n\n* Interval: one minute\n* On event: ping\n\n"
    "Notes on versions stand elsewhere."
)
CERTIFICATE = (
    "With a certificate of your own you may see a handshake that failed.\n\nThe library checks every certificate.\n\n"
    "To have it accepted, add the certificate to the store.\n\nThe store is kept with the image."
)
FORMATS = "We offer badges in three formats:\n\n* SVG: for pages.\n* JSON: for programs.\n* Shields: for both."


def evidence(text: str) -> Evidence:
    return Evidence(1, Hit(passage(1, text, "Guide"), 0.8), "asked")


def quoted_with(need: str, text: str, *picked: str) -> list[str]:
    """What stands in the answer where the units that begin so are picked."""
    everything = units(text)
    chosen = [unit for unit in everything if unit.text.startswith(picked)]
    wanted = with_neighbours(need, chosen, text, whole_tables=False)
    return [unit.text for unit in everything if unit in wanted]


@pytest.mark.parametrize("need", ["what do you see with a certificate of your own", "how many handshakes failed?"])
def test_without_trouble_or_where_a_figure_is_asked_for_a_sentence_stands_alone(need: str) -> None:
    assert len(quoted_with(need, CERTIFICATE, "With a certificate")) == 1


def test_a_list_is_whole_where_the_words_over_it_say_how_many_are_asked_for() -> None:
    assert len(quoted_with("how many badge formats are there", FORMATS, "* JSON")) == 3
    assert quoted_with("what is for programs", FORMATS, "* JSON") == ["* JSON: for programs."]
    assert quoted_with("how many badges", FORMATS.replace("three", "many"), "* JSON") == ["* JSON: for programs."]


def test_most_of_a_short_list_is_quoted_whole() -> None:
    assert len(quoted_with("what for", FORMATS, "* JSON", "* SVG")) == 3


def test_words_that_are_quoted_are_not_set_over_their_list_again() -> None:
    everything = units(FORMATS)
    quotation = Quotation(evidence(FORMATS), everything)
    assert render_quotation(quotation).count("three formats:") == 1


def test_listings_side_by_side_are_both_quoted() -> None:
    text = "```\nmake build\n```\n\n```\nmake test\n```"
    assert "make test" in render_quotation(Quotation(evidence(text), units(text)))


def test_a_list_right_below_its_words_is_led_to_by_them() -> None:
    items = [
        unit
        for unit in units("Leads decide. Leads are responsible for:\n- Reviews.\n- Handoffs.")
        if unit.form is Form.ITEM
    ]
    assert {unit.under for unit in items} == {"Leads are responsible for:"}


@pytest.mark.parametrize("picture", ["![The transfer dialog](transfer_check.png)", "[Image: the menu of a message.]"])
def test_a_picture_alone_is_not_quoted(picture: str) -> None:
    assert not says_something(units(picture)[0])
    assert not says_something(units(f"- Open it.\n- {picture}")[1])


def test_words_that_lead_to_a_listing_are_quoted_with_it() -> None:
    text = "The branch is called main.\n\nTo rename it, run:\n\n```\ngit branch -m main\n```\n\nThen tell the others."
    assert quoted_with("what renames it", text, "To rename it") == [
        "To rename it, run:",
        "```\ngit branch -m main\n```",
    ]


def test_an_item_that_leads_to_items_within_it_is_quoted_with_them() -> None:
    text = (
        "- The menu is at the top.\n- A message is:\n  - Short, to the point.\n  - Long, with details.\n- It is sent."
    )
    told = quoted_with("which kinds are there", text, "- A message")
    assert [line.strip() for line in told] == ["- A message is:", "- Short, to the point.", "- Long, with details."]


def test_a_list_is_read_with_the_words_that_lead_to_it_and_is_an_answer_with_them() -> None:
    item = evidence("Our languages for services are:\n\n- Java\n- [Python](https://python.example)\n\nSee below.")
    lead = next(one for one in scored_by_words(Words("which languages", {}), item) if one.unit.text.endswith(":"))
    assert tells_by_itself(lead)
    assert text_of(lead) == "Guide: Our languages for services are: Java; [Python](https://python.example)"
