"""Scenes of conversations with newcomers that went wrong when they were played on the platforms."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters.reasoners.extractive.answer.tables.computed_answer import compute_answer
from adapters.reasoners.extractive.evidence.name_trail import in_range
from adapters.reasoners.extractive.question.aggregation import aggregation_of
from adapters.reasoners.extractive.question.follow_up import resolve
from adapters.reasoners.extractive.question.intent import Intent, final_question, kind_of
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner, exchanges
from core.model.answer import Outcome
from core.model.conversation import Exchange
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import Investigate
from core.model.knowledge import Passage
from tests.adapters.reasoners.scene import inquiry, meter, passage, thread, turn
from tests.core.scene import Scene
from tests.fakes.memory.encoder import HashingEncoder

APPROVALS = (
    "| Amount | Approved by |\n|---|---|\n| Up to €250 | The agent |\n| Above €250 and up to €2,000 | The head |\n"
    "| Above €2,000 | The lead |"
)


async def answered(question: str, *passages: Passage) -> str:
    found, added = EvidenceLibrary().add([Hit(one, 0.8) for one in passages], "asked")
    found = found.with_grades({item.id: Grade(8) for item in added})
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)))
    reasoner = ExtractiveReasoner(HashingEncoder())
    return "".join([str(part) async for part in reasoner.compose(asked, thread(), found.relevant(5), meter())])


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        (
            ("How many days of leave do I get? Who approves a claim of 800 euros?",),
            "And how many of them can I carry over?",
            "And how many days of leave can I carry over?",
        ),
        (("Holidays?",), "how many of them can i carry over", "how many Holidays can i carry over"),
        (("Who approves a claim of 800 euros?",), "When is it paid?", "When is the claim paid?"),
    ],
)
def test_of_them_is_said_of_what_was_counted_and_never_of_a_verb(
    before: Sequence[str], said: str, understood: str
) -> None:
    assert resolve(said, [Exchange(one) for one in before]).question == understood


@pytest.mark.parametrize(
    ("before", "said", "understood"),
    [
        ("how many days can i carry over?", "until when", "until when can i carry over days?"),
        ("How fast must I react to tier 2?", "Is that also at night?", "How fast must I react to tier 2 at night?"),
        ("How fast must I react to tier 2?", "sorry, tier 3 I meant", "How fast must I react to tier 3?"),
        ("How many requests can a Starter key send?", "Depot?", "How many requests can a Depot key send?"),
        ("How long is probation?", "and the notice then?", "How long is notice (probation)?"),
        ("i lost my phone!!", "what about the hardware key, same?", "i lost my hardware key?"),
        (
            "Who approves refunds below 2,000 euros?",
            "what about a refund of 3,000 euros?",
            "Who approves refund of 3,000 euros?",
        ),
    ],
)
def test_a_short_question_goes_on_with_the_last_one(before: str, said: str, understood: str) -> None:
    assert resolve(said, [Exchange(before)]).question == understood


def test_since_when_after_a_yes_or_no_question_is_of_its_topic() -> None:
    assert resolve("Since when?", [Exchange("Is there a canteen?")]).question == "Since when (canteen)?"


def test_it_is_the_release_that_was_asked_for_by_its_place() -> None:
    last = Exchange("what is new in the latest release?", "Fleet keys of the API send more.", ("Release notes 2026.1",))
    found = resolve("which Android version does it need?", [last])
    assert found.question == "which Android version does Release notes 2026.1 need?"


def test_she_is_who_was_named_and_not_the_office_that_was_asked_for() -> None:
    last = Exchange("who is the Security Officer?", "The Security Officer, Ines Quillfeather, answers questions.")
    assert resolve("where does she work?", [last]).question == "where does Ines Quillfeather work?"


def test_the_title_beside_a_chosen_reading_is_no_topic() -> None:
    chosen = replace(
        turn("how do I configure the timeout?", "> The job timeout is 15 minutes. [1]", 1),
        rewritten="how do I configure the job timeout (Refunds)?",
    )
    last = exchanges(thread(chosen))
    assert last[-1].question == "how do I configure the job timeout?"
    assert resolve("what is its maximum?", last).question == "what is the job timeout's maximum?"


@pytest.mark.parametrize("said", ["are you sure?", "really?", "is that still true?", "sure about that?"])
async def test_asked_whether_it_is_sure_it_shows_what_stands_there(said: str) -> None:
    scene = Scene(ExtractiveReasoner(HashingEncoder()))
    await scene.knows("Refunds are paid within 14 days of the purchase.", title="Refund rules")
    await scene.asks("Within how many days of the purchase are refunds paid?")
    told = await scene.asks(said)
    assert told.answer.spent.searches == 0
    assert "Refund rules" in told.answer.text
    assert "14 days" in told.answer.text


async def test_asked_whether_it_is_sure_of_a_refusal_it_repeats_no_older_answer() -> None:
    scene = Scene(ExtractiveReasoner(HashingEncoder()))
    await scene.knows("Refunds are paid within 14 days of the purchase.", title="Refund rules")
    await scene.asks("Within how many days of the purchase are refunds paid?")
    assert (await scene.asks("Who cleans the coffee machine of the Lisbon office?")).outcome is Outcome.ABSTAINED
    told = await scene.asks("are you sure?")
    assert "found nothing" in told.answer.text
    assert "14 days" not in told.answer.text


@pytest.mark.parametrize("said", ["danke dir", "ok cool thx", "vielen Dank!", "merci beaucoup", "muchas gracias"])
def test_thanks_are_thanks_in_other_words(said: str) -> None:
    assert kind_of(said, in_thread=True) is Intent.THANKS


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("i start on monday. when does my laptop come?", "when does my laptop come?"),
        ("I signed in 2024. what do i pay if i end it early?", "I signed in 2024. what do i pay if i end it early?"),
    ],
)
def test_what_sets_the_scene_is_left_out_unless_it_says_which_year_holds(said: str, asked: str) -> None:
    assert final_question(said) == asked


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        ("above 2,000 euros", [False, False, True]),
        ("below 2,000 euros", [True, True, False]),
        ("of 2,000 euros", [False, True, False]),
        ("of 3,000 euros", [False, False, True]),
    ],
)
async def test_of_a_table_of_ranges_the_rows_that_hold_for_the_amount_are_quoted(asked: str, holds: list[bool]) -> None:
    ranges = ["Up to €250", "Above €250 and up to €2,000", "Above €2,000"]
    assert [in_range(f"who approves refunds {asked}?", said) for said in ranges] == holds
    text = await answered(f"who approves refunds {asked}?", passage(1, APPROVALS, "Refund policy"))
    people = ("The agent", "The head", "The lead")
    assert [person in text for person in people] == holds


async def test_a_range_of_something_else_is_not_quoted_beside_the_right_one() -> None:
    people = "| Name | Approves |\n|---|---|\n| Ann Lee | Expenses above €500 |\n| Bo Ray | Refunds above €250 |"
    text = await answered(
        "who approves expenses above 600 euros?", passage(1, APPROVALS, "Refunds"), passage(2, people, "Colleagues")
    )
    assert "Ann Lee" in text
    assert "Above €250 and up to €2,000" not in text


def test_figures_of_ranges_are_not_compared_with_a_limit() -> None:
    people = "| Name | Approves |\n|---|---|\n| Ann Lee | Refunds above €250 and up to €2,000 |\n"
    people += "| Bo Ray | Refunds above €2,000 |"
    found, added = EvidenceLibrary().add([Hit(passage(1, people, "Colleagues"), 0.8)], "asked")
    question = "who approves refunds below 2,000 euros?"
    assert compute_answer(question, aggregation_of(question), added, found.items_found()) is None


def policy(number: int, year: int, text: str, dated: str, **more: Any) -> Passage:
    return replace(passage(number, text, f"Refund policy ({year})", **more), dated=dated)


OLD = policy(1, 2024, "Everything is refunded within 30 days of the first payment.", "2024-03-01")
NEW = policy(2, 2026, "An annual plan is refunded within 45 days of the first payment.", "2026-02-01")
HELP = "Everything is refunded within 30 days of your first payment, whatever the plan. Write to us."


async def test_a_page_that_repeats_what_was_replaced_comes_after_what_replaced_it() -> None:
    page = replace(passage(3, HELP, "Help"), dated="2025-11-06")
    text = await answered("within how many days of the first payment is everything refunded?", OLD, NEW, page)
    assert text.index("within 45 days") < text.index("what that has replaced") < text.index("within 30 days of your")


async def test_a_page_that_is_newer_than_the_policy_stands_for_itself() -> None:
    page = replace(passage(3, HELP, "Help"), dated="2026-04-01")
    text = await answered("within how many days of the first payment is everything refunded?", OLD, NEW, page)
    assert "what that has replaced" not in text


async def test_who_approves_it_is_quoted_with_what_it_is() -> None:
    spent = "Everyone may spend €1,500 on courses. Your team lead approves it. "
    rest = "What you learn is yours, and what you wrote there is ours. " * 6
    text = await answered("Is it approved by the team lead?", passage(1, spent + rest, "Learning"))
    assert "> Everyone may spend €1,500 on courses. [1] Your team lead approves it. [1]" in text
