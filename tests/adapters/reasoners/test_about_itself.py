"""What a document says of itself answers who wrote it and when it was changed, and nothing else in it does."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from adapters.reasoners.extractive.evidence.about_itself import asked_of_document, head_of_document, titled
from adapters.reasoners.extractive.evidence.scoring import says_something
from adapters.reasoners.extractive.question.intent import split_question
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from core.model.answer import Outcome
from core.model.evidence import Evidence, EvidenceLibrary, Hit
from core.model.inquiry import Investigate, Search, SearchSource
from core.model.passage_units import Form, Unit
from tests.adapters.reasoners.scene import inquiry, passage
from tests.core.scene import Scene
from tests.fakes.memory.encoder import HashingEncoder


def found(text: str, title: str = "Bonfire policy 2025") -> Evidence:
    return EvidenceLibrary().add([Hit(passage(1, text, title), 0.8)], "asked")[1][0]


@pytest.mark.parametrize(
    ("question", "text", "stated"),
    [
        ("who wrote the bonfire policy", "It was written by Bron Maddox and approved on 20 May 2025.", True),
        ("when was the bonfire policy last changed?", "Last changed 12 May 2025.", True),
        ("who reviewed the bonfire policy", "Written by Bea Mort on 3 May 2025; reviewed by Tom Brandt.", True),
        ("when was the bonfire policy reviewed", "Written by Bea Mort on 3 May 2025; reviewed by Tom Brandt.", False),
        ("who last edited the bonfire policy", "Created by Bea Mort, last changed by Tom Brandt.", True),
        ("when was the bonfire policy updated", "owner: Ada Lund, crewing office updated: 2026-02-20", True),
        ("who wrote the bonfire policy", "Damage was written down by the warden Ada Lund.", False),
        ("who wrote the bonfire policy", "Fires are lit by the warden Ada Lund.", False),
        ("when was the bonfire policy approved", "Approved by the board.", False),
        ("when was version 3 of the bonfire policy approved", "Approved by the board on 12 March 2025.", False),
        ("who wrote the bonfire policy", "| 6 | Server away; what was written by Bron Maddox is kept |", False),
    ],
)
def test_a_line_states_what_is_asked_of_the_document(question: str, text: str, stated: bool) -> None:
    asked = asked_of_document(question)
    assert asked is not None
    item = found(text)
    assert asked.is_about(item)
    assert asked.is_stated_by(item, text) is stated


@pytest.mark.parametrize(
    "question",
    ["who owns the van", "when was the depot changed", "what changed in the bonfire policy", "who wrote the policy"],
)
def test_a_question_of_its_matter_or_of_no_document_is_none_of_these(question: str) -> None:
    assert asked_of_document(question) is None


def test_its_head_is_searched_once_where_nothing_found_says_it() -> None:
    question = "when was the bonfire policy last changed?"
    asked = inquiry(question, plan=Investigate(question, (question,)))
    (action,) = head_of_document(asked, [found("Fires are lit in autumn.")])
    assert isinstance(action, SearchSource)
    assert action.source == "Bonfire policy 2025"
    assert head_of_document(asked, [found("Last changed 12 May 2025.")]) == ()
    again = inquiry(question, plan=Investigate(question, (question,)), searches=(Search(action),))
    assert head_of_document(again, [found("Fires are lit in autumn.")]) == ()


async def test_who_wrote_a_document_that_does_not_say_is_not_answered_with_its_matter() -> None:
    scene = Scene(ExtractiveReasoner(HashingEncoder()))
    await scene.knows(
        "The fair use policy: who wrote to Ada Lund about fair use gets an answer.", title="Fair use policy"
    )
    told = await scene.asks("who wrote the fair use policy?")
    assert told.outcome is not Outcome.ANSWERED


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
        ("which page has the webhook signature stuff", "webhook signature"),
        ("do we have anything written about slotter settings? which file", "slotter settings"),
        ("What do you know about Fernie Roofing?", "Fernie Roofing"),
        ("in which minutes was the third shop discussed", "the third shop"),
        ("is there a glossary of our words?", "glossary of our words"),
        ("where are the error codes of the api written down", "the error codes of the api"),
        ("where are the towels kept", ""),
        ("where do I find the opening dates for 2027", "opening dates for 2027"),
        ("where do i find the extensions of everyone", "extensions"),
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
    scene = Scene(ExtractiveReasoner(HashingEncoder()))
    await scene.knows("Shirts come back within a week.", title="Terms for residents' clothing")
    told = await scene.asks("what papers do we have about residents clothing")
    assert told.outcome is Outcome.ANSWERED
    assert "Terms for residents' clothing" in told.text


def test_a_table_with_such_a_column_and_a_title_with_most_of_the_words_are_listed() -> None:
    table = found("| Name | Extension |\n|---|---|\n| Ada Lund | 12 |", "Who does what")
    assert titled("where do i find the extensions of everyone", [replace(table, hit=replace(table.hit, score=0.1))])
    prices = found("A day costs £9.", "Car parks and prices")
    prices = replace(prices, hit=replace(prices.hit, score=0.1))
    assert titled("which doc has prices for parking for the public", [prices])
    assert not titled("which doc has prices for boats", [prices])


def test_a_glossary_is_listed_where_ones_own_words_are_asked_for() -> None:
    words = found("**Drop**: when the beans leave the drum.", "Words we use")
    words = replace(words, hit=replace(words.hit, score=0.1))
    assert titled("is there a page that explains our slang", [words])
    assert not titled("is there a page that explains our prices", [words])


async def test_a_document_is_listed_where_one_sentence_has_the_whole_topic() -> None:
    scene = Scene(ExtractiveReasoner(HashingEncoder()))
    await scene.knows("The roof is surveyed by Fernie Roofing Ltd before any work begins.", title="Subcontractors")
    told = await scene.asks("What do you know about Fernie Roofing?")
    assert told.outcome is Outcome.ANSWERED
    assert "Subcontractors" in told.text
    told = await scene.asks("What do you know about Harrow Joinery?")
    assert told.outcome is not Outcome.ANSWERED


@pytest.mark.parametrize(("first", "listed"), [(0.4, {1}), (0.1, set())])
def test_a_document_is_listed_that_the_search_puts_first_and_near(first: float, listed: set[int]) -> None:
    """No sentence need have the whole topic; where nothing is near, nothing is listed."""
    hits = [Hit(passage(1, "A red card lasts two years.", "Benches"), first), Hit(passage(2, "Cards.", "Vans"), 0.05)]
    items = EvidenceLibrary().add(hits, "asked")[1]
    assert titled("which document has the rules for machine cards", items) == listed
    assert not titled("what are the rules for machine cards", items)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Version 2 is switched off on 31 March 2027.", True),
        ("Version 4.0 of February was the first of that name.", True),
        ("Version 3, in force since 14 January 2026.", False),
        ("Version 3.", False),
    ],
)
def test_a_sentence_about_a_version_is_no_stamp(text: str, says: bool) -> None:
    assert says_something(Unit(text, Form.SENTENCE, 0), "what does the sandbox do?") is says


def test_a_document_is_known_by_its_file_too_and_searched_for_by_it() -> None:
    asked = asked_of_document("who owns the site operations page")
    assert asked is not None
    item = found("Owner: Wynne Oakshott.", "Running a site")
    named = replace(item, hit=replace(item.hit, passage=replace(item.passage, source="handbook/site-operations.md")))
    assert asked.is_about(named)
    assert not asked.is_about(item)
    searched = inquiry("who owns the site operations page")
    (action,) = head_of_document(searched, [item])
    assert isinstance(action, SearchSource)
    assert action.source == "site-operations"


async def test_another_document_does_not_answer_for_the_one_that_is_asked_about() -> None:
    pages = [passage(1, "Owner: Wynne Oakshott.", "Site operations"), passage(2, "Page owner: Hattie Moss.", "People")]
    question = "who owns the site operations page"
    items = EvidenceLibrary().add([Hit(one, 0.8) for one in pages], question)[1]
    own, other = await ExtractiveReasoner(HashingEncoder(), Fond()).weigh(question, items, items)
    assert own.units[0].odds > 0 > other.units[0].odds


class Fond:
    """Takes everything that stands there for an answer."""

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [9.0 for _ in texts]
