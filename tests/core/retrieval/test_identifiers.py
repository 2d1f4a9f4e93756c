"""Hits that contain the query's identifiers stay in the results."""

import pytest

from core.model.evidence import Hit
from core.model.knowledge import Passage
from core.retrieval.hybrid import identifiers_in, keep_named


def hits(*texts: str) -> tuple[Hit, ...]:
    passages = (Passage(f"p{n}", "kb", f"d{n}", "1", "s", 0, "", text) for n, text in enumerate(texts))
    return tuple(Hit(passage, 1 - n / 100) for n, passage in enumerate(passages))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("when was app version 5.1.3 released", ("5.1.3",)),
        ("code name of guyline 3.2?", ("3.2",)),
        ("what does v2.1 bring for TW-7 and F31?", ("v2.1", "TW-7", "F31")),
        ("what is the ring-round?", ("ring-round",)),
        ("how many of 12mm at 9:30 in 2027 for 1,480 or 20 %", ()),
    ],
)
def test_numbers_of_versions_and_codes_are_known_from_amounts(query: str, found: tuple[str, ...]) -> None:
    assert identifiers_in(query) == found


def test_of_a_paste_full_of_codes_a_few_are_looked_for() -> None:
    assert identifiers_in(" ".join(f"F{number}" for number in range(700))) == tuple(f"F{n}" for n in range(8))


def test_a_passage_that_has_the_identifier_whole_is_kept_in_its_place_for_the_last() -> None:
    found = hits("5.1 and 3", "5.1", "5.1.30", "Mended in 5.1.3.", "else")
    kept = keep_named("what is new in 5.1.3", found, found[:2])
    assert [hit.passage.text for hit in kept] == ["5.1 and 3", "Mended in 5.1.3."]


def test_what_is_kept_already_gives_up_nothing() -> None:
    found = hits("in F31", "F31 too", "of F31 as well", "else")
    assert keep_named("what is new in F31", found, found[:3]) == found[:3]
    assert keep_named("what is new in F99", found, found[:3]) == found[:3]
    assert keep_named("what is new", found, found[:3]) == found[:3]


def test_it_is_known_in_small_letters_too() -> None:
    found = hits("else", "F31 is out")
    assert keep_named("what is new in f31", found, found[:1]) == found[1:]


def test_what_has_it_for_an_entry_comes_before_what_only_speaks_of_it() -> None:
    found = hits("else", "until 3.2", "as in 3.2", "since 3.2", "| Version | Name |\n| 3.2 | Siskin |")
    assert [hit.passage.text[:5] for hit in keep_named("code name of 3.2", found, found[:2])] == ["until", "| Ver"]
