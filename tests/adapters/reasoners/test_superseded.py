"""A superseded document does not answer before a current one that speaks of the same, whatever they are called."""

import pytest

from adapters.reasoners.extractive.evidence.scoring import ScoredUnit, WeighedPassage, Words, rarity_of
from adapters.reasoners.extractive.evidence.superseded import prefer_current
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.evidence import Evidence, Hit
from core.model.passage_units import units
from tests.adapters.reasoners.scene import passage
from tests.fakes.memory.encoder import HashingEncoder

OLD = "| Code | Product | Price |\n| --- | --- | --- |\n| B205 | Burger bun | 15.12 |\n| B118 | Farl | 12.60 |\n"
NEW = "| code | product | price_gbp |\n| --- | --- | --- |\n| B205 | Burger bun | 15.84 |\n"
OLD_TITLE = "Trade price list, autumn 2024 (superseded)"


def order(question: str, old: str = OLD, new: str = NEW, *, title: str = OLD_TITLE, odds: float = 1.0) -> list[str]:
    """What is quoted first: the old one's units have odds of 3, the new one's of 1 where nothing is said."""
    items = [
        Evidence(number, Hit(passage(number, text, called), 0.8), "asked")
        for number, (text, called) in enumerate([(old, title), (new, "prices-spring-2025")], 1)
    ]
    weighed = [
        WeighedPassage(
            item,
            Words(question, rarity_of(items)),
            tuple(ScoredUnit(item, unit, 1.0, 0.5, odds=likely) for unit in units(item.passage.text)),
            0.5,
        )
        for item, likely in zip(items, (3.0, odds), strict=True)
    ]
    judged = [one for passage in prefer_current(question, weighed) for one in passage.units]
    return [one.unit.text.strip("| ") for one in sorted(judged, key=lambda one: -one.odds)]


def test_the_row_of_the_current_list_comes_first_and_the_old_one_stays_where_nothing_replaces_it() -> None:
    assert order("price of a burger bun") == [
        "B118 | Farl | 12.60",
        "B205 | Burger bun | 15.84",
        "B205 | Burger bun | 15.12",
    ]


async def test_so_it_is_weighed() -> None:
    items = [
        Evidence(1, Hit(passage(1, OLD, OLD_TITLE), 0.8), "asked"),
        Evidence(2, Hit(passage(2, NEW, "prices-spring-2025"), 0.8), "asked"),
    ]
    old, new = await ExtractiveReasoner(HashingEncoder()).weigh("price of a burger bun", items, items)
    assert new.units[0].odds > next(one.odds for one in old.units if "Burger" in one.unit.text)


def test_another_table_with_the_same_key_replaces_nothing_where_it_does_not_answer() -> None:
    """The oven's temperature for B205 is no price."""
    assert order("price of a burger bun", odds=-3.0)[:2] == ["B205 | Burger bun | 15.12", "B118 | Farl | 12.60"]


@pytest.mark.parametrize("question", ["price of a burger bun in 2024", "what did a bun cost before the change"])
def test_who_asks_for_what_was_gets_that(question: str) -> None:
    assert order(question)[0] == "B205 | Burger bun | 15.12"


@pytest.mark.parametrize("title", ["Trade price list", "Deprecated products", "Archive"])
def test_of_two_that_hold_none_comes_first(title: str) -> None:
    assert order("price of a burger bun", title=title)[0] == "B205 | Burger bun | 15.12"


def test_sentences_are_of_the_same_where_they_share_most_of_their_words() -> None:
    said = "**No longer in force.** Complaints are accepted within 48 hours of delivery."
    now = "Complaints are accepted within 24 hours of delivery. Bread is sold from Monday on."
    assert order("how long do i have to complain", said, now)[0].endswith("24 hours of delivery.")
