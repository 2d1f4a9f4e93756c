"""Pages of others come back word for word from what their owners published, and nothing is asked of other pages."""

import json
import subprocess
from pathlib import Path

import pytest

from bot.evaluation.asking import comparable, place_of
from research.evaluation.dataset_loader import read
from research.measure.learning_sets import DOCUMENT, FILE, NOTHING
from research.measure.page_sets import PAGES, restore

FOLDERS = sorted(
    path.parent for path in (Path(__file__).parents[2] / "research" / "questions" / "pages").glob(f"*/{PAGES}")
)
LEARNING = [folder for folder in FOLDERS if (folder / FILE).exists()]
JUDGING = [folder for folder in FOLDERS if folder not in LEARNING]
PAGE = "# Leave\n\nEveryone has 27 days.\n"


def places(folder: Path) -> set[str]:
    return {line.split("\t")[1] for line in (folder / PAGES).read_text(encoding="utf-8").splitlines()}


@pytest.mark.parametrize("folder", LEARNING, ids=lambda folder: folder.name)
def test_what_is_asked_is_asked_of_the_pages_that_are_listed(folder: Path) -> None:
    lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
    asked = {line.removeprefix(DOCUMENT).strip() for line in lines if line.startswith(DOCUMENT)}
    assert NOTHING in asked
    assert asked - {NOTHING} <= places(folder)


@pytest.mark.parametrize("folder", JUDGING, ids=lambda folder: folder.name)
def test_what_judges_names_only_pages_that_are_listed(folder: Path) -> None:
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = {document for line in lines for document in json.loads(line).get("documents", ())}
    assert asked
    assert asked <= places(folder)
    assert set(json.loads((folder / "documents.json").read_text(encoding="utf-8"))) == places(folder)


@pytest.mark.parametrize("folder", JUDGING, ids=lambda folder: folder.name)
def test_a_fact_that_stands_in_a_gold_passage_is_found_there(folder: Path) -> None:
    """Not only as a part of a longer word, as "2.1.4" in "v2.1.4": nobody could answer that right."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    hidden = [
        (asked["id"], alternatives)
        for asked in map(json.loads, lines)
        for said in [comparable("\n".join(asked.get("passages") or ()))]
        for alternatives in asked.get("facts") or ()
        if any(comparable(fact) in said for fact in alternatives)
        and all(place_of(comparable(fact), said) is None for fact in alternatives)
    ]
    assert not hidden


def published(clone: Path, page: str = PAGE) -> str:
    """A repository that has the page; its blob."""
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    hashed = ["git", "-C", str(clone), "hash-object", "-w", "--stdin"]
    return subprocess.run(hashed, input=page, capture_output=True, text=True, check=True).stdout.strip()


def test_pages_come_back_word_for_word_and_what_a_clone_lacks_is_named(tmp_path: Path) -> None:
    folder, out = tmp_path / "set", tmp_path / "out"
    folder.mkdir()
    blob = published(tmp_path / "clone")
    (folder / PAGES).write_text(f"{blob}\thr/leave.md\n{'0' * 40}\thr/pay.md\n", encoding="utf-8")
    asked = (
        '{"id": "q", "text": "how much leave?", "kind": "fact", "documents": ["hr/leave.md"], "facts": [["27 days"]]}'
    )
    (folder / "questions.jsonl").write_text(asked, encoding="utf-8")
    (folder / "documents.json").write_text('{"hr/leave.md": "handbook"}', encoding="utf-8")
    assert restore(folder, [tmp_path / "clone"], out) == ["hr/pay.md"]
    assert (out / "documents" / "hr" / "leave.md").read_text(encoding="utf-8") == PAGE
    assert read(out, None).questions is not None
    assert not (out / PAGES).exists()


def test_pages_of_two_repositories_come_back_from_both_clones(tmp_path: Path) -> None:
    folder, out = tmp_path / "set", tmp_path / "out"
    folder.mkdir()
    blobs = [published(tmp_path / "one"), published(tmp_path / "two", "# Pay\n")]
    (folder / PAGES).write_text(f"{blobs[0]}\tleave.md\n{blobs[1]}\tpay.md\n", encoding="utf-8")
    assert restore(folder, [tmp_path / "one", tmp_path / "two"], out) == []
    assert (out / "documents" / "pay.md").read_text(encoding="utf-8") == "# Pay\n"
