"""What a folder is taken for when it is given to be measured."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.demo import SAMPLES
from core.model.errors import ConfigurationError, NotFound
from research.evaluation.dataset_loader import read


def put(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_questions_with_a_corpus_and_grades_are_measured_by_retrieval(tmp_path: Path) -> None:
    put(tmp_path, "corpus.jsonl", {"_id": "d1", "title": "T", "text": "words"})
    put(tmp_path, "queries.jsonl", {"_id": "q1", "text": "?"}, {"_id": "q2", "text": "not judged"})
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    found = read(tmp_path, None)
    assert [query.id for query in found.queries] == ["q1"]
    assert found.has_corpus


def test_the_samples_hold_questions_and_files() -> None:
    found = read(SAMPLES / "eval", None)
    assert found.queries
    assert found.files


def test_a_folder_with_nothing_to_measure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing to measure"):
        read(tmp_path, None)


def test_questions_without_anything_to_search_in_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    put(folder, "queries.jsonl", {"_id": "q1", "text": "?"})
    (folder / "qrels.tsv").write_text("q1\td1\t1\n", encoding="utf-8")
    with pytest.raises(NotFound, match=r"no corpus\.jsonl"):
        read(folder, None)


def test_a_line_that_is_not_in_the_layout_is_refused_in_one_line(tmp_path: Path) -> None:
    put(tmp_path, "corpus.jsonl", {"_id": "d1", "title": "a text is missing"})
    with pytest.raises(ConfigurationError, match="layout"):
        read(tmp_path, None)
