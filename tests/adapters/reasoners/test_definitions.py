"""What a thing is: the entry of a glossary, what is called so, or the first sentence of its own document."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adapters.reasoners.extractive.evidence.definitions import definition_asked
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.evidence import EvidenceLibrary, Hit
from core.model.knowledge import Passage
from tests.adapters.reasoners.scene import passage
from tests.fakes.memory.encoder import HashingEncoder

CODE = "```\nuv run tidewatch serve --port 7070\n```"


class Fond:
    """Takes everything that stands there for an answer, blocks of code most of all."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [9.0 if "```" in text else 4.0 for text in texts]


async def best_of(question: str, *passages: Passage) -> str:
    """The unit with the best odds."""
    items = EvidenceLibrary().add([Hit(one, 0.8) for one in passages], question)[1]
    weighed = await ExtractiveReasoner(HashingEncoder(), Fond()).weigh(question, items, items)
    return max((one for found in weighed for one in found.units), key=lambda one: one.odds).unit.text


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("what's tidewatch for", ("tidewatch",)),
        ("What is the ring-round?", ("ring", "round")),
        ("what does BL mean", ("bl",)),
        ("what does exit code 7 of ovtool mean", ("7",)),
        ("what does error E5 mean in the old api?", ("e5",)),
        ("what is the price of a box", None),
        ("what does a box cost a day in summer", None),
        ("what does calibrate return", None),
        ("where is tidewatch", None),
    ],
)
def test_only_a_question_for_what_a_thing_is_asks_a_definition(question: str, term: tuple[str, ...] | None) -> None:
    asked = definition_asked(question)
    assert (asked and asked.term) == term


@pytest.mark.parametrize("question", ["what's tidewatch for", "what is tidewatch?"])
async def test_the_document_of_that_name_says_it_in_its_first_sentence_and_no_code_beside_it(question: str) -> None:
    first = "Keeps an eye on the harbour gates and writes down when they open. Python 3.13."
    other = passage(2, f"Install tidewatch like this, then start tidewatch.\n\n{CODE}", "Installing tidewatch")
    named = passage(3, first, "tidewatch")
    assert await best_of(question, named, other) == first.removesuffix(" Python 3.13.")


async def test_a_file_is_known_by_its_name_whatever_its_title() -> None:
    first = "Keeps an eye on the harbour gates and writes down when they open."
    other = passage(2, "The tidewatch of the harbour is tidewatch.", "Else")
    by_file = replace(passage(3, first, "Gates of the harbour"), source="code/tide_watch.md")
    assert await best_of("what is tide watch", by_file, other) == first


@pytest.mark.parametrize(
    "entry",
    [
        "**Ring-round** – the calls of the desk to everybody whose hire is late.",
        "- **Ring-round**: the calls of the desk to everybody whose hire is late.",
        "With forty calls and more a day this is called **ring-round**.",
    ],
)
async def test_an_entry_of_that_name_and_what_is_called_so_come_before_what_has_the_name(entry: str) -> None:
    listed = passage(1, entry, "Words")
    other = passage(2, "Ring-round: £6.10 and £16. The ring-round is on Tuesday.", "Ring-rounds")
    assert await best_of("what is the ring-round", listed, other) == entry


async def test_a_row_of_two_cells_is_an_entry() -> None:
    listed = passage(1, "| Short | Long |\n|---|---|\n| BL | bootlace pitch |\n| NP | named pitch |", "Short words")
    other = passage(2, "BL is closed in May. BL has no electricity.", "BL")
    assert await best_of("what does BL mean", listed, other) == "| BL | bootlace pitch |"


@pytest.mark.parametrize(
    ("listed", "entry"),
    [
        ("0 all right; 1 wrong use; 2 not logged in; 7 the printer is out of tape.", "0 all right; 1 wrong use"),
        ("Codes are numbers: 3 means a wrong use, 7 that the tape is out.", "Codes are numbers: 3 means"),
        ("| 7 | The printer is out of tape. | put in a roll |\n| 8 | The lid is open. | close it |", "| 7 |"),
    ],
)
async def test_a_code_is_told_by_the_entry_that_begins_with_it_where_such_codes_are_listed(
    listed: str, entry: str
) -> None:
    codes = passage(1, listed, "tagtool", heading=("Exit codes",))
    other = passage(2, "7 days are left for the tagtool. Exit code 7 of tagtool is logged.", "Logs of tagtool")
    assert (await best_of("what does exit code 7 of tagtool mean", codes, other)).startswith(entry)
