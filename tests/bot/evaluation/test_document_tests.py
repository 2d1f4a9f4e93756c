"""Document tests: how a file is read, how an answer is judged, and what the reports say."""

from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from bot.evaluation.asking import Prediction
from bot.evaluation.document_tests import Checked, DocumentTest, as_junit, as_markdown, find_faults, read_tests
from core.model.answer import Outcome
from core.model.errors import ConfigurationError


def answered(text: str, *cited: str) -> Prediction:
    return Prediction(Outcome.ANSWERED, text, frozenset(cited))


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tests.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_reads_single_texts_numbers_and_alternatives(tmp_path: Path) -> None:
    file = read_tests(written(tmp_path, "tests:\n- {ask: How many, has: [45, [two, 2]], lacks: 2026-01-01}\n"))
    assert file.tests[0].has == (("45",), ("two", "2"))
    assert file.tests[0].lacks == ("2026-01-01",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tests: [{ask: x, hass: y}]", "test 1, hass: there is no such field"),
        ("tests: [{ask: x, has: y}, {ask: x}]", "test 2: expects nothing"),
        ("tests: [{ask: x, has: y, abstains: true}]", "both an answer and none"),
        ("tests: [{ask: x, has: {a: b}}]", "test 1, has: is no text; put quotes around"),
        ("tests: [{has: y}]", "test 1, ask: is missing"),
        ("[]", "is not a mapping"),
        ("tests: [", "line 1 is not YAML"),
        ("a: &a [x]\nb: *c", "is not YAML"),
        ("tests: !!python/object/apply:os.system [ls]", "is not YAML"),
    ],
)
def test_names_the_test_and_the_field_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read_tests(written(tmp_path, text))


def test_finds_missing_facts_forbidden_ones_and_missing_citations() -> None:
    test = DocumentTest(
        ask="Refund?", has=(("45 days",), ("two weeks", "14 days")), lacks=("30 days",), cites=("b.md",)
    )
    assert find_faults(test, answered("Within 45 days [1], or 14 days [2].", "docs/a.md", "docs/b.md")) == []
    assert find_faults(test, answered("Within 30 days [1].", "docs/a.md")) == [
        "Lacks “45 days”.",
        "Lacks “two weeks” or “14 days”.",
        "Says “30 days”.",
        "Does not cite b.md.",
    ]
    assert find_faults(test, Prediction(Outcome.ABSTAINED, "I couldn't find this.")) == ["Does not answer (abstained)."]


def test_a_question_that_must_stay_open_passes_only_without_an_answer() -> None:
    test = DocumentTest(ask="Capital of Peru?", abstains=True)
    assert find_faults(test, Prediction(Outcome.ABSTAINED, "I couldn't find this.")) == []
    assert find_faults(test, answered("The documents do not say it.")) == []
    assert find_faults(test, answered("Lima [1].")) == [
        "Gives an answer, although the documents should not contain one."
    ]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.REFUSED])
def test_a_question_that_could_not_be_asked_is_never_passed(outcome: Outcome) -> None:
    for test in (DocumentTest(ask="Capital of Peru?", abstains=True), DocumentTest(ask="?", lacks=("x",))):
        assert find_faults(test, Prediction(outcome, "")) == [f"Could not be asked ({outcome})."]


def test_reports_survive_control_characters_and_markup() -> None:
    test = DocumentTest(ask="Who\x07 <b>?", has=(("x",),))
    checked = [Checked(test, "@everyone <script>\x00", ("Lacks “x”.",)), Checked(test, "x", ())]
    suite = fromstring(as_junit(checked, "docs"))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    markdown = as_markdown(checked, [(checked[1], checked[0])])
    assert "1 of 2" in markdown
    assert "<script>" not in markdown
    assert "@everyone" not in markdown
