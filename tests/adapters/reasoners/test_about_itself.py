"""What a document says of itself answers who wrote it and when it was changed, and nothing else in it does."""

from collections.abc import Sequence

import pytest

from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.understand.intent import split_question
from core.model.answer import Outcome
from core.model.evidence import Evidence, EvidenceLibrary, Hit
from tests.adapters.reasoners.harness import passage
from tests.core.harness import Harness
from tests.fakes.memory.encoder import HashingEncoder


def found(text: str, title: str = "Bonfire policy 2025") -> Evidence:
    return EvidenceLibrary().add([Hit(passage(1, text, title), 0.8)], "asked")[1][0]


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("in which document can i read about how long my data is stored", "how long my data is stored"),
        ("which doc describes the webhooks", "the webhooks"),
        ("which file lists our tanks", "our tanks"),
        ("is there anything on biosecurity in our docs?", "biosecurity"),
        ("where is it written what to do if the boiler dies?", "what to do if the boiler dies?"),
        ("what papers do we have about residents clothing", "residents clothing"),
        ("which doc tells me how long I can stay in a freezer", "how long I can stay in a freezer"),
        ("What do you know about Fernie Roofing?", "Fernie Roofing"),
        ("where are the towels kept", ""),
        ("where can i find the spare key of the shed", ""),
        ("is there a lift", ""),
        ("in which town is the third shop", ""),
        ("which page can I open", ""),
        ("where do i find the keys", ""),
    ],
)
def test_it_is_told_where_documents_on_a_topic_are_asked_for(question: str, topic: str) -> None:
    parts = split_question(question)
    assert parts.lists_documents is bool(topic)
    assert not topic or parts.question == topic


async def test_a_document_whose_title_is_the_topic_is_listed_whatever_its_sentences_say() -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("Shirts come back within a week.", title="Terms for residents' clothing")
    told = await harness.asks("what papers do we have about residents clothing")
    assert told.outcome is Outcome.ANSWERED
    assert "Terms for residents' clothing" in told.text


async def test_a_document_is_listed_where_one_sentence_has_the_whole_topic() -> None:
    harness = Harness(ExtractiveReasoner(HashingEncoder()))
    await harness.knows("The roof is surveyed by Fernie Roofing Ltd before any work begins.", title="Subcontractors")
    told = await harness.asks("What do you know about Fernie Roofing?")
    assert told.outcome is Outcome.ANSWERED
    assert "Subcontractors" in told.text
    told = await harness.asks("What do you know about Harrow Joinery?")
    assert told.outcome is not Outcome.ANSWERED


class Fond:
    """Takes everything that stands there for an answer."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [9.0 for _ in texts]
