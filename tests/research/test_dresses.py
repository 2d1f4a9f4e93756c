"""The set of questions in ten dresses is whole, and its documents have the values that it asks for."""

from collections import Counter

from bot.demo import SAMPLES
from research.dresses.__main__ import ENGLISH, FOREIGN, PLAIN, DressedAnswer, read_questions, table_lines

DOCUMENTS = SAMPLES / "documents"


def answer(dress: str, *, outcome: str = "answered", tentative: bool = False, right: bool = True) -> DressedAnswer:
    cited = frozenset({"documents/leave.md"})
    return DressedAnswer("q", dress, "?", "27 days", outcome, cited, "27 days", tentative, right, shows_value=True)


def test_a_hundred_questions_have_ten_dresses_each() -> None:
    questions = read_questions()
    assert len(questions) == len({one.id for one in questions}) == 100
    for one in questions:
        assert {PLAIN, *ENGLISH} < set(one.dresses), one.id
        assert len(set(one.dresses) & set(FOREIGN)) == 2, one.id
        assert len(set(one.dresses.values())) == 10, one.id
    languages = Counter(dress for one in questions for dress in one.dresses if dress in FOREIGN)
    assert min(languages.values()) > 60


def test_values_stand_in_the_documents_that_are_text() -> None:
    for one in read_questions():
        texts = [(DOCUMENTS / name).read_text("utf-8") for name in one.documents if name.endswith((".md", ".csv"))]
        assert not texts or any(one.stated_by(text) for text in texts), one.id


def test_a_third_is_put_aside() -> None:
    assert 20 <= sum(one.put_aside for one in read_questions()) <= 45


def test_the_table_tells_same_tentative_and_refused_apart() -> None:
    answers = [
        answer(PLAIN),
        answer("lower"),
        answer("markup", outcome="abstained", tentative=True, right=False),
        answer("de", outcome="parked", right=False),
    ]
    rows = {line.split("  ")[0]: line.split()[-8:] for line in table_lines(answers)}
    assert rows["lower"] == ["1", "1", "100.0%", "1", "0", "0", "0", "0"]
    assert rows["markup"] == ["1", "0", "0.0%", "0", "1", "1", "0", "0"]
    assert rows["foreign"] == ["1", "0", "0.0%", "0", "0", "0", "1", "1"]
