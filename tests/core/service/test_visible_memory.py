"""What a thread remembers of documents that were taken out, or replaced, since."""

from dataclasses import replace
from datetime import UTC, datetime

from core.ingestion.ingestor import document_id_of
from core.model.answer import Citation, Outcome
from core.model.conversation import Person, ThreadKey, Turn
from core.model.evidence import Evidence, Hit
from core.model.knowledge import Document, Passage
from core.service.visibility import TAKEN_OUT, VisibleMemory, still_visible
from tests.fakes.memory.stores import InProcessCatalog, InProcessMemory

KEY = ThreadKey("test", "T", "C", "t")
WHEN = datetime(2026, 1, 5, tzinfo=UTC)


def _document(source: str, version: str = "v1") -> Document:
    return Document(document_id_of("handbook", source), "handbook", source, source, version, "text/plain", 1)


def _evidence(number: int, document: Document) -> Evidence:
    passage = Passage(
        f"p{number}", "handbook", document.id, document.version, "s", 0, document.title, f"words of {document.source}"
    )
    return Evidence(number, Hit(passage, 0.9), "query")


def _turn(number: int, *documents: Document) -> Turn:
    cited = tuple(
        Citation(n, number, f"p{n}", "handbook", one.source, one.title, "", f"words of {one.source}", 0.9)
        for n, one in enumerate(documents, 1)
    )
    answer = f"words of {', '.join(one.source for one in documents)}"
    return Turn(
        f"question {number}", answer, Outcome.ANSWERED, Person("test:a"), WHEN, f"t{number}", "rewritten", cited
    )


async def _thread() -> tuple[VisibleMemory, InProcessCatalog, Document, Document]:
    """A thread in which a leaflet and a handbook were cited."""
    catalog, kept = InProcessCatalog(), InProcessMemory()
    leaflet, handbook = _document("leaflet"), _document("handbook")
    for document in (leaflet, handbook):
        await catalog.publish(document)
    await kept.remember(KEY, _turn(1, leaflet), [_evidence(1, leaflet)])
    await kept.remember(KEY, _turn(2, handbook), [_evidence(2, handbook)])
    await kept.remember(KEY, _turn(3), [])
    await kept.summarise(KEY, "They spoke of the words of leaflet.", frozenset({"handbook"}), 1)
    return VisibleMemory(kept, catalog), catalog, leaflet, handbook


async def test_while_all_is_there_the_thread_is_remembered_as_it_was() -> None:
    memory, _, _, _ = await _thread()
    record = await memory.recall(KEY)
    assert [turn.answer for turn in record.turns] == ["words of leaflet", "words of handbook", "words of "]
    assert len(record.library) == 2
    assert record.summary


async def test_of_a_removed_document_neither_answer_evidence_quote_nor_summary_is_left() -> None:
    memory, catalog, leaflet, _ = await _thread()
    await catalog.withdraw(leaflet.id)
    record = await memory.recall(KEY)
    assert "leaflet" not in repr(record)
    assert [turn.answer for turn in record.turns] == [TAKEN_OUT, "words of handbook", "words of "]
    assert [turn.question for turn in record.turns] == ["question 1", "question 2", "question 3"]
    assert [item.id for item in record.library] == [2]
    assert record.total == 3


async def test_of_a_replaced_version_the_answer_stays_but_it_is_evidence_no_more() -> None:
    memory, catalog, leaflet, _ = await _thread()
    await catalog.publish(replace(leaflet, version="v2"))
    record = await memory.recall(KEY)
    assert record.turns[0].answer == "words of leaflet"
    assert [item.id for item in record.library] == [2]
    assert record.summary


async def test_what_is_restored_is_remembered_again() -> None:
    memory, catalog, leaflet, _ = await _thread()
    await catalog.withdraw(leaflet.id)
    await memory.recall(KEY)
    await catalog.publish(leaflet)
    assert (await memory.recall(KEY)).turns[0].answer == "words of leaflet"


async def test_a_parked_inquirys_evidence_is_looked_at_again() -> None:
    memory, catalog, leaflet, _ = await _thread()
    library = (await memory.recall(KEY)).library
    await catalog.withdraw(leaflet.id)
    assert [item.id for item in await still_visible(library, catalog)] == [2]
