"""A question that names a version is compared with what stands in that version without the version's name."""

from collections.abc import Sequence

import pytest

from adapters.reasoners.extractive import weights
from adapters.reasoners.extractive.evidence.named_version import NamedVersion, version_named
from adapters.reasoners.extractive.evidence.scoring import ScoredUnit
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.evidence import Evidence, EvidenceLibrary, Hit
from core.model.passage_units import units
from tests.adapters.reasoners.scene import passage
from tests.fakes.memory.encoder import HashingEncoder

LIMITS = {
    "Parcels API, version 1": "30 requests a minute for each partner.",
    "Parcels API, version 2": "120 requests a minute for each key.",
}


def found(titled: dict[str, str], **more: str) -> tuple[Evidence, ...]:
    hits = [Hit(passage(number, text, title, **more), 0.8) for number, (title, text) in enumerate(titled.items(), 1)]
    return EvidenceLibrary().add(hits, "asked")[1]


@pytest.mark.parametrize(
    ("question", "number", "bare"),
    [
        ("requests per minute allowed in v2", "2", "requests per minute allowed"),
        (
            "how many requests a minute does version 2 of the API allow?",
            "2",
            "how many requests a minute does of the API allow?",
        ),
        ("what was the limit under the version 1?", "1", "what was the limit?"),
    ],
)
def test_the_version_that_is_named_is_known_and_the_question_without_it(question: str, number: str, bare: str) -> None:
    version = version_named(question, found(LIMITS))
    assert version is not None
    assert (version.number, version.bare_question) == (number, bare)


@pytest.mark.parametrize(
    ("title", "text", "question"),
    [
        ("Terms of hire", "**Edition 6**, in force since May. The excess is £75.", "the excess in edition 6"),
        ("Prices 2025", "Express costs £9.", "express price 2025"),
        ("What is new", "The metronome goes up to 280.", "Fermata 5.0 metronome, how fast"),
    ],
)
def test_title_heading_or_head_tell_the_version(title: str, text: str, question: str) -> None:
    heading = ("5.0 – 2 July 2026",) if title == "What is new" else ()
    items = EvidenceLibrary().add([Hit(passage(1, text, title, heading=heading), 0.8)], "asked")[1]
    assert version_named(question, items) is not None
    assert version_named(question, found({"Bees": "Honey is sold in jars."})) is None


@pytest.mark.parametrize("said", ["last year (2025)", "last year, i.e. 2025", "in 2025"])
def test_a_year_goes_with_the_words_around_it(said: str) -> None:
    version = version_named(f"what did express cost {said}", found({"Prices 2025": "Express costs £9."}))
    assert version is not None
    assert (version.number, version.bare_question) == ("2025", "what did express cost")


@pytest.mark.parametrize(
    "question", ["v1 or v2, which allows more requests?", "how many requests a minute", "v2", "the limit in v9"]
)
def test_two_versions_none_or_one_that_is_not_there_stay_in_the_question(question: str) -> None:
    assert version_named(question, found(LIMITS)) is None


class Literal:
    """Reads a question as answered only where no version is named in it, as no sentence names one."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [-6.0 if "version 2" in question else 6.0 for _ in texts]


async def test_only_what_stands_in_the_named_version_is_read_without_its_name() -> None:
    items = found(LIMITS)
    one, two = await ExtractiveReasoner(HashingEncoder(), Literal()).weigh("requests a minute in v2", items, items)
    assert two.units[0].odds > one.units[0].odds + weights.READ * 6
    assert two.asked.question == "requests a minute in version 2"  # as its title is written


def test_where_a_table_has_a_row_of_it_the_number_stays_in_the_question() -> None:
    releases = {"Fermata, release notes": "| Version | Released |\n|---|---|\n| 4.0 | 2025-06-30 |"}
    assert version_named("when was version 4.0 released", found({**releases, "Fermata 4.0": "It sings."})) is None


def test_a_sentence_that_names_the_year_itself_is_not_doubted_for_standing_elsewhere() -> None:
    (item,) = found({"Report 2026": "In 2025 express cost nine pounds. Express is blue."})
    listed = [ScoredUnit(item, unit, 1.0, 1.0) for unit in units(item.passage.text)]
    named, other = NamedVersion("2025", "what did express cost").doubt_others(listed)
    assert named.doubt == 1.0
    assert other.doubt == weights.OTHER_NUMBER
