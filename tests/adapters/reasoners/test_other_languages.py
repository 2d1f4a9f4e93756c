"""Documents in another language among English ones are read word by word in English, and quoted as they stand."""

from collections.abc import Sequence
from dataclasses import replace

from adapters.reasoners.extractive.candidates import in_english
from adapters.reasoners.extractive.reasoner import ExtractiveReasoner
from adapters.reasoners.extractive.understand.query_translation import dictionary_of
from core.model.evidence import EvidenceLibrary, Grade, Hit
from core.model.inquiry import Inquiry, Insufficient, Investigate, SearchKnowledge, Sufficient
from core.model.passage_units import units
from tests.adapters.reasoners.harness import inquiry, meter, passage, thread
from tests.fakes.memory.encoder import HashingEncoder

GERMAN = "Die Warteliste führt Mareike Thoms. Der Schlüssel ist im Büro und die Kaution beträgt 1.480 Euro."
ENGLISH = "The waiting list of the depot in Leith is kept by Ada Lund. The depot is open until five."


def library(**titled: str) -> EvidenceLibrary:
    hits = [
        Hit(passage(number, text, title.replace("_", " ")), 0.8)
        for number, (title, text) in enumerate(titled.items(), 1)
    ]
    return EvidenceLibrary().add(hits, "asked")[0]


def after_one_search(question: str, found: EvidenceLibrary, grade: int = 1) -> Inquiry:
    asked = inquiry(question)
    graded = found.with_grades({item.id: Grade(grade) for item in found})
    return replace(asked, library=graded, plan=Investigate(question, (question,), ""))


class Listener:
    """Reads nothing, but remembers what it was given."""

    def __init__(self) -> None:
        self.read_for: list[tuple[str, str]] = []

    async def read(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.read_for.extend((question, text) for text in texts)
        return [0.0 for _ in texts]


# --- read


def test_a_text_is_said_in_english_where_it_stands_with_its_lines_figures_and_names() -> None:
    written = "## Die Halle\n\n| Tag | Preis |\n|---|---|\n| Montag | 1.480 Euro |\n- Mareike Thoms"
    said = "## The hall\n\n| Day | price |\n|---|---|\n| Monday | 1.480 euros |\n- Mareike Thoms"
    assert dictionary_of("de").gloss(written) == said


def test_an_article_that_is_joined_to_its_word_is_a_word_of_its_own() -> None:
    assert dictionary_of("fr").gloss("La boutique de l'atelier.") == "The shop of the workshop."
    assert dictionary_of("fr").gloss("La piscine de Val d'Orsel.") == "The swimming pool of Val d'Orsel."


async def test_a_passage_in_german_is_read_in_english_and_quoted_as_it_stands() -> None:
    reader = Listener()
    items = tuple(library(Der_See=GERMAN))
    weighed = await ExtractiveReasoner(HashingEncoder(), reader).weigher.weigh(
        "who keeps the waiting list?", items, items
    )
    assert any("The waiting list keeps Mareike Thoms" in text for _, text in reader.read_for)
    assert weighed[0].evidence == items[0]
    assert {one.unit for one in weighed[0].units} <= set(units(GERMAN))
    assert weighed[0].units[0].unit.text == "Die Warteliste führt Mareike Thoms."


async def test_a_german_question_is_read_in_english_of_german_too() -> None:
    reader = Listener()
    items = tuple(library(Der_See=GERMAN, Depot=ENGLISH))
    weighed = await ExtractiveReasoner(HashingEncoder(), reader).weigher.weigh(
        "Wer führt die Warteliste?", items, items
    )
    assert {one.asked.question for one in weighed} == {"who keeps the waiting list?"}
    assert {asked for asked, _ in reader.read_for} == {"who keeps the waiting list?"}
    assert [one.evidence for one in weighed] == list(items)


def test_a_passage_whose_sentences_would_not_stay_apart_is_left_as_it_is() -> None:
    (item,) = library(Bar="Est-ce que le bar est ouvert ? Non. Le bar et la cuisine sont en travaux.")
    assert dictionary_of("fr").gloss(item.passage.text).startswith("The bar is open ? No. The bar")
    assert in_english([item])[0].passage.text == item.passage.text


async def test_a_german_question_is_searched_in_english_unless_something_in_german_answers() -> None:
    asked = after_one_search("Wer führt die Warteliste?", library(Am_Seehaus=GERMAN))
    reasoner = ExtractiveReasoner(HashingEncoder())
    decided = await reasoner.decide(asked, thread(), meter())
    assert isinstance(decided, Insufficient)
    assert decided.actions[0] == SearchKnowledge("who keeps the waiting list?")
    answered = replace(asked, library=asked.library.with_grades({1: Grade(9)}))
    assert isinstance(await reasoner.decide(answered, thread(), meter()), Sufficient)


async def test_how_a_question_was_read_is_told_below_english_only() -> None:
    reasoner = ExtractiveReasoner(HashingEncoder())
    for text, told in ((GERMAN, False), (ENGLISH, True)):
        asked = after_one_search("Wer führt die Warteliste?", library(Am_Seehaus=text), grade=9)
        parts = [str(part) async for part in reasoner.compose(asked, thread(), tuple(asked.library), meter())]
        assert ("Wort für Wort" in "".join(parts)) is told
