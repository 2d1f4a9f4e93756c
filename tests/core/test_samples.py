"""The sample set is consistent: its documents contain what its evaluation expects."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from bs4 import BeautifulSoup
from docx import Document
from openpyxl import load_workbook
from pypdf import PdfReader

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "bot" / "samples"
DOCUMENTS = SAMPLES / "documents"
QUERIES: list[dict[str, Any]] = [
    json.loads(line) for line in (SAMPLES / "eval" / "queries.jsonl").read_text(encoding="utf-8").splitlines()
]
UNDOCUMENTED = {"greeting", "unanswerable"}


def _pdf(path: Path) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(path).pages)


def _docx(path: Path) -> str:
    return "\n".join(paragraph.text for paragraph in Document(str(path)).paragraphs)


def _xlsx(path: Path) -> str:
    sheets = load_workbook(path, read_only=True, data_only=True)
    return "\n".join(str(value) for sheet in sheets for row in sheet.iter_rows(values_only=True) for value in row)


def _html(path: Path) -> str:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").get_text(" ")


def _plain(path: Path) -> str:
    return path.read_text(encoding="utf-8")


READERS: dict[str, Callable[[Path], str]] = {".pdf": _pdf, ".docx": _docx, ".xlsx": _xlsx, ".html": _html}


@cache
def words_of(document: str) -> str:
    path = DOCUMENTS / document
    read = READERS.get(path.suffix, _plain)
    return " ".join(read(path).split())


def test_every_format_a_team_would_have_is_there() -> None:
    suffixes = [path.suffix for path in DOCUMENTS.rglob("*") if path.is_file()]
    assert {".md", ".html", ".pdf", ".docx", ".xlsx", ".csv"} == set(suffixes)
    assert len(suffixes) >= 20


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query["_id"])
def test_an_expected_answer_stands_in_a_document_named_for_it(query: dict[str, Any]) -> None:
    texts = [words_of(document) for document in query["metadata"]["documents"]]
    assert bool(texts) == (query["metadata"]["kind"] not in UNDOCUMENTED)
    for answer in query["answers"]:
        assert any(answer in text for text in texts), answer


def test_a_question_has_answers_exactly_when_it_should_be_answered() -> None:
    for query in QUERIES:
        assert bool(query["answers"]) == (query["metadata"]["expect"] == "answered"), query["_id"]


def test_a_follow_up_comes_with_the_turns_before_it() -> None:
    for query in QUERIES:
        assert bool(query["metadata"]["thread"]) == (query["metadata"]["kind"] == "follow_up"), query["_id"]


def test_the_judgements_are_the_documents_that_the_questions_name() -> None:
    with (SAMPLES / "eval" / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        judged = {(row["query-id"], row["corpus-id"]) for row in csv.DictReader(file, delimiter="\t")}
    assert judged == {(query["_id"], document) for query in QUERIES for document in query["metadata"]["documents"]}


def test_the_links_between_documents_lead_somewhere() -> None:
    for path in DOCUMENTS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
            assert (path.parent / target).is_file(), f"{path.name} -> {target}"


def test_the_demo_is_five_turns_and_presses_a_button_at_the_last() -> None:
    turns = json.loads((SAMPLES / "demo.json").read_text(encoding="utf-8"))
    assert [turn.get("press") for turn in turns] == [None, None, None, None, 1]
    assert all(turn["say"] and turn["shows"] for turn in turns)
