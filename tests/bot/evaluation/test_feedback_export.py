"""What people thought of answers becomes a dataset that can be measured."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.evaluation.dataset_loader import read
from bot.evaluation.feedback import export_feedback
from core.ingestion.passage_vectors import vectors_of
from core.model.answer import Citation, Outcome
from core.model.conversation import Person, ThreadKey, Turn
from core.model.knowledge import Document, KnowledgeBase, Passage
from core.ports.feedback import Feedback
from tests.fakes.memory.encoder import HashingEncoder
from tests.fakes.memory.index import InProcessIndex
from tests.fakes.memory.stores import InProcessCatalog, InProcessFeedbackStore, InProcessMemory

ANA, BEN = Person("slack:T1/U1"), Person("slack:T1/U2")
NOW = datetime(2026, 3, 2, tzinfo=UTC)
THREAD = ThreadKey("slack", "T1", "C1", "1")


class Office:
    """Two bases that both have a ``leave.md``, and people who judge answers."""

    def __init__(self) -> None:
        self.box, self.catalog, self.index = InProcessFeedbackStore(), InProcessCatalog(), InProcessIndex()
        self.memory = InProcessMemory()

    async def shelve(self, base: str, source: str, *texts: str) -> None:
        name = f"{base}-{source}"
        passages = [Passage(f"{name}{n}", base, name, "1", name, n, source, text) for n, text in enumerate(texts)]
        await self.index.add(passages, await vectors_of(passages, HashingEncoder()))
        await self.catalog.save_base(KnowledgeBase(base))
        await self.catalog.publish(Document(name, base, source, source, "1", "text/plain", len(texts)))

    async def judge(self, trace: str, *cited: tuple[str, str], person: Person = ANA, helpful: bool = True) -> None:
        citations = tuple(
            Citation(n, n, "p", base, source, source, "", "", 0.9) for n, (base, source) in enumerate(cited, 1)
        )
        await self.box.keep(
            Feedback(
                trace, person, helpful, question=f"question {trace}?", citations=citations, at=NOW, thread=str(THREAD)
            )
        )


@pytest.fixture
async def office() -> Office:
    made = Office()
    await made.shelve("handbook", "leave.md", "You get 27 days.", "Carry over five.")
    await made.shelve("law", "leave.md", "The law says 28 days.")
    await made.shelve("handbook", "pay.md", "Paid monthly.")
    return made


async def export(office: Office, folder: Path) -> None:
    (await export_feedback(office.box, office.catalog, office.index, office.memory)).write(folder)


async def test_an_answer_from_two_bases_needs_both_documents_though_they_share_a_name(
    office: Office, tmp_path: Path
) -> None:
    await office.judge("t1", ("handbook", "leave.md"), ("law", "leave.md"))
    await export(office, tmp_path / "set")
    found = read(tmp_path / "set", None)
    assert [(query.id, dict(query.relevant)) for query in found.queries] == [
        ("t1", {"handbook:leave.md": 1, "law:leave.md": 1})
    ]
    texts = {document.id: document.text for document in found.documents}
    assert texts["handbook:leave.md"] == "You get 27 days.\n\nCarry over five."
    assert set(texts) == {"handbook:leave.md", "law:leave.md", "handbook:pay.md"}


async def test_two_quotes_of_one_document_are_one_document(office: Office, tmp_path: Path) -> None:
    await office.judge("t1", ("handbook", "leave.md"), ("handbook", "leave.md"))
    await export(office, tmp_path)
    assert (tmp_path / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:] == ["t1\thandbook:leave.md\t1"]


async def test_what_two_people_found_helpful_is_one_question_and_a_tie_is_none(office: Office, tmp_path: Path) -> None:
    for person in (ANA, BEN):
        await office.judge("t1", ("handbook", "pay.md"), person=person)
        await office.judge("t2", ("handbook", "pay.md"), person=person, helpful=person is ANA)
    await export(office, tmp_path)
    assert [query.id for query in read(tmp_path, None).queries] == ["t1"]


async def test_an_answer_whose_sources_are_gone_is_left_out(office: Office, tmp_path: Path) -> None:
    await office.judge("t1", ("handbook", "gone.md"))
    await office.judge("t2", ("handbook", "gone.md"), ("handbook", "pay.md"))
    await export(office, tmp_path)
    assert [dict(query.relevant) for query in read(tmp_path, None).queries] == [{"handbook:pay.md": 1}]


async def test_a_follow_up_brings_the_questions_before_it(office: Office, tmp_path: Path) -> None:
    for trace in ("t0", "t1", "t2"):
        turn = Turn(f"question {trace}?", "An answer.", Outcome.ANSWERED, ANA, NOW, trace)
        await office.memory.remember(THREAD, turn, ())
    await office.judge("t1", ("handbook", "pay.md"))
    await export(office, tmp_path)
    (query,) = read(tmp_path, None).queries
    assert query.thread == ("question t0?",)


async def test_no_helpful_answer_makes_an_empty_export(office: Office) -> None:
    await office.judge("t1", ("handbook", "pay.md"), helpful=False)
    found = await export_feedback(office.box, office.catalog, office.index, office.memory)
    assert (found.queries, found.corpus, found.qrels) == ((), (), ())


async def test_the_lines_are_json_that_keeps_every_letter(office: Office, tmp_path: Path) -> None:
    await office.shelve("café", "menü.md", "Frühstück ab sieben.")
    await office.judge("t1", ("café", "menü.md"))
    await export(office, tmp_path)
    row = json.loads((tmp_path / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert (row["_id"], row["text"]) == ("café:menü.md", "Frühstück ab sieben.")
