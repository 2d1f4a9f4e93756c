"""What stands side by side is told apart, and tables answer as a whole."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adapters.reasoners.extractive.decide.versions import calls_itself_outdated, other_version, without_old_alone
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.rules import GroupMatch, Groups, Subjects
from adapters.reasoners.extractive.score.answer_odds import grade_of
from adapters.reasoners.extractive.tables.aggregation import Aggregate, aggregation_of
from adapters.reasoners.extractive.tables.computed_answer import compute_answer
from adapters.reasoners.extractive.understand.intent import overview_of
from core.agent.understand import UNREADABLE
from core.model.conversation import Audience, ContextMessage
from core.model.events import GradingCompleted
from core.model.evidence import Evidence, Grade, Hit
from core.model.inquiry import Overview
from core.model.passage_units import units
from core.model.text import sentences
from core.service.explanations import describe_event
from core.service.question_service import Question
from tests.adapters.reasoners.harness import inquiry, passage
from tests.core.harness import ALICE, Harness, told
from tests.fakes.memory.encoder import HashingEncoder

PLANS = """| Plan | Price a month | Battery |
|---|---|---|
| Spark | £49 | no |
| Glow | £84 | 7.5 kWh |
| Glow Plus | £112 | 15 kWh |
"""
CHANGES = """5.3.0 (2026-03-10)
- Dark theme.

5.2.1 (2025-12-04)
- Fixed a crash.
"""


def found(number: int, text: str, title: str, **more: object) -> Evidence:
    return Evidence(number, Hit(replace(passage(number, text, title), **more), 0.8), "asked")  # type: ignore[arg-type]


def test_of_rows_side_by_side_the_named_one_is_meant_and_the_longer_name_wins() -> None:
    here = passage(1, PLANS, "Price list")
    rows = units(here.text)
    subjects = Subjects("how much is Glow Plus?", [(here, row) for row in rows])
    assert [subjects.names(here, row) for row in rows] == [False, False, True]


LEAVE = (
    "Staff have 26 days of paid time off a year. Interns have 12 days. Contractors are not entitled to paid time off."
)


@pytest.mark.parametrize(
    ("question", "matches"),
    [
        ("How many days of paid time off do contractors get?", ["OTHER", "NONE", "DENIED"]),
        ("How much paid time off for contractors?", ["OTHER", "NONE", "DENIED"]),
        ("How much paid time off do staff have?", ["NONE", "NONE", "OTHER"]),
        ("How many days do interns have?", ["OTHER", "NONE", "NONE"]),
        ("What do contractors pay for lunch?", ["NONE", "NONE", "NONE"]),
        ("How much paid time off is there?", ["NONE", "NONE", "NONE"]),
    ],
)
def test_what_is_said_of_another_group_is_told_from_what_the_group_has_none_of(
    question: str, matches: list[str]
) -> None:
    here = passage(1, LEAVE, "Handbook")
    groups = Groups(question, [(here, unit) for unit in units(here.text)])
    assert [groups.match(here, unit) for unit in units(here.text)] == [GroupMatch[name] for name in matches]


async def test_another_groups_figure_is_no_answer_however_well_it_reads() -> None:
    class Sure:
        async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
            return [3.0 if "26 days" in text else -6.0 for text in texts]

    items = [found(1, LEAVE, "Handbook")]
    weigh = ExtractiveReasoner(HashingEncoder(), Sure()).weigher.weigh
    (read,) = await weigh("How many days of paid time off do contractors get?", items, items)
    assert read.units[0].unit.text == "Contractors are not entitled to paid time off."
    assert read.units[0].rules == ("the group has none",)
    why = grade_of(read.units, None).why
    assert why.startswith("“Contractors are not entitled to paid time off.” ")
    assert "counted " in why
    assert "read -6.0; rule: the group has none" in why
    graded = GradingCompleted(1, 1, 8.0, 3.0, why=(why,))
    assert describe_event(graded) == f"1 of 1 relevant, average grade 8.0, 3 ms · {why}"


EVENTS = """| Event | When | Retried | Limit | Signed |
|---|---|---|---|---|
| order.declined | a person said no | yes | 3 | yes |
| price.preview | a list is near | no | none | yes |
| order.shipped | it is away | yes | 5 | no |
"""


@pytest.mark.parametrize(
    ("question", "picked"),
    [
        ("which webhook event is not retried", ["price.preview"]),
        ("which webhook events arent retried", ["price.preview"]),
        ("which webhook events have no limit", ["price.preview"]),
        ("which webhook events are retried", ["order.declined", "order.shipped"]),
        ("which webhook events are retried but not signed", ["order.shipped"]),
    ],
)
def test_what_a_table_denies_of_its_rows_is_picked_out(question: str, picked: list[str]) -> None:
    answer = compute_answer(question, aggregation_of(question), [found(1, EVENTS, "Webhooks")])
    assert answer is not None
    rows = [unit.text for one in answer.quotations for unit in one.units]
    assert [
        name for name in ("order.declined", "price.preview", "order.shipped") if any(name in r for r in rows)
    ] == picked


def test_only_the_rows_that_are_named_are_added_up() -> None:
    question = "what do Spark and Glow cost a month all together"
    answer = compute_answer(question, aggregation_of(question), [found(1, PLANS, "Price list")])
    assert answer is not None
    assert "comes to 133" in answer.lead


def test_the_cheapest_is_worked_out_and_said_to_be() -> None:
    question = "which plan is the cheapest?"
    asked = aggregation_of(question)
    assert asked is not None
    answer = compute_answer(question, asked, [found(1, PLANS, "Price list")])
    assert answer is not None
    assert "lowest *Price a month*" in answer.lead
    assert "worked out" in answer.lead
    assert [unit.text for quotation in answer.quotations for unit in quotation.units] == ["| Spark | £49 | no |"]


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("which article has the longest warranty", Aggregate.MOST),
        ("how many batteries are in stock all together", Aggregate.SUM),
        ("how many people sit in Leith?", Aggregate.COUNT),
        ("which is heavier, the small or the large one?", Aggregate.MOST),
    ],
)
def test_what_a_whole_table_answers_is_recognised(question: str, kind: Aggregate) -> None:
    asked = aggregation_of(question)
    assert asked is not None
    assert asked.kind is kind


@pytest.mark.parametrize("question", ["what is the notice period", "may at most ten people come?"])
def test_an_ordinary_question_asks_nothing_of_a_whole_table(question: str) -> None:
    assert aggregation_of(question) is None


@pytest.mark.parametrize(
    ("question", "old_is_meant"),
    [
        ("How long are refunds open?", False),
        ("How long were they in 2024?", True),
        ("What did the old one say?", True),
        ("How long two years ago?", True),
        ("How old must a customer be?", False),
        ("Can people of 12 years or older get one?", False),
    ],
)
def test_the_newest_version_is_meant_unless_the_question_says_otherwise(question: str, *, old_is_meant: bool) -> None:
    old = found(1, "Thirty days.", "Refund policy (2024)", dated="2024-03-01")
    new = found(2, "Ten days.", "Refund policy (2026)", dated="2026-02-01")
    assert other_version(question, old, [old, new]) is not old_is_meant
    assert other_version(question, new, [old, new]) is old_is_meant


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("how long were open tickets valid under edition 6?", 1),
        ("how long are open tickets valid?", 2),
        ("how long were open tickets valid before 2026?", 1),
        ("how long were open tickets valid in 2026?", 2),
        ("how long were they valid back then?", 1),
    ],
)
def test_recognizes_an_edition_by_the_number_in_its_header_or_its_year(question: str, meant: int) -> None:
    old = found(1, "Edition 6, in force from 1 January 2024.", "Conditions of carriage", dated="2024-01-01")
    new = found(
        2, "Edition 7, in force from 1 January 2026. Not edition 6.", "Conditions of carriage", dated="2026-01-01"
    )
    pool = [old, new]
    assert [item.id for item in pool if not other_version(question, item, pool)] == [meant]


@pytest.mark.parametrize(("question", "score"), [("Is theft insured?", 4), ("Was theft insured in 2023?", 8)])
def test_a_superseded_document_is_no_evidence_alone(question: str, score: int) -> None:
    old = found(1, "Theft is not covered.", "Terms of lease (2023)", dated="2023-03-01", heading=("6. Insurance",))
    new = found(2, "Two years.", "Terms of lease (2025)", dated="2025-05-01", heading=("7. Term",))
    grades = without_old_alone(inquiry(question), {1: Grade(8), 2: Grade(1)}, [old, new])
    assert grades[1].score == score


def test_a_document_that_calls_itself_superseded_is_the_older_one_without_any_date() -> None:
    old = found(1, "**Superseded by version 4 on 1 May 2025.** Fourteen days.", "Terms of lease", dated="")
    new = found(2, "Twenty-eight days.", "Terms of lease (Spark)", dated="2025-05-01")
    assert other_version("how many days to withdraw?", old, [old, new])


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("tariffs-2025", "tariffs-2026"),
        ("Booking API, version 1", "Booking API, version 2"),
        ("Booking API (deprecated)", "Booking API"),
    ],
)
def test_titles_tell_which_version_is_the_newer_one_where_no_dates_do(older: str, newer: str) -> None:
    pool = [found(1, "40 requests a minute.", older, dated=""), found(2, "120 requests a minute.", newer, dated="")]
    assert [item.id for item in pool if other_version("rate limit of booking", item, pool)] == [1]


def test_the_version_in_the_title_wins_over_the_replacement_named_in_the_header() -> None:
    old = found(1, "Replaced by version 2 on 4 November.", "Booking API, version 1 (superseded)", dated="2024-11-04")
    new = found(2, "120 requests a minute.", "Booking API, version 2", dated="2025-02-01")
    assert [item.id for item in (old, new) if other_version("rate limit of version 1", item, [old, new])] == [2]


def test_where_two_versions_are_named_neither_is_the_wrong_one() -> None:
    pool = [found(1, "Put `v1-` before it.", "Booking API, version 1"), found(2, "Ids.", "Booking API, version 2")]
    pool = [replace(pool[0], hit=Hit(replace(pool[0].passage, dated="2024-01-01"), 0.8)), pool[1]]
    assert not any(other_version("how do I use v1 numbers in v2?", item, pool) for item in pool)
    assert other_version("how do I use numbers in v2?", pool[0], pool)


def test_documents_that_differ_by_no_year_or_version_are_not_versions_of_each_other() -> None:
    pool = [found(1, "Hands.", "Annex 1", dated=""), found(2, "Boots.", "Annex 2", dated="")]
    assert not any(other_version("what is washed?", item, pool) for item in pool)


def test_a_question_in_a_paragraph_of_its_own_stands_over_its_answer() -> None:
    text = "**Do they work when it is cloudy?**\n\nYes, a little.\n\n**Who owns them?**\n\nWe do."
    assert [(unit.under, unit.text) for unit in units(text)] == [
        ("**Do they work when it is cloudy?**", "Yes, a little."),
        ("**Who owns them?**", "We do."),
    ]


@pytest.mark.parametrize(
    ("message", "base"),
    [
        ("what do you know", None),
        ("list all your sources", None),
        ("what is in the knowledge base release notes", "release-notes"),
        ("what's in handbook", "handbook"),
    ],
)
def test_what_there_is_to_read_is_asked_for_in_many_ways(message: str, base: str | None) -> None:
    found_plan = overview_of(message, {"handbook", "release-notes"})
    assert isinstance(found_plan, Overview)
    assert found_plan.knowledge_base == base


def test_a_question_about_a_thing_is_not_about_what_there_is_to_read() -> None:
    assert overview_of("what is in the box", {"handbook"}) is None


async def test_an_attached_file_answers_in_its_own_words_without_a_search() -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("Refunds are paid within 14 days.")
    file = ContextMessage("offer.txt", "Our offer.\n\nThe rent of the warehouse is 900 euros a month.")
    question = Question(
        "What is the rent of the warehouse in this file?",
        harness.key(),
        ALICE,
        Audience(unrestricted=True),
        attachments=(file,),
    )
    told_of = await told(harness.question_service.ask(question))
    assert "The rent of the warehouse is 900 euros a month." in told_of.text
    assert "offer.txt" in told_of.text
    assert told_of.answer.spent.searches == 0


@pytest.mark.parametrize(
    ("asked", "said", "unsaid"),
    [
        ("summarise this", ("Our offer is for one year.", "The rent is 900 euros a month."), "14 days"),
        ("Summarise the attached file.", ("Our offer is for one year.",), "14 days"),
        ("what does this file say about the rent?", ("The rent is 900 euros a month.",), "14 days"),
        ("how long do refunds take, going by this file?", ("I couldn't find this in *offer.txt*",), "14 days"),
    ],
)
async def test_a_file_that_is_the_subject_answers_alone(asked: str, said: tuple[str, ...], unsaid: str) -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("Refunds are paid within 14 days.")
    file = ContextMessage(
        "offer.txt", "Our offer is for one year.\n\nThe rent is 900 euros a month. It rises each May."
    )
    told_of = await told(
        harness.question_service.ask(
            Question(asked, harness.key(), ALICE, Audience(unrestricted=True), attachments=(file,))
        )
    )
    assert all(one in told_of.text for one in said)
    assert unsaid not in told_of.text


async def test_a_question_about_an_unreadable_file_is_not_answered_from_documents() -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("Refunds are paid within 14 days.")
    scan = ContextMessage("scan.pdf", "(not read: It is damaged.)", unread="It is damaged.")
    for asked in ("What does this say about refunds?", "summarise this", "Summarise the attached file."):
        told_of = await told(
            harness.question_service.ask(
                Question(asked, harness.key(), ALICE, Audience(unrestricted=True), attachments=(scan,))
            )
        )
        assert told_of.text == UNREADABLE
        assert told_of.answer.notices == ("I could not read *scan.pdf*: It is damaged.",)


def test_a_german_date_is_no_end_of_a_sentence() -> None:
    text = "Der letzte Bestellschluss ist der 18. Dezember. Danach liefern wir nicht. Halle 4. Dort steht es."
    assert sentences(text) == (
        "Der letzte Bestellschluss ist der 18. Dezember.",
        "Danach liefern wir nicht.",
        "Halle 4.",
        "Dort steht es.",
    )


@pytest.mark.parametrize(
    ("said", "heading", "outdated"),
    [
        ("This page was replaced by the price list of 2026.", (), True),
        ("Edition of 2023, superseded; no longer valid.", (), True),
        ("**Superseded by the edition of 2026**, kept for older contracts.", ("Terms",), True),
        ("Deprecated: see the new handbook.", (), True),
        ("The list of 2025 is no longer valid for new contracts.", (), False),
        ("The first lost jacket in a year is replaced for nothing.", (), False),
        ("A lost card is replaced within two days.", (), False),
        ("At twelve points the permit is withdrawn.", (), False),
        ("Withdrawn on 29 April because orders were sent twice.", ("3.1, 22 April 2025",), False),
        ("| 401 | key withdrawn |", (), False),
        ("- Withdrawn: export by fax.", (), False),
    ],
)
def test_a_thing_that_is_replaced_does_not_make_its_document_outdated(
    said: str, heading: tuple[str, ...], *, outdated: bool
) -> None:
    passage = replace(found(1, said, "Terms").passage, heading=heading)
    assert any(calls_itself_outdated(passage, unit) for unit in units(said)) is outdated
