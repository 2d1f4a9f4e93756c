"""What is printed of a question set once it was asked."""

from bot.evaluation.asking import Prediction, reply_of
from core.model.answer import Answer, Citation, Outcome
from research.evaluation.answer_scoring import AnswerVerdict, ScoredReply
from research.evaluation.question_runs import ScoredQuestion, count_verdicts, question_lines, verdict_lines
from research.evaluation.question_sets import DocumentKind, LabelledQuestion, QuestionKind

RIGHT, HALF, REFUSED, WRONG = AnswerVerdict


def scored(name: str, kind: QuestionKind, document: DocumentKind | None, verdict: AnswerVerdict) -> ScoredQuestion:
    question = LabelledQuestion(name, f"{name}?", kind, unanswerable=document is None)
    reply = Prediction(Outcome.ANSWERED, "So it is.", frozenset({"a.md"}))
    return ScoredQuestion(question, document, ("before?",), reply, ScoredReply(verdict, ("x",), ("y",), "why"), 0.5)


ASKED = (
    scored("a", QuestionKind.FACT, DocumentKind.FAQ, RIGHT),
    scored("b", QuestionKind.FACT, DocumentKind.LEGAL, HALF),
    scored("c", QuestionKind.DATE, DocumentKind.FAQ, REFUSED),
    scored("d", QuestionKind.UNANSWERABLE, None, WRONG),
)


def test_verdicts_are_counted_by_kind_and_by_document_kind() -> None:
    counts = count_verdicts(ASKED)
    assert counts["all"] == {"right": 1, "half": 1, "refused": 1, "wrong": 1}
    assert counts["by_kind"]["fact"] == {"right": 1, "half": 1, "refused": 0, "wrong": 0}
    assert counts["by_document_kind"] == {
        "faq": {"right": 1, "half": 0, "refused": 1, "wrong": 0},
        "legal": {"right": 0, "half": 1, "refused": 0, "wrong": 0},
    }


def test_the_table_has_a_row_a_kind_and_the_share_of_each_verdict_below() -> None:
    lines = [line.split() for line in verdict_lines(count_verdicts(ASKED))]
    assert lines[0] == ["questions", "asked", "right", "half", "refused", "wrong"]
    assert ["fact", "2", "1", "1", "0", "0"] in lines
    assert ["faq", "2", "1", "0", "1", "0"] in lines
    assert lines[-2] == ["share", "4", "25.0%", "25.0%", "25.0%", "25.0%"]


def test_a_refusal_that_shows_the_answer_is_counted_apart_and_stays_a_refusal() -> None:
    question = LabelledQuestion("e", "Until when?", QuestionKind.FACT, facts=(("noon", "12:00"), ("Friday",)))
    near = Prediction(Outcome.PARKED, "These are the sources: “Friday, noon.” Shall I answer from them?")
    far = Prediction(Outcome.PARKED, "These are the sources: “Friday.” Shall I answer from them?")
    refused = ScoredReply(REFUSED, reason="parked")
    shown = [ScoredQuestion(question, DocumentKind.FAQ, (), reply, refused, 0.5) for reply in (near, far)]
    counts = count_verdicts(shown)
    assert (counts["all"]["refused"], counts["shown"]) == (2, 1)
    assert list(verdict_lines(counts))[-1].strip() == "1 of the 2 refused show the sentence that holds the answer"


def test_a_quote_that_may_answer_counts_as_an_answer() -> None:
    quote = Citation(1, 1, "p", "b", "opening.md", "Opening", "", "Friday, noon.", 0.4)
    offered = reply_of(Answer(Outcome.ABSTAINED, "This may answer it: “Friday, noon.” [1]", citations=(quote,)))
    assert (offered.outcome, offered.cited) == (Outcome.ANSWERED, frozenset({"opening.md"}))
    refused = reply_of(Answer(Outcome.ABSTAINED, "I couldn't find this in your documents.", nearest=(quote,)))
    assert (refused.outcome, refused.cited) == (Outcome.ABSTAINED, frozenset())


def test_a_question_is_printed_with_its_answer_and_why_it_was_judged_so() -> None:
    shown = "\n".join(question_lines([ASKED[3].as_json()]))
    for part in ("d [WRONG: why] 0.50 s", "after: before?", "Q: d?", "A: So it is.", "missing: x", "wrong: y"):
        assert part in shown
