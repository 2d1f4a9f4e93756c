"""Tests of conversations with newcomers that went wrong when they were played on the platforms."""

from dataclasses import replace
from typing import Any

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.tables.aggregation import aggregation_of
from adapters.reasoners.extractive.tables.computed_answer import compute_answer
from adapters.reasoners.extractive.understand.follow_up import resolve
from adapters.reasoners.extractive.understand.intent import Intent, kind_of
from core.model.answer import Outcome
from core.model.conversation import Exchange
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import Investigate
from core.model.knowledge import Passage
from tests.adapters.reasoners.harness import inquiry, meter, passage, thread
from tests.core.harness import Harness
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


def test_she_is_who_was_named_and_not_the_office_that_was_asked_for() -> None:
    last = Exchange("who is the Security Officer?", "The Security Officer, Ines Quillfeather, answers questions.")
    assert resolve("where does she work?", [last]).question == "where does Ines Quillfeather work?"


@pytest.mark.parametrize("said", ["are you sure?", "really?", "is that still true?", "sure about that?"])
async def test_asked_whether_it_is_sure_it_shows_what_stands_there(said: str) -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("Refunds are paid within 14 days of the purchase.", title="Refund rules")
    await harness.asks("Within how many days of the purchase are refunds paid?")
    told = await harness.asks(said)
    assert told.answer.spent.searches == 0
    assert "Refund rules" in told.answer.text
    assert "14 days" in told.answer.text


async def test_asked_whether_it_is_sure_of_a_refusal_it_repeats_no_older_answer() -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("Refunds are paid within 14 days of the purchase.", title="Refund rules")
    await harness.asks("Within how many days of the purchase are refunds paid?")
    assert (await harness.asks("Who cleans the coffee machine of the Lisbon office?")).outcome is Outcome.ABSTAINED
    told = await harness.asks("are you sure?")
    assert "found nothing" in told.answer.text
    assert "14 days" not in told.answer.text


@pytest.mark.parametrize("said", ["danke dir", "ok cool thx", "vielen Dank!", "merci beaucoup", "muchas gracias"])
def test_thanks_are_thanks_in_other_words(said: str) -> None:
    assert kind_of(said, in_thread=True) is Intent.THANKS


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


async def test_a_page_that_is_newer_than_the_policy_stands_for_itself() -> None:
    page = replace(passage(3, HELP, "Help"), dated="2026-04-01")
    text = await answered("within how many days of the first payment is everything refunded?", OLD, NEW, page)
    assert "what that has replaced" not in text
