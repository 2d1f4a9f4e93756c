"""The question sets keep their word: what they expect stands in their documents, and what they call wrong does not."""

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bot.evaluation.asking import Prediction, comparable, place_of
from core.model.answer import Outcome
from core.model.errors import ConfigurationError
from research.evaluation.answer_scoring import AnswerVerdict, score_reply
from research.evaluation.dataset_loader import Dataset, read
from research.evaluation.question_sets import DocumentKind, LabelledQuestion, QuestionKind
from tests.research.document_text import text_of

QUESTIONS = Path(__file__).parents[2] / "research" / "questions"
SETS = sorted(path.parent.name for path in QUESTIONS.glob("*/questions.jsonl"))
AT_LEAST = 110
MOST_WORDS = 1_500


@cache
def dataset(name: str) -> Dataset:
    return read(QUESTIONS / name, None)


def questions(name: str) -> tuple[LabelledQuestion, ...]:
    found = dataset(name).questions
    assert found is not None
    return found.questions


def gold(name: str, question: LabelledQuestion) -> str:
    return "\n".join(text_of(QUESTIONS / name / "documents" / source) for source in question.documents)


def every(name: str) -> Iterator[tuple[LabelledQuestion, str]]:
    for question in questions(name):
        yield question, gold(name, question)


@pytest.mark.parametrize("name", SETS)
def test_every_expected_fact_stands_in_a_gold_document(name: str) -> None:
    absent = [
        (question.id, alternatives)
        for question, text in every(name)
        for alternatives in question.facts
        if not question.computed and all(place_of(comparable(fact), text) is None for fact in alternatives)
    ]
    assert not absent


@pytest.mark.parametrize("name", SETS)
def test_every_gold_passage_stands_in_a_gold_document(name: str) -> None:
    squeezed = {question.id: "".join(text.split()) for question, text in every(name)}
    absent = [
        (question.id, passage)
        for question in questions(name)
        for passage in question.passages
        if "".join(comparable(passage).split()) not in squeezed[question.id]
    ]
    assert not absent
    assert not [one.id for one in questions(name) if one.facts and not one.passages]


@pytest.mark.parametrize("name", SETS)
def test_no_wrong_fact_stands_in_a_gold_passage_or_in_an_expected_fact(name: str) -> None:
    contradictory = [
        (question.id, wrong)
        for question in questions(name)
        for wrong in (*question.wrong, *question.only_after)
        for text in (*question.passages, *(fact for alternatives in question.facts for fact in alternatives))
        if place_of(comparable(wrong), comparable(text)) is not None
    ]
    assert not contradictory


@pytest.mark.parametrize("name", SETS)
def test_the_gold_passages_word_for_word_are_a_right_answer(name: str) -> None:
    judged = {
        question.id: score_reply(question, Prediction(Outcome.ANSWERED, "\n".join(question.passages), cited), {})
        for question in questions(name)
        for cited in [frozenset((*question.documents, *question.names))]
        if not question.unanswerable and not question.computed and not question.uncovered
    }
    assert not {name: scored for name, scored in judged.items() if scored.verdict is not AnswerVerdict.RIGHT}


@pytest.mark.parametrize("name", SETS)
def test_another_questions_gold_passages_are_hardly_ever_a_right_answer(name: str) -> None:
    asked = [one for one in questions(name) if one.passages]
    said = {one.id: comparable("\n".join(one.passages)) for one in asked}
    facts = {one.id: [[comparable(fact) for fact in alternatives] for alternatives in one.facts] for one in asked}
    lucky = Counter(
        one.id
        for one in asked
        for other in asked
        if not set(one.documents) & set(other.documents)
        # Looked at first, since nearly no pair gets further: of some 400 questions there are 160,000.
        and all(any(fact in said[other.id] for fact in alternatives) for alternatives in facts[one.id])
        and score_reply(one, Prediction(Outcome.ANSWERED, "\n".join(other.passages)), {}).verdict is AnswerVerdict.RIGHT
    )
    assert not {name: times for name, times in lucky.items() if times > 2}


@pytest.mark.parametrize("name", SETS)
def test_every_document_is_in_the_manifest_and_all_eight_kinds_are_there(name: str) -> None:
    manifest = json.loads((QUESTIONS / name / "documents.json").read_text(encoding="utf-8"))
    assert {source for _, source in dataset(name).files} == set(manifest)
    assert set(manifest.values()) == set(DocumentKind)
    assert all(len(text_of(QUESTIONS / name / "documents" / source).split()) <= MOST_WORDS for source in manifest)


@pytest.mark.parametrize("name", SETS)
def test_every_kind_of_question_is_asked_and_a_fifth_has_no_answer(name: str) -> None:
    asked = questions(name)
    assert len(asked) >= AT_LEAST
    assert set(Counter(one.kind for one in asked)) == set(QuestionKind)
    assert 0.15 <= sum(one.unanswerable for one in asked) / len(asked) <= 0.25
    assert {"de", "fr"} <= {one.language for one in asked}
    assert len({(one.text, one.follows) for one in asked}) == len(asked)


def test_no_set_is_missing() -> None:
    numbered = [f"unseen_{number}" for number in (11, 12, 13, *range(2, 10))]
    assert ["check", "tune", "tune_2", "unseen", *numbered] == SETS


def test_questions_without_a_manifest_are_refused(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"documents\.json"):
        read(tmp_path, None)
