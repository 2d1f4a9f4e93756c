"""What is learnt from keeps its word: each passage stands in its document, and no question is asked twice."""

from collections import Counter
from pathlib import Path

import pytest

from bot.evaluation.asking import comparable
from research.evaluation.question_sets import LabelledQuestion
from research.measure.learning_sets import FILE, learning_set
from tests.research.document_text import text_of

FOLDERS = sorted(
    path.parent for path in (Path(__file__).parents[2] / "research" / "questions" / "learn").glob(f"*/{FILE}")
)
MARKS = str.maketrans("", "", "|*_`#>: \t")


def questions(folder: Path) -> tuple[LabelledQuestion, ...]:
    found = learning_set(folder).questions
    assert found is not None
    return found.questions


def squeezed(text: str) -> str:
    return "".join(comparable(text).translate(MARKS).split())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_passage_stands_in_its_document(folder: Path) -> None:
    texts = {source: squeezed(text_of(path)) for path, source in learning_set(folder).files}
    absent = [
        (one.id, passage)
        for one in questions(folder)
        for passage in one.passages
        if squeezed(passage) not in texts[one.documents[0]]
    ]
    assert not absent


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_question_is_asked_twice_and_a_quarter_has_no_answer(folder: Path) -> None:
    asked = questions(folder)
    twice = [text for text, times in Counter(one.text.casefold() for one in asked).items() if times > 1]
    assert not twice
    assert 0.2 <= sum(one.unanswerable for one in asked) / len(asked) <= 0.45


def test_a_question_below_no_passage_is_refused(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / FILE).write_text("## leave.md\nhow much leave do i get\n", encoding="utf-8")
    with pytest.raises(ValueError, match="below no passage"):
        learning_set(tmp_path)


def test_passages_together_answer_what_follows_them(tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    text = "## a.md\n> One.\n> Two.\nwhich?\nand which again?\n> Three.\nwho?\n## nothing\nwhere?\n"
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert [(one.text, one.passages, one.unanswerable) for one in questions(tmp_path)] == [
        ("which?", ("One.", "Two."), False),
        ("and which again?", ("One.", "Two."), False),
        ("who?", ("Three.",), False),
        ("where?", (), True),
    ]
