"""What a table answers as a whole is worked out from its rows, said to be, and only as far as its cells can be read."""

from dataclasses import replace

import pytest

from adapters.reasoners.extractive.tables.aggregation import Aggregate, aggregation_of
from adapters.reasoners.extractive.tables.computed_answer import compute_answer, tables_that_answer
from core.model.evidence import Evidence, EvidenceLibrary, Hit
from tests.adapters.reasoners.harness import passage

PRICES = """\
| Item | Code | Rental, a piece |
|---|---|---|
| {0} | A1 | £{1} |
| {2} | A2 | £{3} |
"""


def placed(number: int, text: str, heading: str) -> Evidence:
    one = replace(passage(number, text, "Price list", heading=(heading,)), document="prices")
    return Evidence(number, Hit(one, 0.8), "asked")


def test_tables_of_one_document_with_the_same_columns_are_compared_together() -> None:
    garments = placed(1, PRICES.format("Scrub top", "0.63", "Pyjamas", "0.54"), "Garments")
    towels = placed(2, PRICES.format("Flannel", "0.11", "Hand towel", "0.27"), "Towels")
    question = "what is the cheapest thing to rent"
    asked = aggregation_of(question)
    assert asked is not None
    of_all = compute_answer(question, asked, [garments], [garments, towels])
    assert of_all is not None
    assert of_all.lead.endswith("is that of Flannel:")
    named = "what is the cheapest of the garments to rent"
    of_one = compute_answer(named, asked, [garments], [garments, towels])
    assert of_one is not None
    assert of_one.lead.endswith("is that of Pyjamas:")


ROUNDS = """\
| Round | Customer | Driver |
|---|---|---|
| R7 | Copperhill | Jude Okoro |
| R8 | Larchfield | Jude Okoro |
| R9 | Teasel Court | Owen Tack |
"""


def test_rows_are_counted_by_a_part_of_a_name_and_called_as_the_question_calls_them() -> None:
    question = "how many rounds does jude do"
    asked = aggregation_of(question)
    assert asked is not None
    found = compute_answer(question, asked, [placed(1, ROUNDS, "Rounds")])
    assert found is not None
    assert found.lead == "Counted in the table, there are 2 rounds:"


@pytest.mark.parametrize(
    ("question", "counts"),
    [
        ("what is the number of his telephone", False),
        ("what is the number of rounds", True),
        ("how many rounds are there", True),
    ],
)
def test_the_number_of_a_telephone_is_not_counted(question: str, *, counts: bool) -> None:
    assert (aggregation_of(question) is not None) is counts


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("which vessel carries the fewest passengers", True),
        ("what is the cheapest ship of the fleet", True),
        ("which harbour has the fewest passengers", False),  # nothing here is a harbour
        ("what is the biggest page of a list", False),
        ("who is the captain of the Blue Heron", False),
    ],
)
def test_a_table_counts_for_the_most_or_least_of_what_its_rows_are(question: str, *, answers: bool) -> None:
    table = "| Vessel | Passengers | Fare (GBP) |\n|---|---|---|\n| Blue Heron | 320 | 9 |\n| Seewacht | 700 | 12 |\n"
    assert bool(tables_that_answer(question, [placed(1, table, "Fleet")])) is answers


SITES = """\
| Site | Beds | Lift | Opened | Leaves | Fee | Looked after by |
|---|---|---|---|---|---|---|
| North House | 48 | yes | 2011-04 | 06:45 | £40 a month | Mira Sand |
| Mill Lodge | 52 | no | 1998-11 | 04:20 | £400 a year | Mira Sand |
| Quay Court | 65 | yes | 2020-01 | 07:30 | £35 a month | Owen Tack |
"""


def worked_out(question: str, table: str = SITES) -> str:
    found = compute_answer(question, aggregation_of(question), [placed(1, table, "Sites")])
    return found.lead if found else ""


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        (
            "our oldest site?",
            "The earliest *Opened* of the 3 rows compared, worked out from the table, is that of Mill Lodge:",
        ),
        (
            "which site leaves earliest",
            "The earliest *Leaves* of the 3 rows compared, worked out from the table, is that of Mill Lodge:",
        ),
        (
            "which sites have more than 50 beds",
            "Worked out from the table, 2 of the 3 rows have *Beds* more than 50 beds:",
        ),
        (
            "which sites do not have more than 50 beds",
            "Worked out from the table, 1 of the 3 rows have *Beds* not more than 50 beds:",
        ),
        ("which sites have more than 10 beds and fewer than 50", ""),
        ("which sites have more than 50k beds", ""),
        ("how many sites have a lift", "Counted in the table, there are 2 sites:"),
        ("which sites does mira sand look after", "Picked out of the table, there are 2 rows:"),
        ("how many beds do all three sites have", "Added up from 3 rows, *Beds* comes to 165:"),
        ("which is the cheapest site by fee", ""),  # a price a month and one a year are not compared
        ("how many lifts do we have", ""),  # sites with a lift are no lifts
    ],
)
def test_a_table_is_worked_out_only_as_far_as_its_cells_can_be_read(question: str, lead: str) -> None:
    assert worked_out(question) == lead


ROUNDS = """\
| Round | Area | Leaves | Miles | Days |
|---|---|---|---|---|
| E | Furness (Ulverston) | 03:40 | 92 | Mon–Sat |
| H | Settle and Skipton | 03:45 | 88 | Mon–Sat |
"""


VANS = """\
| Call sign | Van | Built | price_gbp | deposit_gbp | Domestic trips | Foreign trips | Keeper |
|---|---|---|---|---|---|---|---|
| Ant | Van of 1,200 kg | 2018 | 90.00 | 400 | 21,400 | 38,200 | depot team |
| Bee | Van, long | 2012 | 70.00 | 500 | 9,000 | 1,000 | office |
| Cat | Pick-up | 2024 | 80.00 | 300 | 300 | 20 | depot team |
"""


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        # neither a word of the title picks rows, nor is the column of what they are the one to compare
        (
            "oldest van of the depot?",
            "The earliest *Built* of the 3 rows compared, worked out from the table, is that of Bee:",
        ),
        (
            "cheapest thing on the list of vans?",
            "The lowest *price_gbp* of the 3 rows compared, worked out from the table, is that of Bee:",
        ),
        (
            "busiest van by foreign trips",
            "The highest *Foreign trips* of the 3 rows compared, worked out from the table, is that of Ant:",
        ),
    ],
)
def test_a_column_is_found_by_what_is_asked_of_it(question: str, lead: str) -> None:
    found = compute_answer(question, aggregation_of(question), [placed(1, VANS, "Vans of the depot")])
    assert found is not None
    assert found.lead == lead


ZONES = "| Zone | Fee in euros | Free from |\n|---|---|---|\n| A | 4.50 | 60 |\n| B | 18.00 | 400 |\n"
CLASSES = "| Class | Hours |\n|---|---|\n| Basics | 4 |\n| Grinders | 2 |\n"
CARE = "| Plan | Engineer within |\n|---|---|\n| Steady | 5 days |\n| Always | 8 hours |\n"


def test_what_costs_the_most_is_worked_out_like_what_is_dearest() -> None:
    assert worked_out("which zone costs the most", ZONES).endswith("is that of B:")


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("fastest an engineer comes on the steady plan", "Classes for engineers on any plan"),  # asks for its row
        ("what is the shortest notice of a lease", "Training"),  # speaks of nothing that the table does
    ],
)
def test_the_most_or_least_of_a_table_about_something_else_is_no_answer(question: str, title: str) -> None:
    items = [placed(1, CARE, "Care"), placed(2, CLASSES, title)]
    assert compute_answer(question, aggregation_of(question), items[1:] if title == "Training" else items) is None


PLANS = "| Plan | Pounds now | Pounds later |\n|---|---|---|\n| Slow | £4 | £5 |\n| Fast | £9 | £8 |\n"
ROOMS = "| Room | Seats | Seats free |\n|---|---|---|\n| Egret | 16 | 4 |\n| Heron | 9 | 2 |\n"
VIOLINS = "| Violin | Number |\n|---|---|\n| Half | 40 |\n| Full | 30 |\n"


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("total price of ant", VANS),
        ("how many pounds is Slow in total", PLANS),
        ("how many seats has Egret in total", ROOMS),
        ("how many violins do we have in total", VIOLINS),  # any number may be called so
    ],
)
def test_columns_that_are_no_parts_of_what_is_asked_are_not_added_up(question: str, table: str) -> None:
    assert "Added up" not in worked_out(question, table)


def test_nothing_is_added_up_or_kept_within_a_limit_where_a_cell_cannot_be_read() -> None:
    unknown = SITES.replace("| 52 |", "| on request |")
    assert not worked_out("how many beds do all three sites have", unknown)
    assert not worked_out("which sites have more than 50 beds", unknown)


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("how many sites does mira sand look after", True),
        ("how many gardens does mira sand look after", False),
        ("how many houses does mira sand look after", False),
        ("how many sites can I look after", False),
        ("what if a site is older than Mill Lodge", False),
        ("what is the longest I may stay on a site", False),
        ("which sites does mira sand look after", True),
        ("which sites did mira sand sell", False),
        ("how many sites does mira sand manage", True),
        ("how many sites did mira sand sell", False),
        ("how many beds do North House and Quay Court have together", True),
        ("how many beds do North House and the barn have together", False),
    ],
)
def test_a_table_counts_for_what_is_counted_or_picked_out_only_with_every_word_of_it(
    question: str, *, answers: bool
) -> None:
    assert bool(tables_that_answer(question, [placed(1, SITES, "Sites")])) is answers


def test_the_most_is_not_looked_for_in_a_column_that_only_repeats_what_the_rows_are() -> None:
    stages = "| Stage | Stage width | Last act |\n|---|---|---|\n| Meadow | 20 m | 23:00 |\n| Barn | 10 m | 02:00 |\n"
    assert not worked_out("which stage had the most visitors last year", stages)
    assert worked_out("which stage has the most width", stages)


def test_a_limit_in_pounds_is_kept_by_the_only_column_with_pounds() -> None:
    pitches = "| Pitch | Front | Fee |\n|---|---|---|\n| Row 3 | 3 m | £950 |\n| Row 6 | 6 m | £1,700 |\n"
    assert worked_out("which pitches cost more than £1,000", pitches).startswith(
        "Worked out from the table, 1 of the 2"
    )
    assert not worked_out("what is the cheapest pitch with more than 1 m of front", pitches)
    assert not worked_out("which pitches cost more than 1 kg", pitches)


STOCK = (
    "| part | item | in_stock |\n|---|---|---|\n| BX-40 | Box large | 155 |\n| BX-12 | Box small | 420 |\n"
    "| RD-01 | Radio | 4 |\n"
)
EXTRAS = (
    "| Item | Price |\n|---|---|\n| Courier, Scotland | £38.00 |\n| Courier, England | £52.00 |\n"
    "| Polystyrene box | £6.50 |\n"
)


@pytest.mark.parametrize(
    ("question", "table", "told"),
    [
        (
            "how many boxes do we have, large and small together",
            STOCK,
            "Added up from 2 rows, *in_stock* comes to 575:",
        ),
        ("how many boxes are there over all sizes", STOCK, "Added up from 2 rows, *in_stock* comes to 575:"),
        ("what is our cheapest courier?", EXTRAS, "is that of Courier, Scotland:"),
    ],
)
def test_a_table_is_worked_out_over_the_rows_of_the_kind_that_is_asked_for(
    question: str, table: str, told: str
) -> None:
    answer = compute_answer(
        question, aggregation_of(question), [Evidence(1, Hit(passage(1, table, "Stock"), 0.8), "a")]
    )
    assert answer is not None
    assert told in answer.lead


def test_the_most_is_looked_for_to_the_last_row_of_a_long_table() -> None:
    rows = "".join(f"| P-{number} | {number}.50 |\n" for number in range(1, 61))
    table = f"| Part | Price |\n|---|---|\n{rows}"
    question = "what is the most expensive part"
    found = compute_answer(question, aggregation_of(question), [placed(1, table, "Stock")])
    assert found is not None
    assert found.lead.endswith("is that of P-60:")


def test_a_price_list_of_last_year_gives_no_cheapest_price() -> None:
    prices = "| Code | Storage | Price |\n|---|---|---|\n| A | chilled | {} |\n| B | frozen | {} |\n"
    older = Evidence(1, Hit(replace(passage(1, prices.format(1, 2), "tariffs-2025"), dated=""), 0.9), "asked")
    newer = Evidence(2, Hit(replace(passage(2, prices.format(3, 4), "tariffs-2026"), dated=""), 0.8), "asked")
    question = "what is the cheapest storage"
    found = compute_answer(question, aggregation_of(question), [older, newer], [older, newer])
    assert found is not None
    assert {quotation.evidence.id for quotation in found.quotations} == {2}


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("total beds over all three sites", "Added up from 3 rows, *Beds* comes to 165:"),
        ("how many beds do our sites have altogether?", "Added up from 3 rows, *Beds* comes to 165:"),
        ("which sites still have a lift", "Picked out of the table, there are 2 rows:"),
        ("list the sites", "The table has 3 rows:"),
        ("list the beds", ""),  # the rows are sites
        ("list the sites by the sea", ""),
        ("total gardens over all three sites", ""),
    ],
)
def test_a_table_with_every_word_of_a_sum_counts_for_it(question: str, lead: str) -> None:
    assert worked_out(question) == lead
    assert bool(tables_that_answer(question, [placed(1, SITES, "Sites")])) is bool(lead)


def test_a_column_alone_is_no_sum_that_is_asked_for() -> None:
    rounds = "| Round | Cages at most |\n|---|---|\n| R1 | 42 |\n| R2 | 40 |\n"
    assert not tables_that_answer("how many cages do we own altogether", [placed(1, rounds, "Delivery")])


def test_rows_are_counted_where_nothing_can_be_added_up() -> None:
    movers = "| Truck | Type | Cab |\n|---|---|---|\n| A | pallet mover | open |\n| B | pallet mover | none |\n"
    assert worked_out("how many pallet movers are there over all sites", f"{movers}| C | reach truck | open |\n") == (
        "Counted in the table, there are 2 rows:"
    )


def test_most_office_people_is_not_most_of_them() -> None:
    asked = aggregation_of("which site has the most office people and how many are they")
    assert asked is not None
    assert asked.kind is Aggregate.MOST


EQUIPMENT = """\
| Club | Machine | Count |
|---|---|---|
| Clifton | Treadmill | 12 |
| Clifton | Rower | 6 |
| Redland | Treadmill | 9 |
| Bedminster | Treadmill | 7 |
"""


@pytest.mark.parametrize(
    ("question", "lead"),
    [
        ("how many treadmills do we have in total", ""),
        ("how many treadmills are there", ""),
        ("how many clubs have treadmills", "Counted in the table, there are 3 clubs:"),
    ],
)
def test_where_a_column_says_how_many_rows_are_not_counted_for_things(question: str, lead: str) -> None:
    assert worked_out(question, EQUIPMENT) == lead


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("Which leases end before 2027?", ["Ash"]),
        ("Which leases end after 2027?", ["Corwell"]),
        ("Which leases end in January 2027?", ["Dun"]),
        ("Which leases do not end in 2027?", ["Ash", "Corwell"]),
        ("How many leases end in Q1 2027?", ["Dun", "Ely"]),
        ("Which leases end between October 2026 and January 2027?", ["Ash", "Dun"]),
    ],
)
def test_rows_are_picked_by_their_day(question: str, held: list[str]) -> None:
    text = "| Lease | Ends |\n|---|---|\n| Ash | 2026-10-31 |\n| Dun | 15 January 2027 |\n| Ely | 2027-03-25 |\n"
    text += "| Corwell | 2028-06-30 |"
    library, added = EvidenceLibrary().add([Hit(passage(1, text, "Leases"), 0.8)], question)
    found = compute_answer(question, aggregation_of(question), added, library.items_found())
    assert found is not None
    assert [unit.text.split("|")[1].strip() for one in found.quotations for unit in one.units] == held
