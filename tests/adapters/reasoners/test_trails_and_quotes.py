"""Tests with the reasoner that quotes: questions that need several quotes, and quotes that read well."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.understand.answer_type import fits
from core.model.answer import Claim, Support
from core.model.conversation import Turn
from core.model.errors import Unavailable
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import Insufficient, Investigate, Reply, Search, SearchKnowledge, SearchSource
from core.ports.index import Vectors
from tests.adapters.reasoners.harness import inquiry, library, meter, passage, thread, turn
from tests.fakes.memory.encoder import HashingEncoder

RULE = "Access to a service is approved by the lead of the team that owns it. Nobody has standing access."
SERVICES = (
    "| Service | Owned by | Tier |\n|---|---|---|\n| `gauge` | Team Keel | 1 |\n| `odometer` | Team Compass | 2 |"
)
PEOPLE = (
    "| Name | Role | Team |\n|---|---|---|\n| Rosalind Achterberg | Lead | Team Compass |\n"
    "| Teodor Wexley | Lead | Team Keel |"
)
WHO = "Who approves access to odometer?"


@pytest.fixture
def reasoner() -> ExtractiveReasoner:
    return ExtractiveReasoner(HashingEncoder())


async def composed(reasoner: ExtractiveReasoner, question: str, found: EvidenceLibrary, **more: Any) -> str:
    asked = inquiry(question, library=found, plan=Investigate(question, (question,)), **more)
    good = found.relevant(5)
    return "".join([part async for part in reasoner.compose(asked, thread(), good, meter())])


def graded(**grades: int) -> EvidenceLibrary:
    texts = {"rule": RULE, "services": SERVICES, "people": PEOPLE}
    found = library(*(texts[name] for name in grades))
    return found.with_grades({item.id: Grade(grade) for item, grade in zip(found, grades.values(), strict=True)})


async def test_a_simple_question_is_not_led_astray_by_names_in_its_answer(reasoner: ExtractiveReasoner) -> None:
    found = library(
        "Refunds stay open for 30 days; ask Finance Team.", "Finance Team eats at noon on Fridays.", grade=8
    )
    text = await composed(reasoner, "How long do refunds stay open?", found)
    assert "30 days" in text
    assert "noon" not in text


async def test_a_sentence_that_looks_back_brings_the_one_before(reasoner: ExtractiveReasoner) -> None:
    found = library("Refunds go back by the way of payment. They arrive within five days of approval.", grade=8)
    text = await composed(reasoner, "How quickly do they arrive after approval?", found)
    assert text.index("Refunds go back") < text.index("They arrive within five days")


async def test_half_a_small_table_is_shown_whole(reasoner: ExtractiveReasoner) -> None:
    table = (
        "| Tier | Acknowledge within |\n|---|---|\n| Tier 1 | 5 minutes |\n| Tier 2 | next day |\n| Tier 3 | 2 days |"
    )
    text = await composed(reasoner, "Within how many days or minutes are tiers acknowledged?", library(table, grade=8))
    assert text.count("| Tier") == 4


async def test_each_sentence_of_a_list_item_has_its_marker(reasoner: ExtractiveReasoner) -> None:
    found = library("- Satchel needs Android 11. Version 5.4 goes on until December.", grade=8)
    text = await composed(reasoner, "Which Android does Satchel need?", found)
    assert "- Satchel needs Android 11. [1] Version 5.4 goes on until December. [1]" in text


async def test_only_the_newest_version_is_quoted(reasoner: ExtractiveReasoner) -> None:
    old = replace(passage(1, "Refunds arrive within ten days.", "Refund policy (2024)"), dated="2024-03-01")
    new = replace(passage(2, "Refunds arrive within five days.", "Refund policy (2026)"), dated="2026-02-01")
    found, _ = EvidenceLibrary().add([Hit(old, 0.9), Hit(new, 0.8)], "refunds")
    text = await composed(reasoner, "When do refunds arrive?", found.with_grades({1: Grade(9), 2: Grade(8)}))
    assert "five days" in text
    assert "ten days" not in text


async def decided_after(reasoner: ExtractiveReasoner, question: str, *turns: Turn) -> tuple[object, ...]:
    plan = await reasoner.understand(inquiry(question), thread(*turns), meter())
    assert isinstance(plan, Investigate)
    asked = inquiry(
        question,
        plan=plan,
        library=library("Nothing of the kind.", grade=2),
        searches=(Search(SearchKnowledge(plan.question), found=1, new=1),),
    )
    decision = await reasoner.decide(asked, thread(*turns), meter())
    return decision.actions if isinstance(decision, Insufficient) else ()


async def test_a_new_topic_is_not(reasoner: ExtractiveReasoner) -> None:
    before = turn("What is the refund policy?", "As quoted [1].", 1)
    actions = await decided_after(reasoner, "How many days of annual leave do we get?", before)
    assert not any(isinstance(action, SearchSource) for action in actions)


@pytest.mark.parametrize("title", ["Leave", "handbook/leave.md", "leave.md"])
async def test_what_was_asked_says_what_it_is_and_a_file_name_never_does(
    reasoner: ExtractiveReasoner, title: str
) -> None:
    said = turn("How long is parental leave?", "Twenty weeks [1].", 1)
    before = replace(said, citations=(replace(said.citations[0], title=title),))
    plan = await reasoner.understand(inquiry("Can it be split up?"), thread(before), meter())
    assert isinstance(plan, Investigate)
    assert plan.question == "Can parental leave be split up?"


async def test_a_sentence_no_document_said_is_not_repeated_as_if_one_had(reasoner: ExtractiveReasoner) -> None:
    said = "> Refunds stay open for 30 days. [1]\n> Refunds are open at night as well. (not from the documents)\n"
    plan = await reasoner.understand(inquiry("in short?"), thread(turn("How are refunds open?", said, 7)), meter())
    assert isinstance(plan, Reply)
    assert "30 days. [7]" in plan.text
    assert "at night" not in plan.text


async def test_a_short_claim_with_one_word_of_its_own_is_not_called_supported(reasoner: ExtractiveReasoner) -> None:
    found = library("Driver positions are kept for 90 days and are then deleted.")
    claim = Claim("Driver positions are encrypted and deleted.", (1,))
    (verdict,) = await reasoner.check(inquiry(library=found), [claim], (), meter())
    assert verdict.support is Support.UNSUPPORTED


class Kindred(HashingEncoder):
    """An encoder that takes kilometres for km; every other word stands alone."""

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        known = ["km", "kilometre"]
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, 0 if text in known else 1 + sum(map(ord, text)) % 63] = 1.0
        return vectors


class Recording(HashingEncoder):
    """An encoder that keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: set[str] = set()

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """As the encoder it is, and noted."""
        self.encoded |= set(texts)
        return await super().encode_passages(texts)


class Away(HashingEncoder):
    """An encoder that does not respond."""

    async def encode_passages(self, texts: Sequence[str]) -> Vectors:
        raise Unavailable("The encoder is away.")


@pytest.mark.parametrize(
    ("question", "fitting", "other"),
    [
        ("Which weekday does the shift change?", "It changes hands on Tuesday.", "It changes hands after a week."),
        ("At what hours is support open?", "Support is open from 08:00 to 18:00.", "Support is open for three days."),
        ("Until when can I hand in a receipt?", "Claims are sent within 60 days.", "Claims are sent to Finance."),
        ("Who leads the team?", "The team is led by Priyanka Holm.", "The team is led by the Head of Sales."),
        ("Which IP addresses do you use?", "Webhooks come from 203.0.113.16.", "Webhooks come from our servers."),
        ("What does one message cost?", "A message costs €0.06.", "A message costs little."),
    ],
)
def test_a_sentence_with_the_kind_of_answer_asked_for_fits_better(question: str, fitting: str, other: str) -> None:
    assert fits(question, fitting) > fits(question, other)


CODES = (
    "| Code | Meaning |\n|---|---|\n| 2 | bad arguments |\n| 3 | no such batch |\n| 4 | network |\n| 5 | not allowed |"
)


@pytest.mark.parametrize("question", ["exit code 5 of the tool means?", "What does exit code 5 mean?"])
async def test_the_row_that_is_asked_for_is_quoted_without_the_rest_of_its_table(
    reasoner: ExtractiveReasoner, question: str
) -> None:
    found, _ = EvidenceLibrary().add([Hit(passage(1, CODES, "The tool", heading=("Exit codes",)), 0.8)], "exit codes")
    text = await composed(reasoner, question, found.with_grades({1: Grade(9)}))
    assert "| 5 | not allowed [1] |" in text
    assert "no such batch" not in text


async def test_all_of_a_kind_are_the_whole_table(reasoner: ExtractiveReasoner) -> None:
    found, _ = EvidenceLibrary().add([Hit(passage(1, CODES, "The tool", heading=("Exit codes",)), 0.8)], "exit codes")
    text = await composed(reasoner, "all exit codes of the tool", found.with_grades({1: Grade(9)}))
    assert text.count("[1] |") == 4
